package loyalty

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is what loyalty needs of the commerce platform.
type Platform interface {
	platform.Rewards
}

// Service keeps members' points.
type Service struct {
	Store    Store
	Reader   Reader
	Platform Platform
	Clock    clock.Clock
	Log      *slog.Logger
}

// MaxNote is how long a note can be, in characters.
const MaxNote = 500

// Enable starts a store's programme or changes it. Orders since its start that were not
// counted yet will be.
func (s *Service) Enable(ctx context.Context, of shop.ID, since time.Time, terms Terms) error {
	if err := terms.Validate(); err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		p, err := tx.Program(ctx)
		if err != nil {
			return err
		}
		p.Active, p.StartedAt, p.Terms = true, since, terms
		if err := tx.PutProgram(ctx, p); err != nil {
			return err
		}
		if err := tx.AddPastFacts(ctx, since, s.Clock.Now()); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{of})
	})
}

// Disable stops a store's programme: members keep their points, and earn and redeem nothing.
func (s *Service) Disable(ctx context.Context, of shop.ID) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		p, err := tx.Program(ctx)
		if err != nil || !p.Active {
			return err
		}
		p.Active = false
		return tx.PutProgram(ctx, p)
	})
}

// Work is the task of processing what is due for a store's members: crediting orders,
// releasing and expiring points, and calling the platform about rewards.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "loyalty_work" }

// batchSize is how many facts or members one transaction processes.
const batchSize = 100
