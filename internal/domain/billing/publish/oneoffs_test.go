package publish

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
)

// interleaved runs something else once, right after a cycle's order was read.
type interleaved struct {
	billing.Platform
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

func TestOneOffIsPublishedOncePerOrder(t *testing.T) {
	t.Parallel()
	// Publishing tells the platform of the product; a person charges the order at
	// once, so that it is prepared too.
	type race func(publish, prepare func(billing.Platform) error, client billing.Platform) (first, second error)
	for name, run := range map[string]race{
		"the order is prepared while it is published": func(publish, prepare func(billing.Platform) error, client billing.Platform) (first, second error) {
			second = publish(&interleaved{client, func() { first = prepare(client) }})
			return first, second
		},
		"the order is published while it is prepared": func(publish, prepare func(billing.Platform) error, client billing.Platform) (first, second error) {
			second = prepare(&interleaved{client, func() { first = publish(client) }})
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewManual(billingtest.Now)
			tea := teashop.Open(t, c)
			of := shop.Shop{ID: 1, Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Connected: true}
			made, client := tea.Subscribe(billingtest.Now.AddDate(0, 0, 9)), tea.Client
			variants, err := client.Variants(t.Context(), of.At(), []int64{tea.Black})
			billingtest.Must(t, err)
			a := billing.Attempt{ID: 5, Contract: contract.ID(made), Cycle: 1, Status: billing.Requesting, DueAt: billingtest.Now.Add(time.Minute), Prep: billing.Preparation{Edited: true}}
			oneOffs := []billing.OneOff{{ID: 77, Contract: a.Contract, Cycle: 1, Variant: variants[0], Quantity: 1}}
			env, books := billingtest.Open(nil, a)
			env.Clock = c
			env.Platform = client
			books.Known[a.Contract] = contract.Contract{ID: a.Contract}
			on := func(p billing.Platform) *billing.Env {
				other := *env
				other.Platform = p
				return &other
			}
			publishOn := func(p billing.Platform) error {
				return (&Service{Env: on(p)}).publishOneOffs(t.Context(), of, &a, oneOffs)
			}
			prepareOn := func(p billing.Platform) error {
				for _, p := range []billing.Platform{client, p} { // the plan is committed before the change
					row := books.Rows[a.ID]
					if row.Prep.Stage == billing.Ready { // the order holds the product already
						return nil
					}
					row.DueAt = c.Now().Add(time.Minute)
					books.Rows[a.ID] = row
					order := prepare.Order{Attempt: row, Of: books.Known[a.Contract], OneOffs: oneOffs}
					if err := (&prepare.Service{Env: on(p)}).Work(t.Context(), of, []prepare.Order{order}); err != nil {
						return err
					}
				}
				if row := books.Rows[a.ID]; row.Prep.Stage != billing.Ready {
					return fmt.Errorf("not prepared: %+v", row.Prep)
				}
				return nil
			}
			first, second := run(publishOn, prepareOn, client)
			billingtest.Must(t, first)
			if second == nil {
				t.Error("both changed the order that they had read without the product")
			}
			order, err := client.CycleOrder(t.Context(), of.At(), platform.CycleRef{Contract: made, Index: 1})
			billingtest.Must(t, err)
			n := 0
			for _, l := range order.Lines {
				if l.VariantID == tea.Black {
					n += l.Quantity
				}
			}
			if n != 1 {
				t.Errorf("the order has the one-time product %d times: %+v", n, order.Lines)
			}
			// The one that was refused tries again and finds nothing left to do.
			billingtest.Must(t, publishOn(client))
			billingtest.Must(t, prepareOn(client))
		})
	}
}
