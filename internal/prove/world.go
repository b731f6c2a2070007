package prove

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// world is one run of the service: a platform, a database and some nodes, the
// story of what people do, and what goes wrong meanwhile.
type world struct {
	*kernel
	name    string // of the service, where there are two; empty: there is one
	public  string // where it is reached
	pair    *pair  // nil: there is one service
	plan    plan
	sim     *simulator.Simulator
	handler http.Handler
	root    *store.DB
	books   *sql.DB   // the checker's own way into the database
	intent  *sql.Stmt // reads what was committed of a cycle before it was charged
	folder  string
	tamper  func(c *call) // changes calls, to see whether a broken service is caught; nil: none does
	clean   func()        // of what the database leaves
	ended   func() error  // says whether the run was called off

	shops   []*merchant
	byToken map[string]*merchant
	deals   []*deal // of buyers, as planned; nil: not made yet
	parts   []*deal // that were split off, as they were seen
	byID    map[int64]*deal
	nodes   []*node
	queue   []task.Task // that wait to be carried out

	agendaAt time.Time // of the event that lets the platform do what is due; zero: none
	sweepAt  time.Time // of the next sweep; zero: none
	stirred  bool      // what is due next is about to be looked up

	whole  bool      // the whole database is being looked at
	calm   bool      // no faults any more
	out    time.Time // until when the platform cannot be reached
	lossy  bool      // what it sends meanwhile is lost
	silent time.Time // until when no webhook arrives
	away   time.Time // until when the database cannot be reached
	cut    time.Time // until when the other service cannot be reached

	// What happened, by the platform's word.
	orders map[cycleKey]*order
	tries  map[cycleKey][]time.Time // when charges began
	ends   map[cycleKey][]simulator.Charge
	fresh  []simulator.Charge  // of the call that is being answered
	over   map[int64]time.Time // when contracts were cancelled or expired
	halts  []span              // when the service, or the platform, was away for long

	requests []*request // of people
	logged   map[entryKey]uint64

	tally
	err error
}

// tally counts what happened in a world.
type tally struct {
	counts                                      map[Kind]int
	checks                                      map[Invariant]int
	violations                                  []violation
	due, doubled, missed, unexplained           int
	calls, webhooks, deaths, failed, tasksTaken int
	asked, done                                 map[deed]int // what people did
}

// span is a part of the world's time.
type span struct{ from, to time.Time }

// halted reports whether work that was due between two instants may have been
// late, or left out, because the service or the platform was away for long. What waits
// for its turn then may do so for a day longer.
func (w *world) halted(from, to time.Time) bool {
	return slices.ContainsFunc(w.halts, func(s span) bool { return s.from.Before(to) && s.to.Add(day).After(from) })
}

// longestDelay is how late what is due may be while nothing was away for long: processes
// die and stand still for hours, and what is late is spread over hours.
const longestDelay = 18 * time.Hour

// ahead is how much too early something may be done, by clocks that are wrong.
func (w *world) ahead() time.Duration {
	if w.plan.Rates[ClockJump] > 0 {
		return farthestJump
	}
	return 10 * time.Minute
}

// merchant is a store.
type merchant struct {
	plan      shopPlan
	number    int
	id        shop.ID
	zone      *time.Location
	variants  []int64
	offers    map[offer]int64 // selling plans
	installed int             // how often the app came back
	gone      bool            // the app is not installed
	connected bool
}

// Now is the true time, which is the platform's.
func (w *world) Now() time.Time { return w.now }

// tendEvery is the time between two looks at charges without an end, and checkEvery,
// a multiple of it, between two at the whole database.
const (
	tendEvery  = 5 * day
	checkEvery = 30 * day
)

// live lets the whole of a world's time pass and checks it. The error says what
// is wrong.
func (w *world) live(ctx context.Context) error {
	w.ended = ctx.Err
	storm := w.plan.Start.Add(w.plan.Lasts)
	for at := w.plan.Start.Add(tendEvery); at.Before(storm); at = at.Add(tendEvery) {
		if err := w.pass(at); err != nil {
			return err
		}
		if w.stopped() {
			return nil
		}
		w.endCharges(w.now.Add(-longestCharge))
		if at.Sub(w.plan.Start)%checkEvery != 0 {
			continue
		}
		if err := w.checkpoint(); err != nil || w.err != nil {
			return errors.Join(w.err, err)
		}
	}
	if err := w.pass(storm); err != nil || w.stopped() {
		return err
	}
	w.soothe()
	w.endCharges(w.now)
	for _, s := range w.shops {
		if s.gone || !s.connected {
			w.install(s)
		}
	}
	for at := storm; at.Before(storm.Add(w.plan.Calm)); {
		at = at.Add(6 * time.Hour)
		if err := w.pass(at); err != nil || w.stopped() {
			return err
		}
		w.endCharges(w.now)
	}
	if err := w.pass(storm.Add(w.plan.Calm + 6*time.Hour)); err != nil || w.stopped() {
		return err
	}
	err := w.finish()
	return errors.Join(w.err, err)
}

// stopped reports whether the world has reached its last step.
func (w *world) stopped() bool { return w.plan.UpTo != 0 && w.steps >= w.plan.UpTo }

// lookEvery is after how many steps a world looks whether it is still wanted.
const lookEvery = 1000

// pass lets time pass until an instant.
func (w *world) pass(until time.Time) error {
	for w.err == nil && !w.stopped() && w.next(until) {
		if w.steps%lookEvery == 0 {
			w.check(w.ended())
		}
	}
	return w.err
}

// longestCharge is how long a charge stays pending that the platform would leave
// pending: then the customer's bank or the platform ends it.
const longestCharge = 4 * day

// endCharges ends the charges since before an instant that the platform would leave
// pending forever.
func (w *world) endCharges(before time.Time) {
	for _, d := range w.dealsInOrder() {
		is, err := w.sim.Contract(d.id)
		if err != nil {
			w.fail(err)
			return
		}
		for _, a := range is.Attempts {
			if (a.State == "PENDING" || a.State == "CHALLENGED") && !a.CreatedAt.After(before) {
				if err := w.sim.FinishAttempt(a.ID, d.plan.Finish); err != nil {
					w.note("finish", err.Error())
				}
			}
		}
	}
	w.platformDue()
}

// resume lets a fiber go on, unless its process dies or stands still.
func (w *world) resume(f *fiber) {
	if f.ended {
		return
	}
	n := f.node
	if n.paused.After(w.now) {
		w.at(n.paused, func() { w.resume(f) })
		return
	}
	if w.mayDie(f) {
		return
	}
	w.note("run", n.String(), f.name)
	wait, more := w.run(f)
	switch {
	case more && wait == parked:
		return
	case more:
		w.after(wait, func() { w.resume(f) })
		return
	}
	if i := slices.Index(n.fibers, f); i >= 0 {
		n.fibers = slices.Delete(n.fibers, i, i+1)
	}
	w.stir()
}

// anyNode returns a node that can begin something, or nil.
func (w *world) anyNode() *node {
	from := w.chance.IntN(len(w.nodes))
	for i := range w.nodes {
		if n := w.nodes[(from+i)%len(w.nodes)]; n.able() {
			return n
		}
	}
	return nil
}

// dispatch has a waiting task taken up soon.
func (w *world) dispatch() {
	if len(w.queue) == 0 {
		return
	}
	w.after(w.between(time.Millisecond, w.plan.Slack), func() {
		n := w.anyNode()
		if n == nil || len(w.queue) == 0 {
			return // a node that starts looks for tasks
		}
		i := w.chance.IntN(len(w.queue))
		t := w.queue[i]
		w.queue = slices.Delete(w.queue, i, i+1)
		w.work(n, t)
		if w.hit(TaskTwice) {
			w.work(w.anyNode(), t)
		}
		w.dispatch()
	})
}

// work has a node carry out a task. One that fails is tried again later.
func (w *world) work(n *node, t task.Task) {
	w.tasksTaken++
	n.spawn(t.Kind(), func(ctx context.Context, a *app.App) {
		err := a.Do(ctx, t)
		if err == nil {
			return
		}
		w.failed++
		w.note("failed", t.Kind(), err.Error())
		w.after(w.between(10*time.Second, 20*time.Second), func() {
			if !slices.Contains(w.queue, t) {
				w.queue = append(w.queue, t)
			}
			w.dispatch()
		})
	})
}

// platformDue has the platform do what it has to do when that is due.
func (w *world) platformDue() {
	due, some := w.sim.NextDue()
	if !some || !w.agendaAt.IsZero() && !due.Before(w.agendaAt) {
		return
	}
	if due.Before(w.now) {
		due = w.now
	}
	w.agendaAt = due
	w.at(due, func() {
		if !w.agendaAt.Equal(due) {
			return // an earlier one came first
		}
		w.agendaAt = time.Time{}
		_, err := w.sim.RunDue(context.Background())
		w.check(err)
		w.platformDue()
		w.stir()
	})
}

// sweepEvery is the time from what a node did to the next look at what is due.
const sweepEvery = 20 * time.Second

// stir has what is due next looked up, and swept when it is due by the clock of
// the node that sweeps.
func (w *world) stir() {
	if w.stirred {
		return
	}
	w.stirred = true
	w.after(sweepEvery, func() {
		w.stirred = false
		n := w.anyNode()
		if n == nil || w.away.After(w.now) {
			w.after(time.Minute, w.stir)
			return
		}
		due, some, err := w.root.Shops().NextDue(context.Background(), w.now.Add(n.skew))
		w.check(err)
		if err != nil || !some {
			return
		}
		due = due.Add(-n.skew)
		if due.Before(w.now) {
			due = w.now
		}
		if !w.sweepAt.IsZero() && !due.Before(w.sweepAt) {
			return
		}
		w.sweepAt = due
		w.at(due, func() {
			if !w.sweepAt.Equal(due) {
				return
			}
			w.sweepAt = time.Time{}
			all := w.hit(SweepAtOnce)
			for _, other := range w.nodes {
				if other == n || all {
					w.sweepOn(other)
				}
			}
			w.stir()
		})
	})
}

// sweepOn lets a node look for what is due.
func (w *world) sweepOn(n *node) {
	if !n.able() || w.away.After(w.now) {
		w.stir()
		return
	}
	n.spawn("sweep", func(ctx context.Context, a *app.App) {
		if _, err := a.Sweep.Once(ctx); err != nil {
			w.failed++
			w.note("failed", "sweep", err.Error())
		}
	})
}

// fail ends the world: what it found is wrong.
func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
