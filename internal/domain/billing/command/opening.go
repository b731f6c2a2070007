package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// opening is when the platform begins to accept charges of a cycle: a day before its expected
// date, which moves within the cycle only.
type opening struct {
	contract contract.ID
	cycle    int
	at       time.Time // zero: nothing speaks against any date
}

// opening asks the platform when it accepts charges of the target's cycle, if that matters. The
// zero opening belongs to no cycle.
func (s *Service) opening(ctx context.Context, of shop.ID, t target, matters func(draft) (bool, error)) (opening, error) {
	var r draft
	wanted := false
	err := s.Store.View(ctx, of, func(tx billing.ReadTx) error {
		var err error
		if r, err = find(ctx, tx, t); err == nil {
			wanted, err = matters(r)
		}
		return err
	})
	if err != nil || !wanted {
		return opening{}, err
	}
	ref := platform.CycleRef{Contract: int64(r.Contract), Index: r.Cycle}
	states, err := s.Platform.CycleStates(platform.Interactive(ctx), r.shop.At(), []platform.CycleRef{ref})
	if err != nil {
		return opening{}, fault.Because(fault.Unavailable, err, "the platform could not be asked when it takes charges for cycle %d of contract %d", r.Cycle, r.Contract)
	}
	o := opening{contract: r.Contract, cycle: r.Cycle}
	if !states[0].Missing {
		o.at = billing.ChargeableFrom(states[0].Cycle)
	}
	return o, nil
}

// openingFor asks for the opening if a person wants a date before the present one. It does not
// ask about a date that is refused anyway.
func (s *Service) openingFor(ctx context.Context, of shop.ID, t target, date time.Time) (opening, error) {
	return s.opening(ctx, of, t, func(r draft) (bool, error) {
		cal, err := r.shop.Calendar()
		now := s.Clock.Now()
		return checkDate(date, now) == nil && earlier(r, billing.OrderAt(date, now, cal)), err
	})
}

// openingNow asks for the opening if an order whose date is far away is charged now. If the
// platform does not answer, the charge is accepted, and the outcome is reported later.
func (s *Service) openingNow(ctx context.Context, of shop.ID, t target, cmd Trigger) (opening, error) {
	o, err := s.opening(ctx, of, t, func(r draft) (bool, error) {
		return r.Status == billing.Queued && r.BillingDate.After(s.Clock.Now().Add(billing.ChargeLead)), triggerable(r, cmd, s.Clock.Now())
	})
	if fault.Is(err, fault.Unavailable) {
		return opening{}, nil
	}
	return o, err
}

// begun refuses to charge a cycle now that the platform does not accept charges of yet.
func (o opening) begun(r draft, now time.Time) error {
	if !o.of(r) || !now.Before(o.at) {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "%s: it can be asked for from then on", billing.TooEarlyReason(r.Attempt, o.at)).Entity(billing.AttemptEntity).Code("chargeTooEarly")
}

// of reports whether the opening belongs to the record's cycle.
func (o opening) of(r draft) bool { return o.contract == r.Contract && o.cycle == r.Cycle }

// earlier reports whether a date is before that of a waiting order, so that the platform may not
// accept the charge.
func earlier(r draft, date time.Time) bool {
	return r.Status != billing.Failure && date.Before(r.BillingDate)
}

// allows refuses a date on which the platform does not accept a charge of the cycle yet.
func (o opening) allows(r draft, date time.Time, cal cadence.Calendar) error {
	if !earlier(r, date) {
		return nil
	}
	if !o.of(r) {
		return fault.New(fault.Conflict, "The billing attempt has changed").Entity(billing.AttemptEntity).Code("changedMeanwhile")
	}
	if !date.Before(o.at) {
		return nil
	}
	first := cal.At(o.at)
	if first.Before(o.at) {
		first = cal.At(o.at.In(cal.Zone).AddDate(0, 0, 1))
	}
	return fault.New(fault.FailedPrecondition, "%s: the earliest possible billingDate is %s", billing.TooEarlyReason(r.Attempt, o.at), first.Format(time.RFC3339)).
		Entity(billing.AttemptEntity).Code("billingDateTooEarly").Field("billingDate")
}
