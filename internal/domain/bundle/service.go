package bundle

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Service manages bundles.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Create stores new settings and gives them their ID.
func (s *Service) Create(ctx context.Context, of shop.ID, wanted Settings, by activity.Actor) (Settings, error) {
	if err := firstOf(wanted.Check(), wanted.CheckSupported(New())); err != nil {
		return Settings{}, err
	}
	var made Settings
	err := s.change(ctx, of, func(tx Tx, all []Settings, now time.Time) error {
		if len(all) >= MaxBundles {
			return fault.New(fault.FailedPrecondition, "the store has %d bundles already: delete one first", MaxBundles).Entity(entity).Code("tooManyBundles")
		}
		made = wanted
		made.ID, made.CreatedAt, made.UpdatedAt = 0, now, now
		if err := made.fits(ctx, tx, all); err != nil {
			return err
		}
		if err := tx.PutBundle(ctx, &made); err != nil {
			return err
		}
		return tx.Record(ctx, entry(made, activity.Created, by, now))
	})
	return made, err
}

// Update replaces settings, unless they have changed since the caller read them.
func (s *Service) Update(ctx context.Context, of shop.ID, wanted Settings, by activity.Actor) (Settings, error) {
	if err := wanted.Check(); err != nil {
		return Settings{}, err
	}
	var put Settings
	err := s.change(ctx, of, func(tx Tx, all []Settings, now time.Time) error {
		is, err := in(all, wanted.ID)
		if err != nil {
			return err
		}
		if err := wanted.CheckSupported(is); err != nil {
			return err
		}
		put = wanted
		put.UpdatedAt = now
		if err := put.fits(ctx, tx, all); err != nil {
			return err
		}
		if err := tx.PutBundle(ctx, &put); err != nil {
			return err
		}
		return tx.Record(ctx, entry(put, activity.Updated, by, now))
	})
	return put, err
}

// Delete removes a bundle. Contracts that were its boxes are ordinary
// contracts from then on.
func (s *Service) Delete(ctx context.Context, of shop.ID, id ID, by activity.Actor) error {
	return s.change(ctx, of, func(tx Tx, all []Settings, now time.Time) error {
		is, err := in(all, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteBundle(ctx, is); err != nil {
			return err
		}
		return tx.Record(ctx, entry(is, activity.Deleted, by, now))
	})
}

func (s *Service) change(ctx context.Context, of shop.ID, fn func(tx Tx, all []Settings, now time.Time) error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockBundles(ctx); err != nil {
			return err
		}
		all, err := tx.AllBundles(ctx)
		if err != nil {
			return err
		}
		return fn(tx, all, s.Clock.Now())
	})
}

// fits refuses selling plans that the bundle cannot have.
func (s Settings) fits(ctx context.Context, tx Tx, all []Settings) error {
	if err := s.clash(all); err != nil {
		return err
	}
	lines, err := tx.PlanLines(ctx, s.Plans)
	if err != nil {
		return err
	}
	return s.ofLine(lines)
}

func in(all []Settings, id ID) (Settings, error) {
	i := slices.IndexFunc(all, func(s Settings) bool { return s.ID == id })
	if i < 0 {
		return Settings{}, NotFound(id)
	}
	return all[i], nil
}

// NotFound is the error for a bundle that does not exist.
func NotFound(id ID) error {
	return fault.New(fault.NotFound, "bundle %d does not exist", id).Entity(entity).Code("bundleNotFound").Field("id")
}

// details is the details of an entry about a bundle.
type details struct {
	Title string  `json:"title,omitempty"`
	Plans []int64 `json:"sellingPlanIds,omitempty"`
}

func entry(s Settings, event activity.EventType, by activity.Actor, now time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(s.ID), EntityType: activity.EntitySubscriptionBundling, Event: event, Status: activity.Success, Actor: by, At: now,
		Info: activity.Details(details{Title: s.Texts.Title, Plans: s.Plans}),
	}
}
