package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// mostQueries is how many queries a screen of the portal may need.
const mostQueries = 6

// The first screen and that of a subscription need few queries, those that let the customer in
// included, and each finds its rows by an index.
func TestScreensOfPortalNeedFewQueries(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	of := shop.Shop{Domain: "planned.myshopify.com", TimeZone: "UTC"}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	value, hash := secret.New()
	err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		var list []contract.Contract
		var attempts []billing.Attempt
		var once []billing.OneOff
		for i := range 3 {
			c := rareContract(i)
			c.Customer.ID, c.Status, c.OneOffs = 7, contract.Active, 1
			list = append(list, c)
			for cycle := range 20 {
				status := billing.Success
				if cycle > 10 {
					status = billing.Queued
				}
				attempts = append(attempts, billing.Attempt{Contract: c.ID, Cycle: cycle + 1, Status: status, BillingDate: start.AddDate(0, cycle-10, 0)})
			}
			once = append(once, billing.OneOff{Contract: c.ID, Cycle: 12, Quantity: 1, Variant: platform.Variant{ID: 9}})
		}
		if err := tx.PutContracts(t.Context(), list); err != nil {
			return err
		}
		if err := tx.PutAttempts(t.Context(), attempts); err != nil {
			return err
		}
		if err := tx.PutOneOffs(t.Context(), once); err != nil {
			return err
		}
		return tx.AddSession(t.Context(), login.Session{Hash: hash, Customer: 7, Via: login.ByLink, CreatedAt: start, SeenAt: start, ExpiresAt: start.Add(time.Hour)})
	})
	if err != nil {
		t.Fatal(err)
	}
	logins := &login.Service{Store: db.Login(), Clock: clock.NewManual(start)}
	seen := &overview.Service{Store: db.Overview(), Clock: clock.NewManual(start)}
	enter := func() portal.Caller {
		t.Helper()
		at, err := logins.Shop(t.Context(), "planned")
		if err != nil {
			t.Fatal(err)
		}
		who, err := logins.Authenticate(t.Context(), at.ID, value, login.ByLink)
		if err != nil {
			t.Fatal(err)
		}
		return portal.Caller{Shop: at, Actor: activity.Actor{Source: activity.CustomerPortal, Customer: who.Customer}}
	}
	var l queryLog
	db.Watch(&l)
	for name, show := range map[string]func(portal.Caller) (int, error){
		"the first screen": func(who portal.Caller) (int, error) {
			home, err := seen.Home(t.Context(), who)
			return len(home.Sheets), err
		},
		"a subscription": func(who portal.Caller) (int, error) {
			sheet, err := seen.Sheet(t.Context(), who, rareContract(0).ID, 5)
			return len(sheet.Past), err
		},
	} {
		l.queries = nil
		found, err := show(enter())
		if err != nil || found == 0 {
			t.Fatalf("%s: %d rows, %v", name, found, err)
		}
		if len(l.queries) > mostQueries || len(l.queries) < mostQueries-1 {
			t.Errorf("%s needs %d queries, at most %d are allowed:\n%s", name, len(l.queries), mostQueries, strings.Join(l.queries, "\n"))
		}
		for _, query := range l.queries {
			for _, step := range stepsOf(t, db, query) {
				if strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN json_each ") { // a list of ids
					t.Errorf("%s: %s\n%s", name, step, query)
				}
			}
		}
	}
}
