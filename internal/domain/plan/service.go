package plan

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Service keeps groups in step with the platform. A change is written down,
// carried out at the platform, and only then what the group is.
type Service struct {
	Store    Store
	Platform platform.Plans
	Clock    clock.Clock
	Log      *slog.Logger
}

const (
	// lease is how long the caller that makes a change has before a repair takes
	// it up: longer than the platform's answers take together.
	lease = 5 * time.Minute
	// settling is how long after a lost answer the platform may still do what it
	// was asked.
	settling = time.Minute
	// outage is how long a store whose connection is gone is left alone.
	outage = time.Hour
)

// MaxFromCollection is how many products of a collection are added or removed at
// once, and how many numbers a request may name.
const MaxFromCollection = 5000

// CreateCommand asks for a group.
type CreateCommand struct {
	Line  shop.Line
	Draft Draft
	Sold  platform.Assigned
	Actor activity.Actor
}

// Create makes a group at the platform and here, or neither. What the platform
// refuses is Refused in its words. When its answer is lost and nothing can be
// found, the failure is Unavailable, and what it made after all is found later.
func (s *Service) Create(ctx context.Context, of shop.ID, c CreateCommand) (Group, error) {
	c.Draft.Settle()
	if err := c.Draft.Validate(); err != nil {
		return Group{}, err
	}
	if err := c.Draft.checkSupported(Group{}); err != nil {
		return Group{}, err
	}
	for i, o := range c.Draft.Options {
		if o.ID != 0 {
			return Group{}, invalid(at(i, "id"), "planUnknown", "a new group has no plan %d: leave its id out", o.ID)
		}
	}
	add, _ := Assignment{Add: c.Sold}.delta(platform.Assigned{})
	if len(add.Products) > platform.MaxAssigned || len(add.Variants) > platform.MaxAssigned {
		return Group{}, invalid("productIds", "tooManyProducts", "a group is made with at most %d products and %d variants: add the others with add-products", platform.MaxAssigned, platform.MaxAssigned)
	}
	store, err := s.open(ctx, of)
	if err != nil {
		return Group{}, err
	}
	items, err := s.items(ctx, store, add)
	if err != nil {
		return Group{}, err
	}
	now := s.Clock.Now()
	var g Group
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		g = Group{
			Line: c.Line, Terms: Terms{Name: c.Draft.Name}, State: Creating, DueAt: now.Add(lease), CreatedAt: now, UpdatedAt: now,
			Pending: &Change{Terms: c.Draft.Terms, Options: slices.Clone(c.Draft.Options), Add: items, Actor: c.Actor},
		}
		return tx.PutPlanGroup(ctx, &g)
	})
	if err != nil {
		return Group{}, err
	}
	return s.apply(ctx, store, g)
}

// UpdateCommand asks for a group to be changed.
type UpdateCommand struct {
	Line    shop.Line
	ID      ID
	Version int64  // of the group on which Draft is based; 0: any
	Draft   *Draft // nil: terms and options stay
	Assign  Assignment
	// Collection adds the products of a collection to Assign.Add, or to
	// Assign.Remove when CollectionLeaves; 0: none.
	Collection       int64
	CollectionLeaves bool
	Actor            activity.Actor
}

// Update changes a group at the platform and here, or neither. Its failures are
// those of Create; NotFound when the line has no such group; Conflict when the
// group changed meanwhile or another change of it is under way.
func (s *Service) Update(ctx context.Context, of shop.ID, c UpdateCommand) (Group, error) {
	if c.Draft != nil {
		c.Draft.Settle()
		if err := c.Draft.Validate(); err != nil {
			return Group{}, err
		}
	}
	store, err := s.open(ctx, of)
	if err != nil {
		return Group{}, err
	}
	read, err := s.ready(ctx, store, c.Line, c.ID)
	if err != nil {
		return Group{}, err
	}
	if c.Draft != nil {
		if err := c.Draft.checkSupported(read); err != nil {
			return Group{}, err
		}
	}
	if err := s.collect(ctx, store, &c); err != nil {
		return Group{}, err
	}
	add, remove := c.Assign.delta(read.Assigned())
	if len(add.Products) > MaxFromCollection || len(add.Variants) > MaxFromCollection {
		return Group{}, invalid("productIds", "tooManyProducts", "at most %d products and variants can be added at once", MaxFromCollection)
	}
	items, err := s.items(ctx, store, add)
	if err != nil {
		return Group{}, err
	}
	var g Group
	err = s.Store.Update(ctx, of, func(tx Tx) (err error) {
		if g, err = tx.PlanGroup(ctx, c.ID); err != nil {
			return err
		}
		if g.Version != read.Version || c.Version != 0 && g.Version != c.Version {
			return changedMeanwhile(g.ID)
		}
		draft := g.Draft()
		if c.Draft != nil {
			draft = *c.Draft
			if err := ours(g, draft); err != nil {
				return err
			}
		}
		g.Pending = &Change{Terms: draft.Terms, Options: slices.Clone(draft.Options), Add: items, Remove: remove, Actor: c.Actor}
		if g.Terms == draft.Terms && slices.Equal(g.Options, draft.Options) && items.Assigned().Empty() && remove.Empty() {
			g.Pending = nil
			return nil
		}
		g.State, g.DueAt = Updating, s.Clock.Now().Add(lease)
		return tx.PutPlanGroup(ctx, &g)
	})
	if err != nil || g.Pending == nil {
		return g, err
	}
	return s.apply(ctx, store, g)
}

// ours refuses a draft that names plans of other groups.
func ours(g Group, d Draft) error {
	for i, o := range d.Options {
		if _, known := g.Option(o.ID); o.ID != 0 && !known {
			return invalid(at(i, "id"), "planUnknown", "subscription group %d has no plan %d: leave the id of a new plan out", g.ID, o.ID)
		}
	}
	return nil
}

// DeleteCommand asks for a group to be removed.
type DeleteCommand struct {
	Line  shop.Line
	ID    ID
	Actor activity.Actor
}

// Delete removes a group and its options. Contracts on them go on as they are:
// they keep what they took from their plan.
func (s *Service) Delete(ctx context.Context, of shop.ID, c DeleteCommand) error {
	store, err := s.open(ctx, of)
	if err != nil {
		return err
	}
	read, err := s.ready(ctx, store, c.Line, c.ID)
	if err != nil {
		return err
	}
	var g Group
	err = s.Store.Update(ctx, of, func(tx Tx) (err error) {
		if g, err = tx.PlanGroup(ctx, c.ID); err != nil {
			return err
		}
		if g.Version != read.Version {
			return changedMeanwhile(g.ID)
		}
		g.Pending = &Change{Terms: g.Terms, Options: g.Options, Actor: c.Actor}
		g.State, g.DueAt = Deleting, s.Clock.Now().Add(lease)
		return tx.PutPlanGroup(ctx, &g)
	})
	if err != nil {
		return err
	}
	_, err = s.apply(ctx, store, g)
	return err
}

// RemoveCommand asks for products to leave every group of a line.
type RemoveCommand struct {
	Line       shop.Line
	Remove     platform.Assigned
	Collection int64
	All        bool
	Actor      activity.Actor
}

// RemoveEverywhere removes products and variants from all groups of a line and
// returns those that had them. Sent again after a failure it does the rest.
func (s *Service) RemoveEverywhere(ctx context.Context, of shop.ID, c RemoveCommand) ([]Group, error) {
	store, err := s.open(ctx, of)
	if err != nil {
		return nil, err
	}
	gather := UpdateCommand{Collection: c.Collection, CollectionLeaves: true, Assign: Assignment{Remove: c.Remove, RemoveAll: c.All}}
	if err := s.collect(ctx, store, &gather); err != nil {
		return nil, err
	}
	var ids []ID
	if c.All || !gather.Assign.Remove.Empty() { // an empty collection names nothing
		named := gather.Assign.Remove
		if c.All {
			named = platform.Assigned{}
		}
		err = s.Store.View(ctx, of, func(tx ReadTx) (err error) {
			ids, err = tx.PlanGroupsSelling(ctx, c.Line, named)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	groups := make([]Group, 0, len(ids))
	for _, id := range ids {
		g, err := s.Update(ctx, of, UpdateCommand{Line: c.Line, ID: id, Assign: gather.Assign, Actor: c.Actor})
		if fault.Is(err, fault.NotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// open returns the shop, which must be connected.
func (s *Service) open(ctx context.Context, of shop.ID) (shop.Shop, error) {
	store, err := s.shop(ctx, of)
	if err == nil && !store.Connected {
		err = fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(entity).Code("connectionGone")
	}
	return store, err
}

func (s *Service) shop(ctx context.Context, of shop.ID) (store shop.Shop, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		store, err = tx.Shop(ctx)
		return err
	})
	return store, err
}

// ready returns a group that can be changed. A change of it that was left behind
// is finished first.
func (s *Service) ready(ctx context.Context, store shop.Shop, line shop.Line, id ID) (Group, error) {
	for repaired := false; ; repaired = true {
		var g Group
		err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
			g, err = tx.PlanGroup(ctx, id)
			return err
		})
		switch {
		case err != nil:
			return Group{}, err
		case g.Line != line, g.State == Creating:
			return Group{}, NotFound(id)
		case g.State == Synced:
			return g, nil
		case repaired, g.DueAt.After(s.Clock.Now()):
			return Group{}, fault.New(fault.Conflict, "another change of subscription group %d is under way", id).Entity(entity).Code("changeUnderWay")
		}
		if err := s.repair(ctx, store, id); err != nil {
			return Group{}, err
		}
	}
}

// FindProducts returns the first products of a store by title whose titles have words that begin with those
// of a text; more: there are others. An empty text finds the first of all.
func (s *Service) FindProducts(ctx context.Context, of shop.ID, text string) (list []Titled, more bool, err error) {
	store, err := s.shop(ctx, of)
	if err != nil {
		return nil, false, err
	}
	if list, more, err = s.Platform.FindProducts(platform.Interactive(ctx), store.At(), text); err != nil {
		return nil, false, unanswered(err)
	}
	return list, more, nil
}

// NotFound is the failure that a line has no such group.
func NotFound(id ID) error {
	return fault.New(fault.NotFound, "subscription group %d does not exist", id).Entity(entity).Code("subscriptionGroupNotFound")
}

func changedMeanwhile(id ID) error {
	return fault.New(fault.Conflict, "subscription group %d has changed", id).Entity(entity).Code("changedMeanwhile")
}

// collect reads the products of the command's collection.
func (s *Service) collect(ctx context.Context, store shop.Shop, c *UpdateCommand) error {
	if c.Collection == 0 {
		return nil
	}
	products, err := s.Platform.CollectionProducts(platform.Interactive(ctx), store.At(), c.Collection, MaxFromCollection)
	if isMissing(err) {
		return fault.Because(fault.NotFound, err, "collection %d does not exist", c.Collection).Entity("collection").Code("collectionNotFound").Field("collectionId")
	}
	if err != nil {
		return unanswered(err)
	}
	if c.CollectionLeaves {
		c.Assign.Remove.Products = slices.Concat(c.Assign.Remove.Products, numbers(products))
	} else {
		c.Assign.Add.Products = slices.Concat(c.Assign.Add.Products, numbers(products))
	}
	return nil
}

// items reads the titles of what is added. What the store does not have is
// not found.
func (s *Service) items(ctx context.Context, store shop.Shop, add platform.Assigned) (Items, error) {
	if add.Empty() {
		return Items{}, nil
	}
	products, variants, err := s.Platform.Titles(platform.Interactive(ctx), store.At(), add)
	if err != nil {
		return Items{}, unanswered(err)
	}
	for _, one := range []struct {
		wanted     []int64
		have       []platform.Titled
		word, name string
	}{{add.Products, products, "product", "productIds"}, {add.Variants, variants, "variant", "variantIds"}} {
		have := set(numbers(one.have))
		for _, id := range one.wanted {
			if !have[id] {
				return Items{}, fault.New(fault.NotFound, "the store has no %s %d", one.word, id).Entity(entity).Code(one.word + "NotFound").Field(one.name)
			}
		}
	}
	return Items{products, variants}, nil
}
