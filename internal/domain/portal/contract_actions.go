package portal

import (
	"context"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// PauseParams say how long a contract is paused: until a day, for a number of orders, or until it
// is resumed.
type PauseParams struct {
	Until    time.Time
	Cycles   int
	Reason   string
	Feedback string
}

// Pause pauses a contract.
func (s *Service) Pause(ctx context.Context, who Caller, ref ContractRef, w PauseParams) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, Pause)
	if err != nil {
		return contract.Detail{}, err
	}
	want := lifecycle.StatusChange{To: contract.Paused, Until: w.Until, Cycles: w.Cycles, Reason: w.Reason, Feedback: w.Feedback}
	if v.Settings.PauseMaxDays > 0 {
		cmd.Permit.(*permit).also = func(is State) error { return v.Settings.checkPause(is, cmd.Actor, want) }
	}
	return s.Statuses.SetStatus(ctx, who.Shop.ID, cmd, want)
}

// checkPause refuses a pause that is longer than the settings allow, or has no end.
func (s Settings) checkPause(is State, by activity.Actor, w lifecycle.StatusChange) error {
	cal, err := is.Shop.Calendar()
	if err != nil {
		return err
	}
	after, err := lifecycle.Preview(is.Shop, is.Contract, is.Orders, by, w, is.Now)
	if err != nil || after.Moving == nil {
		return err
	}
	last := s.PausedUntil(is.Now, cal)
	if p := after.Moving.Pause; p == nil || p.Until.IsZero() || last.Before(cal.At(p.Until)) {
		return fault.New(fault.Invalid, "a pause ends on %s at the latest: choose a day", day(last, cal)).Entity(amend.Entity).Code("pauseTooLong").Field("pauseTillDate")
	}
	return nil
}

// Resume activates a paused contract, now or from a later day on.
func (s *Service) Resume(ctx context.Context, who Caller, ref ContractRef, from time.Time) (contract.Detail, error) {
	return s.setStatus(ctx, who, ref, Resume, lifecycle.StatusChange{To: contract.Active, From: from})
}

// Cancel cancels a contract. In a commitment it ends after the orders that are left, a prepaid one at
// the end of the term that is paid for, and one whose next order cannot be changed any more after that
// order: see contract.Ending.
func (s *Service) Cancel(ctx context.Context, who Caller, ref ContractRef, feedback string) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, Cancel)
	if err != nil {
		return contract.Detail{}, err
	}
	if v.Settings.ReasonRequired && strings.TrimSpace(feedback) == "" {
		return contract.Detail{}, fault.New(fault.Invalid, "cancellationFeedback is required by the store").Entity(amend.Entity).Code("reasonRequired").Field("cancellationFeedback")
	}
	return s.Statuses.SetStatus(ctx, who.Shop.ID, cmd, lifecycle.StatusChange{To: contract.Cancelled, Feedback: feedback, CutoffDays: v.Settings.CutoffDays})
}

// Keep withdraws a cancellation that is scheduled.
func (s *Service) Keep(ctx context.Context, who Caller, ref ContractRef) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, Keep)
	if err != nil {
		return contract.Detail{}, err
	}
	if c := v.State.Contract; c.Ending == nil {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "no cancellation of subscription contract %d is scheduled", c.ID).Entity(amend.Entity).Code("nothingPending")
	}
	return s.Statuses.SetStatus(ctx, who.Shop.ID, cmd, lifecycle.StatusChange{To: contract.Active})
}

func (s *Service) setStatus(ctx context.Context, who Caller, ref ContractRef, a Action, w lifecycle.StatusChange) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, a)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Statuses.SetStatus(ctx, who.Shop.ID, cmd, w)
}

// Restart makes a new contract from one that has ended. The request key is as of
// create.RestartParams.
func (s *Service) Restart(ctx context.Context, who Caller, ref ContractRef, first time.Time, requestKey string) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, Restart)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Creations.Restart(ctx, who.Shop.ID, cmd, create.RestartParams{NextBillingDate: first, RequestKey: requestKey})
}

// SetDelivery changes where and how orders are delivered, as a function of how they are now. If
// agreed is not nil, delivery must cost that.
func (s *Service) SetDelivery(ctx context.Context, who Caller, ref ContractRef, want func(contract.DeliveryMethod) contract.DeliveryMethod, agreed *money.Amount) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, EditAddress)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.SetDelivery(ctx, who.Shop.ID, cmd, contractedit.DeliveryChange{Event: activity.ShippingAddressChange, Want: want, Agreed: agreed})
}

// Delivered is what a change of the delivery would do.
type Delivered struct {
	View

	From, To contractedit.Delivery
	Next     money.Amount // what the next order would cost
}

// DraftDelivery says what SetDelivery would do. It changes nothing.
func (s *Service) DraftDelivery(ctx context.Context, who Caller, id contract.ID, want func(contract.DeliveryMethod) contract.DeliveryMethod) (Delivered, error) {
	v, d, err := s.Detail(ctx, who, id)
	if err != nil {
		return Delivered{}, err
	}
	if err := v.allow(s.permit(v.Settings, 0, EditAddress)); err != nil {
		return Delivered{}, err
	}
	to, err := s.Edits.DeliveryBy(ctx, v.Shop, d, want)
	if err != nil {
		return Delivered{}, err
	}
	then := v.State.Contract
	then.DeliveryPrice = to.Price
	return Delivered{v, contractedit.Delivery{Method: d.Method, Price: d.DeliveryPrice}, to, v.NextCost(then)}, nil
}

// ShipTo is the change of a delivery to shipping to an address.
func ShipTo(to contract.Address) func(contract.DeliveryMethod) contract.DeliveryMethod {
	return func(is contract.DeliveryMethod) contract.DeliveryMethod {
		is.Kind, is.Address, is.Location = platform.MethodShipping, to, ""
		return is
	}
}

// SetPaymentMethod charges a contract to another payment method of the caller's.
func (s *Service) SetPaymentMethod(ctx context.Context, who Caller, ref ContractRef, id string) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, EditPaymentMethod)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.SetPaymentMethod(ctx, who.Shop.ID, cmd, id)
}

// SendPaymentUpdate has the platform e-mail the caller a link with which to update the payment
// method.
func (s *Service) SendPaymentUpdate(ctx context.Context, who Caller, ref ContractRef) error {
	_, cmd, err := s.command(ctx, who, ref, EditPaymentMethod)
	if err != nil {
		return err
	}
	return s.Edits.SendPaymentUpdate(ctx, who.Shop.ID, cmd)
}

// PaymentMethods returns the caller's payment methods, revoked ones included.
func (s *Service) PaymentMethods(ctx context.Context, who Caller) ([]contract.PaymentMethod, error) {
	return s.Edits.PaymentMethods(ctx, who.Shop.ID, who.Actor.Customer)
}

// ApplyDiscount redeems a discount code on a contract.
func (s *Service) ApplyDiscount(ctx context.Context, who Caller, ref ContractRef, code string) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, EditDiscount)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.ApplyCode(ctx, who.Shop.ID, cmd, code)
}

// RemoveDiscount takes a discount off a contract.
func (s *Service) RemoveDiscount(ctx context.Context, who Caller, ref ContractRef, id string) (contract.Detail, error) {
	_, cmd, err := s.command(ctx, who, ref, EditDiscount)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.RemoveDiscount(ctx, who.Shop.ID, cmd, id)
}
