package store_test

import (
	"database/sql"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// A database of a version that kept no history.
func TestRebuildBeginsHistoryOfContractsThatHaveNone(t *testing.T) {
	t.Parallel()
	o := storetest.SQLiteOptions(t)
	storetest.SQLiteFile(t, o.URL)
	db := storetest.Open(t, o)
	raw, err := sql.Open("sqlite", o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	of := shop.Shop{Domain: "first.myshopify.com", PlatformID: 77, Token: "token", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: start}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	month := contract.Policy{Interval: cadence.Month, Count: 2}
	old := contract.Contract{
		ID: 7, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Customer: contract.Customer{ID: 9}, Billing: month, Delivery: month,
		Lines: []contract.LineItem{{ID: "a", Quantity: 2, Price: money.Amount{Minor: 1001, Currency: "EUR"}}}, CreatedAt: start.AddDate(-1, 0, 0), UpdatedAt: start,
	}
	if err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		return tx.PutContracts(t.Context(), []contract.Contract{old})
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"contract_history", "metric_days", "subscriber_days", "subscribers", "subscriber_holdings"} {
		if _, err := raw.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
	r := analytics.Rebuilder{Store: db.AnalyticsRebuild(), Clock: clock.NewManual(start.AddDate(0, 1, 0))}
	done, err := r.Rebuild(t.Context(), of.ID)
	if err != nil || done.Added != 1 || done.Versions != 1 {
		t.Errorf("the rebuild did %+v, %v", done, err)
	}
	got := storetest.Figures(t, db, of.ID)
	if len(got.Days) != 1 || got.Days[0].Moved[analytics.Opening] != 1001 || got.Days[0].MRR != 1001 || got.Days[0].Contracts != 1 || got.SubscriberDays[0].Opening != 1 {
		t.Errorf("the figures are %+v", got)
	}
	if again, err := r.Rebuild(t.Context(), of.ID); err != nil || again.Differs || again.Added != 0 {
		t.Errorf("the second rebuild did %+v, %v", again, err)
	}
}
