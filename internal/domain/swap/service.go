package swap

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is the part of the commerce platform that rules need.
type Platform interface {
	Variants(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Variant, error)
}

// Service manages the rules of stores.
type Service struct {
	Store    Store
	Platform Platform
	Clock    clock.Clock
}

// maxRules is how many rules a store can have.
const maxRules = 500

// Create adds a rule. Without a Sequence it is evaluated last.
func (s *Service) Create(ctx context.Context, of shop.Shop, r Rule, by activity.Actor) (Rule, error) {
	r, err := s.checked(ctx, of, r)
	if err != nil {
		return Rule{}, err
	}
	wanted := r
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error {
		now := s.Clock.Now()
		r = wanted
		all, err := tx.SwapRules(ctx)
		if err != nil {
			return err
		}
		if len(all) >= maxRules {
			return fault.New(fault.FailedPrecondition, "the store has %d swap rules: no more are allowed", len(all)).Entity(entity).Code("tooManyProductSwaps")
		}
		if r.Sequence == 0 {
			for _, other := range all {
				r.Sequence = max(r.Sequence, other.Sequence)
			}
			r.Sequence = min(r.Sequence+1, maxSequence)
		}
		r.ID, r.Version, r.CreatedAt, r.UpdatedAt = 0, 0, now, now
		if err := tx.PutSwapRule(ctx, &r); err != nil {
			return err
		}
		if err := setSwapRules(ctx, tx, true); err != nil {
			return err
		}
		return tx.Record(ctx, r.entry(activity.Created, by, now))
	})
	return r, err
}

// Update replaces a rule of r.Line. It fails with a Conflict when the rule has changed
// since the caller read r.
func (s *Service) Update(ctx context.Context, of shop.Shop, r Rule, by activity.Actor) (Rule, error) {
	wanted, err := s.checked(ctx, of, r)
	if err != nil {
		return Rule{}, err
	}
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error {
		now := s.Clock.Now()
		old, err := tx.SwapRule(ctx, r.Line, r.ID)
		if err != nil {
			return err
		}
		if old.Version != wanted.Version {
			return fault.New(fault.Conflict, "swap rule %d has changed", r.ID).Entity(entity).Code("changedMeanwhile")
		}
		r = wanted
		r.UpdatedAt = now
		if err := tx.PutSwapRule(ctx, &r); err != nil {
			return err
		}
		return tx.Record(ctx, r.entry(activity.Updated, by, now))
	})
	return r, err
}

// Delete removes a rule. What it has changed stays.
func (s *Service) Delete(ctx context.Context, of shop.ID, line shop.Line, id ID, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		r, err := tx.SwapRule(ctx, line, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteSwapRule(ctx, id); err != nil {
			return err
		}
		left, err := tx.SwapRules(ctx)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			if err := setSwapRules(ctx, tx, false); err != nil {
				return err
			}
		}
		return tx.Record(ctx, r.entry(activity.Deleted, by, s.Clock.Now()))
	})
}

// setSwapRules stores whether the store has rules, so that orders of stores without any
// need no check.
func setSwapRules(ctx context.Context, tx Tx, has bool) error {
	of, err := tx.Shop(ctx)
	if err != nil || of.Settings.SwapRules == has {
		return err
	}
	of.Settings.SwapRules = has
	return tx.PutShop(ctx, of)
}

// checked returns the rule with the catalogue's names of its products, or an error.
func (s *Service) checked(ctx context.Context, of shop.Shop, r Rule) (Rule, error) {
	if err := r.Check(); err != nil {
		return Rule{}, err
	}
	var err error
	if r.Variants, err = Sold(platform.Interactive(ctx), s.Platform, of, Variants([]Rule{r})); err != nil {
		return Rule{}, fault.Because(fault.Unavailable, err, "the variants could not be read from the platform")
	}
	if r.Sources, err = withCatalogueNames("sourceVariants", r.Sources, r.Variants); err != nil {
		return Rule{}, err
	}
	r.Destinations, err = withCatalogueNames("destinationVariants", r.Destinations, r.Variants)
	return r, err
}

// Refresh reads the products again that the rules of a store name: what orders cost that rules will
// change is known from them.
func (s *Service) Refresh(ctx context.Context, id shop.ID) error {
	var of shop.Shop
	var rules []Rule
	err := s.Store.View(ctx, id, func(tx ReadTx) (err error) {
		if of, err = tx.Shop(ctx); err != nil || !of.Connected || !of.Settings.SwapRules {
			return err
		}
		rules, err = tx.SwapRules(ctx)
		return err
	})
	if err != nil || len(rules) == 0 {
		return err
	}
	sold, err := Sold(ctx, s.Platform, of, Variants(rules))
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, id, func(tx Tx) error { return tx.KeepSold(ctx, rules, sold) })
}

// Sold reads variants, by their numbers. Those that the store does not sell are left out.
func Sold(ctx context.Context, p Platform, of shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	sold := make(map[int64]platform.Variant, len(ids))
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		found, err := p.Variants(ctx, of.At(), chunk)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			sold[v.ID] = v
		}
	}
	return sold, nil
}

// withCatalogueNames gives products the names and images that the caller left out.
func withCatalogueNames(param string, list []Product, sold map[int64]platform.Variant) ([]Product, error) {
	full := make([]Product, len(list))
	for i, p := range list {
		v, ok := sold[p.VariantID]
		if !ok {
			return nil, fault.New(fault.NotFound, "field '%s': variant %d does not exist in this store", param, p.VariantID).Entity(entity).Code("variantNotFound").Field(param)
		}
		if p.Name == "" {
			p.Name = v.ProductTitle
			if name := v.Name(); name != "" {
				p.Name += " - " + name
			}
		}
		if p.Image == "" {
			p.Image = v.Image
		}
		full[i] = p
	}
	return full, nil
}

func (r Rule) entry(event activity.EventType, by activity.Actor, now time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(r.ID), EntityType: activity.EntityProductSwap, Event: event, Status: activity.Success, Actor: by, At: now,
		Info: activity.Details(struct {
			Name         string    `json:"name"`
			Sources      []Product `json:"sourceVariants"`
			Destinations []Product `json:"destinationVariants"`
		}{r.Name, r.Sources, r.Destinations}),
	}
}
