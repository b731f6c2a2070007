package design

import (
	"context"
	"strings"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// entity is what failures are about.
const entity = "portalDesign"

// Service keeps designs.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Draft is what a user makes of a design.
type Draft struct {
	// Seen is the version that the user has seen. A draft over a design that has changed since is a
	// Conflict.
	Seen int64
	// Design has what is set. Of its logo, only the text in its place counts.
	Design Design
	// Picture is the new logo; nil: the one that there is.
	Picture *Picture
	// Remove takes the logo away.
	Remove bool
}

// Design returns that of a store.
func (s *Service) Design(ctx context.Context, of shop.ID) (d Design, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		d, err = tx.PortalDesign(ctx)
		return err
	})
	return d, err
}

// Logo returns the picture of a store with a hash, as PNG, or NotFound.
func (s *Service) Logo(ctx context.Context, of shop.ID, hash string) (picture []byte, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		picture, err = tx.PortalLogo(ctx, hash)
		return err
	})
	if err == nil && picture == nil {
		err = fault.New(fault.NotFound, "the store has no such logo").Entity(entity).Code("logoNotFound")
	}
	return picture, err
}

// Of returns the design as it is with a draft over what is stored.
func (d Draft) Of(stored Design) Design {
	next := d.Design.plain()
	next.Version, next.UpdatedAt = stored.Version, stored.UpdatedAt
	next.Logo = stored.Logo
	if d.Picture != nil {
		next.Logo = Logo{Hash: d.Picture.Hash, Width: d.Picture.Width, Height: d.Picture.Height}
	}
	next.Logo.Alt = strings.TrimSpace(d.Design.Logo.Alt)
	if d.Remove || next.Logo.Hash == "" {
		next.Logo = Logo{}
	}
	return next
}

// note is the additional information of an entry about a design.
type note struct {
	From Design `json:"from"`
	To   Design `json:"to"`
}

// Save stores a draft and returns the design. The logo before stays for the pages that are open,
// until the next change.
func (s *Service) Save(ctx context.Context, of shop.ID, d Draft, by activity.Actor) (next Design, err error) {
	if err := d.Design.Check(); err != nil {
		return next, err
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		before, err := tx.PortalDesign(ctx)
		if err != nil {
			return err
		}
		if before.Version != d.Seen {
			return fault.New(fault.Conflict, "another user has changed the design since the page was opened: look at it, and enter your changes again").
				Entity(entity).Code("portalDesignChanged")
		}
		next = d.Of(before)
		if next == before {
			return nil
		}
		if d.Picture != nil && !d.Remove {
			if err := tx.AddPortalLogo(ctx, *d.Picture); err != nil {
				return err
			}
		}
		if err := tx.DeletePortalLogos(ctx, []string{before.Logo.Hash, next.Logo.Hash}); err != nil {
			return err
		}
		next.UpdatedAt = s.Clock.Now()
		if err := tx.PutPortalDesign(ctx, &next); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityCustomerPortalSettings, Event: activity.Updated, Status: activity.Success, Actor: by,
			At: next.UpdatedAt, Info: activity.Details(note{before, next}),
		})
	})
	return next, err
}
