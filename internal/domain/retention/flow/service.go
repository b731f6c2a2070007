package flow

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Reader reads versions of a store's flow.
type Reader interface {
	shop.Reader
	// CancelFlow returns the newest version; Version is 0 when the store has published none.
	CancelFlow(ctx context.Context) (Flow, error)
	// CancelFlowAt returns a version, or NotFound.
	CancelFlowAt(ctx context.Context, version int) (Flow, error)
	// CancelFlows returns the newest versions, at most limit.
	CancelFlows(ctx context.Context, limit int) ([]Flow, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	Reader
	// AddCancelFlow inserts a version; one that exists is a Conflict.
	AddCancelFlow(ctx context.Context, f Flow) error
	activity.Recorder
}

// Store runs transactions. View is for what only reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(Reader) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service reads and publishes flows.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Current returns the newest version, or the default of a store that has published none.
func Current(ctx context.Context, tx Reader) (Flow, error) {
	f, err := tx.CancelFlow(ctx)
	if err != nil || f.Version > 0 {
		return f, err
	}
	store, err := tx.Shop(ctx)
	return Default(store.Currency), err
}

// At returns a version, or the default of version 0.
func At(ctx context.Context, tx Reader, version int) (Flow, error) {
	if version > 0 {
		return tx.CancelFlowAt(ctx, version)
	}
	store, err := tx.Shop(ctx)
	return Default(store.Currency), err
}

// Current returns the newest version, or the default.
func (s *Service) Current(ctx context.Context, of shop.ID) (Flow, error) {
	var f Flow
	err := s.Store.View(ctx, of, func(tx Reader) (err error) {
		f, err = Current(ctx, tx)
		return err
	})
	return f, err
}

// Versions returns the newest published versions, at most 50.
func (s *Service) Versions(ctx context.Context, of shop.ID) ([]Flow, error) {
	const limit = 50
	var list []Flow
	err := s.Store.View(ctx, of, func(tx Reader) (err error) {
		list, err = tx.CancelFlows(ctx, limit)
		return err
	})
	return list, err
}

// entryDetails is the details of an entry about a published flow.
type entryDetails struct {
	Version  int  `json:"flowVersion"`
	Mode     Mode `json:"cancellationMode"`
	Reasons  int  `json:"reasons"`
	HoldBack int  `json:"heldBackPercent"`
}

// Publish stores a flow as the next version. Customers who began to cancel before see the
// version with which they began. Base is the version that the author has seen: when there
// is a newer one, it is a Conflict. Instants, numbers and the currency are set here.
func (s *Service) Publish(ctx context.Context, of shop.ID, f Flow, base int, by activity.Actor) (Flow, error) {
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		is, err := tx.CancelFlow(ctx)
		if err != nil {
			return err
		}
		if is.Version != base {
			return Outdated(is)
		}
		f.Version, f.PublishedAt, f.PublishedBy, f.Currency = is.Version+1, clock.Trim(s.Clock.Now()), by.By, store.Currency
		if err := f.Check(); err != nil {
			return err
		}
		if err := tx.AddCancelFlow(ctx, f); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityCustomerPortalSettings, Event: activity.Updated, Status: activity.Success, Actor: by, At: s.Clock.Now(),
			Info: activity.Details(entryDetails{f.Version, f.Mode, len(f.Reasons), f.HoldBack}),
		})
	})
	return f, err
}

// Outdated is the failure to publish over a version that the author has not seen.
func Outdated(is Flow) error {
	return fault.New(fault.Conflict, "the flow was published as version %d by %s at %s: look at it and publish again", is.Version, is.PublishedBy, is.PublishedAt.UTC().Format(time.RFC3339)).
		Entity(entity).Code("cancelFlowChanged").Field("version")
}
