package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// pages is a platform with pages of contracts that cannot be read: only the lists matter.
type pages struct {
	Platform
	n      int // pages
	listed []string
	meets  func(int64) error // called when contracts are read
	levels map[platform.Priority]int
}

func (p *pages) Store(context.Context, platform.Shop) (platform.Store, error) {
	return platform.Store{TimeZone: "UTC"}, nil
}

func (p *pages) ContractsUpdatedSince(ctx context.Context, _ platform.Shop, _ time.Time, cursor string) (ids []int64, next string, err error) {
	p.listed = append(p.listed, cursor)
	p.levels[platform.PriorityOf(ctx)]++
	at := 0
	_, _ = fmt.Sscanf(cursor, "page %d", &at)
	if at+1 < p.n {
		next = fmt.Sprintf("page %d", at+1)
	}
	return []int64{int64(at)*10 + 1, int64(at)*10 + 2}, next, nil
}

func (p *pages) Contracts(_ context.Context, _ platform.Shop, ids []int64) ([]platform.Contract, error) {
	if p.meets != nil {
		return nil, p.meets(ids[0])
	}
	return nil, nil
}

// syncing is a store with one shop and its first sync.
type syncing struct {
	Store
	shop    shop.Shop
	sync    Sync
	entries []activity.Entry
	ended   []contract.ID
}

func (s *syncing) Update(_ context.Context, _ shop.ID, fn func(Tx) error) error {
	was := *s
	err := fn(syncTx{of: s})
	if err != nil {
		*s = was
	}
	return err
}

func (s *syncing) View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error {
	return s.Update(ctx, of, func(tx Tx) error { return fn(tx) })
}

type syncTx struct {
	Tx
	of *syncing
}

func (t syncTx) Shop(context.Context) (shop.Shop, error)                 { return t.of.shop, nil }
func (t syncTx) PutShop(_ context.Context, s shop.Shop) error            { t.of.shop = s; return nil }
func (t syncTx) LatestSync(context.Context) (Sync, bool, error)          { return t.of.sync, true, nil }
func (t syncTx) FinishEvents(context.Context, []string, time.Time) error { return nil }
func (t syncTx) DeleteEvents(context.Context, time.Time) error           { return nil }
func (t syncTx) DeleteSignatures(context.Context, time.Time) error       { return nil }
func (t syncTx) ReadContracts(context.Context, []contract.ID) ([]contract.Contract, error) {
	return nil, nil
}
func (t syncTx) UnreadContracts(context.Context, contract.ID, int) ([]contract.Unread, error) {
	return nil, nil
}
func (t syncTx) ActiveContractsInDunning(context.Context, contract.ID, int) ([]contract.Contract, error) {
	return nil, nil
}
func (t syncTx) CancelledSince(context.Context, time.Time, int) ([]contract.ID, int, error) {
	return t.of.ended, len(t.of.ended), nil
}

func (t syncTx) Record(_ context.Context, e ...activity.Entry) error {
	t.of.entries = append(t.of.entries, e...)
	return nil
}

func (t syncTx) PutSync(_ context.Context, y Sync) error {
	y.Version++
	t.of.sync = y
	return nil
}

// newSync returns a node that syncs a store of n pages for the first time.
func newSync(n int) (*Service, *pages, *syncing, *clock.Manual) {
	now := clock.NewManual(time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC))
	there := &pages{n: n, levels: make(map[platform.Priority]int)}
	held := &syncing{shop: shop.Shop{ID: 1, Domain: "demo.myshopify.com", TimeZone: "UTC", Connected: true}, sync: Sync{StartedAt: now.Now(), Stage: Waiting, NotedAt: now.Now(), Version: 1}}
	s := &Service{Store: held, Platform: there, Clock: now, Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy(), ReconcileEvery: time.Hour, Node: "one"}
	return s, there, held, now
}

// errKilled stands for the end of the process.
var errKilled = errors.New("killed")

func TestFirstSyncGoesOnAfterCrashWhereItStopped(t *testing.T) {
	t.Parallel()
	s, there, held, now := newSync(5)
	ctx, kill := context.WithCancel(t.Context())
	there.meets = func(first int64) error {
		now.Set(now.Now().Add(2 * time.Second))
		if first == 31 { // the fourth page
			kill()
			return errKilled
		}
		return nil
	}
	if err := s.Reconcile(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("the killed sync ended with %v", err)
	}
	if y := held.sync; y.Stage != Reading || y.Total != 10 || y.Done != 6 || y.Owner == "" || held.shop.Reading.Cursor != "page 3" || y.Pace() != 1 || !y.EndsAt(now.Now()).Equal(now.Now().Add(4*time.Second)) {
		t.Fatalf("after the crash: %+v, pace %v, cursor %q", y, y.Pace(), held.shop.Reading.Cursor)
	}
	there.meets, there.listed = nil, nil
	other := &Service{Store: held, Platform: there, Clock: now, Log: s.Log, Policy: s.Policy, ReconcileEvery: time.Hour, Node: "two"}
	if err := other.Reconcile(t.Context(), 1); err != nil || len(there.listed) != 0 || !held.shop.ReconcileAt.Equal(held.sync.LeaseUntil) {
		t.Fatalf("another node read %v while the lease ran, %v; it looks again at %v", there.listed, err, held.shop.ReconcileAt)
	}
	now.Set(held.sync.LeaseUntil)
	if err := other.Reconcile(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if y := held.sync; y.Stage != Done || y.Done != 10 || y.FinishedAt.IsZero() || y.Owner != "" || fmt.Sprint(there.listed) != "[page 3 page 4]" {
		t.Errorf("in the end: %+v, listed %q", y, there.listed)
	}
	if there.levels[platform.Bulk] == 0 || len(there.levels) != 1 {
		t.Errorf("calls by priority: %v", there.levels)
	}
}

func TestNodeThatLostItsLeaseStops(t *testing.T) {
	t.Parallel()
	s, there, held, now := newSync(3)
	there.meets = func(int64) error {
		held.sync.Owner = "another"
		now.Set(now.Now().Add(time.Second))
		return nil
	}
	if err := s.Reconcile(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if held.sync.Owner != "another" || held.sync.Done != 0 || held.shop.Reading.Cursor != "" || !held.shop.ReconciledAt.IsZero() {
		t.Errorf("it went on: %+v, %+v", held.sync, held.shop.Reading)
	}
}

func TestReinstalledStoreReportsWhatPlatformCancelled(t *testing.T) {
	t.Parallel()
	for n, ended := range [][]contract.ID{nil, {7, 5}} {
		s, _, held, now := newSync(1)
		held.sync.AwaySince, held.ended = now.Now().Add(-72*time.Hour), ended
		held.shop.Guard.DisconnectedAt = held.sync.AwaySince
		if err := s.Reconcile(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if len(held.entries) != min(n, 1) || !held.shop.Guard.DisconnectedAt.IsZero() {
			t.Errorf("%d cancelled: entries %+v", len(ended), held.entries)
		}
	}
}

// A run that began before the sync was noted, as when a node looks at a store while a command
// connects it, may end in between. The sync ends all the same: no other run waits for its lease.
func TestFirstSyncEndsBesideAnotherRun(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		between func(*shop.Shop, time.Time)
		done    bool
	}{
		"another run has read the store":  {func(of *shop.Shop, now time.Time) { of.ReconciledAt = now }, true},
		"everything has to be read again": {func(of *shop.Shop, _ time.Time) { of.ReconciledAt = time.Time{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, there, held, now := newSync(1)
			held.shop.ReconciledAt = now.Now().Add(-time.Hour)
			there.meets = func(int64) error {
				row.between(&held.shop, now.Now())
				return nil
			}
			if err := s.Reconcile(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if y := held.sync; y.Owner != "" || y.FinishedAt.IsZero() == row.done {
				t.Errorf("the sync is %+v", y)
			}
		})
	}
}
