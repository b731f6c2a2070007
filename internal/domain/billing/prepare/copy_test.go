package prepare

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
)

// keeping is a platform that takes no edit of a cycle back.
type keeping struct{ billing.Platform }

func (keeping) DropCycleEdit(context.Context, platform.Shop, platform.CycleRef) error {
	return &platform.Refusal{Code: "INVALID", Message: "It has passed."}
}

func TestStalePreparationIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]func(billing.Platform) billing.Platform{
		"the platform takes the copy back": func(p billing.Platform) billing.Platform { return p },
		"the platform keeps the copy":      func(p billing.Platform) billing.Platform { return keeping{p} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewManual(billingtest.Now)
			tea := teashop.Open(t, c)
			of := shop.Shop{ID: 1, Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Connected: true}
			made := tea.Subscribe(billingtest.Now.Add(time.Hour))
			variants, err := tea.Client.Variants(t.Context(), of.At(), []int64{tea.Black})
			billingtest.Must(t, err)
			e := Order{
				Attempt: billing.Attempt{ID: 5, Contract: contract.ID(made), Cycle: 1, Status: billing.Requesting},
				Of:      contract.Contract{ID: contract.ID(made)},
				OneOffs: []billing.OneOff{{ID: 77, Contract: contract.ID(made), Cycle: 1, Variant: variants[0], Quantity: 1}},
			}
			s := &Service{Env: &billing.Env{Platform: over(tea.Client), Clock: c, Log: slog.New(slog.DiscardHandler), Policy: billing.DefaultPolicy()}}
			steps := func() (n int) {
				e.DueAt = c.Now().Add(time.Minute)
				for p := s.step(t.Context(), of, e); p.commit; p = s.step(t.Context(), of, e) {
					if n++; n > 3 || p.err != nil || p.refused != nil {
						t.Fatalf("step %d: %v, %v", n, p.err, p.refused)
					}
					e.Prep = billing.Preparation{Stage: billing.OrderPlanned, Edited: true, Plan: p.plan, Revision: p.since}
					done := s.step(t.Context(), of, e)
					if done.err != nil || done.refused != nil || done.commit {
						t.Fatalf("the change came to %+v", done)
					}
					e.Prep = billing.Preparation{Stage: billing.ContractDone, Edited: true, Revision: done.since}
				}
				return n
			}
			steps()

			c.Set(billingtest.Now.Add(2 * time.Hour)) // the cycle has passed
			is, err := tea.Client.Detail(t.Context(), of.At(), made)
			billingtest.Must(t, err)
			_, err = tea.Client.EditContract(t.Context(), of.At(), made, platform.Edit{
				Lines:     []platform.LineEdit{{Line: is.Lines[0].ID, Quantity: new(4)}},
				Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "Half", Percent: 50, AllLines: true}}},
			})
			billingtest.Must(t, err)
			if n := steps(); n != 1 {
				t.Errorf("the copy was changed %d times, want once", n)
			}
			o, err := tea.Client.CycleOrder(t.Context(), of.At(), e.cycle())
			billingtest.Must(t, err)
			if len(o.Lines) != 2 || o.Lines[0].Quantity != 4 || o.Lines[1].VariantID != tea.Black || o.Lines[1].Quantity != 1 || len(o.Discounts) != 1 {
				t.Errorf("the order has %+v and the discounts %+v, want 4 green teas and a black one, with the discount", o.Lines, o.Discounts)
			}
			if n := steps(); n != 0 {
				t.Errorf("an order that is as it should be was changed %d times", n)
			}
		})
	}
}

func TestReadyOrderIsPreparedAgainAfterContractChange(t *testing.T) {
	t.Parallel()
	ready := billing.Preparation{Stage: billing.Ready, Edited: true, Revision: 7}
	for name, test := range map[string]struct {
		a        billing.Attempt
		revision uint64
		want     bool
	}{
		"it has not":                             {billing.Attempt{Status: billing.Queued, Prep: ready}, 7, false},
		"it has":                                 {billing.Attempt{Status: billing.Queued, Prep: ready}, 8, true},
		"it has since a decline":                 {billing.Attempt{Status: billing.Failure, FirstSentAt: billingtest.Now, Prep: ready}, 8, true},
		"it has, and the platform holds no copy": {billing.Attempt{Status: billing.Queued, Prep: billing.Preparation{Stage: billing.Ready, Revision: 7}}, 8, false},
		"it has since the charge was sent":       {billing.Attempt{Status: billing.Requesting, FirstSentAt: billingtest.Now, Prep: ready}, 8, false},
		"it has, and the order was made":         {billing.Attempt{Status: billing.Success, FirstSentAt: billingtest.Now, Prep: ready}, 8, false},
		"it has, and the order is left out":      {billing.Attempt{Status: billing.Skipped, Prep: ready}, 8, false},
	} {
		if _, got := OrderFor(test.a, contract.Contract{Revision: test.revision}, billing.Inputs{}); got != test.want {
			t.Errorf("%s: prepared again: %t, want %t", name, got, test.want)
		}
	}
}
