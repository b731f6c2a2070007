package portal

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// OrderRef names an order of the caller's.
type OrderRef struct {
	Attempt  billing.AttemptID
	Contract contract.ID // must be the order's when given; 0: not given
	Prepaid  *bool       // must fit the contract when given
	Version  int64       // of the contract, as of ContractRef
}

// found is an order and what a command on it needs.
type found struct {
	line     shop.Line
	contract contract.Contract
	settings Settings
}

// order finds an order of the caller's.
func (s *Service) order(ctx context.Context, who Caller, ref OrderRef) (f found, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		missing := billing.NotFound(ref.Attempt)
		rows, err := tx.Attempts(ctx, []billing.AttemptID{ref.Attempt})
		if err != nil || len(rows) == 0 {
			return orMissing(err, missing)
		}
		contracts, err := tx.Contracts(ctx, []contract.ID{rows[0].Contract})
		if err != nil || len(contracts) == 0 || who.CannotSee(contracts[0]) {
			return orMissing(err, missing)
		}
		f.line, f.contract = contracts[0].Line, contracts[0]
		f.settings, err = tx.PortalSettings(ctx)
		return err
	})
	return f, err
}

func orMissing(err, missing error) error {
	if err != nil {
		return err
	}
	return missing
}

func (s *Service) permit(settings Settings, version int64, actions ...Action) *permit {
	return &permit{settings: settings, actions: actions, version: version, clock: s.Clock}
}

// Skip skips an upcoming order.
func (s *Service) Skip(ctx context.Context, who Caller, ref OrderRef) (billing.Record, error) {
	return s.skip(ctx, who, ref, Skip, s.Orders.Skip)
}

// Unskip takes the skip of an order back.
func (s *Service) Unskip(ctx context.Context, who Caller, ref OrderRef) (billing.Record, error) {
	return s.skip(ctx, who, ref, Unskip, s.Orders.Unskip)
}

func (s *Service) skip(ctx context.Context, who Caller, ref OrderRef, a Action, do func(context.Context, shop.ID, command.Skip) (billing.Record, error)) (billing.Record, error) {
	f, err := s.order(ctx, who, ref)
	if err != nil {
		return billing.Record{}, err
	}
	return do(ctx, who.Shop.ID, command.Skip{
		Line: f.line, Attempt: ref.Attempt, Contract: ref.Contract, Prepaid: ref.Prepaid, Actor: who.Actor, Permit: s.permit(f.settings, ref.Version, a),
	})
}

// SkipNext skips the contract's next order.
func (s *Service) SkipNext(ctx context.Context, who Caller, ref ContractRef) (billing.Record, error) {
	v, err := s.Contract(ctx, who, ref.ID)
	if err != nil {
		return billing.Record{}, err
	}
	return s.Orders.SkipNext(ctx, who.Shop.ID, command.SkipNext{
		Line: v.State.Contract.Line, Contract: ref.ID, Actor: who.Actor, Permit: s.permit(v.Settings, ref.Version, Skip),
	})
}

// Reschedule moves an order to a day, and with future all later ones too.
func (s *Service) Reschedule(ctx context.Context, who Caller, ref OrderRef, date time.Time, future bool) (billing.Record, error) {
	f, err := s.order(ctx, who, ref)
	if err != nil {
		return billing.Record{}, err
	}
	p := s.permit(f.settings, ref.Version, Reschedule)
	p.also = within(f.settings, date)
	return s.Orders.Reschedule(ctx, who.Shop.ID, command.Reschedule{Line: f.line, Attempt: ref.Attempt, BillingDate: date, Future: future, Actor: who.Actor, Permit: p})
}

// within refuses a date that is outside of the days to which an order may be moved.
func within(settings Settings, date time.Time) func(State) error {
	return func(is State) error {
		cal, err := is.Shop.Calendar()
		if err != nil {
			return err
		}
		first, last := settings.Dates(is.Now, cal)
		if on := cal.At(date); on.Before(first) || on.After(last) {
			return fault.New(fault.Invalid, "an order can be moved to a day from %s to %s", day(first, cal), day(last, cal)).
				Entity(billing.AttemptEntity).Code("rescheduleRange").Field("billingDate")
		}
		return nil
	}
}

// OrderEdit is a change of one order. Nil fields stay as they are.
type OrderEdit struct {
	Date *time.Time
	Note *string // empty clears
}

// EditOrder changes the date or the note of an order.
func (s *Service) EditOrder(ctx context.Context, who Caller, ref OrderRef, want OrderEdit) (billing.Record, error) {
	f, err := s.order(ctx, who, ref)
	if err != nil {
		return billing.Record{}, err
	}
	p := s.permit(f.settings, ref.Version)
	if want.Date != nil {
		p.actions, p.also = append(p.actions, Reschedule), within(f.settings, *want.Date)
	}
	if want.Note != nil {
		p.actions = append(p.actions, EditNote)
	}
	return s.Orders.Edit(ctx, who.Shop.ID, command.Edit{Line: f.line, Attempt: ref.Attempt, BillingDate: want.Date, Note: want.Note, Actor: who.Actor, Permit: p})
}

// DeclineSwap has an order keep the products that the merchant's rules would replace in it.
func (s *Service) DeclineSwap(ctx context.Context, who Caller, ref OrderRef) (billing.Record, error) {
	f, err := s.order(ctx, who, ref)
	if err != nil {
		return billing.Record{}, err
	}
	return s.Orders.Decline(ctx, who.Shop.ID, command.Decline{
		Line: f.line, Attempt: ref.Attempt, Actor: who.Actor, Permit: s.permit(f.settings, ref.Version, DeclineSwap),
	})
}

// OrderNow has an order charged now. What comes of it is known later.
func (s *Service) OrderNow(ctx context.Context, who Caller, ref OrderRef) error {
	return s.trigger(ctx, who, ref, OrderNow)
}

// RetryPayment has an order that was declined charged again now, also where the store does not
// permit immediate orders and also in a commitment: the subscriber owes the order.
func (s *Service) RetryPayment(ctx context.Context, who Caller, ref OrderRef) error {
	return s.trigger(ctx, who, ref, RetryPayment)
}

func (s *Service) trigger(ctx context.Context, who Caller, ref OrderRef, a Action) error {
	f, err := s.order(ctx, who, ref)
	if err != nil {
		return err
	}
	return s.Orders.Trigger(ctx, who.Shop.ID, command.Trigger{
		Line: f.line, Attempt: ref.Attempt, Actor: who.Actor, Declined: a == RetryPayment, Permit: s.permit(f.settings, ref.Version, a),
	})
}

// OneTime names a product of one upcoming order.
type OneTime struct {
	ContractRef
	Attempt  billing.AttemptID
	Variant  int64
	Handle   string
	Quantity int
}

// AddOneTime lets an upcoming order carry a product, at the product's own price.
func (s *Service) AddOneTime(ctx context.Context, who Caller, p OneTime) error {
	v, cmd, err := s.oneTime(ctx, who, p, AddOneTime)
	if err != nil {
		return err
	}
	return s.Orders.AddOneOff(ctx, v.Shop, cmd)
}

// UpdateOneTime changes the quantity of a product that an upcoming order carries.
func (s *Service) UpdateOneTime(ctx context.Context, who Caller, p OneTime) (billing.OneOffRecord, error) {
	v, cmd, err := s.oneTime(ctx, who, p, EditOneTime)
	if err != nil {
		return billing.OneOffRecord{}, err
	}
	return s.Orders.UpdateOneOff(ctx, v.Shop, cmd)
}

// RemoveOneTime takes a product out of an upcoming order again.
func (s *Service) RemoveOneTime(ctx context.Context, who Caller, p OneTime) error {
	v, cmd, err := s.oneTime(ctx, who, p, EditOneTime)
	if err != nil {
		return err
	}
	return s.Orders.RemoveOneOff(ctx, v.Shop, cmd)
}

func (s *Service) oneTime(ctx context.Context, who Caller, p OneTime, a Action) (View, command.OneOff, error) {
	v, err := s.Contract(ctx, who, p.ID)
	if fault.Is(err, fault.NotFound) {
		err = billing.NotFound(p.Attempt)
	}
	if err != nil {
		return v, command.OneOff{}, err
	}
	return v, command.OneOff{
		Line: v.State.Contract.Line, Contract: p.ID, Attempt: p.Attempt, Variant: p.Variant, Handle: p.Handle, Quantity: p.Quantity,
		Actor: who.Actor, Permit: s.permit(v.Settings, p.Version, a),
	}, nil
}

// command names the contract to change, for a change that needs the actions.
func (s *Service) command(ctx context.Context, who Caller, ref ContractRef, actions ...Action) (View, amend.Command, error) {
	v, err := s.Contract(ctx, who, ref.ID)
	return v, amend.Command{Line: v.State.Contract.Line, Contract: ref.ID, Actor: who.Actor, Permit: s.permit(v.Settings, ref.Version, actions...)}, err
}
