package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// Options say how much to prove, on what. The zero value of a field is its default.
type Options struct {
	Seed     uint64
	Renewals int    // at least, by worlds that are run whole
	Faults   int    // at least; with fewer the run is void
	Database string // sqlite, or postgres://…, where each world uses a schema of its own
	Nodes    int    // of each world; 0: as the seed says
	World    int    // only this one; 0: as many as it takes, from 1
	UpTo     uint64 // ends each world after so many steps
	Without  []Kind // kinds of faults that are left out
	Moving   bool   // two services beside one platform, and contracts that move from one to the other and back
	Progress io.Writer
}

// Proof is what a run came to.
type Proof struct {
	Options   Options
	Worlds    []Life
	Again     uint64 // trace of the first world's second run; 0: it had none
	Took      time.Duration
	HeapFirst uint64 // bytes in use after the first world
	HeapLast  uint64 // and after the last
	Shrunk    string // the smallest reproduction of the first failure
}

// Life is what one world came to.
type Life struct {
	Number   int
	Renewals int
	Steps    uint64
	Trace    uint64
	On       []Kind // the kinds of faults that were switched on
	Nodes    int
	Err      error
	tally
	moveTally
}

// ErrVoid says that a run proves nothing about something that it was to prove.
var ErrVoid = errors.New("the run is void")

// Run runs worlds until enough was renewed and everything has happened. The error says why nothing is proven;
// the proof is there in any case.
func Run(ctx context.Context, o Options) (*Proof, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	p := &Proof{Options: o}
	begun := clock.System{}.Now()
	err := p.run(ctx)
	p.Took = clock.System{}.Now().Sub(begun)
	return p, err
}

// gcPercent trades memory, which is used little, for time.
const gcPercent = 400

func (p *Proof) run(ctx context.Context) error {
	o := p.Options
	var again Life // the first world's second one
	if o.World != 0 {
		p.take(o.live(ctx, o.World))
	} else {
		var err error
		if again, err = p.runAll(ctx); err != nil {
			return err
		}
	}
	for _, l := range p.Worlds {
		if l.Err != nil {
			p.Shrunk = o.shrink(ctx, l)
			return fmt.Errorf("world %d: %w\nrepeat it with: %s", l.Number, l.Err, p.Shrunk)
		}
	}
	if o.World != 0 || o.UpTo != 0 {
		return nil
	}
	first := p.Worlds[0]
	if again.Err != nil {
		return fmt.Errorf("world %d, the second time: %w", first.Number, again.Err)
	}
	if p.Again = again.Trace; again.Trace != first.Trace {
		return fmt.Errorf("%s does not hold: world %d left the trace %016x the first time and %016x the second", I12, first.Number, first.Trace, again.Trace)
	}
	return p.void()
}

// runAhead is the number of worlds for each processor that are begun at most before the ones before them
// have ended, so that no processor is idle beside a large world.
const runAhead = 4

// moreWorlds is how many worlds a run adds to those that it needs for its renewals while
// something that it is to show has not happened yet.
const moreWorlds = 12

// runAll runs worlds, several at once, and takes them in the order of their numbers:
// which ones count does not depend on which was faster. It begins no more than are expected to
// suffice, and another when they did not. The first runs twice, and its second life is returned.
func (p *Proof) runAll(ctx context.Context) (Life, error) {
	workers := runtime.GOMAXPROCS(0)
	living, enough := context.WithCancel(ctx)
	q := &pool{live: func(number int) Life { return p.Options.live(living, number) }, turns: make(chan struct{}, workers)}
	defer q.running.Wait()
	defer enough()
	begin := func(number int) begun { return q.begin(number, p.Options.plan(number).expected()) }
	second := begin(1)
	var worlds []begun // that are not taken yet, in the order of their numbers
	for next, sum, expected, more := 1, 0, 0, 0; ; {
		for len(worlds) == 0 || len(worlds) < runAhead*workers && sum+expected < p.Options.Renewals {
			world := begin(next)
			worlds, expected = append(worlds, world), expected+world.expected
			next++
		}
		world := worlds[0]
		worlds, expected = worlds[1:], expected-world.expected
		l := <-world.life
		p.take(l)
		if sum += l.Renewals; sum >= p.Options.Renewals {
			more++
		}
		if l.Err != nil || ctx.Err() != nil {
			return Life{}, ctx.Err()
		}
		if more > 0 && p.void() == nil || more > moreWorlds {
			return <-second.life, ctx.Err()
		}
	}
}

// pool runs worlds on some processors: of those that wait, the one that is expected to take longest first.
type pool struct {
	live    func(number int) Life
	turns   chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	waiting []begun
}

// begun is a world of a pool.
type begun struct {
	number, expected int // renewals
	life             chan Life
}

// begin has a world run as soon as a processor is free.
func (q *pool) begin(number, expected int) begun {
	world := begun{number, expected, make(chan Life, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, world)
	q.mu.Unlock()
	q.running.Go(func() {
		q.turns <- struct{}{}
		defer func() { <-q.turns }()
		next := q.longest()
		next.life <- q.live(next.number)
	})
	return world
}

// longest takes the world out that is expected to take longest.
func (q *pool) longest() begun {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := slices.MaxFunc(q.waiting, func(a, b begun) int { return a.expected - b.expected })
	q.waiting = slices.DeleteFunc(q.waiting, func(w begun) bool { return w == longest })
	return longest
}

func (p *Proof) take(l Life) {
	p.Worlds = append(p.Worlds, l)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if p.HeapLast = m.HeapInuse; p.HeapFirst == 0 {
		p.HeapFirst = m.HeapInuse
	}
	fmt.Fprintf(p.Options.Progress, "world %d: %d renewals, %d faults, %d deaths, %d steps, trace %016x\n", l.Number, l.Renewals, l.faults(), l.deaths, l.Steps, l.Trace)
}

// plan draws the world of a number.
func (o Options) plan(number int) plan {
	if o.Moving {
		return drawMoves(o.Seed, number, sizeOfMoves(number))
	}
	return drawPlan(o.Seed, number, sizeOf(number))
}

// live runs one world.
func (o Options) live(ctx context.Context, number int) Life {
	if o.Moving {
		return o.liveMoves(ctx, o.plan(number))
	}
	return o.liveAs(ctx, o.plan(number))
}

// adapt makes a plan what the options say.
func (o Options) adapt(p *plan) {
	p.UpTo = o.UpTo
	if o.Nodes != 0 {
		p.Nodes = o.Nodes
	}
	for _, k := range o.Without {
		delete(p.Rates, k)
	}
}

// caught makes a panic the end of a world.
func caught(l *Life, k *kernel) {
	if r := recover(); r != nil {
		l.Err = fmt.Errorf("after step %d: panic: %v\n%s", k.steps, r, debug.Stack())
	}
}

func (o Options) liveAs(ctx context.Context, p plan) (l Life) {
	o.adapt(&p)
	l = Life{Number: p.Number, On: slices.Sorted(maps.Keys(p.Rates)), Nodes: p.Nodes}
	w, err := newWorld(p, o.Database)
	if err != nil {
		l.Err = err
		return l
	}
	defer w.close()
	defer caught(&l, w.kernel)
	l.Err = w.live(ctx)
	l.Renewals, l.Steps, l.Trace, l.tally = len(w.orders), w.steps, w.trace.Sum64(), w.tally
	return l
}

// longestShrink is how long a smaller failure is looked for.
const longestShrink = 3 * time.Minute

// shrink looks for the fewest kinds of faults with which a world fails, and says
// how to repeat that.
func (o Options) shrink(ctx context.Context, l Life) string {
	begun := clock.System{}.Now()
	smallest := l
	without := slices.Clone(o.Without)
	quiet := o
	quiet.Without = slices.Concat(without, l.On)
	if calm := quiet.live(ctx, l.Number); calm.Err != nil && calm.first() == l.first() { // it needs none
		return o.repetition(calm, quiet.Without)
	}
	for _, k := range l.On {
		if ctx.Err() != nil || (clock.System{}).Now().Sub(begun) > longestShrink {
			break
		}
		try := o
		try.Without = append(slices.Clone(without), k)
		if smaller := try.live(ctx, l.Number); smaller.Err != nil && smaller.first() == l.first() {
			smallest, without = smaller, try.Without
		}
	}
	return o.repetition(smallest, without)
}

// repetition is the command that shows a failure again.
func (o Options) repetition(l Life, without []Kind) string {
	line := fmt.Sprintf("perennial prove --seed %d --world %d", o.Seed, l.Number)
	if o.Moving {
		line += " --moving"
	}
	if o.Nodes != 0 {
		line += fmt.Sprintf(" --nodes %d", o.Nodes)
	}
	if o.Database != "" {
		line += " --database postgres://…"
	}
	if len(without) > 0 {
		names := make([]string, len(without))
		for i, k := range without {
			names[i] = string(k)
		}
		line += " --without " + strings.Join(names, ",")
	}
	if len(l.violations) > 0 && !l.violations[0].Whole {
		line += fmt.Sprintf(" --upto %d", l.violations[0].Step)
	}
	return line
}

// first returns the invariant that failed first.
func (l Life) first() Invariant {
	if len(l.violations) == 0 {
		return ""
	}
	return l.violations[0].Is
}

func newTally() tally {
	return tally{counts: make(map[Kind]int), checks: make(map[Invariant]int), asked: make(map[deed]int), done: make(map[deed]int)}
}

func (t tally) faults() (n int) {
	for _, count := range t.counts {
		n += count
	}
	return n
}

// sum adds all worlds up.
func (p *Proof) sum() (renewals int, all tally) {
	all = newTally()
	for _, l := range p.Worlds {
		renewals += l.Renewals
		for k, n := range l.counts {
			all.counts[k] += n
		}
		for i, n := range l.checks {
			all.checks[i] += n
		}
		all.violations = append(all.violations, l.violations...)
		all.due, all.doubled, all.missed, all.unexplained = all.due+l.due, all.doubled+l.doubled, all.missed+l.missed, all.unexplained+l.unexplained
		all.calls, all.webhooks, all.deaths, all.failed = all.calls+l.calls, all.webhooks+l.webhooks, all.deaths+l.deaths, all.failed+l.failed
		all.tasksTaken += l.tasksTaken
		for _, d := range deeds {
			all.asked[d] += l.asked[d]
			all.done[d] += l.done[d]
		}
	}
	return renewals, all
}

// kinds lists the kinds of faults that can happen in the run, invariants what is checked in it.
func (p *Proof) kinds() []Kind {
	all := maps.Clone(kinds)
	if p.Options.Moving {
		maps.Copy(all, between)
		for _, k := range unexplained {
			delete(all, k)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (p *Proof) invariants() []Check {
	if p.Options.Moving {
		return movingInvariants
	}
	return Invariants
}

// void says what a run does not prove because it did not happen.
func (p *Proof) void() error {
	renewals, all := p.sum()
	var idle []string
	for _, k := range p.kinds() {
		on := slices.ContainsFunc(p.Worlds, func(l Life) bool { return slices.Contains(l.On, k) })
		if on && all.counts[k] == 0 {
			idle = append(idle, string(k))
		}
	}
	switch {
	case len(idle) > 0:
		return fmt.Errorf("%w: these faults were on and never happened: %s", ErrVoid, strings.Join(idle, ", "))
	case renewals < p.Options.Renewals:
		return fmt.Errorf("%w: %d renewals of %d", ErrVoid, renewals, p.Options.Renewals)
	case all.faults() < p.Options.Faults:
		return fmt.Errorf("%w: %d faults happened, of %d that were to", ErrVoid, all.faults(), p.Options.Faults)
	}
	if p.Options.Moving && slices.MaxFunc(p.Worlds, func(a, b Life) int { return a.moved - b.moved }).moved == 0 {
		return fmt.Errorf("%w: no contract was moved", ErrVoid)
	}
	for _, d := range deeds {
		if all.done[d] == 0 && !p.Options.Moving {
			return fmt.Errorf("%w: no world managed to %s", ErrVoid, d)
		}
	}
	for _, i := range p.invariants() {
		if i.Is != I12 && all.checks[i.Is] == 0 {
			return fmt.Errorf("%w: %s was never checked", ErrVoid, i.Is)
		}
	}
	return nil
}
