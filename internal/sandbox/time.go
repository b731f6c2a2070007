package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/simulate"
)

const (
	mostMoves = 10              // that the dashboard shows
	moveWait  = 2 * time.Second // for a move before a page is answered all the same
)

// clockwork moves the sandbox's time for the dashboard. Its requests are requests to the
// service, which a restore waits for: a move that takes longer goes on without them.
type clockwork struct {
	*Sandbox

	mutex sync.Mutex
	moves []simulate.Move // the newest first
}

// timeRoom is the room of the dashboard that only a sandbox has.
func (s *Sandbox) timeRoom() dashboard.Room {
	return simulate.New(simulate.Options{
		Clockwork: &clockwork{Sandbox: s}, Log: func() simulate.Log { return s.front.running().Store },
		Scenarios: described(),
		Links: []simulate.Link{
			{Name: "Mail catcher", Address: s.urls.Control + "/inbox", About: "Every e-mail that the service has sent."},
			{Name: "Webhook catcher", Address: s.urls.Control, About: "Receivers whose answers can be scripted, and the rest of the control interface."},
			{Name: "Storefront", Address: s.urls.Storefront, About: "Sign in as a customer, or subscribe to a product."},
			{Name: "Simulated platform", Address: s.urls.Platform, About: "The orders and contracts that the platform has recorded."},
		},
	})
}

// timeNotice says on every page of the dashboard that time was moved.
func (s *Sandbox) timeNotice(zone *time.Location) string {
	if s.hand == nil {
		return ""
	}
	return simulate.Notice(beginning(), s.clock.Now(), zone)
}

// State returns how the sandbox stands.
func (c *clockwork) State(ctx context.Context) (simulate.State, error) {
	now := c.clock.Now()
	state := simulate.State{Real: clock.System{}.Now(), Now: now, Movable: c.hand != nil}
	c.mutex.Lock()
	state.Moves = append(state.Moves, c.moves...)
	c.mutex.Unlock()
	far := now.AddDate(maxAdvance, 0, 0)
	next, err := c.steps.next(ctx, far)
	if err != nil {
		return state, err
	}
	if next.After(now) && next.Before(far) {
		state.Next = next
	}
	backlog, err := c.front.running().Store.Shops().Backlog(ctx, now)
	state.Due, state.Waiting = backlog.Due, backlog.Waiting
	return state, err
}

// movable refuses to move the time of a sandbox that follows the machine's clock.
func (s *Sandbox) movable() error {
	if s.hand == nil {
		return fault.New(fault.FailedPrecondition, "this sandbox follows the machine's clock (--wall-clock): its time cannot be moved").Code("wallClock")
	}
	return nil
}

// Advance begins a move and waits a moment for its end.
func (c *clockwork) Advance(ctx context.Context, to time.Time) error {
	if err := c.begin(simulate.Move{To: to}); err != nil {
		return err
	}
	return c.run(ctx, to, c.steps.Advance)
}

// Play begins a scenario in a store: no other move runs while it is set up.
func (c *clockwork) Play(ctx context.Context, domain, name string) error {
	one, err := scenarioOf(name)
	if err != nil {
		return err
	}
	if err := c.steps.claim(); err != nil {
		return err
	}
	to, err := c.prepare(ctx, domain, one)
	if err != nil {
		c.steps.release()
		return err
	}
	return c.run(ctx, to, func(ctx context.Context, target func(time.Time) (time.Time, error)) error {
		defer c.steps.release()
		return c.steps.advance(ctx, target)
	})
}

// prepare stages a scenario as a move that has begun, and returns where time moves.
func (c *clockwork) prepare(ctx context.Context, domain string, one scenario) (time.Time, error) {
	if err := c.begin(simulate.Move{To: c.clock.Now(), Scenario: one.Title}); err != nil {
		return time.Time{}, err
	}
	made, to, err := c.stage(ctx, domain, one)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err != nil {
		c.moves = c.moves[1:]
	} else {
		c.moves[0].Contract, c.moves[0].To = made, to
	}
	return to, err
}

// begin adds a move, unless another one runs.
func (c *clockwork) begin(m simulate.Move) error {
	if err := c.movable(); err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.moves) > 0 && !c.moves[0].Done {
		return errMoving
	}
	m.From = c.clock.Now()
	c.moves = append([]simulate.Move{m}, c.moves[:min(len(c.moves), mostMoves-1)]...)
	return nil
}

// mover moves time, as stepper.Advance does.
type mover func(ctx context.Context, target func(now time.Time) (time.Time, error)) error

// run moves time and waits a moment for its end.
func (c *clockwork) run(ctx context.Context, to time.Time, move mover) error {
	done := make(chan error, 1)
	c.serving.Go(func() { done <- c.advance(c.working, to, move) })
	wait := time.NewTimer(moveWait)
	defer wait.Stop()
	select {
	case err := <-done:
		return err
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}

// advance moves time and notes what has happened.
func (c *clockwork) advance(ctx context.Context, to time.Time, by mover) error {
	var before tally
	err := by(ctx, func(time.Time) (at time.Time, err error) {
		before, err = c.tally(ctx)
		return to, err
	})
	after, counted := c.tally(ctx)
	if err == nil {
		err = counted
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	move := &c.moves[0]
	move.Done, move.To = true, c.clock.Now()
	if err != nil {
		move.Failure = err.Error()
	}
	if counted == nil {
		n := after.since(before)
		move.Counts = simulate.Counts{Billed: n.Billed, Failed: n.Failed, Orders: n.Orders, Mails: n.Mails, Webhooks: n.Webhooks}
	}
	return err
}

// RunDue does what is due now, or goes on doing it when that takes longer than a reader waits.
func (c *clockwork) RunDue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, moveWait)
	defer cancel()
	if err := c.steps.Settle(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // what is left is done by the sandbox, which watches what is due
}

// Outcome scripts the next charge of a contract.
func (c *clockwork) Outcome(domain string, contract int64, code string) error {
	found, err := c.sim.Contract(contract)
	if err != nil {
		return err
	}
	if found.Shop != domain {
		return fault.New(fault.NotFound, "contract %d does not exist", contract)
	}
	return c.sim.Outcome(simulator.Outcome{Contract: contract, Code: code})
}
