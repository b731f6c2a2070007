package amend

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of what is said about a pause or a cancellation, in characters.
const (
	MaxFeedback         = 500
	MaxCancellationNote = 1000
)

// MaxPauseCycles is how many orders a pause can leave out when it is told in
// orders.
const MaxPauseCycles = 365

// StatusChange is what is asked of a contract's status.
type StatusChange struct {
	To contract.Status

	// Of a pause.
	Until    time.Time // when it ends by itself; zero: never
	Cycles   int       // or: how many orders it leaves out; 0: not told so
	Reason   string
	Feedback string // what the customer said, about a cancellation too

	// Of a cancellation.
	Note string
	Now  bool // it waits for nothing, not even for deliveries that are paid for

	// Of an activation: when the contract is to run again; zero: now.
	From time.Time
}

func (w StatusChange) check(now time.Time) error {
	for _, text := range []struct {
		field, text string
		most        int
	}{{"cancellationFeedback", w.Feedback, MaxFeedback}, {"cancellationNote", w.Note, MaxCancellationNote}, {"pauseReason", w.Reason, MaxFeedback}} {
		if utf8.RuneCountInString(text.text) > text.most {
			return fault.New(fault.Invalid, "%s is longer than %d characters", text.field, text.most).Entity(entity).Field(text.field)
		}
	}
	past := func(field string, t time.Time) error {
		return fault.New(fault.Invalid, "%s %s is in the past", field, t.UTC().Format(time.RFC3339)).Entity(entity).Code("datePast").Field(field)
	}
	switch {
	case !w.From.IsZero() && w.From.Before(now.Add(-billing.PastTolerance)):
		return past("activationDate", w.From)
	case w.Cycles < 0 || w.Cycles > MaxPauseCycles:
		return fault.New(fault.Invalid, "pauseDurationCycle is %d and must be from 1 to %d", w.Cycles, MaxPauseCycles).Entity(entity).Field("pauseDurationCycle")
	case w.Cycles > 0 && !w.Until.IsZero():
		return fault.New(fault.Invalid, "say pauseTillDate or pauseDurationCycle, not both").Entity(entity).Field("pauseDurationCycle")
	case !w.Until.IsZero() && !w.Until.After(now):
		return past("pauseTillDate", w.Until)
	}
	if err := notTooFar(w.From, now, "activationDate"); err != nil {
		return err
	}
	return notTooFar(w.Until, now, "pauseTillDate")
}

// SetStatus pauses, activates or cancels a contract. Its upcoming orders leave
// the queue, or come back to it, in the commit that brings the status. The status
// it has already is refused. What was asked for is committed before the platform
// is told: an answer that is lost is repaired by Work.
func (s *Service) SetStatus(ctx context.Context, of shop.ID, cmd Command, w StatusChange) (contract.Detail, error) {
	if err := w.check(s.Clock.Now()); err != nil {
		return contract.Detail{}, err
	}
	ctx = platform.Interactive(ctx)
	until := s.Clock.Now().Add(PendingChangeTimeout)
	store, known, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	c, err := s.decide(ctx, store, cmd, w)
	if err != nil {
		return contract.Detail{}, err
	}
	if c.Moving == nil {
		return s.shown(ctx, of, cmd)
	}
	return s.move(ctx, store, c, known.Moving == nil, until)
}

// decide commits what becomes of the contract: a move that the platform is to be
// told of, or what only the service keeps.
func (s *Service) decide(ctx context.Context, store shop.Shop, cmd Command, w StatusChange) (contract.Contract, error) {
	cal, err := store.Calendar()
	if err != nil {
		return contract.Contract{}, err
	}
	var decided contract.Contract
	err = s.Store.Update(ctx, store.ID, func(tx intake.Tx) error {
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].HiddenFrom(cmd.Actor) {
			return contractNotFound(cmd.Contract)
		}
		c := &rows[0]
		if c.Moving != nil && c.Moving.To == w.To {
			decided = *c // somebody asked for the same, and it may not have been done
			return nil
		}
		there, err := tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued, billing.Skipped)
		if err != nil {
			return err
		}
		entries, err := toward(c, w, standing{settings: store.Settings, calendar: cal, by: cmd.Actor}.sees(there, now), now)
		if err != nil {
			return err
		}
		c.UpdatedAt = now
		c.ResetAmendAt()
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		if decided = rows[0]; c.Moving != nil {
			return tx.Record(ctx, entries...)
		}
		if err := queue.Limit(ctx, tx, store, []*contract.Contract{c}, now); err != nil {
			return err
		}
		if err := queue.Refill(ctx, tx, store, rows, now); err != nil {
			return err
		}
		decided = rows[0]
		return tx.Record(ctx, entries...)
	})
	return decided, err
}

// move tells the platform of the change of status that the contract is on. What
// the platform definitely did not do is forgotten: what it refuses and, the first
// time that it is told, whatever has failed and is known not to have reached it. The
// platform is told until an instant: then others may be at it, and whoever slept would
// bring an old status back.
func (s *Service) move(ctx context.Context, store shop.Shop, c contract.Contract, first bool, until time.Time) (contract.Detail, error) {
	m := *c.Moving
	var after platform.Detail
	err := platform.ErrUnknown
	for try := 0; try < 2 && errors.Is(err, platform.ErrUnknown) && s.Clock.Now().Before(until); try++ { // setting it again changes nothing
		after, err = s.Platform.SetStatus(ctx, store.At(), int64(c.ID), string(m.To))
	}
	switch why := unanswered(err); {
	case err == nil:
	case final(why), first && !errors.Is(err, platform.ErrUnknown):
		return contract.Detail{}, errors.Join(why, s.stay(ctx, store.ID, c))
	default:
		return contract.Detail{}, why
	}
	return s.adopt(ctx, store, Command{Line: c.Line, Contract: c.ID, Actor: m.Actor}, after, change{moved: &m})
}

// stay forgets a move that was not made.
func (s *Service) stay(ctx context.Context, of shop.ID, c contract.Contract) error {
	at := c.Moving.At
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		if c.Moving != nil && c.Moving.At.Equal(at) {
			c.Moving = nil
			c.ResetAmendAt()
			if next := s.Clock.Now().Add(PendingChangeTimeout); !c.AmendAt.IsZero() && c.AmendAt.Before(next) {
				c.AmendAt = next
			}
		}
		return nil
	})
}

// deferred is the entry of an activation that waits.
func deferred(c contract.Contract, by activity.Actor, now time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractActivationDeferred, Status: activity.Success,
		Actor: by, At: now, Info: activity.Details(deferredNote{Until: c.Pause.Until}),
	}
}

type deferredNote struct {
	Until time.Time `json:"pauseTillDate"`
}
