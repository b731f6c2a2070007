package portal

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Permissions says of each action on a contract or on an order whether it may be done now: nil, or
// why not. An action that is not in it is not for this contract or order.
type Permissions map[Action]*fault.Error

// Allows reports whether an action may be done.
func (p Permissions) Allows(a Action) bool {
	refusal, known := p[a]
	return known && refusal == nil
}

// Offers reports whether an action should be shown: it may be done, or not now for a reason that
// the subscriber should read. What the merchant has switched off is not shown.
func (p Permissions) Offers(a Action) bool {
	refusal, known := p[a]
	return known && (refusal == nil || refusal.ErrorKey != keyDisabled && refusal.ErrorKey != keyImmediate)
}

// Refusal returns why an action cannot be done, for the subscriber; "" when it can.
func (p Permissions) Refusal(a Action) string {
	if refusal := p[a]; refusal != nil {
		return refusal.Message
	}
	return ""
}

// The keys of refusals.
const (
	keyDisabled   = "portalActionDisabled"
	keyCutoff     = "cutoffPassed"
	keyStatus     = "contractStatus"
	keyProcessing = "billingInProgress"
	keyPrepaid    = "deliveriesLeft"
	keyLifelong   = "lifetimeMembership"
	keyTooFar     = "skipTooFar"
	keySkips      = "skipLimit"
	keyMoved      = "statusInProgress"
	keyImmediate  = "immediateOrderNotAllowed"
)

// rule says when an action may be done. What is not said does not matter to it.
type rule struct {
	action Action
	toggle Toggle // empty: it cannot be switched off
	// status are those of the contract in which the action exists at all.
	status []contract.Status
	frozen bool // refused in a commitment
	cutoff bool // refused once changes of the order, or of the contract's next order, are closed
	paid   bool // refused while deliveries are paid for and still to come
	busy   bool // refused while the order, or an order of the contract, is being charged
	life   bool // refused for a contract that is paid for life
	// order are the statuses of the order in which the action exists; empty: it is about the contract.
	order []billing.Status
}

var (
	running = []contract.Status{contract.Active}
	alive   = []contract.Status{contract.Active, contract.Paused, contract.Failed}
	asleep  = []contract.Status{contract.Paused, contract.Failed}
	over    = []contract.Status{contract.Cancelled, contract.Expired}
	queued  = []billing.Status{billing.Queued}
)

// rules are all actions.
var rules = []rule{
	{action: Skip, toggle: AllowSkip, status: running, frozen: true, cutoff: true, busy: true, life: true, order: queued},
	{action: Unskip, status: running, cutoff: true, order: []billing.Status{billing.Skipped}},
	{action: Reschedule, toggle: AllowReschedule, status: running, frozen: true, cutoff: true, busy: true, life: true, order: queued},
	{action: OrderNow, toggle: AllowOrderNow, status: running, frozen: true, busy: true, order: queued},
	{action: RetryPayment, status: running, busy: true, order: []billing.Status{billing.Failure}},
	{action: EditNote, toggle: AllowOrderNote, status: running, cutoff: true, busy: true, order: queued},
	{action: AddOneTime, toggle: EnableOneTimeProducts, status: running, frozen: true, cutoff: true, busy: true, order: queued},
	{action: EditOneTime, status: running, cutoff: true, busy: true, order: queued},
	{action: DeclineSwap, status: running, cutoff: true, busy: true, order: queued},

	{action: Swap, toggle: AllowProductSwap, status: alive, frozen: true, cutoff: true, busy: true},
	{action: ChangeQuantity, toggle: AllowQuantityChange, status: alive, cutoff: true, busy: true},
	{action: AddProduct, toggle: AllowAddProduct, status: alive, cutoff: true, busy: true},
	{action: RemoveProduct, toggle: AllowRemoveProduct, status: alive, frozen: true, cutoff: true, busy: true},
	{action: ChangeFrequency, toggle: AllowFrequencyChange, status: alive, frozen: true, cutoff: true, paid: true, busy: true, life: true},
	{action: Pause, toggle: AllowPause, status: running, frozen: true, cutoff: true, paid: true, busy: true, life: true},
	{action: Resume, status: asleep},
	{action: Cancel, status: alive},
	{action: Keep, status: alive},
	{action: Restart, toggle: AllowRestart, status: over, life: true},
	{action: EditAddress, toggle: AllowAddressEdit, status: alive, cutoff: true, busy: true},
	{action: EditPaymentMethod, toggle: AllowPaymentMethodUpdate, status: alive},
	{action: EditDiscount, toggle: AllowDiscountCode, status: alive, cutoff: true, busy: true},
}

// Actions lists every action, those on orders first.
func Actions() []Action {
	list := make([]Action, len(rules))
	for i, r := range rules {
		list[i] = r.action
	}
	return list
}

// State is what permissions on a contract depend on.
type State struct {
	Shop     shop.Shop
	Contract contract.Contract
	Orders   []billing.Attempt // of the contract, that are QUEUED, SKIPPED or in flight, or were declined
	Inputs   billing.Inputs    // of the contract's orders
	Now      time.Time
}

// ForContract returns the permissions on a contract. A Keep is there only when a cancellation is
// scheduled.
func (s Settings) ForContract(is State) (Permissions, error) {
	cal, err := is.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	next, waits := billing.Earliest(billing.OnlyQueued(is.Orders))
	p := Permissions{}
	for _, r := range rules {
		if len(r.order) > 0 || !slices.Contains(r.status, is.Contract.Status) || r.action == Keep && is.Contract.Ending == nil {
			continue
		}
		p[r.action] = s.refusal(r, is, next, waits, cal)
	}
	return p, nil
}

// ForOrder returns the permissions on an order of the contract.
func (s Settings) ForOrder(is State, order billing.Attempt) (Permissions, error) {
	cal, err := is.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	p := Permissions{}
	for _, r := range rules {
		if slices.Contains(r.order, order.Status) || len(r.order) > 0 && order.Status.InFlight() && r.busy {
			p[r.action] = s.orderRefusal(r, is, order, cal)
		}
	}
	return p, nil
}

// orderRefusal says why an action on an order cannot be done, or nil.
func (s Settings) orderRefusal(r rule, is State, order billing.Attempt, cal cadence.Calendar) *fault.Error {
	if refusal := s.refusal(r, is, order, true, cal); refusal != nil {
		return refusal
	}
	refuse := func(key, format string, args ...any) *fault.Error {
		return fault.New(fault.FailedPrecondition, format, args...).Entity(billing.AttemptEntity).Code(key)
	}
	switch {
	case !slices.Contains(r.status, is.Contract.Status):
		return refuse("contractNotActive", "contract %d is %s", is.Contract.ID, is.Contract.Status)
	case r.action == Skip && order.BillingDate.After(is.Now.AddDate(skipAhead, 0, 0)):
		return refuse(keyTooFar, "an order more than %d year ahead cannot be skipped yet", skipAhead)
	case r.action == Skip && s.SkipMax > 0 && is.skippedAround(order) >= s.SkipMax:
		return refuse(keySkips, "%d orders in a row are skipped, and no more than that are possible", s.SkipMax)
	case r.action == Unskip && !order.SkipsAhead(is.Now):
		return refuse("billingDatePast", "the date of billing attempt %d has passed", order.ID)
	case r.action == OrderNow && !is.Shop.Settings.ImmediateOrders:
		return refuse(keyImmediate, "the store does not permit immediate orders")
	case r.action == RetryPayment && !order.Dunning.State.Live() || order.Dunning.State == dunning.Ending:
		return refuse("billingAttemptStatus", "billing attempt %d is not charged any more", order.ID)
	case (r.action == OrderNow || r.action == RetryPayment) && (is.Contract.PaymentMethod == "" || !is.Contract.PaymentUsable):
		return refuse("paymentMethodMissing", "contract %d has no payment method that can be charged", is.Contract.ID)
	}
	return nil
}

// refusal says why an action cannot be done, or nil. The order is the one that the action is about,
// or the contract's next one, if it has one.
func (s Settings) refusal(r rule, is State, order billing.Attempt, has bool, cal cadence.Calendar) *fault.Error {
	c := is.Contract
	refuse := func(key, format string, args ...any) *fault.Error {
		return fault.New(fault.FailedPrecondition, format, args...).Entity("subscriptionContract").Code(key)
	}
	if r.toggle != "" && !s.Allows(r.toggle) {
		return disabled(r)
	}
	if s.frozen(r, is) {
		return c.Frozen()
	}
	closes := s.ClosesAt(order.BillingDate, cal)
	switch {
	case r.life && c.Lifelong:
		return refuse(keyLifelong, "contract %d is paid for life: there is no renewal to change", c.ID)
	case c.Moving != nil && r.action != EditPaymentMethod:
		return fault.New(fault.Conflict, "another change of the status is in progress").Entity("subscriptionContract").Code(keyMoved)
	case r.busy && is.charging(r, order):
		return fault.New(fault.Conflict, "an order of contract %d is being charged now", c.ID).Entity(billing.AttemptEntity).Code(keyProcessing)
	case r.cutoff && has && s.CutoffDays > 0 && order.Status != billing.Failure && !is.Now.Before(closes):
		return refuse(keyCutoff, "changes for the order on %s closed on %s", day(order.BillingDate, cal), day(closes, cal))
	case r.paid && is.deliveriesLeft(cal) > 0:
		return refuse(keyPrepaid, "%d deliveries are paid for and still to come", is.deliveriesLeft(cal))
	}
	return nil
}

// disabled is the failure of an action that the merchant has switched off.
func disabled(r rule) *fault.Error {
	return fault.New(fault.Forbidden, "the store does not offer this").Entity("subscriptionContract").Code(keyDisabled).Field(string(r.toggle))
}

// frozen reports whether the subscriber's commitment forbids an action.
func (s Settings) frozen(r rule, is State) bool {
	return r.frozen && is.Contract.InCommitment(is.Shop.Settings) && !(r.action == Swap && s.SwapWhenFrozen)
}

// ruleOf returns the rule of an action.
func ruleOf(a Action) rule {
	return rules[slices.IndexFunc(rules, func(r rule) bool { return r.action == a })]
}

// day returns a date as messages name it.
func day(t time.Time, cal cadence.Calendar) string { return t.In(cal.Zone).Format(time.DateOnly) }

// Coming returns the orders that are to come, skipped ones included, and one that was declined and
// is not given up, soonest first.
func (is State) Coming() []billing.Attempt {
	list := slices.DeleteFunc(slices.Clone(is.Orders), func(a billing.Attempt) bool {
		return a.Status == billing.Skipped && !a.SkipsAhead(is.Now) || a.Status == billing.Failure && !a.Dunning.State.Live()
	})
	slices.SortFunc(list, billing.CompareByDate)
	return list
}

// charging reports whether an action must wait: its order is being charged or, for one on the
// contract, any order is.
func (is State) charging(r rule, order billing.Attempt) bool {
	if len(r.order) > 0 {
		return order.Status.InFlight()
	}
	return slices.ContainsFunc(is.Orders, billing.Attempt.HoldsBack)
}

// skippedAround counts the orders just before and after one that are skipped.
func (is State) skippedAround(order billing.Attempt) int {
	skipped := map[int]bool{}
	for _, a := range is.Orders {
		skipped[a.Cycle] = a.Status == billing.Skipped
	}
	n := 0
	for cycle := order.Cycle - 1; skipped[cycle]; cycle-- {
		n++
	}
	for cycle := order.Cycle + 1; skipped[cycle]; cycle++ {
		n++
	}
	return n
}

func (is State) deliveriesLeft(cal cadence.Calendar) int {
	if !is.Contract.Prepaid() {
		return 0
	}
	return is.Contract.Term(cal).Left(is.Now)
}
