package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
)

// side is a half of the sandbox, service or platform, that has work at certain
// instants of the sandbox's time.
type side interface {
	// Work does what is due now, or has it begun, and waits for as much of it as
	// can be waited for.
	Work(ctx context.Context) error
	// NextDue returns the instant of the earliest work, which may be past, and
	// false when there is none.
	NextDue(ctx context.Context) (time.Time, bool, error)
}

// stepper moves time: from one due instant to the next, never past one that is
// not quiet.
type stepper struct {
	clock    clock.Clock
	move     func(t time.Time) error // keeps the instant, then sets the clock; nil: time cannot be moved
	platform side
	service  side
	pulse    func() int64 // grows while either side is at work
	log      *slog.Logger

	turn   chan struct{} // holds one token: the running step has it
	moving chan struct{} // holds one token: the move that runs has it, from before its first step
}

// How far stepping goes before it gives up, and how often it looks.
const (
	patience  = 30 * time.Second // the machine's time that may pass without a sign of work at an instant that is not quiet
	longest   = 15 * time.Minute // and with any, for work may go round in circles
	lookEvery = 20 * time.Millisecond
	waitEvery = 500 * time.Microsecond

	readersWait = 2 * time.Second // for others who step, before a read is answered all the same
	maxAdvance  = 20              // years in one call
)

func newStepper(s stepper) *stepper {
	s.turn = make(chan struct{}, 1)
	s.turn <- struct{}{}
	s.moving = make(chan struct{}, 1)
	s.moving <- struct{}{}
	return &s
}

// alone runs fn while no other step runs.
func (s *stepper) alone(ctx context.Context, fn func() error) error {
	return s.aloneWithin(ctx, nil, fn)
}

// aloneWithin does the same, or nothing when late comes before the turn; nil never
// comes.
func (s *stepper) aloneWithin(ctx context.Context, late <-chan time.Time, fn func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return nil
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	return fn()
}

// Settle waits until nothing is due any more at the present instant.
func (s *stepper) Settle(ctx context.Context) error {
	return s.alone(ctx, func() error { return s.settle(ctx) })
}

// Catch settles, unless others are stepping for longer than a reader cares to wait.
func (s *stepper) Catch(ctx context.Context) error {
	late := time.NewTimer(readersWait)
	defer late.Stop()
	return s.aloneWithin(ctx, late.C, func() error { return s.settle(ctx) })
}

// Advance moves time to target, after other moves, and answers when all is quiet there. When
// ctx ends, time stays at the instant that it reached.
func (s *stepper) Advance(ctx context.Context, target func(now time.Time) (time.Time, error)) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.moving:
	}
	defer s.release()
	return s.advance(ctx, target)
}

// errMoving refuses a move while another one runs.
var errMoving = fault.New(fault.Conflict, "time is moving already: wait until it has arrived")

// claim keeps other moves waiting until release, or is a Conflict when one runs.
func (s *stepper) claim() error {
	select {
	case <-s.moving:
		return nil
	default:
		return errMoving
	}
}

func (s *stepper) release() { s.moving <- struct{}{} }

// advance is Advance for the caller that has the claim.
func (s *stepper) advance(ctx context.Context, target func(now time.Time) (time.Time, error)) error {
	return s.alone(ctx, func() error {
		from := s.clock.Now()
		to, err := target(from)
		if err != nil {
			return err
		}
		if s.move == nil {
			return fault.New(fault.FailedPrecondition, "this sandbox follows the machine's clock (--wall-clock): its time cannot be moved").Code("wallClock")
		}
		if to.Before(from) {
			return fault.New(fault.Invalid, "%s is past: the sandbox's time is %s and never goes back", to.Format(time.RFC3339), from.Format(time.RFC3339)).Field("to")
		}
		if to.After(from.AddDate(maxAdvance, 0, 0)) {
			return fault.New(fault.Invalid, "time moves at most %d years in one call", maxAdvance).Field("advance")
		}
		for {
			if err := s.settle(ctx); err != nil {
				return err
			}
			now := s.clock.Now()
			if !now.Before(to) {
				return nil
			}
			next, err := s.next(ctx, to)
			if err != nil {
				return err
			}
			if !next.After(now) { // a request arrived since all was quiet
				continue
			}
			if err := s.move(next); err != nil {
				return err
			}
		}
	})
}

// next returns the earliest instant at which there is something to do, or limit
// when that comes first. What is under way has the zero instant.
func (s *stepper) next(ctx context.Context, limit time.Time) (time.Time, error) {
	for _, half := range []side{s.platform, s.service} {
		due, some, err := half.NextDue(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if some && due.Before(limit) {
			limit = due
		}
	}
	return limit, nil
}

// settle does what is due until nothing is, on either side.
func (s *stepper) settle(ctx context.Context) error {
	began := clock.System{}.Now()
	alive, pulse := began, s.pulse()
	for {
		due, err := s.due(ctx)
		if err != nil || due == "" {
			return err
		}
		now := clock.System{}.Now()
		if p := s.pulse(); p != pulse {
			alive, pulse = now, p
		}
		if now.Sub(alive) > patience || now.Sub(began) > longest {
			return fmt.Errorf("the sandbox does not come to rest at %s: %s", s.clock.Now().Format(time.RFC3339), due)
		}
		if err := s.platform.Work(ctx); err != nil {
			return fmt.Errorf("the platform's work: %w", err)
		}
		if err := s.service.Work(ctx); err != nil {
			return fmt.Errorf("the service's work: %w", err)
		}
	}
}

// due says what is due on either side, or "" when nothing is. The service comes
// first: while it is quiet only the platform's webhooks wake it, and they wait
// for the stepper.
func (s *stepper) due(ctx context.Context) (string, error) {
	now := s.clock.Now()
	for _, half := range []struct {
		name string
		side side
	}{{"service", s.service}, {"platform", s.platform}} {
		at, some, err := half.side.NextDue(ctx)
		switch {
		case err != nil:
			return "", fmt.Errorf("the %s's next work: %w", half.name, err)
		case some && at.IsZero():
			return fmt.Sprintf("the %s is still working", half.name), nil
		case some && !at.After(now):
			return fmt.Sprintf("the %s has had something to do since %s", half.name, at.Format(time.RFC3339)), nil
		}
	}
	return "", nil
}

// Watch carries out, until ctx ends, what falls due while no step runs: the effects of
// requests to either side, and of a clock that runs.
func (s *stepper) Watch(ctx context.Context) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "what is due was not done", "error", err)
		}
	}
}
