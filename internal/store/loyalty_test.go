package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestLoyaltyLedgerIsAppendOnlyOnSQLite(t *testing.T) {
	t.Parallel()
	ledgerIsFinal(t, storetest.SQLite(t))
}

func TestLoyaltyLedgerIsAppendOnlyOnPostgres(t *testing.T) {
	t.Parallel()
	ledgerIsFinal(t, storetest.Postgres(t))
}

func ledgerIsFinal(t *testing.T, db *store.DB) {
	t.Helper()
	ctx, now := t.Context(), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	of := shop.Shop{Domain: "first.myshopify.com", Token: "shpat_first", TimeZone: "UTC", Currency: "EUR", CreatedAt: now}
	if err := db.Shops().AddShop(ctx, &of); err != nil {
		t.Fatal(err)
	}
	if err := db.Loyalty().Update(ctx, of.ID, func(tx loyalty.Tx) error { return postOne(ctx, tx, now) }); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"UPDATE loyalty_entries SET available = 1", "DELETE FROM loyalty_entries", "UPDATE loyalty_uses SET points = 1", "DELETE FROM loyalty_uses",
		"UPDATE loyalty_credits SET amount = 1", "DELETE FROM loyalty_credits",
	} {
		if err := db.ExecFor(ctx, of.ID, statement); err == nil || !strings.Contains(err.Error(), "is append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// postOne posts an entry with a use, and store credit.
func postOne(ctx context.Context, tx loyalty.Tx, now time.Time) error {
	if err := tx.AddAccounts(ctx, []loyalty.Account{{Person: loyalty.Person{Customer: 5}, Status: loyalty.Active, ReferralCode: "r", CreatedAt: now}}); err != nil {
		return err
	}
	members, err := tx.AccountsOf(ctx, []int64{5})
	if err != nil {
		return err
	}
	id := members[0].ID
	source := loyalty.Source{Type: loyalty.Manual, ID: "1"}
	if err := tx.AddCredit(ctx, &loyalty.Credit{Account: id, Source: source, At: now}); err != nil {
		return err
	}
	return tx.Post(ctx, []loyalty.Entry{{Account: id, Seq: 1, Kind: loyalty.Earn, Available: 5, Source: source}},
		[]loyalty.Use{{Account: id, Entry: 1, Lot: 1, Role: loyalty.Take, Points: 5}}, nil)
}
