package amend

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Split says which lines of a contract become a contract of their own.
type Split struct {
	Lines []string
	Once  bool // the new contract ends after one order
	Now   bool // its first order is charged at once
}

// patience is how long a contract is looked for of which the answer to its making was
// lost.
const patience = 10 * time.Minute

// Split moves lines into a contract of their own. The intent is committed first,
// so that nobody begins another split meanwhile and Work finishes what is left
// undone when this process dies. The new contract is made PAUSED, so that nothing
// is charged twice while the lines are in both, and gets its discounts; then the old
// contract loses the lines, and the new one gets the old one's status.
func (s *Service) Split(ctx context.Context, of shop.ID, cmd Command, w Split) (contract.Detail, error) {
	if len(w.Lines) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name at least one line to split off").Entity(entity).Code("linesCount")
	}
	ctx = platform.Interactive(ctx)
	store, known, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if w.Now && !store.Settings.ImmediateOrders {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "the store does not permit immediate orders: switch on enableImmediatePlaceOrder").
			Entity(entity).Code("immediateOrderNotAllowed").Field("attemptBilling")
	}
	if known.Lifelong && (w.Once || w.Now) {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d is paid for life: nothing of it is ordered again. Split lines off with isSplitContract=true and attemptBilling=false", known.ID).
			Entity(entity).Code("lifetimeMembership").Field("isSplitContract")
	}
	if w.Now && known.Status == contract.Paused {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d is PAUSED: nothing is ordered at once. Split lines off with attemptBilling=false, or resume it first", known.ID).
			Entity(entity).Code("contractNotActive").Field("attemptBilling")
	}
	if w.Now && !known.PaymentUsable {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d has no payment method that can be charged", known.ID).
			Entity(entity).Code("paymentMethodMissing").Field("attemptBilling")
	}
	intent := contract.SplitIntent{Token: rand.Text(), Lines: w.Lines, Once: w.Once, Now: w.Now, Actor: cmd.Actor, At: s.Clock.Now()}
	is, err := s.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
	if err != nil {
		return contract.Detail{}, unanswered(err)
	}
	err = s.Store.Update(ctx, of, func(tx intake.Tx) (err error) {
		intent.Cycle, err = upcoming(ctx, tx, known, s.Clock.Now())
		return err
	})
	if err != nil {
		return contract.Detail{}, err
	}
	if known.MaxCycles > 0 && !known.Lifelong && intent.Cycle > known.MaxCycle() {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "contract %d has had all its %d orders: nothing is left to split off", known.ID, known.MaxCycles).
			Entity(entity).Code("noOrdersLeft")
	}
	if _, err := splitOff(known, is, intent, nil); err != nil { // before anything is written
		return contract.Detail{}, err
	}
	intent.Lines = linesInOrder(is, w.Lines)
	intent.Discounts = handedOn(is, intent.Lines)
	err = s.keepAfter(ctx, of, &known, func(tx intake.Tx, c *contract.Contract) error {
		if err := partable(*c, w.Lines); err != nil {
			return err
		}
		cycle, err := upcoming(ctx, tx, *c, s.Clock.Now())
		if err == nil && cycle != intent.Cycle {
			err = changedMeanwhile()
		}
		c.Split, c.AmendAt = &intent, intent.At.Add(PendingChangeTimeout)
		return err
	})
	if err != nil {
		return contract.Detail{}, err
	}
	return s.split(ctx, store, known, true)
}

// upcoming returns the cycle of the contract's next order, which is the first one of
// what is split off. An order that is due, being charged, or could not be charged and has
// not been given up, has all lines, and is made before.
func upcoming(ctx context.Context, tx intake.Tx, c contract.Contract, now time.Time) (int, error) {
	attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID})
	if err != nil {
		return 0, err
	}
	for _, a := range attempts {
		if a.HoldsBack() || a.Status.Upcoming() && !a.BillingDate.After(now) {
			return 0, fault.New(fault.Conflict, "the order of cycle %d of subscription contract %d is being made: split it afterwards", a.Cycle, c.ID).
				Entity(entity).Code("billingInProgress")
		}
		if a.Unpaid() {
			return 0, fault.New(fault.Conflict, "the order of cycle %d of subscription contract %d could not be charged yet and has all lines: split it once that is paid or given up", a.Cycle, c.ID).
				Entity(entity).Code("orderUnpaid")
		}
	}
	return nextCycle(c, attempts, now), nil
}

// NextCycle returns the number of the contract's cycle that comes next. The platform is
// not asked.
func (s *Service) NextCycle(ctx context.Context, of shop.ID, cmd Command) (cycle int, err error) {
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Line != cmd.Line || rows[0].HiddenFrom(cmd.Actor) {
			return contractNotFound(cmd.Contract)
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{cmd.Contract})
		cycle = nextCycle(rows[0], attempts, s.Clock.Now())
		return err
	})
	return cycle, err
}

// nextCycle returns the cycle of the contract's next order, which may be one that could not
// be charged yet. While it stands still that is the one after the last that was made or
// given up.
func nextCycle(c contract.Contract, attempts []billing.Attempt, now time.Time) int {
	var waiting []billing.Attempt
	reached := max(c.Series.Cycle-1, 0)
	for _, a := range attempts {
		switch {
		case a.Status.Upcoming(), a.Unpaid():
			waiting = append(waiting, a)
		case !a.SkipsAhead(now):
			reached = max(reached, a.Cycle)
		}
	}
	if next, ok := billing.Earliest(waiting); ok {
		return next.Cycle
	}
	return reached + 1
}

// partable says why lines cannot become a contract of their own while something else
// is on its way that would be for them too, or that waits for them.
func partable(c contract.Contract, lines []string) error {
	switch {
	case c.Split != nil:
		return fault.New(fault.Conflict, "Another split of the subscription contract is already in progress").Entity(entity).Code("splitInProgress")
	case c.Moving != nil:
		return fault.New(fault.Conflict, "A change of the status is already in progress").Entity(entity).Code("statusInProgress")
	case c.EndsAfterDunning():
		return fault.New(fault.Conflict, "The subscription contract is being ended because an order of it could not be charged").Entity(entity).Code("statusInProgress")
	case c.Ending != nil:
		return fault.New(fault.FailedPrecondition, "subscription contract %d will be cancelled on %s: take the cancellation back before you split it", c.ID, c.Ending.At.UTC().Format(time.RFC3339)).
			Entity(entity).Code("cancellationPending")
	case c.Pending != nil && slices.Contains(lines, c.Pending.Line):
		return fault.New(fault.Conflict, "a change of line %s waits for the next order: take it back before you split the line off", c.Pending.Line).Entity(entity).Code("changePending")
	}
	return nil
}

// split carries a split on from wherever it stands. Only the first to do so may
// make the new contract: it is not safe to make it twice.
func (s *Service) split(ctx context.Context, store shop.Shop, old contract.Contract, first bool) (contract.Detail, error) {
	made, err := s.half(ctx, store, &old, first)
	if err != nil {
		return contract.Detail{}, err
	}
	if made, err = s.equip(ctx, store, *old.Split, made); final(err) {
		return contract.Detail{}, errors.Join(err, s.undo(ctx, store, old, made))
	}
	if err != nil {
		return contract.Detail{}, err
	}
	cmd := Command{Line: old.Line, Contract: old.ID, Actor: old.Split.Actor}
	left, err := s.amend(ctx, store.ID, cmd, func(_ shop.Shop, d contract.Detail) (change, error) { return loses(d, *old.Split), nil })
	if final(err) {
		return contract.Detail{}, errors.Join(err, s.undo(ctx, store, old, made))
	}
	if err != nil {
		return contract.Detail{}, err
	}
	// Whoever was slow must not let a contract run that somebody else has let run before.
	if err := s.still(ctx, store.ID, &old, func(c *contract.Contract) { c.AmendAt = s.Clock.Now().Add(PendingChangeTimeout) }); err != nil {
		return contract.Detail{}, err
	}
	after, told, err := s.carry(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
		return s.release(ctx, store, made, left.Status)
	})
	if err != nil {
		return contract.Detail{}, err
	}
	cmd.Contract = contract.ID(after.ID)
	detail, err := s.adopt(ctx, store, cmd, after, change{
		told:    told,
		entries: []note{{activity.ContractCreated, splitNote{From: int64(old.ID), Lines: old.Split.Lines}}},
		also: func(c *contract.Contract) { // the new one stands still for as long
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
	if err := s.still(ctx, store.ID, &old, endSplit); err != nil {
		return contract.Detail{}, err
	}
	return detail, charged
}

// still changes a contract as long as the split is under way that was begun, and not
// ended by somebody else.
func (s *Service) still(ctx context.Context, of shop.ID, old *contract.Contract, alter func(*contract.Contract)) error {
	token := old.Split.Token
	return s.keep(ctx, of, old, func(c *contract.Contract) error {
		if c.Split == nil || c.Split.Token != token {
			return changedMeanwhile()
		}
		alter(c)
		return nil
	})
}

// half makes the new contract, paused, or finds the one that was made.
func (s *Service) half(ctx context.Context, store shop.Shop, old *contract.Contract, first bool) (platform.Detail, error) {
	if old.Split.New != 0 {
		made, err := s.Platform.Detail(ctx, store.At(), int64(old.Split.New))
		if err != nil {
			err = unanswered(err)
		}
		return made, err
	}
	made, err := s.made(ctx, store, *old, first)
	if err != nil {
		if final(err) {
			err = errors.Join(err, s.still(ctx, store.ID, old, endSplit))
		}
		return platform.Detail{}, err
	}
	origin := contract.Split
	if old.Split.Once {
		origin = contract.SplitAttempt
	}
	from, earlier, priced, lifelong := old.ID, old.NextOrder()-1, old.Priced, old.Lifelong
	_, err = s.adopt(ctx, store, Command{Contract: contract.ID(made.ID)}, made, change{also: func(c *contract.Contract) {
		c.Origin, c.SplitFrom, c.EarlierOrders, c.Priced, c.Lifelong = origin, from, earlier, priced, lifelong
	}})
	if err != nil {
		return platform.Detail{}, err
	}
	return made, s.still(ctx, store.ID, old, func(c *contract.Contract) { c.Split.New = contract.ID(made.ID) })
}

func (s *Service) made(ctx context.Context, store shop.Shop, old contract.Contract, first bool) (platform.Detail, error) {
	if first {
		is, err := s.Platform.Detail(ctx, store.At(), int64(old.ID))
		if err != nil {
			return platform.Detail{}, unanswered(err)
		}
		prices, err := s.pricesLeft(ctx, store, old, is, *old.Split)
		if err != nil {
			return platform.Detail{}, err
		}
		n, err := splitOff(old, is, *old.Split, prices)
		if err != nil {
			return platform.Detail{}, err
		}
		made, err := s.Platform.CreateContract(ctx, store.At(), n)
		if err == nil {
			return made, nil
		}
		if !errors.Is(err, platform.ErrUnknown) {
			return platform.Detail{}, unanswered(err)
		}
	}
	marked := func(d platform.Detail) bool { return slices.Contains(d.Attributes, mark(*old.Split)) }
	made, err := s.find(ctx, store, old.Split.At.Add(-creationSlack), marked)
	if fault.Is(err, fault.NotFound) && s.Clock.Now().Before(old.Split.At.Add(patience)) {
		err = fault.New(fault.Unavailable, "the platform does not say whether the new contract was made: the split is finished as soon as it does").
			Entity(entity).Code(fault.InDoubt)
	}
	return made, err
}

func mark(i contract.SplitIntent) platform.Attribute {
	return platform.Attribute{Key: contract.SplitAttribute, Value: i.Token}
}

// splitOff is the contract that the lines become, with the prices by cycle that they
// have from then on.
func splitOff(known contract.Contract, is platform.Detail, w contract.SplitIntent, prices map[string]going) (platform.NewContract, error) {
	if known.Status != contract.Active && known.Status != contract.Paused {
		return platform.NewContract{}, fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot be split", known.ID, known.Status).
			Entity(entity).Code("contractNotActive")
	}
	billed := limitsLeft(is.Billing, known, w.Cycle)
	if w.Once {
		billed.MinCycles, billed.MaxCycles = 0, 1
	}
	n := like(is, billed)
	n.NextBillingDate, n.Status = known.NextBillingDate, string(contract.Paused)
	n.Attributes = new(append(slices.Clone(is.Attributes), mark(w)))
	if n.NextBillingDate.IsZero() {
		n.NextBillingDate = is.NextBillingDate
	}
	if is.PaymentMethod.ID != "" {
		n.PaymentMethod = &is.PaymentMethod.ID
	}
	for at, l := range is.Lines {
		if slices.Contains(w.Lines, l.ID) {
			n.Lines = append(n.Lines, lineLike(is, at, prices))
		}
	}
	switch {
	case len(n.Lines) < len(w.Lines):
		return platform.NewContract{}, lineNotFound()
	case len(n.Lines) == len(is.Lines):
		return platform.NewContract{}, lastLine()
	}
	return n, nil
}

// like is a new contract of the same customer with the delivery, the note and the
// attributes of one that exists, without lines and without a payment method.
func like(is platform.Detail, billed platform.Policy) platform.NewContract {
	n := platform.NewContract{
		Customer: is.Customer.ID, Currency: is.Currency,
		Edit: platform.Edit{Billing: &billed, Delivery: &is.Delivery, DeliveryPrice: &is.DeliveryPrice},
	}
	if len(is.Attributes) > 0 {
		n.Attributes = &is.Attributes
	}
	if is.Note != "" {
		n.Note = &is.Note
	}
	if is.Method.Kind != "" {
		n.Method = &is.Method
	}
	return n
}

// lineLike is a line of a new contract as it is in one that exists, at the price that
// it has in the new contract's first order.
func lineLike(is platform.Detail, at int, prices map[string]going) platform.LineEdit {
	l := is.Lines[at]
	edit := platform.LineEdit{Variant: &l.VariantID, Quantity: &l.Quantity, Price: &l.Price}
	if on, ok := prices[l.ID]; ok {
		edit.Price, edit.Pricing = &on.price, on.policy
	}
	if l.SellingPlanID != 0 {
		edit.SellingPlanID, edit.SellingPlanName = &l.SellingPlanID, &l.SellingPlanName
	}
	if at < len(is.LineDetails) && len(is.LineDetails[at].Attributes) > 0 {
		edit.Attributes = &is.LineDetails[at].Attributes
	}
	return edit
}

// loses is the change by which the old contract loses the lines that it still
// has.
func loses(d contract.Detail, w contract.SplitIntent) change {
	var c change
	for _, id := range w.Lines {
		if d.LineByID(id) >= 0 {
			c.edit.Lines = append(c.edit.Lines, platform.LineEdit{Line: id, Remove: true})
		}
	}
	if len(c.edit.Lines) > 0 {
		c.entries = []note{{activity.SplitContract, splitNote{To: int64(w.New), Lines: w.Lines}}}
	}
	return c
}

// release takes the mark off the new contract and lets it run. Both may be done
// again.
func (s *Service) release(ctx context.Context, store shop.Shop, made platform.Detail, status contract.Status) (platform.Detail, error) {
	kept := slices.DeleteFunc(slices.Clone(made.Attributes), func(a platform.Attribute) bool { return a.Key == contract.SplitAttribute })
	if len(kept) < len(made.Attributes) {
		if _, err := s.Platform.EditContract(ctx, store.At(), made.ID, platform.Edit{Attributes: &kept}); err != nil {
			return platform.Detail{}, err
		}
	}
	return s.Platform.SetStatus(ctx, store.At(), made.ID, string(status))
}

// undo ends a split that the old contract does not allow any more: the new
// contract is cancelled before it ever ran.
func (s *Service) undo(ctx context.Context, store shop.Shop, old contract.Contract, made platform.Detail) error {
	after, told, err := s.carry(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
		return s.Platform.SetStatus(ctx, store.At(), made.ID, string(contract.Cancelled))
	})
	if err != nil {
		return err // it stays paused, and Work tries again
	}
	_, err = s.adopt(ctx, store, Command{Contract: contract.ID(made.ID), Actor: activity.System}, after, change{
		told:    told,
		entries: []note{{activity.ContractCancelled, splitNote{From: int64(old.ID), Lines: old.Split.Lines}}},
	})
	if err != nil {
		return err
	}
	return s.still(ctx, store.ID, &old, endSplit)
}

// endSplit forgets the intent.
func endSplit(c *contract.Contract) {
	c.Split = nil
	c.ResetAmendAt()
}

// chargeNow charges the first order of a contract that was split off, when that
// was asked for and has not been done.
func (s *Service) chargeNow(ctx context.Context, of shop.ID, made contract.Contract, w contract.SplitIntent) error {
	if !w.Now {
		return nil
	}
	next, err := s.next(ctx, of, made)
	if err != nil || next.Cycle > made.Series.Cycle {
		return err
	}
	return s.Orders.Trigger(ctx, of, command.Trigger{Line: made.Line, Attempt: next.ID, Actor: w.Actor})
}

// find looks for a contract among those that changed since an instant, or says
// NotFound.
func (s *Service) find(ctx context.Context, store shop.Shop, since time.Time, is func(platform.Detail) bool) (platform.Detail, error) {
	for cursor := ""; ; {
		ids, next, err := s.Platform.ContractsUpdatedSince(ctx, store.At(), since, cursor)
		if err != nil {
			return platform.Detail{}, unanswered(err)
		}
		for _, id := range ids {
			d, err := s.Platform.Detail(ctx, store.At(), id)
			if err != nil && !errors.Is(err, platform.ErrNotFound) {
				return platform.Detail{}, unanswered(err)
			}
			if err == nil && !d.CreatedAt.Before(since) && is(d) {
				return d, nil
			}
		}
		if cursor = next; cursor == "" {
			return platform.Detail{}, fault.New(fault.NotFound, "the subscription contract was not made").Entity(entity).Code("contractNotFound")
		}
	}
}

// splitNote is the information of an entry about a split.
type splitNote struct {
	From  int64    `json:"fromContractId,omitempty"`
	To    int64    `json:"toContractId,omitempty"`
	Lines []string `json:"lineIds"`
}
