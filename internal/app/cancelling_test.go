package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// leaving is a life whose customer thinks of cancelling.
type leaving struct {
	*life

	customer int64
}

func leave(t *testing.T) *leaving {
	t.Helper()
	l := &leaving{life: live(t)}
	l.customer = l.contract().Customer.ID
	return l
}

// contract returns the contract as it is stored.
func (l *leaving) contract() contract.Contract {
	l.t.Helper()
	var c contract.Contract
	l.must(l.app.Store.View(l.t.Context(), l.of.ID, func(tx *store.Tx) error {
		list, err := tx.Contracts(l.t.Context(), []contract.ID{l.id})
		if err == nil {
			c = list[0]
		}
		return err
	}))
	return c
}

// publish publishes a flow with one reason that has offers.
func (l *leaving) publish(change func(*flow.Flow), offers ...flow.Offer) flow.Flow {
	l.t.Helper()
	is, err := l.app.Flows.Current(l.t.Context(), l.of.ID)
	l.must(err)
	f := flow.Flow{
		Mode: flow.Retention, Budget: 100_000, Support: "help@store.example",
		Reasons: []flow.Reason{{Key: "why", Label: map[string]string{"en": "Because"}, Offers: offers}},
	}
	if change != nil {
		change(&f)
	}
	f, err = l.app.Flows.Publish(l.t.Context(), l.of.ID, f, is.Version, merchant())
	l.must(err)
	return f
}

func (l *leaving) actor() activity.Actor {
	return activity.Actor{Source: activity.CustomerPortal, By: "customer", Customer: l.customer}
}

// start begins a session.
func (l *leaving) start() session.View {
	l.t.Helper()
	v, err := l.app.Cancelling.Start(l.t.Context(), l.of.ID, session.Command{Line: shop.Subscriptions, Contract: l.id, Actor: l.actor()})
	l.must(err)
	return v
}

func (l *leaving) named(v session.View) session.Named {
	return session.Named{Line: shop.Subscriptions, Session: v.ID, Actor: l.actor()}
}

// answer begins a session and gives the reason.
func (l *leaving) answer() session.View {
	l.t.Helper()
	v, err := l.app.Cancelling.Answer(l.t.Context(), l.of.ID, session.Answer{Named: l.named(l.start()), Reason: "why"})
	l.must(err)
	return v
}

// activities returns what was recorded of the contract, newest first.
func (l *leaving) activities() (list []retention.Activity) {
	l.t.Helper()
	l.must(l.app.Store.View(l.t.Context(), l.of.ID, func(tx *store.Tx) (err error) {
		list, err = tx.RetentionsOf(l.t.Context(), l.id)
		return err
	}))
	return list
}

// tea adds another product and returns its variant.
func (l *leaving) tea(price string) int64 {
	l.t.Helper()
	variants, err := l.sim.AddProduct(simulator.ProductSpec{Title: "Herbs", Variants: []simulator.VariantSpec{{Title: "Mint", Price: price}}})
	l.must(err)
	return variants[0].ID
}

// The contract has two pieces of 12.50 a month, the next order being due on November 11.
func TestAcceptedOfferChangesContractAndEndsSession(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		offer  func(l *leaving) flow.Offer
		action string
		check  func(l *leaving, c contract.Contract) bool
	}{
		"a skip of two orders": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Skip, Orders: 2} }, retention.Skipped,
			func(_ *leaving, c contract.Contract) bool {
				return c.NextBillingDate.Format(time.DateOnly) == "2027-01-11"
			},
		},
		"a pause": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Pause, Months: 2} }, retention.Paused,
			func(_ *leaving, c contract.Contract) bool {
				return c.Status == contract.Paused && c.Pause != nil && c.Pause.Until.Format(time.DateOnly) == "2027-01-01"
			},
		},
		"a percentage": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Discount, Percent: 20, Orders: 2} }, retention.DiscountApplied,
			func(l *leaving, _ contract.Contract) bool {
				l.until("2027-01-12")
				return l.contract().Lifetime == money.Amount{Minor: 2000 + 2000 + 2500, Currency: "USD"}
			},
		},
		"an amount": {
			func(*leaving) flow.Offer {
				return flow.Offer{Kind: flow.Discount, Amount: money.Amount{Minor: 300, Currency: "USD"}, Orders: 1}
			}, retention.DiscountApplied,
			func(l *leaving, _ contract.Contract) bool {
				l.until("2026-12-12")
				return l.contract().Lifetime == money.Amount{Minor: 2200 + 2500, Currency: "USD"}
			},
		},
		"another product": {
			func(l *leaving) flow.Offer { return flow.Offer{Kind: flow.Swap, Variants: []int64{l.tea("5.00")}} }, retention.ProductSwapped,
			func(_ *leaving, c contract.Contract) bool {
				return c.Lines[0].Title == "Herbs" && c.Lines[0].Price.Minor == 500
			},
		},
		"a piece less": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Quantity} }, retention.QuantityChanged,
			func(_ *leaving, c contract.Contract) bool { return c.Lines[0].Quantity == 1 },
		},
		"a later date": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Reschedule, Days: 14} }, retention.Rescheduled,
			func(_ *leaving, c contract.Contract) bool {
				return c.NextBillingDate.Format(time.DateOnly) == "2026-11-25"
			},
		},
		"a sample": {
			func(l *leaving) flow.Offer { return flow.Offer{Kind: flow.Sample, Variants: []int64{l.tea("5.00")}} }, retention.Kept,
			func(l *leaving, c contract.Contract) bool {
				l.until("2026-11-12")
				return c.OneOffs == 1 && l.contract().Lifetime.Minor == 2500
			},
		},
		"support": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.Support} }, retention.ContactedSupport,
			func(_ *leaving, c contract.Contract) bool { return c.Status == contract.Active },
		},
		"a link to the payment method": {
			func(*leaving) flow.Offer { return flow.Offer{Kind: flow.PaymentLink} }, retention.Kept,
			func(_ *leaving, c contract.Contract) bool { return c.Status == contract.Active },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := leave(t)
			offer := row.offer(l)
			l.publish(nil, offer)
			v := l.answer()
			if v.Step != session.Offering || v.Offer == nil || v.Offer.Kind != offer.Kind || v.Effect.Next.IsZero() {
				t.Fatalf("at %s, offered %+v", v.Step, v.Offer)
			}
			choice := ""
			if len(v.Offer.Choices) > 0 {
				choice = v.Offer.Choices[0].Key
			}
			yes := session.Acceptance{Named: l.named(v), Choice: choice}
			v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, yes)
			l.must(err)
			if v.Step != session.Ended || v.Outcome != session.Accepted || v.Action != row.action {
				t.Errorf("ended %+v", v.Session)
			}
			l.settle()
			if c := l.contract(); !row.check(l, c) {
				t.Errorf("the contract is %s, next on %s, lines %+v", c.Status, c.NextBillingDate, c.Lines)
			}
			before := l.contract()
			if again, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, yes); err != nil || again.ID != v.ID || again.Outcome != session.Accepted {
				t.Errorf("accepted again: %+v, %v", again.Session, err)
			}
			if after := l.contract(); after.Version != before.Version {
				t.Error("accepting again has changed the contract")
			}
			list := l.activities()
			if len(list) != 1 || list[0].Action != row.action || list[0].Reason != "Because" || !strings.Contains(list[0].Info, `"accepted":true`) {
				t.Errorf("recorded %+v", list)
			}
		})
	}
}

// failing are the services whose caller dies once a change is made.
type failing struct {
	session.Edits
	session.Orders
	session.Statuses
	errs []error // after each change; nil: it does not fail
}

var errGone = fault.New(fault.Unavailable, "the node is gone")

func (f *failing) after() error {
	if len(f.errs) == 0 {
		return nil
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

func (f *failing) Skip(ctx context.Context, of shop.ID, cmd command.Skip) (billing.Record, error) {
	r, err := f.Orders.Skip(ctx, of, cmd)
	return r, errors.Join(err, f.after())
}

func (f *failing) AddDiscount(ctx context.Context, of shop.ID, cmd amend.Command, want contractedit.Discount) (contract.Detail, error) {
	if err := f.after(); err != nil {
		if errors.Is(err, errGone) {
			cmd.Actor.CancelSession = 0 // another caller makes it later
			_, _ = f.Edits.AddDiscount(ctx, of, cmd, want)
		}
		return contract.Detail{}, err
	}
	return f.Edits.AddDiscount(ctx, of, cmd, want)
}

func (f *failing) SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	d, err := f.Statuses.SetStatus(ctx, of, cmd, w)
	return d, errors.Join(err, f.after())
}

func (l *leaving) fails(errs ...error) {
	s := l.app.Cancelling
	f := &failing{Edits: s.Edits, Orders: s.Orders, Statuses: s.Statuses, errs: errs}
	s.Edits, s.Orders, s.Statuses = f, f, f
}

func TestSessionEndsInTheCommitThatChangesTheContract(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Pause, Months: 1})
	l.fails(errGone)
	v := l.answer()
	v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, session.Acceptance{Named: l.named(v)})
	if v.Outcome != session.Accepted || err != nil || len(l.activities()) != 1 {
		t.Errorf("ended %+v, %v, recorded %+v", v.Session, err, l.activities())
	}
}

func TestOfferWithoutAnswerIsMadeOnceWhenAcceptedAgain(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Discount, Percent: 20, Orders: 3})
	l.fails(errGone)
	v := l.answer()
	yes := session.Acceptance{Named: l.named(v)}
	if v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, yes); err == nil || v.Step != session.Accepting {
		t.Fatalf("without an answer it is at %s, %v", v.Step, err)
	}
	v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, yes)
	if err != nil || v.Outcome != session.Accepted {
		t.Errorf("the second time: %+v, %v", v.Session, err)
	}
	if c := l.contract(); len(c.Discounts) != 1 {
		t.Errorf("the contract has the discounts %+v", c.Discounts)
	}
}

func TestRefusedOfferLeavesSessionAtTheOffer(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Discount, Percent: 20, Orders: 3})
	l.fails(fault.New(fault.FailedPrecondition, "the platform refuses it"))
	v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, session.Acceptance{Named: l.named(l.answer())})
	if err == nil || v.Step != session.Offering || !v.AcceptedAt.IsZero() || len(l.activities()) != 0 {
		t.Errorf("refused: %+v, %v", v.Session, err)
	}
}

func TestOfferIsMadeOnlyWhenItFits(t *testing.T) {
	t.Parallel()
	discount := flow.Offer{Kind: flow.Discount, Percent: 20, Orders: 2}
	accept := func(l *leaving) {
		_, err := l.app.Cancelling.Accept(l.t.Context(), l.of.ID, session.Acceptance{Named: l.named(l.answer())})
		l.must(err)
		l.settle()
	}
	decline := func(l *leaving) {
		_, err := l.app.Cancelling.Keep(l.t.Context(), l.of.ID, l.named(l.answer()))
		l.must(err)
	}
	off := func(list ...portal.Toggle) func(l *leaving) {
		return func(l *leaving) {
			l.must(l.app.Store.Update(l.t.Context(), l.of.ID, func(tx *store.Tx) error {
				return tx.PutPortalSettings(l.t.Context(), &portal.Settings{Off: list})
			}))
		}
	}
	for name, row := range map[string]struct {
		flow   func(*flow.Flow)
		offers []flow.Offer
		before func(l *leaving)
		want   flow.Kind // empty: none
	}{
		"the first one":                                 {nil, []flow.Offer{discount, {Kind: flow.Pause, Months: 1}}, nil, flow.Discount},
		"the second one, as there is no budget":         {func(f *flow.Flow) { f.Budget = 0 }, []flow.Offer{discount, {Kind: flow.Pause, Months: 1}}, nil, flow.Pause},
		"none, as the budget is too small":              {func(f *flow.Flow) { f.Budget = 999 }, []flow.Offer{discount}, nil, ""},
		"a discount that the budget just allows":        {func(f *flow.Flow) { f.Budget = 1000 }, []flow.Offer{discount}, nil, flow.Discount},
		"none, as the customer had one within the year": {nil, []flow.Offer{discount}, func(l *leaving) { accept(l); l.pass(364 * 24 * time.Hour) }, ""},
		"a discount again after a year":                 {nil, []flow.Offer{discount}, func(l *leaving) { accept(l); l.pass(366 * 24 * time.Hour) }, flow.Discount},
		"none, as it was offered within 90 days":        {nil, []flow.Offer{discount}, func(l *leaving) { decline(l); l.pass(89 * 24 * time.Hour) }, ""},
		"a discount again after 90 days":                {nil, []flow.Offer{discount}, func(l *leaving) { decline(l); l.pass(91 * 24 * time.Hour) }, flow.Discount},
		"another kind, although one was offered":        {nil, []flow.Offer{discount, {Kind: flow.Quantity}}, decline, flow.Quantity},
		"none, as the only product is the same":         {nil, []flow.Offer{{Kind: flow.Swap, Variants: []int64{1}}}, nil, ""},
		"none, as there is no plan group":               {nil, []flow.Offer{{Kind: flow.Frequency, Direction: flow.Other}}, nil, ""},
		"none, as the store has switched skips off":     {nil, []flow.Offer{{Kind: flow.Skip, Orders: 1}}, off(portal.AllowSkip), ""},
		"none, as the store has switched pauses off":    {nil, []flow.Offer{{Kind: flow.Pause, Months: 1}}, off(portal.AllowPause), ""},
		"support, while the contract is paused": {nil, []flow.Offer{discount, {Kind: flow.Support}}, func(l *leaving) {
			_, err := l.app.Lifecycle.SetStatus(l.t.Context(), l.of.ID, l.command(), lifecycle.StatusChange{To: contract.Paused})
			l.must(err)
		}, flow.Support},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := leave(t)
			l.publish(row.flow, row.offers...)
			if row.before != nil {
				row.before(l)
			}
			v := l.answer()
			switch {
			case row.want == "" && (v.Step != session.Confirming || !v.OfferedAt.IsZero()):
				t.Errorf("at %s with %+v, want the confirmation", v.Step, v.Offer)
			case row.want != "" && (v.Step != session.Offering || v.Offer.Kind != row.want):
				t.Errorf("at %s with %+v, want %s", v.Step, v.Offer, row.want)
			}
		})
	}
}

func TestOfferSaysWhenAndHowMuch(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Skip, Orders: 2})
	v := l.answer()
	var dates []string
	for _, s := range v.Offer.Skips {
		dates = append(dates, s.Date.Format(time.DateOnly)+" "+s.Amount.String())
	}
	if diff := cmp.Diff([]string{"2026-11-11 25.00", "2026-12-11 25.00"}, dates); diff != "" || v.Offer.Next.Format(time.DateOnly) != "2027-01-11" || v.Offer.Pays.Minor != 2500 {
		t.Errorf("next on %s for %s, %s", v.Offer.Next, v.Offer.Pays, diff)
	}
	if e := v.Effect; !e.EndsAt.IsZero() || e.Next.Format(time.DateOnly) != "2026-11-11" || e.Pays.Minor != 2500 || e.Orders != 1 {
		t.Errorf("a cancellation does %+v", e)
	}
}

func TestCustomerHeldBackGetsNoOfferAndIsCompared(t *testing.T) {
	t.Parallel()
	l := leave(t)
	var held, treated int
	for held == 0 || treated == 0 {
		f := l.publish(func(f *flow.Flow) { f.HoldBack = 50 }, flow.Offer{Kind: flow.Support})
		v := l.answer()
		is := f.HoldsBack(l.of.ID, l.customer)
		if is != (v.Step == session.Confirming) || is != v.OfferedAt.IsZero() || is != (v.Arm == session.HeldBack) {
			t.Fatalf("version %d: held back %t, and it is %+v", f.Version, is, v.Session)
		}
		if is {
			held++
		} else {
			treated++
		}
		_, err := l.app.Cancelling.Keep(t.Context(), l.of.ID, l.named(v))
		l.must(err)
		// The second session of a customer with the same version is in no comparison.
		again := l.answer()
		if again.Arm != session.None || is != again.OfferedAt.IsZero() {
			t.Errorf("the second time: %+v", again.Session)
		}
		_, err = l.app.Cancelling.Keep(t.Context(), l.of.ID, l.named(again))
		l.must(err)
	}
	reports := report.Service{Store: l.app.Store.CancelReports(), Clock: l.clock}
	r, err := reports.Report(t.Context(), l.of.ID, l.clock.Now().AddDate(0, 0, -1), l.clock.Now().Add(time.Second))
	l.must(err)
	var with, without int
	for _, trial := range r.Trials {
		with, without = with+trial.Treated.Kept.Of, without+trial.Held.Kept.Of
	}
	if with != treated || without != held || r.Kept != 2*(held+treated) {
		t.Errorf("%d with and %d without an offer, want %d and %d: %+v", with, without, treated, held, r)
	}
}

func TestSessionThatIsLeftOpenEndsAfterADay(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Support})
	v := l.answer()
	l.pass(23 * time.Hour)
	if again := l.start(); again.ID != v.ID || again.Step != session.Offering {
		t.Errorf("within the day: %+v, want session %d to go on", again.Session, v.ID)
	}
	l.pass(2 * time.Hour)
	is, err := l.app.Cancelling.Session(t.Context(), l.of.ID, l.named(v))
	l.must(err)
	list := l.activities()
	if is.Outcome != session.Abandoned || len(list) != 1 || list[0].Action != retention.Kept || !strings.Contains(list[0].Info, "ABANDONED") {
		t.Errorf("after a day: %+v, recorded %+v", is.Session, list)
	}
	if next := l.start(); next.ID == v.ID {
		t.Error("an ended session goes on")
	}
}

func TestCancellationEndsSessionWithReasonAndComment(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Support})
	v, err := l.app.Cancelling.Answer(t.Context(), l.of.ID, session.Answer{Named: l.named(l.start()), Reason: "why", Comment: "Too sweet"})
	l.must(err)
	v, err = l.app.Cancelling.Confirm(t.Context(), l.of.ID, l.named(v))
	l.must(err)
	l.settle()
	c := l.contract()
	if v.Outcome != session.Cancelled || c.Status != contract.Cancelled || c.CancellationFeedback != "Because" || c.CancellationNote != "Too sweet" || v.Reference() != fmt.Sprintf("C-%d-%d", l.id, v.ID) {
		t.Errorf("ended %+v, the contract is %s: %q %q", v.Session, c.Status, c.CancellationFeedback, c.CancellationNote)
	}
	list := l.activities()
	if len(list) != 1 || list[0].Action != retention.Cancelled || !strings.Contains(list[0].Info, "Too sweet") {
		t.Errorf("recorded %+v", list)
	}
	if again, err := l.app.Cancelling.Confirm(t.Context(), l.of.ID, l.named(v)); err != nil || again.Outcome != session.Cancelled || len(l.activities()) != 1 {
		t.Errorf("confirmed again: %+v, %v", again.Session, err)
	}
	if _, err := l.app.Cancelling.Keep(t.Context(), l.of.ID, l.named(v)); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("kept after the cancellation: %v", err)
	}
	said, err := l.app.Cancelling.Comment(t.Context(), l.of.ID, session.Answer{Named: l.named(v), Comment: "And too dear"})
	if err != nil || said.Comment != "And too dear" {
		t.Errorf("said afterwards: %+v, %v", said.Session, err)
	}
}

func TestCancellationIsPossibleAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(l *leaving) session.View{
		"the question":     func(l *leaving) session.View { l.publish(nil, flow.Offer{Kind: flow.Support}); return l.start() },
		"the offer":        func(l *leaving) session.View { l.publish(nil, flow.Offer{Kind: flow.Support}); return l.answer() },
		"the confirmation": func(l *leaving) session.View { l.publish(nil); return l.answer() },
		"the instructions": func(l *leaving) session.View {
			l.publish(func(f *flow.Flow) { f.Mode, f.Instructions = flow.Instructions, "Call us." })
			return l.start()
		},
		"no question": func(l *leaving) session.View {
			l.publish(func(f *flow.Flow) { f.Mode = flow.Immediate })
			return l.start()
		},
		"an offer that got no answer": func(l *leaving) session.View {
			l.publish(nil, flow.Offer{Kind: flow.Discount, Percent: 10, Orders: 1})
			l.fails(errGone)
			v, _ := l.app.Cancelling.Accept(l.t.Context(), l.of.ID, session.Acceptance{Named: l.named(l.answer())})
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := leave(t)
			v, err := l.app.Cancelling.Confirm(t.Context(), l.of.ID, l.named(begin(l)))
			if err != nil || v.Outcome != session.Cancelled || l.contract().Status != contract.Cancelled {
				t.Errorf("ended %+v, %v", v.Session, err)
			}
		})
	}
}

func TestKeptContractThatIsCancelledLaterIsLost(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Pause, Months: 1})
	v, err := l.app.Cancelling.Accept(t.Context(), l.of.ID, session.Acceptance{Named: l.named(l.answer())})
	l.must(err)
	l.pass(30 * 24 * time.Hour)
	_, err = l.app.Lifecycle.SetStatus(t.Context(), l.of.ID, l.command(), lifecycle.StatusChange{To: contract.Cancelled})
	l.must(err)
	l.settle()
	is, err := l.app.Cancelling.Session(t.Context(), l.of.ID, l.named(v))
	l.must(err)
	if is.Outcome != session.Accepted || !is.LostAt.Equal(l.contract().CancelledAt) {
		t.Errorf("lost at %s, the contract was cancelled at %s", is.LostAt, l.contract().CancelledAt)
	}
}

func TestSessionIsHiddenFromOthers(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(nil, flow.Offer{Kind: flow.Support})
	v := l.answer()
	s, of, stranger := l.app.Cancelling, l.of.ID, l.named(v)
	stranger.Actor.Customer++
	member := l.named(v)
	member.Line = shop.Memberships
	for name, cmd := range map[string]session.Named{"another customer": stranger, "the other line": member, "no session": {Line: shop.Subscriptions, Session: v.ID + 999, Actor: l.actor()}} {
		for step, err := range map[string]error{
			"read":    second(s.Session(t.Context(), of, cmd)),
			"answer":  second(s.Answer(t.Context(), of, session.Answer{Named: cmd, Reason: "why"})),
			"accept":  second(s.Accept(t.Context(), of, session.Acceptance{Named: cmd})),
			"decline": second(s.Decline(t.Context(), of, cmd)),
			"back":    second(s.Back(t.Context(), of, cmd)),
			"keep":    second(s.Keep(t.Context(), of, cmd)),
			"confirm": second(s.Confirm(t.Context(), of, cmd)),
			"comment": second(s.Comment(t.Context(), of, session.Answer{Named: cmd, Comment: "x"})),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s by %s: %v, want NotFound", step, name, err)
			}
		}
	}
	for name, cmd := range map[string]session.Command{
		"another customer": {Line: shop.Subscriptions, Contract: l.id, Actor: stranger.Actor}, "the other line": {Line: shop.Memberships, Contract: l.id, Actor: l.actor()},
	} {
		if _, err := s.Start(t.Context(), of, cmd); !fault.Is(err, fault.NotFound) {
			t.Errorf("started by %s: %v", name, err)
		}
		if _, err := s.Shown(t.Context(), of, cmd); !fault.Is(err, fault.NotFound) {
			t.Errorf("shown to %s: %v", name, err)
		}
	}
	if is, err := s.Session(t.Context(), of, l.named(v)); err != nil || is.Step != session.Offering {
		t.Errorf("it is %+v, %v", is.Session, err)
	}
}

func second(_ session.View, err error) error { return err }

// A customer who was made an offer gets no second one by giving another reason.
func TestSessionHasOneOffer(t *testing.T) {
	t.Parallel()
	l := leave(t)
	l.publish(func(f *flow.Flow) {
		f.Reasons = append(f.Reasons, flow.Reason{Key: "other", Label: map[string]string{"en": "Other"}, Offers: []flow.Offer{{Kind: flow.Pause, Months: 1}}})
	}, flow.Offer{Kind: flow.Support})
	v, err := l.app.Cancelling.Back(t.Context(), l.of.ID, l.named(l.answer()))
	l.must(err)
	v, err = l.app.Cancelling.Answer(t.Context(), l.of.ID, session.Answer{Named: l.named(v), Reason: "other"})
	l.must(err)
	if v.Step != session.Confirming || v.Reason != "other" {
		t.Errorf("at %s with %+v", v.Step, v.Offer)
	}
	kinds := slices.Collect(func(yield func(session.Step) bool) {
		for _, m := range v.Moves {
			if !yield(m.Step) {
				return
			}
		}
	})
	if diff := cmp.Diff([]session.Step{session.Asking, session.Offering, session.Asking}, kinds); diff != "" {
		t.Error(diff)
	}
}
