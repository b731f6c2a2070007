package parts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// source returns the service that the parts leave.
func (j *job) source() Source {
	if j.move.Direction == moving.Out {
		return own{j}
	}
	return j.Other(j.move.Peer)
}

// own is this service as the one that parts leave.
type own struct{ *job }

// ownAtOnce is how many parts a page lists.
const ownAtOnce = 100

// Parts returns a page of the parts of a kind.
func (o own) Parts(ctx context.Context, of shop.Shop, kind moving.PartKind, line shop.Line, n int) (moving.PartPage, error) {
	at := page.Request{Page: n, Size: ownAtOnce}
	part := func(number int64, name string, d moving.PartData) moving.Part {
		return moving.Part{PartKey: moving.PartKey{Kind: kind, Line: line, There: fmt.Sprint(number)}, Name: name, Data: d}
	}
	switch kind {
	case moving.GroupPart:
		return paged(at, func(g plan.Group) moving.Part {
			sold := plan.Items{Products: g.Products, Variants: g.Variants}.Assigned()
			return part(int64(g.ID), g.Name, moving.PartData{Group: &moving.Group{Terms: g.Terms, Options: g.Options, Products: sold.Products, Variants: sold.Variants}})
		})(o.PlanBook.PlanGroups(ctx, of.ID, line, at))
	case moving.RulePart:
		return paged(at, func(r swap.Rule) moving.Part { return part(int64(r.ID), r.Name, moving.PartData{Rule: &r}) })(o.SwapBook.SwapRulesOf(ctx, of.ID, line, at))
	case moving.BundlePart:
		return paged(at, func(b bundle.Settings) moving.Part {
			return part(int64(b.ID), b.Texts.Title, moving.PartData{Bundle: &b})
		})(o.Shelf.Bundles(ctx, of.ID, line, at))
	case moving.MemberPart:
		return paged(at, func(m loyalty.Account) moving.Part {
			is := part(m.Person.Customer, strings.TrimSpace(m.Person.FirstName+" "+m.Person.LastName), moving.PartData{})
			is.Customer, is.Unread = m.Person.Customer, true
			return is
		})(o.Points.Top(ctx, of.ID, at))
	}
	return moving.PartPage{}, fault.New(fault.NotFound, "the interface has no list of %s", kind)
}

// paged returns how a page of records is one of parts.
func paged[T any](at page.Request, part func(T) moving.Part) func(records []T, total int, err error) (moving.PartPage, error) {
	return func(records []T, total int, err error) (moving.PartPage, error) {
		list := moving.PartPage{More: total > at.Offset()+at.Size}
		for _, r := range records {
			list.Parts = append(list.Parts, part(r))
		}
		return list, err
	}
}

// Member returns a member as it is now, or NotFound.
func (o own) Member(ctx context.Context, of shop.Shop, customer int64) (moving.Member, error) {
	m, err := o.Points.Member(ctx, of, loyalty.CustomerRef{Customer: customer}, "")
	if err != nil {
		return moving.Member{}, err
	}
	is := moving.Member{
		Customer: customer, Email: m.Person.Email, FirstName: m.Person.FirstName, LastName: m.Person.LastName, Born: m.Born, Excluded: m.Status == loyalty.Excluded,
		Available: m.Sums.Available, Pending: m.Sums.Pending, Earned: m.Sums.Earned,
	}
	if is.Brought, _, err = o.exchanged(ctx, customer); err != nil {
		return is, err
	}
	back, err := o.goesBack(ctx)
	if err != nil || !back {
		return is, err
	}
	brought, err := o.Points.Brought(ctx, of.ID, broughtKey(customer))
	is.Brought += brought
	return is, err
}

// goesBack reports whether members came from the programme to which they go.
func (j *job) goesBack(ctx context.Context) (bool, error) {
	all, err := j.moves(ctx)
	return slices.ContainsFunc(all, func(m moving.Move) bool { return m.Direction == moving.In && m.Peer.Loyalty == j.move.Peer.Loyalty }), err
}

// moves returns all moves of the store, as they were when this step asked first.
func (j *job) moves(ctx context.Context) (all []moving.Move, err error) {
	if j.known == nil {
		err = j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) (err error) {
			j.known, err = tx.Moves(ctx)
			return err
		})
	}
	return j.known, err
}
