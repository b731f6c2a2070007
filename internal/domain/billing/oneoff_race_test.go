package billing

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// interleaved lets somebody else act once, right after a cycle's order was read.
type interleaved struct {
	Platform
	then func()
}

func (i *interleaved) CycleOrder(ctx context.Context, at platform.Shop, of platform.CycleRef) (platform.CycleOrder, error) {
	o, err := i.Platform.CycleOrder(ctx, at, of)
	if then := i.then; then != nil {
		i.then = nil
		then()
	}
	return o, err
}

func TestAOneTimeProductIsInItsOrderOnceWhoeverTellsOfIt(t *testing.T) {
	t.Parallel()
	// Publishing tells the platform of the product; a person charges the order at
	// once, so that it is prepared too.
	type race func(publish, prepare func(Platform) error, client Platform) (first, second error)
	for name, run := range map[string]race{
		"the order is prepared while it is published": func(publish, prepare func(Platform) error, client Platform) (first, second error) {
			second = publish(&interleaved{client, func() { first = prepare(client) }})
			return first, second
		},
		"the order is published while it is prepared": func(publish, prepare func(Platform) error, client Platform) (first, second error) {
			second = prepare(&interleaved{client, func() { first = publish(client) }})
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewManual(now)
			sim, err := simulator.New(simulator.Options{Clock: c})
			must(t, err)
			of := shop.Shop{ID: 1, Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Connected: true}
			must(t, sim.AddShop(simulator.ShopSpec{Domain: of.Domain, Token: string(of.Token)}))
			sold, err := sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "5.00"}, {Title: "Black", Price: "7.00"}}})
			must(t, err)
			server := httptest.NewServer(sim.Handler())
			t.Cleanup(func() {
				server.Close()
				must(t, sim.Close())
			})
			client := shopify.New(shopify.Options{BaseURL: server.URL})
			made, err := sim.Checkout(simulator.ContractSpec{
				Customer: simulator.CustomerSpec{Email: "ana@shopper.example"}, NextBillingDate: now.AddDate(0, 0, 9),
				Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: sold[0].ID, Quantity: 1, CurrentPrice: "5.00"}},
			})
			must(t, err)
			variants, err := client.Variants(t.Context(), of.At(), []int64{sold[1].ID})
			must(t, err)
			a := Attempt{ID: 5, Contract: contract.ID(made.Contract), Cycle: 1, Status: Requesting, DueAt: now.Add(time.Minute), Prep: Preparation{Edited: true}}
			oneOffs := []OneOff{{ID: 77, Contract: a.Contract, Cycle: 1, Variant: variants[0], Quantity: 1}}
			service := func(p Platform) *Service {
				return &Service{Platform: p, Clock: c, Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}
			}
			publish := func(p Platform) error { return service(p).tellOneOffs(t.Context(), of, a, oneOffs) }
			prepare := func(p Platform) error {
				e := preparing{Attempt: a, contract: contract.Contract{ID: a.Contract}, oneOffs: oneOffs}
				planned := service(client).prepare(t.Context(), of, e)
				if planned.plan == nil || !planned.commit { // it holds the product already
					return nil
				}
				e.Prep.Stage, e.Prep.Plan = OrderPlanned, planned.plan
				done := service(p).prepare(t.Context(), of, e)
				if done.refused != nil {
					return done.refused
				}
				return done.err
			}
			first, second := run(publish, prepare, client)
			must(t, first)
			if second == nil {
				t.Error("both changed the order that they had read without the product")
			}
			order, err := client.CycleOrder(t.Context(), of.At(), platform.CycleRef{Contract: made.Contract, Index: 1})
			must(t, err)
			n := 0
			for _, l := range order.Lines {
				if l.VariantID == sold[1].ID {
					n += l.Quantity
				}
			}
			if n != 1 {
				t.Errorf("the order has the one-time product %d times: %+v", n, order.Lines)
			}
			// Whoever was refused looks again and finds nothing left to be done.
			must(t, publish(client))
			must(t, prepare(client))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
