package mover

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

const (
	// margin is how long before its next order a contract is no longer stopped: that order is made
	// where the contract is.
	margin = time.Hour
	// settling is how long a charge that is under way is waited for between two looks.
	settling = 10 * time.Minute
	// longestStop is how long a contract stays stopped because of a charge that does not end.
	longestStop = 24 * time.Hour
)

// choose lets as many contracts go as the wave allows.
func (s *Service) choose(ctx context.Context, tx moving.Tx, m moving.Move, counts []moving.Count, now time.Time) error {
	gone, shadows := 0, 0
	for _, c := range counts {
		switch {
		case c.Stage == moving.Moved || c.Stage.UnderWay() || c.Stage == moving.Chosen:
			gone += c.N
		case c.Stage == moving.Shadow:
			shadows += c.N
		}
	}
	free := min(m.Quota(gone+shadows)-gone, chosenAtOnce)
	if free <= 0 {
		return nil
	}
	items, err := tx.WaitingMoveItems(ctx, m.ID, chosenAtOnce)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(i moving.Item) bool { return i.Round > 0 && now.Before(i.Since.Add(returnPause(i.Round))) })
	items = items[:min(free, len(items))]
	for i := range items {
		if err := items[i].Enter(moving.Chosen, now); err != nil {
			return err
		}
	}
	return tx.PutMoveItems(ctx, items)
}

// returnPause returns how long a contract stays that was given back so many times: from ten minutes
// to a day.
func returnPause(round int) time.Duration {
	return doubled(settling, round, 24*time.Hour)
}

// chosenAtOnce is how many contracts are chosen in one commit.
const chosenAtOnce = 500

// step takes the next step with a contract. Each step can be repeated: it is committed after it was
// taken, and the process may die between.
func (w *worker) step(ctx context.Context, i *moving.Item) ([]moving.Compared, error) {
	now := w.Clock.Now()
	switch i.Stage {
	case moving.Found, moving.Staying:
		return nil, w.first(ctx, i, now)
	case moving.Shadow:
		return w.shadow(ctx, i, now)
	case moving.Chosen:
		return nil, w.begin(ctx, i, now)
	case moving.Stopping:
		return nil, w.stop(ctx, i, now)
	case moving.Making:
		return nil, w.make(ctx, i, now)
	case moving.Made:
		return nil, w.adjust(ctx, i, now)
	case moving.Cancelling:
		return nil, w.cancel(ctx, i, now)
	case moving.Opening:
		return nil, w.open(ctx, i, now)
	case moving.Returning:
		return nil, w.giveBack(ctx, i, now)
	}
	i.DueAt = time.Time{}
	return nil, nil
}

// first reads a contract that is not chosen yet, and tells whether it can go.
func (w *worker) first(ctx context.Context, i *moving.Item, now time.Time) error {
	if err := w.read(ctx, i); err != nil {
		return err
	}
	to := moving.Shadow
	if i.Fit == moving.Stays {
		to = moving.Staying
	}
	if i.Stage != to {
		if err := i.Enter(to, now); err != nil {
			return err
		}
	}
	w.await(i, now)
	return nil
}

// begin looks whether a contract can be stopped now: nothing is under way, and its next order is not
// about to be made.
func (w *worker) begin(ctx context.Context, i *moving.Item, now time.Time) error {
	if err := w.read(ctx, i); err != nil {
		return err
	}
	if i.Fit == moving.Stays {
		return i.Enter(moving.Staying, now)
	}
	if w.move.File != nil {
		return i.Enter(moving.Making, now)
	}
	if p, is := i.Contract.UnderWay(); is {
		w.awaitOrder(i, p, now)
		if p.Status == moving.Declined {
			i.DueAt = now.Add(grace)
		}
		return nil
	}
	if c := i.Contract; c.Status == contract.Active && c.Next.Before(now.Add(margin)) {
		i.Reason, i.DueAt = "Its next order is about to be made: it is waited for.", later(c.Next, now).Add(settling)
		return nil
	}
	if c := i.Contract; c.Status == contract.Paused && !c.PausedTo.IsZero() && c.PausedTo.Before(now.Add(longestStop)) {
		i.Reason, i.DueAt = "Its pause is about to end: that is waited for.", later(c.PausedTo, now).Add(settling)
		return nil
	}
	return i.Enter(moving.Stopping, now)
}

// awaitOrder has an order waited for that is not at its end where the contract is.
func (w *worker) awaitOrder(i *moving.Item, p moving.Past, now time.Time) {
	i.Reason, i.DueAt = fmt.Sprintf("The order of %s is %s there: it is waited for.", w.cal.Day(p.Date), p.Status), now.Add(settling)
}

// stop stops a contract where it is and sees that it is stopped, and that no order was made or begun
// since it was read.
func (w *worker) stop(ctx context.Context, i *moving.Item, now time.Time) error {
	c := i.Contract
	if err := w.from.Stop(ctx, w.store, c.Line, i.There); err != nil {
		return err
	}
	is, err := w.from.Contract(ctx, w.store, c.Line, i.There)
	switch {
	case err != nil:
		return err
	case is.Status != contract.Paused:
		return fault.New(fault.Unavailable, "the contract is still %s there after it was stopped", is.Status).Entity("move").Code("notStopped")
	}
	if p, charging := is.UnderWay(); charging {
		if now.Sub(i.Since) > longestStop {
			i.Reason = fmt.Sprintf("The order of %s does not come to its end there.", w.cal.Day(p.Date))
			return i.Enter(moving.Returning, now)
		}
		w.awaitOrder(i, p, now)
		return nil
	}
	if is.Orders != c.Orders || differsWithoutStatus(c, is) {
		i.Reason = "The contract was charged or changed while it was stopped: it is read again."
		return i.Enter(moving.Returning, now)
	}
	return i.Enter(moving.Making, now)
}

// differsWithoutStatus reports whether two readings differ in anything that goes along but the status.
func differsWithoutStatus(a, b moving.Contract) bool {
	a.Status = b.Status
	return differs(a, b) || a.Method != b.Method || a.PaymentMethod != b.PaymentMethod || a.Note != b.Note
}

// make creates the contract where it goes, behind a fence.
func (w *worker) make(ctx context.Context, i *moving.Item, now time.Time) error {
	here, err := w.to.Create(ctx, w.store, w.translated(i.Contract, now), i.Key())
	if err != nil {
		return err
	}
	i.Here = here
	return i.Enter(moving.Made, now)
}

// translated returns a contract with the selling plans of the service that it goes to.
func (w *worker) translated(c moving.Contract, now time.Time) moving.Contract {
	lines := make([]moving.Line, len(c.Lines))
	for n, l := range c.Lines {
		l.Plan = w.plan(l.Plan)
		lines[n] = l
	}
	c.Lines = lines
	if c.Status == contract.Paused && !c.PausedTo.IsZero() && !c.PausedTo.After(now) { // its pause has ended on the way
		c.Status, c.PausedTo = contract.Active, time.Time{}
	}
	if w.move.File == nil {
		c.ImportedID = fmt.Sprint(c.ID)
	}
	if c.Next.IsZero() {
		c.Next = now.Add(c.Billing.Approx())
	}
	return c
}

// adjust takes over what is special about orders to come, and sees that the contract is what it was.
func (w *worker) adjust(ctx context.Context, i *moving.Item, now time.Time) error {
	c := i.Contract
	if err := w.to.Adjust(ctx, w.store, c.Line, i.Here, c.Edits(w.cal)); err != nil {
		return err
	}
	is, err := w.to.Contract(ctx, w.store, c.Line, i.Here)
	if err != nil {
		return err
	}
	what := unlike(c, is)
	if what == "" {
		what = w.translated(c, now).Differs(is, w.cal)
	}
	if what != "" {
		return fault.New(fault.FailedPrecondition, "the contract that was made, %d, is not what it was: %s", i.Here, what).Entity("move").Code("madeDiffers")
	}
	if w.move.File != nil {
		return i.Enter(moving.Opening, now)
	}
	return i.Enter(moving.Cancelling, now)
}

// unlike says what of a contract that was made is not what it must be; "": nothing.
func unlike(c, is moving.Contract) string {
	switch {
	case is.Customer.ID != c.Customer.ID:
		return "another customer"
	case is.Currency != c.Currency:
		return "another currency"
	case !slices.Equal(c.Sold(), is.Sold()):
		return "other products"
	case c.Billing.Interval != is.Billing.Interval || c.Billing.Count != is.Billing.Count:
		return "another billing interval"
	case c.Delivery.Interval != is.Delivery.Interval || c.Delivery.Count != is.Delivery.Count:
		return "another delivery interval"
	case c.DeliveryPrice.Minor != is.DeliveryPrice.Minor:
		return "another delivery price"
	}
	for n := range c.Lines {
		if n >= len(is.Lines) || c.Lines[n].Price != is.Lines[n].Price && c.Lines[n].Pricing == nil {
			return "other prices"
		}
	}
	return ""
}

// cancel ends the contract where it was and sees that it has ended. From here on only the service
// that it goes to can charge it.
func (w *worker) cancel(ctx context.Context, i *moving.Item, now time.Time) error {
	c := i.Contract
	is, err := w.from.Contract(ctx, w.store, c.Line, i.There)
	if err == nil && !is.Over() && (is.Status == contract.Active || is.Orders != c.Orders) {
		i.Reason = "The contract was resumed or charged there while it was moved: it is read again."
		return i.Enter(moving.Returning, now)
	}
	if err == nil && !is.Over() && is.EndsAt.IsZero() {
		if err := w.from.Cancel(ctx, w.store, c.Line, i.There); err != nil {
			return err
		}
		is, err = w.from.Contract(ctx, w.store, c.Line, i.There)
	}
	switch p, charging := is.UnderWay(); {
	case fault.Is(err, fault.NotFound):
	case err != nil:
		return err
	case !is.Over() && (is.EndsAt.IsZero() || len(is.Upcoming) > 0): // one with deliveries that are paid for ends after them
		return fault.New(fault.Unavailable, "the contract is still %s there after it was cancelled", is.Status).Entity("move").Code("notCancelled")
	case charging && p.Status != moving.Declined:
		w.awaitOrder(i, p, now)
		return nil
	default:
		i.Contract = c.After(is.Orders-c.Orders, w.cal)
	}
	return i.Enter(moving.Opening, now)
}

// open takes the fence away: the contract is charged where it is now.
func (w *worker) open(ctx context.Context, i *moving.Item, now time.Time) error {
	if err := w.to.Open(ctx, w.store, w.translated(i.Contract, now), i.Here); err != nil {
		return err
	}
	if err := i.Enter(moving.Moved, now); err != nil {
		return err
	}
	i.Forget()
	return nil
}

// giveBack removes what was made and has the contract charged again where it was.
func (w *worker) giveBack(ctx context.Context, i *moving.Item, now time.Time) error {
	c := i.Contract
	if i.Here != 0 || i.Unanswered {
		if err := w.to.Discard(ctx, w.store, w.translated(c, now), i.Here, i.Key()); err != nil {
			return err
		}
	}
	if w.move.File == nil {
		if err := w.from.Resume(ctx, w.store, c); err != nil {
			return err
		}
	}
	i.Here = 0
	i.Round++
	return i.Enter(moving.Shadow, now)
}
