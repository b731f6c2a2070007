package annotate_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/annotate"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// tagged is a platform that keeps the tags of one customer, and on which something
// may happen while a word is on its way.
type tagged struct {
	billing.Platform
	tags      []string
	meanwhile func()
}

func (p *tagged) Tag(_ context.Context, _ platform.Shop, _ string, add, remove []string) error {
	if f := p.meanwhile; f != nil {
		p.meanwhile = nil // once
		f()
	}
	p.tags = slices.DeleteFunc(append(p.tags, add...), func(tag string) bool { return slices.Contains(remove, tag) })
	return nil
}

// An old word that is slow is followed by what is true by then.
func TestLateTagIsRemovedWithContract(t *testing.T) {
	t.Parallel()
	at := clock.NewManual(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC))
	of := shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Connected: true}
	db := storetest.SQLite(t)
	must(t, db.Shops().AddShop(t.Context(), &of))
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	c := contract.Contract{
		ID: 1, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: month, Delivery: month, Customer: contract.Customer{ID: 5},
		Lines: []contract.LineItem{{ID: "l1", SellingPlanID: 11, Quantity: 1}},
	}
	become := func(status contract.Status) {
		must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
			rows := []contract.Contract{c}
			rows[0].Status = status
			if err := tx.PutContracts(t.Context(), rows); err != nil {
				return err
			}
			c = rows[0]
			return annotate.Customers(t.Context(), tx, rows, at.Now())
		}))
	}
	must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		g := plan.Group{Line: shop.Subscriptions, Terms: plan.Terms{Name: "Tea", CustomerTag: "tea"}, Options: []plan.Option{{ID: 11, Name: "Monthly"}}}
		return tx.PutPlanGroup(t.Context(), &g)
	}))
	p := &tagged{}
	work := func() {
		node := &annotate.Service{Env: &billing.Env{Store: db.Billing(), Platform: p, Clock: at, Log: slog.New(slog.DiscardHandler), Policy: billing.DefaultPolicy()}}
		must(t, node.Work(t.Context(), of.ID))
	}
	become(contract.Active)
	p.meanwhile = func() {
		become(contract.Cancelled)
		work() // another node, which is quicker
	}
	work()
	if len(p.tags) > 0 {
		t.Errorf("the customer of a cancelled contract has %v", p.tags)
	}
	become(contract.Active)
	work()
	if !slices.Equal(p.tags, []string{"tea"}) {
		t.Errorf("the customer has %v, want the tag of the tea", p.tags)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
