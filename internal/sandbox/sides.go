package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// platformSide is the simulator as the stepper sees it.
type platformSide struct{ sim *simulator.Simulator }

func (p platformSide) Work(ctx context.Context) error {
	_, err := p.sim.RunDue(ctx)
	return err
}

func (p platformSide) NextDue(context.Context) (time.Time, bool, error) {
	at, some := p.sim.NextDue()
	return at, some, nil
}

// sides are several sides as one.
type sides []side

// Work does the work of each.
func (all sides) Work(ctx context.Context) error {
	for _, one := range all {
		if err := one.Work(ctx); err != nil {
			return err
		}
	}
	return nil
}

// NextDue returns the earliest of all.
func (all sides) NextDue(ctx context.Context) (first time.Time, some bool, err error) {
	for _, one := range all {
		at, due, err := one.NextDue(ctx)
		if err != nil {
			return time.Time{}, false, err
		}
		if due && (!some || at.Before(first)) {
			first, some = at, true
		}
	}
	return first, some, nil
}

// serviceSide is the service as the stepper sees it. A restore puts another
// service in the place of the one that runs.
type serviceSide struct {
	running func() *app.App
	clock   clock.Clock

	// What was due next when it was last looked up. It stays so until something is committed or time
	// moves; another process may have committed too, so it is looked up again after a while.
	mu      sync.Mutex
	until   time.Time // of the machine
	looked  *app.App
	commits int64
	at      time.Time
	due     time.Time
	some    bool
}

// dueLife is how long what is due next is believed without looking again, while nothing is committed here.
const dueLife = 200 * time.Millisecond

// Work asks for what is due and waits until the queue is empty. A job that is
// under way may make something due, so its end is waited for in any case.
func (s *serviceSide) Work(ctx context.Context) error {
	a := s.running()
	if _, err := a.Sweep.Once(ctx); err != nil {
		return err
	}
	a.Work(ctx)
	return a.WaitIdle(ctx, patience)
}

// NextDue returns the zero time while the queue holds something.
func (s *serviceSide) NextDue(ctx context.Context) (time.Time, bool, error) {
	a := s.running()
	idle, err := a.Idle(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	if !idle {
		return time.Time{}, true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	commits, now := a.Store.Commits(), s.clock.Now()
	machine := clock.System{}.Now()
	if s.looked == a && s.commits == commits && s.at.Equal(now) && machine.Before(s.until) {
		return s.due, s.some, nil
	}
	due, some, err := a.NextDue(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	s.looked, s.commits, s.at, s.due, s.some = a, commits, now, due, some
	s.until = machine.Add(dueLife)
	return due, some, nil
}
