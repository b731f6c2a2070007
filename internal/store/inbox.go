package store

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ intake.Inbox = (*Inbox)(nil)

const (
	// gatherFor is how long the first event of a group waits for others.
	gatherFor = 2 * time.Millisecond
	// gatherMost is how many events one commit takes.
	gatherMost = 200
	// commitWithin is how long storing a group may take.
	commitWithin = 30 * time.Second
)

// Inbox stores events that arrive at the same time in one commit, since the
// commit is what costs.
type Inbox struct {
	db *DB

	mu        sync.Mutex
	gathering *group
	commits   sync.Mutex // one group is stored at a time; the next one gathers
}

// Inbox returns an inbox. A process needs one.
func (db *DB) Inbox() *Inbox { return &Inbox{db: db} }

// group is events that are stored together.
type group struct {
	events []arrival
	full   chan struct{} // closed when no more fit
}

// arrival is one event and where its caller waits.
type arrival struct {
	of     shop.ID
	row    eventRow
	stored chan error
}

// Add stores an event of a shop and asks for it to be worked, in one commit. An
// event that was added before changes nothing. When Add returns nil the event is
// durable.
func (b *Inbox) Add(ctx context.Context, of shop.ID, e platform.Event, at time.Time) error {
	a := arrival{of, eventRowOf(of, e, at), make(chan error, 1)}
	if b.db.seam != nil { // nothing arrives at the same time
		return b.store(ctx, []arrival{a})
	}
	b.join(context.WithoutCancel(ctx), a)
	select {
	case err := <-a.stored:
		return err
	case <-ctx.Done():
		return ctx.Err() // it may be stored all the same
	}
}

// join puts an arrival into the group that gathers, or begins one.
func (b *Inbox) join(ctx context.Context, a arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.gathering
	if g == nil {
		g = &group{full: make(chan struct{})}
		b.gathering = g
		go b.carry(ctx, g)
	}
	g.events = append(g.events, a)
	if len(g.events) == gatherMost {
		close(g.full)
		b.gathering = nil
	}
}

// carry waits until a group has gathered and stores it.
func (b *Inbox) carry(ctx context.Context, g *group) {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.full:
	}
	b.commits.Lock()
	defer b.commits.Unlock()
	b.mu.Lock()
	if b.gathering == g {
		b.gathering = nil
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, commitWithin)
	defer cancel()
	err := b.store(ctx, g.events)
	for _, a := range g.events {
		if err != nil && len(g.events) > 1 { // one that cannot be stored must not take the others along
			a.stored <- b.store(ctx, []arrival{a})
			continue
		}
		a.stored <- err
	}
}

// store commits events and the tasks that work them.
func (b *Inbox) store(ctx context.Context, events []arrival) error {
	return b.db.update(ctx, 0, func(tx *Tx) error {
		rows := make([]eventRow, len(events))
		shops := make(map[shop.ID]bool)
		for i, a := range events {
			rows[i] = a.row
			shops[a.of] = true
		}
		if _, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		tasks := make([]task.Task, 0, len(shops))
		for _, of := range sortedKeys(shops) { // in order: two nodes must not wait for each other
			tasks = append(tasks, intake.Work{Shop: of})
		}
		return tx.Enqueue(ctx, tasks...)
	})
}
