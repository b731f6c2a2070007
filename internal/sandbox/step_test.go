package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
)

// diary is a side that has something to do at each of its instants.
type diary struct {
	clock clock.Clock
	due   []time.Time
	done  []string     // when it was done, by the clock
	then  func(*diary) // after each piece of work
	stuck bool         // never gets anything done
	busy  int          // rounds until it does, each with a sign of work
	pulse int64
	block <-chan struct{} // work waits for it
}

func (d *diary) Work(context.Context) error {
	if d.block != nil {
		<-d.block
	}
	if d.busy > 0 {
		d.busy--
		d.pulse++
		time.Sleep(patience / 2) // in a bubble
		return nil
	}
	now := d.clock.Now()
	for len(d.due) > 0 && !d.due[0].After(now) && !d.stuck {
		d.due = d.due[1:]
		d.done = append(d.done, now.Format(time.TimeOnly))
		if d.then != nil {
			d.then(d)
		}
	}
	if d.stuck {
		time.Sleep(time.Second) // in a bubble
	}
	return nil
}

func (d *diary) NextDue(context.Context) (time.Time, bool, error) {
	if len(d.due) == 0 {
		return time.Time{}, false, nil
	}
	return d.due[0], true, nil
}

var noon = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

func at(minutes ...int) (list []time.Time) {
	for _, m := range minutes {
		list = append(list, noon.Add(time.Duration(m)*time.Minute))
	}
	return list
}

// two returns a stepper between two sides that share a clock at noon.
func two(platform, service *diary) (*stepper, *clock.Manual) {
	c := clock.NewManual(noon)
	platform.clock, service.clock = c, c
	return newStepper(stepper{
		clock: c, platform: platform, service: service, log: slog.New(slog.DiscardHandler),
		move:  func(t time.Time) error { c.Set(t); return nil },
		pulse: func() int64 { return platform.pulse + service.pulse },
	}), c
}

func to(t time.Time) func(time.Time) (time.Time, error) {
	return func(time.Time) (time.Time, error) { return t, nil }
}

func TestClockStopsAtEveryDueInstantInOrder(t *testing.T) {
	t.Parallel()
	platform, service := &diary{due: at(1, 30)}, &diary{due: at(0, 10, 59, 61)}
	s, c := two(platform, service)
	if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if want := []string{"12:01:00", "12:30:00"}; !slices.Equal(platform.done, want) {
		t.Errorf("the platform worked at %v, want %v", platform.done, want)
	}
	if want := []string{"12:00:00", "12:10:00", "12:59:00"}; !slices.Equal(service.done, want) {
		t.Errorf("the service worked at %v, want %v", service.done, want)
	}
	if got := c.Now(); !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("it is %s", got)
	}
}

func TestWorkCreatedDuringStepIsDoneInStep(t *testing.T) {
	t.Parallel()
	platform, service := &diary{}, &diary{due: at(5)}
	service.then = func(*diary) { platform.due = append(platform.due, service.clock.Now()) }
	s, _ := two(platform, service)
	if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if want := []string{"12:05:00"}; !slices.Equal(platform.done, want) {
		t.Errorf("the platform worked at %v, want %v", platform.done, want)
	}
}

// visited is a side that gets a request whenever it was found idle.
type visited struct {
	*diary
	looks int
	visit func(looks int)
}

func (v *visited) NextDue(ctx context.Context) (time.Time, bool, error) {
	v.looks++
	v.visit(v.looks)
	return v.diary.NextDue(ctx)
}

func TestRequestsFinishBeforeClockMoves(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]time.Time{
		"work that is under way": {}, // as a side says it
		"work that was due":      noon.Add(-time.Minute),
		"work that is due":       noon,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform, service := &diary{}, &diary{due: at(30)}
			s, c := two(platform, service)
			s.platform = &visited{diary: platform, visit: func(looks int) {
				if looks == 2 { // all was quiet, and it is asked how far time may move
					service.due = append([]time.Time{since}, service.due...)
				}
			}}
			var moves []string
			s.move = func(t time.Time) error {
				moves = append(moves, t.Format(time.TimeOnly))
				c.Set(t)
				return nil
			}
			if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); err != nil {
				t.Fatal(err)
			}
			if want := []string{"12:00:00", "12:30:00"}; !slices.Equal(service.done, want) {
				t.Errorf("the service worked at %v, want %v", service.done, want)
			}
			if want := []string{"12:30:00", "13:00:00"}; !slices.Equal(moves, want) {
				t.Errorf("time moved to %v, want %v", moves, want)
			}
		})
	}
}

func TestClockRefusesPastAndFarFuture(t *testing.T) {
	t.Parallel()
	s, c := two(&diary{}, &diary{})
	for _, target := range []time.Time{noon.Add(-time.Millisecond), noon.AddDate(maxAdvance, 0, 1)} {
		if err := s.Advance(t.Context(), to(target)); !fault.Is(err, fault.Invalid) {
			t.Errorf("to %s: %v", target, err)
		}
	}
	if !c.Now().Equal(noon) {
		t.Errorf("it is %s", c.Now())
	}
	if err := s.Advance(t.Context(), to(noon)); err != nil {
		t.Errorf("staying is no step back: %v", err)
	}
}

func TestUnsavedInstantIsNotReached(t *testing.T) {
	t.Parallel()
	s, c := two(&diary{}, &diary{due: at(10)})
	full := errors.New("the disk is full")
	s.move = func(time.Time) error { return full }
	if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if !c.Now().Equal(noon) {
		t.Errorf("it is %s", c.Now())
	}
}

func TestInstantThatNeverSettlesTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := two(&diary{}, &diary{due: at(10), stuck: true})
		began := time.Now()
		err := s.Advance(t.Context(), to(noon.Add(time.Hour)))
		if err == nil || !strings.Contains(err.Error(), "the service has had something to do since 2026-11-01T12:10:00Z") {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(began); waited < patience || waited > 2*patience {
			t.Errorf("given up after %s", waited)
		}
	})
}

func TestBusyInstantIsCompleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &diary{due: at(10), busy: 20}
		s, _ := two(&diary{}, service)
		began := time.Now()
		if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited < 5*patience || len(service.done) != 1 {
			t.Errorf("done at %v after %s", service.done, waited)
		}
	})
}

func TestEndlessWorkTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := two(&diary{}, &diary{due: at(10), busy: 1e6})
		began := time.Now()
		if err := s.Advance(t.Context(), to(noon.Add(time.Hour))); err == nil {
			t.Error("it was waited for")
		}
		if waited := time.Since(began); waited < longest || waited > longest+patience {
			t.Errorf("given up after %s", waited)
		}
	})
}

func TestStepsAreExclusive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s, c := two(&diary{}, &diary{due: at(10), block: gate})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- s.Advance(t.Context(), to(noon.Add(time.Hour))) }()
		synctest.Wait()
		go func() {
			second <- s.Advance(t.Context(), func(now time.Time) (time.Time, error) { return now.Add(time.Hour), nil })
		}()
		synctest.Wait()
		if len(second) > 0 {
			t.Error("the second did not wait")
		}
		close(gate)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
		if got := c.Now(); !got.Equal(noon.Add(2 * time.Hour)) {
			t.Errorf("it is %s, want both hours to have passed", got)
		}
	})
}

func TestWaitingStepCanBeCancelled(t *testing.T) {
	t.Parallel()
	s, _ := two(&diary{}, &diary{})
	<-s.turn
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
