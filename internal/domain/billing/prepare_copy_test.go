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

// keeping is a platform that takes no edit of a cycle back.
type keeping struct{ Platform }

func (keeping) DropCycleEdit(context.Context, platform.Shop, platform.CycleRef) error {
	return &platform.Refusal{Code: "INVALID", Message: "It has passed."}
}

func TestACopyOfAnOlderContractIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]func(Platform) Platform{
		"the platform takes the copy back": func(p Platform) Platform { return p },
		"the platform keeps the copy":      func(p Platform) Platform { return keeping{p} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewManual(now)
			tea := teashop.Open(t, c)
			of := shop.Shop{ID: 1, Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Connected: true}
			made := tea.Subscribe(now.Add(time.Hour))
			variants, err := tea.Client.Variants(t.Context(), of.At(), []int64{tea.Black})
			must(t, err)
			e := preparing{
				Attempt:  Attempt{ID: 5, Contract: contract.ID(made), Cycle: 1, Status: Requesting},
				contract: contract.Contract{ID: contract.ID(made)},
				oneOffs:  []OneOff{{ID: 77, Contract: contract.ID(made), Cycle: 1, Variant: variants[0], Quantity: 1}},
			}
			s := &Service{Platform: over(tea.Client), Clock: c, Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}
			steps := func() (n int) {
				e.DueAt = c.Now().Add(time.Minute)
				for p := s.prepare(t.Context(), of, e); p.commit; p = s.prepare(t.Context(), of, e) {
					if n++; n > 3 || p.err != nil || p.refused != nil {
						t.Fatalf("step %d: %v, %v", n, p.err, p.refused)
					}
					e.Prep = Preparation{Stage: OrderPlanned, Edited: true, Plan: p.plan, Revision: p.since}
					done := s.prepare(t.Context(), of, e)
					if done.err != nil || done.refused != nil || done.commit {
						t.Fatalf("the change came to %+v", done)
					}
					e.Prep = Preparation{Stage: ContractDone, Edited: true, Revision: done.since}
				}
				return n
			}
			steps()

			c.Set(now.Add(2 * time.Hour)) // the cycle has passed
			is, err := tea.Client.Detail(t.Context(), of.At(), made)
			must(t, err)
			_, err = tea.Client.EditContract(t.Context(), of.At(), made, platform.Edit{
				Lines:     []platform.LineEdit{{Line: is.Lines[0].ID, Quantity: new(4)}},
				Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "Half", Percent: 50, AllLines: true}}},
			})
			must(t, err)
			if n := steps(); n != 1 {
				t.Errorf("the copy was changed %d times, want once", n)
			}
			o, err := tea.Client.CycleOrder(t.Context(), of.At(), e.cycle())
			must(t, err)
			if len(o.Lines) != 2 || o.Lines[0].Quantity != 4 || o.Lines[1].VariantID != tea.Black || o.Lines[1].Quantity != 1 || len(o.Discounts) != 1 {
				t.Errorf("the order has %+v and the discounts %+v, want 4 green teas and a black one, with the discount", o.Lines, o.Discounts)
			}
			if n := steps(); n != 0 {
				t.Errorf("an order that is as it should be was changed %d times", n)
			}
		})
	}
}

func TestAReadyOrderIsLookedAtAgainWhenItsContractHasChanged(t *testing.T) {
	t.Parallel()
	ready := Preparation{Stage: Ready, Edited: true, Revision: 7}
	for name, test := range map[string]struct {
		a        Attempt
		revision uint64
		want     bool
	}{
		"it has not":                             {Attempt{Status: Queued, Prep: ready}, 7, false},
		"it has":                                 {Attempt{Status: Queued, Prep: ready}, 8, true},
		"it has since a decline":                 {Attempt{Status: Failure, FirstSentAt: now, Prep: ready}, 8, true},
		"it has, and the platform holds no copy": {Attempt{Status: Queued, Prep: Preparation{Stage: Ready, Revision: 7}}, 8, false},
		"it has since the charge was sent":       {Attempt{Status: Requesting, FirstSentAt: now, Prep: ready}, 8, false},
		"it has, and the order was made":         {Attempt{Status: Success, FirstSentAt: now, Prep: ready}, 8, false},
		"it has, and the order is left out":      {Attempt{Status: Skipped, Prep: ready}, 8, false},
	} {
		if _, got := (preparations{}).errandOf(test.a, contract.Contract{Revision: test.revision}); got != test.want {
			t.Errorf("%s: prepared again: %t, want %t", name, got, test.want)
		}
	}
}
