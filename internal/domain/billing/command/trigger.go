package command

import (
	"cmp"
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Trigger charges an attempt now.
type Trigger struct {
	Line    shop.Line
	Attempt billing.AttemptID
	Actor   activity.Actor
	Permit  Permit // nil: the actor may
	// Declined says that it is the retry of a declined order, which the subscriber owes: neither a
	// commitment nor the store's permission of immediate orders matters to it.
	Declined bool
}

// Trigger commits the intent to charge an attempt now and returns; the result
// arrives later. A failed attempt gets a new try; one whose outcome is unknown
// keeps its key. A charge that the platform does not take yet is refused.
func (s *Service) Trigger(ctx context.Context, of shop.ID, cmd Trigger) error {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, permit: cmd.Permit}
	opens, err := s.openingNow(ctx, of, t, cmd)
	if err != nil {
		return err
	}
	var refused error
	err = s.Store.Update(ctx, of, func(tx billing.Tx) error {
		refused = nil
		now := s.Clock.Now()
		r, err := find(ctx, tx, t)
		if err != nil {
			return err
		}
		if err := cmp.Or(triggerable(r, cmd, now), opens.begun(r, now)); err != nil {
			return err
		}
		triggers, err := tx.CountTriggers(ctx, r.Of.ID, now.Add(-billing.TriggerWindow))
		if err != nil {
			return err
		}
		if triggers >= billing.MaxTriggers {
			refused = fault.New(fault.FailedPrecondition, "contract %d was charged immediately %d times within an hour: wait before the next", r.Of.ID, billing.MaxTriggers).
				Entity(billing.AttemptEntity).Code("immediateOrderLimit")
			return tx.Record(ctx, billing.NewEntry(r.Attempt, activity.ImmediateOrderRateLimitBlocked, activity.Failure, cmd.Actor, now, billing.EntryInfo{Cycle: r.Cycle}))
		}
		others, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID}, billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException)
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.ID != r.ID && o.HoldsBack() {
				return billing.Busy(o)
			}
		}
		if r.Status == billing.Failure {
			if err := retryByHand(ctx, tx, &r, now); err != nil {
				return err
			}
		}
		if r.Status == billing.Queued && r.Of.Pending != nil {
			if err := r.bringChange(ctx, tx, now); err != nil {
				return err
			}
		}
		if err := r.Request(r.shop, now); err != nil {
			return err
		}
		r.Manual, r.DueAt, r.UpdatedAt = true, now, now
		if err := tx.PutAttempts(ctx, []billing.Attempt{r.Attempt}); err != nil {
			return err
		}
		if err := queue.Refill(ctx, tx, r.shop, []contract.Contract{r.Of}, now); err != nil {
			return err
		}
		if err := tx.AddTrigger(ctx, r.Of.ID, now); err != nil {
			return err
		}
		if err := tx.Record(ctx, billing.NewEntry(r.Attempt, activity.BillingAttemptTriggered, activity.Info, cmd.Actor, now, billing.EntryInfo{Cycle: r.Cycle, Try: r.Try})); err != nil {
			return err
		}
		return tx.Enqueue(ctx, billing.Task{Shop: of})
	})
	return cmp.Or(err, refused)
}

// bringChange makes the pending line change now, because it waits for the contract's next order.
func (r *draft) bringChange(ctx context.Context, tx billing.Tx, now time.Time) error {
	pending := *r.Of.Pending
	pending.At = now
	r.Of.Pending, r.Of.UpdatedAt = &pending, now
	r.Of.ResetAmendAt()
	rows := []contract.Contract{r.Of}
	err := tx.PutContracts(ctx, rows)
	r.Of = rows[0]
	return err
}

// retryByHand counts a retry that a person asks for against the payment method,
// or says that it has been tried too often.
func retryByHand(ctx context.Context, tx billing.Tx, r *draft, now time.Time) error {
	method := r.Of.PaymentMethod
	known, err := tx.CardTries(ctx, []string{method}, now.Add(-dunning.TryWindow))
	if err != nil {
		return err
	}
	if dunning.CardLimitReached(known[method], now) {
		return fault.New(fault.FailedPrecondition, "the payment method of contract %d was declined or tried again %d times within %d days: the customer must choose another one",
			r.Of.ID, dunning.MaxTries, int(dunning.TryWindow.Hours()/24)).Entity(billing.AttemptEntity).Code("cardTryLimit")
	}
	if r.Dunning.State.Live() {
		r.Dunning.Retry(dunning.ByHand, now)
		billing.SyncCase(&r.Of, r.Attempt, r.shop)
	}
	return tx.AddCardTries(ctx, []billing.CardTry{{PaymentMethod: method, At: now}})
}

// triggerable says what forbids an immediate charge. What holds a subscriber to
// their orders comes first: trying again later does not help.
func triggerable(r draft, cmd Trigger, now time.Time) error {
	owed := cmd.Declined && r.Status == billing.Failure
	if err := r.Of.CheckCommitment(r.shop.Settings, cmd.Actor); err != nil && !cmd.Declined {
		return err
	}
	refuse := func(key, format string, args ...any) error {
		return fault.New(fault.FailedPrecondition, format, args...).Entity(billing.AttemptEntity).Code(key)
	}
	switch {
	case cmd.Declined && !owed:
		return refuse("billingAttemptStatus", "billing attempt %d is %s: only an order that was declined is tried again", r.ID, r.Status)
	case !owed && !r.shop.Settings.ImmediateOrders:
		return refuse("immediateOrderNotAllowed", "the store does not permit immediate orders: switch on enableImmediatePlaceOrder")
	case r.Status == billing.Requesting || r.Status == billing.Progress || r.Status == billing.Challenge:
		return billing.Busy(r.Attempt)
	case r.Status != billing.Queued && r.Status != billing.Failure && r.Status != billing.PlatformException:
		return refuse("billingAttemptStatus", "billing attempt %d is %s and cannot be retried", r.ID, r.Status)
	case r.Of.Moving != nil || r.Of.Split != nil:
		return billing.Busy(r.Attempt)
	case r.Of.Status != contract.Active:
		return refuse("contractNotActive", "contract %d is %s: only an ACTIVE contract can be charged", r.Of.ID, r.Of.Status)
	case r.Of.PaymentMethod == "" || !r.Of.PaymentUsable:
		return refuse("paymentMethodMissing", "contract %d has no payment method that can be charged", r.Of.ID)
	case r.shop.Guard.BlockReason(now) != "":
		return refuse("chargesBarred", "%s: nothing is charged until that is lifted", r.shop.Guard.BlockReason(now))
	case !r.shop.Connected:
		return refuse("connectionGone", "the store's connection to the platform is gone")
	}
	return nil
}
