// Package repair watches over the books: it makes sure that this installation is
// the one that charges a store, compares what the platform charged with what we
// believe, and shows what a person has to look at.
package repair

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is what repair needs of the commerce platform.
type Platform interface {
	platform.Epochs
	platform.Books
	CycleStates(ctx context.Context, shop platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error)
	Attempts(ctx context.Context, shop platform.Shop, ids []string) ([]platform.Attempt, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	billing.Tx
	BooksReader
	FindingTx
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	billing.ReadTx
	BooksReader
	FindingReader
}

// BooksReader reads what is compared with the platform.
type BooksReader interface {
	// PaidSince returns attempts with the status SUCCESS that were written at or after an
	// instant, ordered by that instant and ID, after the last one of a page.
	PaidSince(ctx context.Context, since time.Time, after billing.Attempt, limit int) ([]billing.Attempt, error)
	// LeftOpenSince returns, in the same order, attempts that were given up although the
	// platform held a charge of their cycle open.
	LeftOpenSince(ctx context.Context, since time.Time, after billing.Attempt, limit int) ([]billing.Attempt, error)
	// OpenSince returns attempts with one of the statuses that were sent before an instant,
	// oldest first.
	OpenSince(ctx context.Context, before time.Time, limit int, in ...billing.Status) ([]billing.Attempt, error)
	// Unscheduled returns ACTIVE contracts whose next billing date is before an instant, or
	// which have none, without an attempt in flight. Contracts that are paid for life, or
	// will be cancelled, need none.
	Unscheduled(ctx context.Context, before time.Time, limit int) ([]contract.ID, error)
	// UnreadContracts returns at most limit contracts that could not be read from the
	// platform, by id, after one.
	UnreadContracts(ctx context.Context, after contract.ID, limit int) ([]contract.Unread, error)
}

// FindingReader reads findings and discarded work.
type FindingReader interface {
	// OpenFindings returns findings that are not resolved, oldest first.
	OpenFindings(ctx context.Context, limit int) ([]Finding, error)
	// FindingsLike returns the findings of the same kind about the same object, resolved
	// or not.
	FindingsLike(ctx context.Context, like []Finding) ([]Finding, error)
	// DiscardedEvents returns the shop's events that were given up, newest first.
	DiscardedEvents(ctx context.Context, limit int) ([]DiscardedWork, error)
	// DiscardedTasks returns the shop's tasks that were given up, newest first.
	DiscardedTasks(ctx context.Context, limit int) ([]DiscardedWork, error)
}

// FindingTx reads and writes findings.
type FindingTx interface {
	FindingReader
	// PutFindings inserts and updates findings, as PutAttempts does attempts.
	PutFindings(ctx context.Context, list []Finding) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// Place returns where the installation runs, or the zero Place; SetPlace stores it.
	Place(ctx context.Context) (Place, error)
	SetPlace(ctx context.Context, p Place) error
	// All returns every shop.
	All(ctx context.Context) ([]shop.Shop, error)
}

// Policy is how long repair waits for what, in the domain's time.
type Policy struct {
	// Retry is the time after which a check that failed is made again.
	Retry time.Duration
	// Every is the time between two checks of a store, and Grace how long a
	// store is charged beyond it when the platform does not confirm the epoch.
	Every, Grace time.Duration
	// Horizon is how long a charge may stay unresolved before an operator must look.
	Horizon time.Duration
}

// Service keeps the books straight.
type Service struct {
	Store    Store
	Platform Platform
	Billing  Settler
	Clock    clock.Clock
	Log      *slog.Logger
	Policy   Policy
}

// Check is the task of confirming a shop's epoch and of comparing its books.
type Check struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Check) Kind() string { return "repair_check" }

// note is the additional information of an entry.
type note struct {
	Reason string `json:"reason"`
}

func shopEntry(of shop.ID, status activity.Status, by activity.Actor, now time.Time, reason string) activity.Entry {
	return activity.Entry{
		EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: status, Actor: by, At: now,
		Info: activity.Details(note{reason}),
	}
}

// Check confirms that this installation charges the store and compares the
// platform's books with ours. What one check cannot read is left to the next, at once.
// When the platform cannot be asked, it is asked again a little later.
func (s *Service) Check(ctx context.Context, of shop.ID) error {
	store, err := s.read(ctx, of)
	if err != nil || !store.Connected {
		return err
	}
	failed := s.confirm(ctx, store)
	if failed == nil {
		failed = s.compare(ctx, store)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := s.Clock.Now()
	if failed != nil {
		s.Log.WarnContext(ctx, "the check of a store is put off", "shop", store.Domain, "error", failed)
	}
	return s.change(ctx, of, func(_ Tx, current *shop.Shop) ([]activity.Entry, error) {
		switch g := &current.Guard; {
		case failed != nil:
			g.CheckAt = now.Add(s.Policy.Retry)
		case g.Comparing != (shop.Reading{}):
			g.CheckAt = now // more pages of the platform's list follow
		default:
			g.CheckAt = now.Add(s.Policy.Every)
		}
		return nil, nil
	})
}

func (s *Service) read(ctx context.Context, of shop.ID) (store shop.Shop, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		store, err = tx.Shop(ctx)
		return err
	})
	return store, err
}

// change changes a shop and records what fn says of it, in one commit.
func (s *Service) change(ctx context.Context, of shop.ID, fn func(Tx, *shop.Shop) ([]activity.Entry, error)) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		entries, err := fn(tx, &current)
		if err != nil {
			return err
		}
		if err := tx.PutShop(ctx, current); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}
