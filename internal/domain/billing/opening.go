package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// opening is when the platform begins to take charges of a cycle. Its expected
// date moves within the cycle only, and a charge is taken from a day before it.
type opening struct {
	contract contract.ID
	cycle    int
	at       time.Time // zero: nothing speaks against any date
}

// Opens returns from when on the platform takes charges of a cycle. One that was given a
// date before it was put off as a whole keeps that, and is open from then on.
func Opens(y platform.Cycle) time.Time {
	if y.Expected.Before(y.Start) {
		return y.Expected.Add(-early)
	}
	return y.Start.Add(-early)
}

// opening asks the platform when it begins to take charges of the target's cycle,
// if the answer matters to what is wanted of it. The zero opening is of no cycle.
func (s *Service) opening(ctx context.Context, of shop.ID, t target, matters func(Record) (bool, error)) (opening, error) {
	var r Record
	wanted := false
	err := s.Store.Update(ctx, of, func(tx Tx) error {
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
		return opening{}, unavailable(err, "the platform could not be asked when it takes charges for cycle %d of contract %d", r.Cycle, r.Contract)
	}
	o := opening{contract: r.Contract, cycle: r.Cycle}
	if !states[0].Missing {
		o.at = Opens(states[0].Cycle)
	}
	return o, nil
}

// openingFor asks for the opening when a date that a person wants lies before the
// present one. A date that is refused in any case is none to ask about.
func (s *Service) openingFor(ctx context.Context, of shop.ID, t target, date time.Time) (opening, error) {
	return s.opening(ctx, of, t, func(r Record) (bool, error) {
		cal, err := r.shop.Calendar()
		now := s.Clock.Now()
		return checkDate(date, now) == nil && earlier(r, OrderAt(date, now, cal)), err
	})
}

// openingNow asks for the opening when an order is to be charged now whose date is
// far away. When the platform does not answer, nothing speaks against the charge:
// the intent is kept, and what comes of it is told later.
func (s *Service) openingNow(ctx context.Context, of shop.ID, t target) (opening, error) {
	o, err := s.opening(ctx, of, t, func(r Record) (bool, error) {
		return r.Status == Queued && r.BillingDate.After(s.Clock.Now().Add(early)), triggerable(r, t.by, s.Clock.Now())
	})
	if fault.Is(err, fault.Unavailable) {
		return opening{}, nil
	}
	return o, err
}

// begun refuses a charge now of a cycle of which the platform takes none yet.
func (o opening) begun(r Record, now time.Time) error {
	if !o.of(r) || !now.Before(o.at) {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "%s: it can be asked for from then on", tooEarlyReason(r.Attempt, o.at)).Entity(entity).Code("chargeTooEarly")
}

func tooEarlyReason(a Attempt, opens time.Time) string {
	return fmt.Sprintf("the platform takes no charge for cycle %d of contract %d before %s", a.Cycle, a.Contract, opens.UTC().Format(time.RFC3339))
}

// of reports whether the opening is that of the record's cycle.
func (o opening) of(r Record) bool { return o.contract == r.Contract && o.cycle == r.Cycle }

// earlier reports whether a date asks for a charge of an order that waits before
// its present date, which is when the platform may not take it.
func earlier(r Record, date time.Time) bool { return r.Status != Failure && date.Before(r.BillingDate) }

// allows refuses a date before the platform takes a charge of the cycle.
func (o opening) allows(r Record, date time.Time, cal cadence.Calendar) error {
	if !earlier(r, date) {
		return nil
	}
	if !o.of(r) {
		return fault.New(fault.Conflict, "The billing attempt has changed").Entity(entity).Code("changedMeanwhile")
	}
	if !date.Before(o.at) {
		return nil
	}
	first := cal.At(o.at)
	if first.Before(o.at) {
		first = cal.At(o.at.In(cal.Zone).AddDate(0, 0, 1))
	}
	return fault.New(fault.FailedPrecondition, "%s: the earliest possible billingDate is %s", tooEarlyReason(r.Attempt, o.at), first.Format(time.RFC3339)).
		Entity(entity).Code("billingDateTooEarly").Field("billingDate")
}
