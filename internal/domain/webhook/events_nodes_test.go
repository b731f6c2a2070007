package webhook_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// written is what the transactions of the test have committed.
type written struct {
	mu       sync.Mutex
	byMember map[int64][]int64 // records in the order in which the transactions changed the member
	byWriter map[int][][]int64 // records of the writer's transactions, one after the other
}

// nodes are two processes on one database.
type nodes struct {
	dbs      [2]*store.DB
	services [2]*webhook.Service
	here     shop.ID
	now      time.Time
}

func twoNodes(t *testing.T) nodes {
	t.Helper()
	o := storetest.PostgresOptions(t)
	n := nodes{now: time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)}
	for i := range n.dbs {
		db := storetest.Open(t, o)
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.dbs[i], n.services[i] = db, &webhook.Service{Store: db.Webhooks(), Clock: clock.NewManual(n.now), Log: slog.New(slog.DiscardHandler), MaxTasks: 1}
	}
	of := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: n.now}
	if err := n.dbs[0].Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	n.here = of.ID
	return n
}

// work renders bodies and makes events, as the task of a node does.
func (n nodes) work(ctx context.Context, node int) error {
	s := n.services[node]
	for {
		list, err := s.WithoutBody(ctx, n.here)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return s.Place(ctx, n.here)
		}
		for _, m := range list {
			if err := s.Rendered(ctx, m, []byte("{}")); err != nil {
				return err
			}
		}
	}
}

// errUndone rolls a transaction back.
var errUndone = errors.New("undone")

// change makes events of members in one transaction. What is done meanwhile commits between the
// begin of the transaction and its change of the members.
func (n nodes) change(ctx context.Context, node, writer int, members []int64, next *atomic.Int64, undo bool, all *written, meanwhile func() error) error {
	err := n.dbs[node].Update(ctx, n.here, func(tx *store.Tx) error {
		begun := activity.Entry{EntityID: int64(n.here), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Info, Actor: activity.System, At: n.now}
		if err := tx.Record(ctx, begun); err != nil { // the database numbers the transaction
			return err
		}
		if err := meanwhile(); err != nil {
			return err
		}
		records, events := make([]int64, len(members)), make([]loyalty.Event, len(members))
		for i, m := range members {
			records[i] = next.Add(1)
			events[i] = loyalty.Event{Kind: loyalty.PointsEarned, Customer: m, Record: records[i], At: n.now, Actor: activity.System}
		}
		if err := webhook.PublishMembers(ctx, tx, events); err != nil { // locks the members until the commit
			return err
		}
		if undo {
			return errUndone
		}
		all.mu.Lock()
		defer all.mu.Unlock()
		// Before the commit, and with every member locked: the next transaction that changes one
		// of them comes after this one.
		for i, m := range members {
			all.byMember[m] = append(all.byMember[m], records[i])
		}
		all.byWriter[writer] = append(all.byWriter[writer], records)
		return nil
	})
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// Two nodes write, number and read at once. The reader gets all that was committed, once and
// without a hole. Events about one member come in the order of its changes, and those of a
// transaction after those of transactions that had committed when it began.
func TestReaderMissesNoEventOfTwoNodes(t *testing.T) {
	t.Parallel()
	const writers, changes, members = 4, 25, 4
	n := twoNodes(t)
	p, err := n.services[0].Events(t.Context(), n.here, webhook.EventQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	all := written{byMember: map[int64][]int64{}, byWriter: map[int][][]int64{}}
	var next atomic.Int64
	var writing, working sync.WaitGroup
	done := make(chan struct{})
	fail := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for w := range writers {
		random := rand.New(rand.NewPCG(uint64(w), 26))
		writing.Go(func() {
			for range changes {
				chosen := random.Perm(members)[:1+random.IntN(3)]
				list := make([]int64, len(chosen))
				for i, c := range chosen {
					list[i] = int64(c) + 1
				}
				undo, overtaken := random.IntN(8) == 0, random.IntN(3) == 0
				fail(n.change(t.Context(), w%2, w, list, &next, undo, &all, func() error {
					if !overtaken {
						return nil
					}
					return n.change(t.Context(), 1-w%2, writers+w, list, &next, false, &all, func() error { return nil })
				}))
			}
		})
	}
	for node := range n.dbs {
		working.Go(func() {
			for more := true; more; {
				select {
				case <-done:
					more = false // once more
				default:
				}
				fail(n.work(t.Context(), node))
			}
		})
	}
	var got []webhook.Message
	random := rand.New(rand.NewPCG(99, 26))
	read := func(after string) (string, bool) {
		p, err := n.services[random.IntN(2)].Events(t.Context(), n.here, webhook.EventQuery{After: after, Limit: 1 + random.IntN(20)})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Events...)
		return p.Next, p.More
	}
	at := p.Next
	go func() { writing.Wait(); close(done) }()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
			at, _ = read(at)
		}
	}
	working.Wait()
	for more := true; more; {
		at, more = read(at)
	}

	byMember, place := map[int64][]int64{}, map[int64]int{}
	for i, e := range got {
		if e.Position != got[0].Position+int64(i) {
			t.Fatalf("event %d has position %d, and the first one %d", i, e.Position, got[0].Position)
		}
		byMember[e.Customer] = append(byMember[e.Customer], e.Record)
		if want := int64(len(byMember[e.Customer])); e.Sequence != want {
			t.Errorf("event %d of member %d has the number %d", want, e.Customer, e.Sequence)
		}
		place[e.Record] = i
	}
	if got[0].Position != 1 {
		t.Errorf("the first event has position %d", got[0].Position)
	}
	for m := range int64(members) {
		if !slices.Equal(byMember[m+1], all.byMember[m+1]) {
			t.Errorf("events of member %d: %v\nwant %v", m+1, byMember[m+1], all.byMember[m+1])
		}
	}
	for w, transactions := range all.byWriter {
		last := -1 // place of the transactions before
		for _, records := range transactions {
			places := make([]int, len(records))
			for i, r := range records {
				places[i] = place[r]
			}
			if slices.Min(places) < last {
				t.Errorf("the events of a transaction of writer %d come before those of an earlier one", w)
			}
			last = max(last, slices.Max(places))
		}
	}
}

// A transaction that began before a shop reads its events may not know that they are kept.
func TestFirstCallWaitsForTransactionsThatRun(t *testing.T) {
	t.Parallel()
	n := twoNodes(t)
	q := webhook.EventQuery{Limit: 10}
	err := n.dbs[0].Update(t.Context(), n.here, func(tx *store.Tx) error {
		begun := activity.Entry{EntityID: int64(n.here), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Info, Actor: activity.System, At: n.now}
		if err := tx.Record(t.Context(), begun); err != nil {
			return err
		}
		for range 2 {
			if p, err := n.services[1].Events(t.Context(), n.here, q); !fault.Is(err, fault.Unavailable) {
				t.Errorf("while it runs the call answers %+v, %v", p, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.services[1].Events(t.Context(), n.here, q)
	if err != nil || p.Next == "" {
		t.Errorf("when it has ended the call answers %+v, %v", p, err)
	}
}
