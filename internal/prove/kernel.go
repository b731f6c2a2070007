// Package prove runs the service on a simulated platform, database and machine,
// under faults that a seed draws, and holds the result against the platform's own
// books.
package prove

import (
	"container/heap"
	"hash"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"strconv"
	"time"
)

// kernel decides what happens next: of everything that could, the earliest, and
// of what falls on one instant whatever the seed says. One goroutine runs at a
// time.
type kernel struct {
	now    time.Time
	chance *rand.Rand
	events events
	made   uint64 // events so far
	steps  uint64 // events that happened
	trace  hash.Hash64
	fiber  *fiber // that runs; nil: the kernel itself
}

func newKernel(seed, stream uint64, start time.Time) *kernel {
	return &kernel{
		now: start, trace: fnv.New64a(),
		chance: rand.New(rand.NewPCG(seed, stream)), //nolint:gosec // the seed must say everything
	}
}

// event is something that happens at an instant.
type event struct {
	at   time.Time
	rank uint64 // drawn: the order of what falls on one instant
	made uint64
	do   func()
}

// events is a heap, the earliest first.
type events []*event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	if e[i].rank != e[j].rank {
		return e[i].rank < e[j].rank
	}
	return e[i].made < e[j].made
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = nil
	*e = (*e)[:len(*e)-1]
	return last
}

// at has something done at an instant, or now when that is past.
func (k *kernel) at(t time.Time, do func()) {
	if t.Before(k.now) {
		t = k.now
	}
	k.made++
	heap.Push(&k.events, &event{at: t, rank: k.chance.Uint64(), made: k.made, do: do})
}

func (k *kernel) after(d time.Duration, do func()) { k.at(k.now.Add(d), do) }

// next lets the next event happen, unless it is later than limit. It reports
// whether one did.
func (k *kernel) next(limit time.Time) bool {
	if len(k.events) == 0 || k.events[0].at.After(limit) {
		k.now = limit
		return false
	}
	e := heap.Pop(&k.events).(*event)
	k.now = e.at
	k.steps++
	e.do()
	return true
}

// note adds an event to the trace. The trace's hash is the same for the same seed.
func (k *kernel) note(words ...string) {
	line := strconv.AppendInt(nil, k.now.UnixMilli(), 36)
	for _, w := range words {
		line = append(append(line, ' '), w...)
	}
	_, _ = k.trace.Write(append(line, '\n')) // it never fails
}

// roll reports true with a probability.
func (k *kernel) roll(p float64) bool { return p > 0 && k.chance.Float64() < p }

// between draws a duration.
func (k *kernel) between(least, most time.Duration) time.Duration {
	return least + time.Duration(k.chance.Int64N(int64(most-least)+1)).Truncate(time.Millisecond)
}

// fiber is a task or a request of a node, as a coroutine: it runs until it asks
// for time to pass.
type fiber struct {
	node  *node
	name  string
	yield func(time.Duration) bool
	next  func() (time.Duration, bool)
	stop  func()
	ended bool
}

// killed unwinds a fiber whose process has died.
type killed struct{}

// newFiber returns a coroutine that has not begun.
func newFiber(of *node, name string, do func()) *fiber {
	f := &fiber{node: of, name: name}
	f.next, f.stop = iter.Pull(func(yield func(time.Duration) bool) {
		f.yield = yield
		defer func() {
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
		}()
		do()
	})
	return f
}

// run lets a fiber run until it asks for time or ends.
func (k *kernel) run(f *fiber) (wait time.Duration, more bool) {
	k.fiber = f
	wait, more = f.next()
	k.fiber = nil
	if !more {
		f.ended = true
	}
	return wait, more
}

// end unwinds a fiber that must never run again.
func (f *fiber) end() {
	f.ended = true
	f.stop()
}

// parked is the wait of a fiber that goes on when another one resumes it.
const parked = -1

// park has the fiber that runs wait until another one resumes it.
func (k *kernel) park() {
	if !k.fiber.yield(parked) {
		panic(killed{})
	}
}

// sleep lets time pass in the fiber that runs. Others run meanwhile, and the
// fiber's process may die. The kernel itself never sleeps.
func (k *kernel) sleep(d time.Duration) {
	if k.fiber != nil && !k.fiber.yield(d) {
		panic(killed{})
	}
}
