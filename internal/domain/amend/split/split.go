package split

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Params says which lines become a contract of their own.
type Params struct {
	Lines []string
	Once  bool // the new contract has one order
	Now   bool // its first order is charged at once
}

// Split moves lines into a contract of their own. The intent is committed first, so that
// no other split begins and RunDue finishes this one if the process dies. The new
// contract is created PAUSED, so that nothing is charged twice while both contracts have
// the lines, and gets its discounts. Then the old contract loses the lines, and the new
// one gets the old one's status.
func (s *Service) Split(ctx context.Context, of shop.ID, cmd amend.Command, w Params) (contract.Detail, error) {
	if len(w.Lines) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name at least one line to split").Entity(amend.Entity).Code("linesCount")
	}
	ctx = platform.Interactive(ctx)
	store, known, err := s.Load(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if w.Now && !store.Settings.ImmediateOrders {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "the store does not permit immediate orders: switch on enableImmediatePlaceOrder").
			Entity(amend.Entity).Code("immediateOrderNotAllowed").Field("attemptBilling")
	}
	if known.Lifelong && (w.Once || w.Now) {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d is paid for life and has no further orders. Split it with isSplitContract=true and attemptBilling=false", known.ID).
			Entity(amend.Entity).Code("lifetimeMembership").Field("isSplitContract")
	}
	if w.Now && known.Status == contract.Paused {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d is PAUSED and cannot be charged at once. Split it with attemptBilling=false, or resume it first", known.ID).
			Entity(amend.Entity).Code("contractNotActive").Field("attemptBilling")
	}
	if w.Now && !known.PaymentUsable {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d has no payment method that can be charged", known.ID).
			Entity(amend.Entity).Code("paymentMethodMissing").Field("attemptBilling")
	}
	intent := contract.SplitIntent{Token: rand.Text(), Lines: w.Lines, Once: w.Once, Now: w.Now, Actor: cmd.Actor, At: s.Clock.Now()}
	is, err := s.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
	if err != nil {
		return contract.Detail{}, amend.PlatformError(err)
	}
	err = s.Store.View(ctx, of, func(tx intake.ReadTx) (err error) {
		intent.Cycle, err = firstCycle(ctx, tx, known, s.Clock.Now())
		return err
	})
	if err != nil {
		return contract.Detail{}, err
	}
	if known.MaxCycles > 0 && !known.Lifelong && intent.Cycle > known.MaxCycle() {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d has had all its %d orders: there is nothing to split", known.ID, known.MaxCycles).
			Entity(amend.Entity).Code("noOrdersLeft")
	}
	if _, err := newContractOf(known, is, intent, nil); err != nil { // before anything is written
		return contract.Detail{}, err
	}
	intent.Lines = linesInOrder(is, w.Lines)
	intent.Discounts = discountsFor(is, intent.Lines)
	err = s.UpdateRowTx(ctx, of, &known, func(tx intake.Tx, c *contract.Contract) error {
		if err := checkSplittable(*c, w.Lines); err != nil {
			return err
		}
		cycle, err := firstCycle(ctx, tx, *c, s.Clock.Now())
		if err == nil && cycle != intent.Cycle {
			err = amend.ChangedMeanwhile()
		}
		c.Split, c.AmendAt = &intent, intent.At.Add(contract.PendingChangeTimeout)
		return err
	})
	if err != nil {
		return contract.Detail{}, err
	}
	return s.finish(ctx, store, known, true)
}

// firstCycle returns the cycle of the contract's next order, which becomes the first of
// the new contract. It fails while an order is due, in flight or unpaid: that order has
// all lines and comes first.
func firstCycle(ctx context.Context, tx intake.ReadTx, c contract.Contract, now time.Time) (int, error) {
	attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID})
	if err != nil {
		return 0, err
	}
	for _, a := range attempts {
		if a.HoldsBack() || a.Status.Upcoming() && !a.BillingDate.After(now) {
			return 0, fault.New(fault.Conflict, "the order of cycle %d of subscription contract %d is being charged: split the contract afterwards", a.Cycle, c.ID).
				Entity(amend.Entity).Code("billingInProgress")
		}
		if a.Unpaid() {
			return 0, fault.New(fault.Conflict, "the order of cycle %d of subscription contract %d is unpaid and has all lines: split the contract when it is paid or given up", a.Cycle, c.ID).
				Entity(amend.Entity).Code("orderUnpaid")
		}
	}
	return amend.NextCycle(c, attempts, now), nil
}

// checkSplittable refuses a split while another change of the contract is in progress,
// or waits for one of the lines.
func checkSplittable(c contract.Contract, lines []string) error {
	switch {
	case c.Split != nil:
		return fault.New(fault.Conflict, "Another split of the subscription contract is already in progress").Entity(amend.Entity).Code("splitInProgress")
	case c.Moving != nil:
		return fault.New(fault.Conflict, "A change of the status is already in progress").Entity(amend.Entity).Code("statusInProgress")
	case c.EndsAfterDunning():
		return fault.New(fault.Conflict, "The subscription contract is being ended because an order of it could not be charged").Entity(amend.Entity).Code("statusInProgress")
	case c.Ending != nil:
		return fault.New(fault.FailedPrecondition, "subscription contract %d will be cancelled on %s: undo the cancellation before you split it", c.ID, c.Ending.At.UTC().Format(time.RFC3339)).
			Entity(amend.Entity).Code("cancellationPending")
	case c.Pending != nil && slices.Contains(lines, c.Pending.Line):
		return fault.New(fault.Conflict, "a change of line %s waits for the next order: cancel it before you split the line", c.Pending.Line).Entity(amend.Entity).Code("changePending")
	}
	return nil
}

// finish continues a split from its current state. Only the first call may create the
// new contract, because creating it is not safe to repeat.
func (s *Service) finish(ctx context.Context, store shop.Shop, old contract.Contract, first bool) (contract.Detail, error) {
	made, err := s.newContract(ctx, store, &old, first)
	if err != nil {
		return contract.Detail{}, err
	}
	if made, err = s.addDiscounts(ctx, store, *old.Split, made); amend.Permanent(err) {
		return contract.Detail{}, errors.Join(err, s.undo(ctx, store, old, made))
	}
	if err != nil {
		return contract.Detail{}, err
	}
	cmd := amend.Command{Line: old.Line, Contract: old.ID, Actor: old.Split.Actor}
	left, err := s.Edit(ctx, store.ID, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) { return removeLines(d, *old.Split), nil })
	if amend.Permanent(err) {
		return contract.Detail{}, errors.Join(err, s.undo(ctx, store, old, made))
	}
	if err != nil {
		return contract.Detail{}, err
	}
	// A slow worker must not activate a contract that another worker has activated before.
	if err := s.updateIfCurrent(ctx, store.ID, &old, func(c *contract.Contract) { c.AmendAt = s.Clock.Now().Add(contract.PendingChangeTimeout) }); err != nil {
		return contract.Detail{}, err
	}
	after, sent, err := s.Send(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
		return s.activate(ctx, store, made, left.Status)
	})
	if err != nil {
		return contract.Detail{}, err
	}
	cmd.Contract = contract.ID(after.ID)
	detail, err := s.Adopt(ctx, store, cmd, after, amend.Change{
		InFlight: sent,
		Update: func(c *contract.Contract) { // the new one is paused for as long
			if c.Status == contract.Paused {
				c.Pause = left.Pause
				c.ResetAmendAt()
			}
		},
	})
	if err != nil {
		return contract.Detail{}, err
	}
	charged := s.chargeNow(ctx, store.ID, detail.Contract, *old.Split)
	if err := s.updateIfCurrent(ctx, store.ID, &old, EndSplit); err != nil {
		return contract.Detail{}, err
	}
	return detail, charged
}

// updateIfCurrent changes the old contract while the same split is in progress.
func (s *Service) updateIfCurrent(ctx context.Context, of shop.ID, old *contract.Contract, alter func(*contract.Contract)) error {
	token := old.Split.Token
	return s.UpdateRow(ctx, of, old, func(c *contract.Contract) error {
		if c.Split == nil || c.Split.Token != token {
			return amend.ChangedMeanwhile()
		}
		alter(c)
		return nil
	})
}

// removeLines returns the change that removes the lines that the old contract still has.
func removeLines(d contract.Detail, w contract.SplitIntent) amend.Change {
	var c amend.Change
	for _, id := range w.Lines {
		if d.LineByID(id) >= 0 {
			c.Edit.Lines = append(c.Edit.Lines, platform.LineEdit{Line: id, Remove: true})
		}
	}
	if len(c.Edit.Lines) > 0 {
		c.Entries = []amend.Note{{Event: activity.SplitContract, Details: splitDetails{To: int64(w.New), Lines: w.Lines}}}
	}
	return c
}

// undo ends a split that the old contract no longer allows: it cancels the new contract
// before its first order.
func (s *Service) undo(ctx context.Context, store shop.Shop, old contract.Contract, made platform.Detail) error {
	after, sent, err := s.Send(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
		return s.Platform.SetStatus(ctx, store.At(), made.ID, string(contract.Cancelled))
	})
	if err != nil {
		return err // it stays paused, and RunDue tries again
	}
	_, err = s.Adopt(ctx, store, amend.Command{Contract: contract.ID(made.ID), Actor: activity.System}, after, amend.Change{
		InFlight: sent,
		Entries:  []amend.Note{{Event: activity.ContractCancelled, Details: splitDetails{From: int64(old.ID), Lines: old.Split.Lines}}},
	})
	if err != nil {
		return err
	}
	return s.updateIfCurrent(ctx, store.ID, &old, EndSplit)
}

// EndSplit removes the intent.
func EndSplit(c *contract.Contract) {
	c.Split = nil
	c.ResetAmendAt()
}

// chargeNow charges the first order of the new contract, if it was requested and has not
// been charged.
func (s *Service) chargeNow(ctx context.Context, of shop.ID, made contract.Contract, w contract.SplitIntent) error {
	if !w.Now {
		return nil
	}
	next, err := s.NextAttempt(ctx, of, made)
	if err != nil || next.Cycle > made.Series.Cycle {
		return err
	}
	return s.Orders.Trigger(ctx, of, command.Trigger{Line: made.Line, Attempt: next.ID, Actor: w.Actor})
}

// splitDetails is the details of an entry about a split.
type splitDetails struct {
	From  int64    `json:"fromContractId,omitempty"`
	To    int64    `json:"toContractId,omitempty"`
	Lines []string `json:"lineIds"`
}

// Resume finishes a split that was left undone.
func (s *Service) Resume(ctx context.Context, of shop.ID, c contract.Contract) error {
	store, err := s.ConnectedShop(ctx, of)
	if err == nil {
		_, err = s.finish(ctx, store, c, false)
	}
	return err
}
