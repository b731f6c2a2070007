package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
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
	of        shop.ID
	row       eventRow
	signature signatureRow
	stored    chan error
	refused   error // why it is not stored, though the others are
}

// signatureRow is a row of webhook_signatures: what a signed body was received as first.
type signatureRow struct {
	bun.BaseModel `bun:"table:webhook_signatures,alias:w"`

	Signature  string `bun:",pk"`
	Family     string
	ShopID     int64
	ReceivedAt int64
}

// Add stores an event of a shop and asks for it to be worked, in one commit. An
// event that was added before changes nothing. When Add returns nil the event is
// durable. It is Unauthenticated when its signature was received before as that of another
// family of topics, or of another store.
func (b *Inbox) Add(ctx context.Context, of shop.ID, e platform.Event, at time.Time) error {
	row, err := rowOf[eventRow](of, intake.InboxEvent{Event: e, ReceivedAt: at})
	if err != nil {
		return err
	}
	a := arrival{
		of: of, row: row, stored: make(chan error, 1),
		signature: signatureRow{Signature: e.Signature, Family: e.Topic.Family(), ShopID: int64(of), ReceivedAt: millis(at)},
	}
	if b.db.seam != nil { // nothing arrives at the same time
		alone := []arrival{a}
		return cmp.Or(b.store(ctx, alone), alone[0].refused)
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
			alone := []arrival{a}
			a.stored <- cmp.Or(b.store(ctx, alone), alone[0].refused)
			continue
		}
		a.stored <- cmp.Or(err, a.refused)
	}
}

// errReused refuses a signature that was received as something else.
func errReused() error {
	return fault.New(fault.Unauthenticated, "the webhook's signature was received before, under another topic or for another store")
}

// store commits events and the tasks that work them. It says of each event whether it was
// refused.
func (b *Inbox) store(ctx context.Context, events []arrival) error {
	return b.db.updateAcrossShops(ctx, func(tx *Tx) error {
		first, err := tx.signatures(ctx, events)
		if err != nil {
			return err
		}
		var rows []eventRow
		shops := make(map[shop.ID]bool)
		for i, a := range events {
			if was, signed := first[a.signature.Signature]; signed && (was.Family != a.signature.Family || was.ShopID != a.signature.ShopID) {
				events[i].refused = errReused()
				continue
			}
			events[i].refused = nil
			rows = append(rows, a.row)
			shops[a.of] = true
		}
		if len(rows) == 0 {
			return nil
		}
		if _, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		tasks := make([]task.Task, 0, len(shops))
		for _, of := range sortedKeys(shops) { // in order: two nodes must not wait for each other
			tasks = append(tasks, intake.ProcessEvents{Shop: of})
		}
		return tx.Enqueue(ctx, tasks...)
	})
}

// signatures notes what signed bodies are received as, and returns what each was received
// as first.
func (tx *Tx) signatures(ctx context.Context, events []arrival) (map[string]signatureRow, error) {
	var rows []signatureRow
	first := make(map[string]signatureRow, len(events))
	for _, a := range events {
		if _, known := first[a.signature.Signature]; !known && a.signature.Signature != "" {
			first[a.signature.Signature] = a.signature
			rows = append(rows, a.signature)
		}
	}
	if len(rows) == 0 {
		return first, nil
	}
	slices.SortFunc(rows, func(a, b signatureRow) int { return strings.Compare(a.Signature, b.Signature) }) // two nodes must not wait for each other
	if _, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING"); err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Signature
	}
	var there []signatureRow
	if err := tx.q.NewSelect().Model(&there).Where("w.signature IN (?)", boundList[string](names)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read signatures: %w", err)
	}
	for _, r := range there {
		first[r.Signature] = r
	}
	return first, nil
}
