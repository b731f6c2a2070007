package billing

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
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
			tea := teashop.Open(t, c)
			of := shop.Shop{ID: 1, Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Connected: true}
			made, client := tea.Subscribe(now.AddDate(0, 0, 9)), tea.Client
			variants, err := client.Variants(t.Context(), of.At(), []int64{tea.Black})
			must(t, err)
			a := Attempt{ID: 5, Contract: contract.ID(made), Cycle: 1, Status: Requesting, DueAt: now.Add(time.Minute), Prep: Preparation{Edited: true}}
			oneOffs := []OneOff{{ID: 77, Contract: a.Contract, Cycle: 1, Variant: variants[0], Quantity: 1}}
			service := func(p Platform) *Service {
				return &Service{Platform: p, Clock: c, Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}
			}
			publish := func(p Platform) error { return service(p).tellOneOffs(t.Context(), of, &a, oneOffs) }
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
			order, err := client.CycleOrder(t.Context(), of.At(), platform.CycleRef{Contract: made, Index: 1})
			must(t, err)
			n := 0
			for _, l := range order.Lines {
				if l.VariantID == tea.Black {
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
