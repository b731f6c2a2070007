package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// TriggerCommand asks to charge an attempt now.
type TriggerCommand struct {
	Line    shop.Line
	Attempt AttemptID
	Actor   activity.Actor
}

// Trigger commits the intent to charge an attempt now and returns; the result
// arrives later. A failed attempt gets a new try; one whose outcome is unknown
// keeps its key. A charge that the platform does not take yet is refused.
func (s *Service) Trigger(ctx context.Context, of shop.ID, cmd TriggerCommand) error {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt}
	opens, err := s.openingNow(ctx, of, t)
	if err != nil {
		return err
	}
	var refused error
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		refused = nil
		now := s.Clock.Now()
		r, err := find(ctx, tx, t)
		if err != nil {
			return err
		}
		if err := firstError(triggerable(r, cmd.Actor, now), opens.begun(r, now)); err != nil {
			return err
		}
		triggers, err := tx.CountTriggers(ctx, r.Of.ID, now.Add(-TriggerWindow))
		if err != nil {
			return err
		}
		if triggers >= MaxTriggers {
			refused = fault.New(fault.FailedPrecondition, "contract %d was charged immediately %d times within an hour: wait before the next", r.Of.ID, MaxTriggers).
				Entity(entity).Code("immediateOrderLimit")
			return tx.Record(ctx, entryOf(r.Attempt, activity.ImmediateOrderRateLimitBlocked, activity.Failure, cmd.Actor, now, outcome{Cycle: r.Cycle}))
		}
		others, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID}, Requesting, Progress, Challenge, PlatformException)
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.ID != r.ID && o.HoldsBack() {
				return busy(o)
			}
		}
		if r.Status == Failure {
			if err := retryByHand(ctx, tx, &r, now); err != nil {
				return err
			}
		}
		if r.Status == Queued && r.Of.Pending != nil {
			if err := r.bringChange(ctx, tx, now); err != nil {
				return err
			}
		}
		if err := r.request(r.shop, now); err != nil {
			return err
		}
		r.Manual, r.DueAt, r.UpdatedAt = true, now, now
		if err := tx.PutAttempts(ctx, []Attempt{r.Attempt}); err != nil {
			return err
		}
		if err := Refill(ctx, tx, r.shop, []contract.Contract{r.Of}, now); err != nil {
			return err
		}
		if err := tx.AddTrigger(ctx, r.Of.ID, now); err != nil {
			return err
		}
		if err := tx.Record(ctx, entryOf(r.Attempt, activity.BillingAttemptTriggered, activity.Info, cmd.Actor, now, outcome{Cycle: r.Cycle, Try: r.Try})); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{Shop: of})
	})
	return firstError(err, refused)
}

// bringChange has the change of a line made now that waits for the contract's next
// order: this one is.
func (r *Record) bringChange(ctx context.Context, tx Tx, now time.Time) error {
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
func retryByHand(ctx context.Context, tx Tx, r *Record, now time.Time) error {
	method := r.Of.PaymentMethod
	known, err := tx.CardTries(ctx, []string{method}, now.Add(-dunning.TryWindow))
	if err != nil {
		return err
	}
	if dunning.CardLimitReached(known[method], now) {
		return fault.New(fault.FailedPrecondition, "the payment method of contract %d was declined or tried again %d times within %d days: the customer must choose another one",
			r.Of.ID, dunning.MaxTries, int(dunning.TryWindow.Hours()/24)).Entity(entity).Code("cardTryLimit")
	}
	if r.Dunning.State.Live() {
		r.Dunning.Retry(dunning.ByHand, now)
		showCase(&r.Of, r.Attempt, r.shop)
	}
	return tx.AddCardTries(ctx, []CardTry{{method, now}})
}

// triggerable says what forbids an immediate charge. What holds a subscriber to
// their orders comes first: trying again later does not help.
func triggerable(r Record, by activity.Actor, now time.Time) error {
	if err := r.Of.CheckCommitment(r.shop.Settings, by); err != nil {
		return err
	}
	refuse := func(key, format string, args ...any) error {
		return fault.New(fault.FailedPrecondition, format, args...).Entity(entity).Code(key)
	}
	switch {
	case !r.shop.Settings.ImmediateOrders:
		return refuse("immediateOrderNotAllowed", "the store does not permit immediate orders: switch on enableImmediatePlaceOrder")
	case r.Status == Requesting || r.Status == Progress || r.Status == Challenge:
		return busy(r.Attempt)
	case r.Status != Queued && r.Status != Failure && r.Status != PlatformException:
		return refuse("billingAttemptStatus", "billing attempt %d is %s and cannot be retried", r.ID, r.Status)
	case r.Of.Moving != nil || r.Of.Split != nil:
		return busy(r.Attempt)
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
