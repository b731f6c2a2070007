package simulator

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// item is something that the platform does later: exactly one of Complete,
// Deliver and CancelAll says what.
type item struct {
	Seq  int64
	At   time.Time
	App  string `json:",omitempty"` // owner of what CancelAll ends
	Rank int64  // the contract's id, before Seq: the order of what falls on one instant does not depend on who asked first
	Shop string

	Complete  int64     `json:",omitempty"` // the attempt that ends
	Deliver   *delivery `json:",omitempty"`
	CancelAll bool      `json:",omitempty"` // end the contracts of an app that was uninstalled
}

func (i item) key() rowKey { return number("agenda", i.Shop, i.Seq) }

func (i item) compare(j item) int {
	return cmp.Or(i.At.Compare(j.At), cmp.Compare(i.Shop, j.Shop), cmp.Compare(i.Rank, j.Rank), cmp.Compare(i.Seq, j.Seq))
}

// agenda is a heap of items, the earliest first.
type agenda struct{ items []item }

func (a agenda) Len() int           { return len(a.items) }
func (a agenda) Less(i, j int) bool { return a.items[i].compare(a.items[j]) < 0 }
func (a agenda) Swap(i, j int)      { a.items[i], a.items[j] = a.items[j], a.items[i] }
func (a *agenda) Push(x any)        { a.items = append(a.items, x.(item)) }
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

// schedule puts an item on the agenda.
func (s *Simulator) schedule(i item) {
	s.state.meta.Seq++
	i.Seq = s.state.meta.Seq
	i.At = i.At.UTC()
	s.save(s.state.meta)
	s.save(i)
	heap.Push(&s.agenda, i)
	s.stir()
}

// stir tells Run to look at the agenda.
func (s *Simulator) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// NextDue returns the instant of the earliest thing that the platform will do without a
// request, and false when there is none.
func (s *Simulator) NextDue() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.agenda.items) == 0 {
		return time.Time{}, false
	}
	return s.agenda.items[0].At, true
}

// Limits of one round of due work: how much is done before others may ask, and
// how many webhooks are under way at once.
const (
	roundSize   = 512
	parallelism = 32
)

// RunDue carries out everything that is due now, also what that causes for now,
// and returns how many things it did. Webhooks of one contract arrive in order,
// those of different contracts at the same time. When ctx ends, what is left
// stays due.
func (s *Simulator) RunDue(ctx context.Context) (int, error) {
	s.running.Lock()
	defer s.running.Unlock()
	done := 0
	for ctx.Err() == nil {
		var deliveries []item
		n := 0
		err := s.update(func() error {
			now := s.opts.Clock.Now()
			for n < roundSize && len(s.agenda.items) > 0 && !s.agenda.items[0].At.After(now) {
				i := heap.Pop(&s.agenda).(item)
				n++
				if i.Deliver != nil {
					deliveries = append(deliveries, i)
					continue
				}
				s.carryOut(i)
				s.drop(i)
			}
			return nil
		})
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, nil
		}
		if err := s.deliverAll(ctx, deliveries); err != nil {
			return done, err
		}
		done += n
		s.pulse.Add(int64(n))
	}
	return done, ctx.Err()
}

// carryOut runs an item that needs no outside call.
func (s *Simulator) carryOut(i item) {
	sh := s.state.shops[i.Shop]
	if i.CancelAll {
		s.leave(sh, i)
		return
	}
	if a, ok := sh.attempts.get(i.Complete); ok {
		s.complete(a, i.At)
	}
}

// deliverAll sends webhooks: one after the other within a contract, several
// contracts at once.
func (s *Simulator) deliverAll(ctx context.Context, items []item) error {
	type subject struct {
		shop string
		rank int64
	}
	var order []subject
	bySubject := map[subject][]item{}
	for _, i := range items {
		k := subject{i.Shop, i.Rank}
		if _, known := bySubject[k]; !known {
			order = append(order, k)
		}
		bySubject[k] = append(bySubject[k], i)
	}
	all := func(items []item) error {
		for _, i := range items {
			ok := s.deliver(ctx, i.Deliver)
			if err := s.update(func() error { s.delivered(ctx, i, ok); return nil }); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(parallelism)
	for _, k := range order {
		if s.opts.Deliver != nil {
			if err := all(bySubject[k]); err != nil {
				return err
			}
			continue
		}
		group.Go(func() error { return all(bySubject[k]) })
	}
	return group.Wait()
}

// Run carries out what is due as time passes, until ctx ends. It is for clocks
// that run at the pace of the machine's.
func (s *Simulator) Run(ctx context.Context) error {
	for {
		if _, err := s.RunDue(ctx); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the end of ctx is how this ends well
			}
			return err
		}
		wait := time.Hour
		if due, ok := s.NextDue(); ok {
			wait = max(due.Sub(s.opts.Clock.Now()), time.Millisecond)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// sortedAgenda returns the agenda's items in order.
func (s *Simulator) sortedAgenda() []item {
	items := slices.Clone(s.agenda.items)
	slices.SortFunc(items, item.compare)
	return items
}
