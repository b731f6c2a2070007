package job

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
)

// scheduler is the workers of a process. A task that rests gives its worker to another one
// and has one again before it goes on: however many stores wait for the platform to
// take more of their calls, the others are worked.
//
// River knows of no rest. To it a task has ended well when it rests for the first time;
// the scheduler runs the remainder. What a process leaves behind that dies is found by the
// sweep, as is what River gives up.
type scheduler struct {
	base    context.Context // of every task
	dismiss context.CancelFunc
	options Options
	workers chan struct{} // has an item for each that is at work
	again   addAgain

	remainders sync.WaitGroup
	mu         sync.Mutex
	rested     map[string]int  // tasks that have yielded and not ended, by kind and arguments
	asked      map[string]bool // those for which another run was requested
	open       int             // tasks that have rested and are not settled
	departed   int             // tasks that ever rested
}

// remainder is the work of a scheduler that the queue does not know.
type remainder struct {
	none     bool
	departed int // distinguishes two snapshots
}

func (c *scheduler) remaining() remainder {
	if c == nil {
		return remainder{none: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return remainder{c.open == 0, c.departed}
}

// addAgain adds a task to the queue with a delay.
type addAgain func(ctx context.Context, t task.Task, in time.Duration) error

func newScheduler(ctx context.Context, o Options, again addAgain) *scheduler {
	c := &scheduler{options: o, workers: make(chan struct{}, o.MaxWorkers), again: again, rested: make(map[string]int), asked: make(map[string]bool)}
	c.base, c.dismiss = context.WithCancel(ctx)
	return c
}

// restedAtOnce is how many equal tasks may have rested and not ended. There is a second
// one, so that what one began that takes long does not hold up what came after it; more
// would take up what is left for no use but to wait for it.
const restedAtOnce = 2

// do carries out a task, and returns when it has ended or rests. The key is the same for
// equal tasks: what is asked for while restedAtOnce of them have not ended is run after
// one of them.
func (c *scheduler) do(ctx context.Context, key string, t task.Task, fn func(context.Context) error) error {
	own, cancel := context.WithTimeout(c.base, c.options.Timeout)
	unbind := context.AfterFunc(ctx, cancel)
	defer unbind() // what has rested outlives the queue's own context
	s := &slot{crew: c, ctx: own, key: key, rests: make(chan struct{})}
	if s.work(); !s.works || c.wait(key) {
		defer cancel()
		s.end()
		return own.Err()
	}
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		err := sheltered(task.WithYielder(own, s), fn)
		if s.end() {
			c.settle(key, t, err)
		} else {
			ended <- err
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-s.rests:
		return nil
	}
}

// sheltered carries out a task and makes a panic an error, as River does.
func sheltered(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(ctx)
}

// wait reports whether enough equal tasks have rested and have not ended, and has the
// task run after one of them.
func (c *scheduler) wait(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rested[key] < restedAtOnce {
		return false
	}
	c.asked[key] = true
	return true
}

// settle ends a task that has rested. It is added to the queue once more when it was
// asked for meanwhile, or failed.
func (c *scheduler) settle(key string, t task.Task, err error) {
	defer c.close()
	c.mu.Lock()
	asked := c.asked[key]
	delete(c.asked, key)
	if c.rested[key]--; c.rested[key] == 0 {
		delete(c.rested, key)
	}
	c.mu.Unlock()
	if err != nil {
		c.options.Log.Warn("a task failed after a rest and is tried again", "task", t.Kind(), "error", err)
	}
	var in time.Duration
	switch {
	case asked:
	case err != nil:
		in = shortestWait
	default:
		return
	}
	if err := c.again(context.WithoutCancel(c.base), t, in); err != nil {
		c.options.Log.Warn("a task is left to the sweep", "task", t.Kind(), "error", err)
	}
}

// close counts a task that is settled.
func (c *scheduler) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	c.remainders.Done()
}

// stop waits for the tasks that have rested and, when ctx ends first, tells them to end.
func (c *scheduler) stop(ctx context.Context) {
	over := make(chan struct{})
	go func() {
		c.remainders.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	c.dismiss()
	<-over
}

// slot is one task at work. Parts of it may rest, and wake, at the same time.
type slot struct {
	crew  *scheduler
	ctx   context.Context
	key   string
	rests chan struct{} // closed when it rests for the first time

	mu      sync.Mutex
	works   bool // has a worker
	resting int  // parts that rest
	rested  bool
}

// Yield gives the worker back. What it returns ends the rest.
func (s *slot) Yield() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rested {
		s.rested = true
		s.crew.depart(s.key)
		close(s.rests)
	}
	s.resting++
	s.drop()
	return s.resume
}

// resume ends a rest.
func (s *slot) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work()
	s.resting--
}

// Done gives the worker back while others rest: one that wakes waits for it again.
func (s *slot) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting > 0 {
		s.drop()
	}
}

// depart counts a task that rests for the first time.
func (c *scheduler) depart(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rested[key]++
	c.open++
	c.departed++
	c.remainders.Add(1)
}

// work waits for a worker, unless another part of the task has one or its context ends.
func (s *slot) work() {
	if s.works {
		return
	}
	select {
	case s.crew.workers <- struct{}{}:
		s.works = true
	case <-s.ctx.Done():
	}
}

// end gives the worker back for good, and reports whether the task ever rested.
func (s *slot) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	return s.rested
}

func (s *slot) drop() {
	if s.works {
		s.works = false
		<-s.crew.workers
	}
}
