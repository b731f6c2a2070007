package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// apply tells the platform what is pending and settles what comes of it, for a
// caller who waits. Once begun it is finished, even if the caller leaves.
func (s *Service) apply(ctx context.Context, store shop.Shop, g Group) (Group, error) {
	ctx = platform.Interactive(context.WithoutCancel(ctx))
	answer, err := s.sync(ctx, store, &g, false)
	if errors.Is(err, platform.ErrUnknown) {
		answer, err = s.sync(ctx, store, &g, true)
		if g.State == Creating && isMissing(err) {
			err = fmt.Errorf("%w: %w", platform.ErrUnknown, err) // it may still come
		}
	}
	switch {
	case err == nil:
		return s.settle(ctx, store.ID, g, answer)
	case errors.Is(err, platform.ErrUnknown):
		return Group{}, errors.Join(unanswered(err), s.postpone(ctx, store.ID, g, settling))
	default:
		return Group{}, errors.Join(unanswered(err), s.revert(ctx, store, g))
	}
}

// sync makes the pending change on the platform. After a lost answer it is repeated: it
// first reads what the platform has done and asks only for the rest.
func (s *Service) sync(ctx context.Context, store shop.Shop, g *Group, again bool) (platform.PlanGroup, error) {
	at, p := store.At(), g.Pending
	switch {
	case g.State == Creating && again:
		return s.Platform.PlanGroupByCode(ctx, at, g.code(), g.CreatedAt.Add(-time.Hour)) // clocks may differ
	case g.State == Creating:
		terms := platform.PlanGroupTerms{Code: g.code(), Name: p.Terms.Name, Options: []string{optionLabel}}
		return s.Platform.CreatePlanGroup(ctx, at, terms, selling(p.Options, store.Currency), p.Add.Assigned())
	case g.State == Deleting:
		return platform.PlanGroup{}, s.Platform.DeletePlanGroup(ctx, at, g.PlatformID)
	}
	// What is sold comes first: it can be taken back exactly, plans cannot.
	if add := p.Add.Assigned(); !add.Empty() {
		if err := s.Platform.AssignToPlanGroup(ctx, at, g.PlatformID, add); err != nil {
			return platform.PlanGroup{}, err
		}
	}
	if !p.Remove.Empty() {
		if err := s.Platform.RemoveFromPlanGroup(ctx, at, g.PlatformID, p.Remove); err != nil {
			return platform.PlanGroup{}, err
		}
	}
	wanted := *g
	if again {
		there, err := s.Platform.PlanGroup(ctx, at, g.PlatformID)
		if err != nil {
			return platform.PlanGroup{}, err
		}
		wanted.find(there.Plans)
	}
	change := wanted.change(store.Currency)
	if empty(change) {
		return platform.PlanGroup{ID: g.PlatformID}, nil
	}
	return s.Platform.UpdatePlanGroup(ctx, at, g.PlatformID, change)
}

// settle makes the group what it is at the platform now.
func (s *Service) settle(ctx context.Context, of shop.ID, g Group, answer platform.PlanGroup) (Group, error) {
	options := slices.Clone(g.Pending.Options)
	if g.State != Deleting {
		if err := number(options, answer.Plans); err != nil {
			return Group{}, errors.Join(unanswered(err), s.postpone(ctx, of, g, settling))
		}
	}
	now := s.Clock.Now()
	var settled Group
	err := s.fenced(ctx, of, g, func(tx Tx, is Group) error {
		if is.State == Creating {
			is.PlatformID = answer.ID
		}
		entry := is.entry(options, now)
		p := is.Pending
		if is.State == Deleting {
			if err := tx.DeletePlanGroup(ctx, is.ID); err != nil {
				return err
			}
			return tx.Record(ctx, entry)
		}
		was := is.Options
		is.Products, is.Variants = after(is.Products, p.Add.Products, p.Remove.Products), after(is.Variants, p.Add.Variants, p.Remove.Variants)
		is.Terms, is.Options, is.State, is.Pending, is.DueAt, is.UpdatedAt = p.Terms, options, Synced, nil, time.Time{}, now
		if err := tx.PutPlanGroup(ctx, &is); err != nil {
			return err
		}
		if err := tx.PutPlanItems(ctx, is.ID, p.Add, p.Remove); err != nil {
			return err
		}
		if err := enrol(ctx, tx, is, was); err != nil {
			return err
		}
		settled = is
		return tx.Record(ctx, entry)
	})
	return settled, err
}

// enrol lets contracts on the options of a membership group be memberships, and
// those on new options of another group none, whatever was said before of plans of
// those numbers. A plan that is removed stays listed: its contracts outlive it.
func enrol(ctx context.Context, tx Tx, g Group, was []Option) error {
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	plans := slices.Clone(store.Settings.Memberships)
	for _, o := range g.Options {
		listed := slices.Index(plans, o.ID)
		switch known := slices.ContainsFunc(was, func(old Option) bool { return old.ID == o.ID }); {
		case g.Line == shop.Memberships && listed < 0:
			plans = append(plans, o.ID)
		case g.Line != shop.Memberships && listed >= 0 && !known:
			plans = slices.Delete(plans, listed, listed+1)
		}
	}
	if slices.Equal(plans, store.Settings.Memberships) {
		return nil
	}
	store.Settings.Memberships = plans
	return tx.PutShop(ctx, store)
}

// revert makes the group what it was before a change that did not come about.
func (s *Service) revert(ctx context.Context, store shop.Shop, g Group) error {
	p := g.Pending
	if g.State == Creating {
		return s.fenced(ctx, store.ID, g, func(tx Tx, is Group) error { return tx.DeletePlanGroup(ctx, is.ID) })
	}
	if g.State == Deleting || p.Undo || p.Add.Assigned().Empty() && p.Remove.Empty() {
		return s.restore(ctx, store.ID, g)
	}
	// Some of it may have been done.
	var undo Group
	err := s.fenced(ctx, store.ID, g, func(tx Tx, is Group) error {
		is.Pending = &Change{
			Terms: is.Terms, Options: is.Options, Remove: p.Add.Assigned(), Actor: p.Actor, Undo: true,
			Add: Items{titled(is.Products, p.Remove.Products), titled(is.Variants, p.Remove.Variants)},
		}
		err := tx.PutPlanGroup(ctx, &is)
		undo = is
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.sync(ctx, store, &undo, false); err != nil && !platform.Definite(err) {
		s.Log.WarnContext(ctx, "a refused change of a plan group is taken back later", "shop", store.Domain, "group", g.ID, "error", err)
		return s.postpone(ctx, store.ID, undo, settling)
	}
	return s.restore(ctx, store.ID, undo)
}

// restore forgets what was pending.
func (s *Service) restore(ctx context.Context, of shop.ID, g Group) error {
	return s.fenced(ctx, of, g, func(tx Tx, is Group) error {
		is.State, is.Pending, is.DueAt = Synced, nil, time.Time{}
		return tx.PutPlanGroup(ctx, &is)
	})
}

// postpone leaves what is pending to a repair.
func (s *Service) postpone(ctx context.Context, of shop.ID, g Group, wait time.Duration) error {
	return s.fenced(ctx, of, g, func(tx Tx, is Group) error {
		is.DueAt = s.Clock.Now().Add(wait)
		return tx.PutPlanGroup(ctx, &is)
	})
}

// fenced runs fn on the group if it has not changed since it was read.
func (s *Service) fenced(ctx context.Context, of shop.ID, g Group, fn func(tx Tx, is Group) error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		is, err := tx.PlanGroup(ctx, g.ID)
		if err != nil {
			return err
		}
		if is.Version != g.Version {
			return changedMeanwhile(g.ID)
		}
		return fn(tx, is)
	})
}

// events are what the log calls the end of each state.
var events = map[State]activity.EventType{
	Creating: activity.SubscriptionGroupPlanCreate, Updating: activity.SubscriptionGroupPlanUpdate, Deleting: activity.SubscriptionGroupPlanDelete,
}

// outcome is what an entry about a group says.
type outcome struct {
	Name             string   `json:"groupName"`
	Plans            []string `json:"plans,omitempty"`
	ProductsAdded    int      `json:"productsAdded,omitempty"`
	ProductsRemoved  int      `json:"productsRemoved,omitempty"`
	VariantsAdded    int      `json:"variantsAdded,omitempty"`
	VariantsRemoved  int      `json:"variantsRemoved,omitempty"`
	SellingPlanGroup int64    `json:"sellingPlanGroupId,omitempty"`
}

// entry returns the entry of what is pending.
func (g Group) entry(options []Option, now time.Time) activity.Entry {
	p := g.Pending
	o := outcome{
		Name: p.Terms.Name, ProductsAdded: len(p.Add.Products), ProductsRemoved: len(p.Remove.Products),
		VariantsAdded: len(p.Add.Variants), VariantsRemoved: len(p.Remove.Variants), SellingPlanGroup: g.PlatformID,
	}
	for _, option := range options {
		o.Plans = append(o.Plans, option.Name)
	}
	return activity.Entry{
		EntityID: int64(g.ID), EntityType: activity.EntitySubscriptionGroupPlan, Event: events[g.State], Status: activity.Success,
		Actor: p.Actor, At: now, Info: activity.Details(o),
	}
}

func isMissing(err error) bool { return errors.Is(err, platform.ErrNotFound) }

// unanswered turns what the platform answered instead of what was asked of it
// into the failure that the caller reads.
func unanswered(err error) error { return platform.Explain(err, entity, "selling plan group") }

func at(i int, field string) string { return fmt.Sprintf("subscriptionPlans[%d].%s", i, field) }
