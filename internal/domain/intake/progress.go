package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Stage is how far the first sync of a connection has come.
type Stage string

// The stages, in order.
const (
	Waiting  Stage = "WAITING"  // no node has begun
	Counting Stage = "COUNTING" // the platform's contracts are listed
	Reading  Stage = "READING"  // they are read and stored
	Ending   Stage = "ENDING"   // what could not be read is read again
	Done     Stage = "DONE"
)

// Stages lists the stages in order.
var Stages = []Stage{Waiting, Counting, Reading, Ending, Done}

// Sync is the first reading of a store's contracts after it was connected. Where it goes
// on after a crash is in the store's Reading.
type Sync struct {
	StartedAt  time.Time
	Stage      Stage
	StageAt    time.Time // since when
	Done       int       // contracts that are stored
	Total      int       // 0: not known yet
	Worked     time.Duration
	NotedAt    time.Time // the last progress
	FinishedAt time.Time
	Owner      string // the run that reads; empty: none
	LeaseUntil time.Time
	Failure    string    // why the last try ended early
	AwaySince  time.Time // when the connection before it ended; zero: there was none
	Version    int64
}

// longestPause is how long between two notes of progress still counts as work.
const longestPause = 10 * time.Minute

// Pace returns how many contracts are read in a second; 0 when that is not known.
func (y Sync) Pace() float64 {
	if y.Worked <= 0 {
		return 0
	}
	return float64(y.Done) / y.Worked.Seconds()
}

// EndsAt estimates when all contracts are read; zero when that is not known.
func (y Sync) EndsAt(now time.Time) time.Time {
	pace := y.Pace()
	if pace == 0 || y.Total == 0 || y.Stage != Reading {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(max(0, y.Total-y.Done)) / pace * float64(time.Second)))
}

// enter begins a stage.
func (y *Sync) enter(stage Stage, now time.Time) {
	if y.Stage != stage {
		y.Stage, y.StageAt, y.NotedAt = stage, now, now
	}
}

// note adds contracts that were stored.
func (y *Sync) note(stored int, now time.Time) {
	if d := now.Sub(y.NotedAt); d > 0 && d < longestPause {
		y.Worked += d
	}
	y.Done, y.NotedAt = y.Done+stored, now
	y.Total = max(y.Total, y.Done)
}

// SyncReader reads how far first syncs have come.
type SyncReader interface {
	// LatestSync returns the sync of the last connection; false when there is none. A
	// transaction that may write locks it.
	LatestSync(ctx context.Context) (Sync, bool, error)
	// RunningContracts counts the contracts that are active or paused.
	RunningContracts(ctx context.Context) (int, error)
}

// SyncTx reads and writes the first syncs of a shop.
type SyncTx interface {
	SyncReader
	// PutSync inserts a sync whose Version is 0, and writes another one if its Version is
	// still what was read; otherwise it fails with a Conflict.
	PutSync(ctx context.Context, y Sync) error
	// CancelledSince returns at most limit contracts that were cancelled at or after an
	// instant, and counts all.
	CancelledSince(ctx context.Context, since time.Time, limit int) ([]contract.ID, int, error)
	// MissedOrders counts, up to limit, the orders whose date has passed since an instant
	// and that were not charged because the store was disconnected.
	MissedOrders(ctx context.Context, since, now time.Time, limit int) (int, error)
}

// Progress returns how far the first sync of a store has come; false when the store was
// connected before syncs were noted.
func (s *Service) Progress(ctx context.Context, of shop.ID) (y Sync, known bool, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		y, known, err = tx.LatestSync(ctx)
		return err
	})
	return y, known, err
}

// beginSync notes that a store was connected and will be read.
func beginSync(ctx context.Context, tx Tx, now, away time.Time) error {
	last, known, err := tx.LatestSync(ctx)
	if err != nil {
		return err
	}
	if known && !last.StartedAt.Before(now) { // connected twice at one instant
		last.Stage, last.StageAt, last.FinishedAt, last.Done, last.Total = Waiting, now, time.Time{}, 0, 0
		return tx.PutSync(ctx, last)
	}
	if known && last.FinishedAt.IsZero() && away.IsZero() {
		away = last.AwaySince // it did not come to report
	}
	return tx.PutSync(ctx, Sync{StartedAt: now, Stage: Waiting, StageAt: now, NotedAt: now, AwaySince: away})
}

// errOthers is why a sync does not run here.
var errOthers = fault.New(fault.Conflict, "another run reads the store")

// lease takes the first sync of a store for this run. It is nil when there is none left to
// do, and errOthers while another run, here or on another node, has it.
func (s *Service) lease(ctx context.Context, of shop.ID) (*Sync, error) {
	var mine *Sync
	owner := fmt.Sprintf("%s-%d", s.Node, s.runs.Add(1))
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		mine = nil
		now := s.Clock.Now()
		y, known, err := tx.LatestSync(ctx)
		if err != nil || !known || !y.FinishedAt.IsZero() {
			return err
		}
		if y.Owner != "" && y.Owner != owner && now.Before(y.LeaseUntil) {
			current, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			if current.ReconcileAt.Before(y.LeaseUntil) { // the sweep looks again when the lease ends
				current.ReconcileAt = y.LeaseUntil
				err = tx.PutShop(ctx, current)
			}
			if err == nil {
				mine = &y
			}
			return err
		}
		y.Owner, y.LeaseUntil, y.NotedAt = owner, now.Add(s.Policy.SyncLease), now
		mine = &y
		if err := tx.PutSync(ctx, y); err != nil {
			return err
		}
		mine.Version++
		return nil
	})
	if err == nil && mine != nil && mine.Owner != owner {
		return nil, errOthers
	}
	return mine, err
}

// noteSync stores a change of a sync that this node has, and renews its lease. It fails
// with a Conflict when another node has it.
func (s *Service) noteSync(ctx context.Context, tx Tx, y *Sync, change func(*Sync, time.Time)) error {
	if y == nil {
		return nil
	}
	now := s.Clock.Now()
	current, known, err := tx.LatestSync(ctx)
	if err != nil {
		return err
	}
	if !known || current.Owner != y.Owner || !current.StartedAt.Equal(y.StartedAt) {
		return errOthers
	}
	change(&current, now)
	current.LeaseUntil = now.Add(s.Policy.SyncLease)
	if err := tx.PutSync(ctx, current); err != nil {
		return err
	}
	current.Version++
	*y = current
	return nil
}

// total counts the platform's contracts of a first sync after its first page was listed.
func (s *Service) total(ctx context.Context, store *shop.Shop, y *Sync, first int, next string) error {
	if y == nil || y.Total > 0 {
		return nil
	}
	total := first
	if next != "" {
		if err := s.Store.Update(ctx, store.ID, func(tx Tx) error {
			return s.noteSync(ctx, tx, y, func(y *Sync, now time.Time) { y.enter(Counting, now) })
		}); err != nil {
			return err
		}
	}
	for next != "" {
		ids, after, err := s.Platform.ContractsUpdatedSince(ctx, store.At(), store.Reading.Since, next)
		if err != nil {
			return fmt.Errorf("count changed contracts: %w", err)
		}
		total, next = total+len(ids), after
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		return s.noteSync(ctx, tx, y, func(y *Sync, now time.Time) {
			y.enter(Reading, now)
			y.Total = total
		})
	})
}

// reportedAtOnce is how many contracts a report of cancellations names.
const reportedAtOnce = 50

// cancelledEntry is the additional information of such a report.
type cancelledEntry struct {
	Reason    string        `json:"reason"`
	Contracts []contract.ID `json:"contractIds"`
}

// finishSync ends a first sync, and reports the contracts that the platform has cancelled
// while the app was uninstalled.
func (s *Service) finishSync(ctx context.Context, tx Tx, current *shop.Shop, y *Sync, now time.Time) error {
	if y == nil {
		return nil
	}
	if err := s.noteSync(ctx, tx, y, func(y *Sync, now time.Time) {
		y.enter(Done, now)
		y.FinishedAt, y.Owner, y.Failure = now, "", ""
	}); err != nil {
		return err
	}
	current.Guard.DisconnectedAt = time.Time{}
	if y.AwaySince.IsZero() {
		return nil
	}
	ids, n, err := tx.CancelledSince(ctx, y.AwaySince, reportedAtOnce)
	if err != nil || n == 0 {
		return err
	}
	slices.Sort(ids)
	return tx.Record(ctx, activity.Entry{
		EntityID: int64(current.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Failure, Actor: activity.Platform, At: now,
		Info: activity.Details(cancelledEntry{fmt.Sprintf("%d contracts were cancelled while the app was uninstalled: their subscribers have to subscribe again; all others go on", n), ids}),
	})
}

// endTry notes why a try of a first sync has ended, and lets another node go on.
func (s *Service) endTry(ctx context.Context, tx Tx, y *Sync, failed error) error {
	err := s.noteSync(ctx, tx, y, func(y *Sync, _ time.Time) {
		y.Owner, y.Failure = "", failed.Error()
		if !unreachable(failed) {
			y.Done, y.Worked = 0, 0 // it begins again
		}
	})
	if errors.Is(err, errOthers) {
		return nil
	}
	return err
}

// endBeside ends a first sync that is complete, having read everything, while another run did too.
// When everything must be read again, it only lets another run go on.
func (s *Service) endBeside(ctx context.Context, tx Tx, current shop.Shop, y *Sync, complete bool) error {
	if y == nil || !complete {
		return nil
	}
	if current.ReconciledAt.IsZero() {
		return s.noteSync(ctx, tx, y, func(y *Sync, _ time.Time) { y.Owner, y.Done, y.Worked = "", 0, 0 })
	}
	if err := s.finishSync(ctx, tx, &current, y, s.Clock.Now()); err != nil {
		return err
	}
	return tx.PutShop(ctx, current)
}

// inFirstSync marks the context of a first sync: nothing waits for its end.
func inFirstSync(ctx context.Context, y *Sync) context.Context {
	if y == nil || platform.IsInteractive(ctx) {
		return ctx
	}
	return platform.InBulk(ctx)
}
