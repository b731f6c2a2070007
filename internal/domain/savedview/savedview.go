// Package savedview keeps searches of the list of contracts that users of the dashboard have
// saved. It does not read them: their parameters are the page's.
package savedview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

// Limits of views.
const (
	MaxName  = 40   // characters
	maxQuery = 4096 // bytes
	// maxOwn is how many views a user may have in a store.
	maxOwn = 30
	// maxShared is how many views of a store may be shared.
	maxShared = 30
)

// entity is what failures are about.
const entity = "savedView"

// ID is the service's number of a view.
type ID int64

// View is a search that was saved.
type View struct {
	ID        ID
	Owner     staff.UserID
	Name      string
	Query     string // query string of the list, with its order and columns
	Shared    bool   // all users of the store see it
	CreatedAt time.Time
	Version   int64
}

// User is who asks.
type User struct {
	ID   staff.UserID
	Role staff.Role
}

// shares is what a user needs to share views, and to change those that others share.
const shares = staff.ManageContracts

// MayShare reports whether the user may share views.
func (u User) MayShare() bool { return u.Role.May(shares) }

// MayChange reports whether the user may rename or delete a view.
func (u User) MayChange(v View) bool { return v.Owner == u.ID || v.Shared && u.MayShare() }

// Draft is what a user sets of a view.
type Draft struct {
	Name   string
	Query  string
	Shared bool
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	// SavedViews returns the views of a user and those that are shared, by id, locked in a
	// transaction that writes.
	SavedViews(ctx context.Context, owner staff.UserID) ([]View, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	// PutSavedView inserts a view whose ID is 0, giving it one, or replaces it under the
	// version rule.
	PutSavedView(ctx context.Context, v *View) error
	DeleteSavedView(ctx context.Context, id ID) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service keeps views.
type Service struct {
	Store Store
	Clock clock.Clock
}

// List returns the views that a user sees, by name.
func (s *Service) List(ctx context.Context, of shop.ID, by User) (list []View, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = tx.SavedViews(ctx, by.ID)
		return err
	})
	slices.SortFunc(list, func(a, b View) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

// Create saves a view of the user.
func (s *Service) Create(ctx context.Context, of shop.ID, by User, d Draft) (v View, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		list, err := tx.SavedViews(ctx, by.ID)
		if err != nil {
			return err
		}
		v = View{Owner: by.ID, Query: d.Query, CreatedAt: s.Clock.Now()}
		if err := v.set(d, list, by); err != nil {
			return err
		}
		return tx.PutSavedView(ctx, &v)
	})
	return v, err
}

// Change renames a view and shares it, or does so no more. Its query is replaced unless that
// of the draft is empty.
func (s *Service) Change(ctx context.Context, of shop.ID, by User, id ID, d Draft) (v View, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		list, found, err := find(ctx, tx, by, id)
		if err != nil {
			return err
		}
		v = found
		v.Query = cmp.Or(d.Query, v.Query)
		if err := v.set(d, list, by); err != nil {
			return err
		}
		return tx.PutSavedView(ctx, &v)
	})
	return v, err
}

// Delete deletes a view.
func (s *Service) Delete(ctx context.Context, of shop.ID, by User, id ID) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if _, _, err := find(ctx, tx, by, id); err != nil {
			return err
		}
		return tx.DeleteSavedView(ctx, id)
	})
}

// NotFound is the failure of a view that does not exist, or that the user does not see.
func NotFound() error {
	return fault.New(fault.NotFound, "the view no longer exists").Entity(entity).Code("savedViewNotFound")
}

// find returns the views that a user sees, and one of them that the user may change.
func find(ctx context.Context, tx ReadTx, by User, id ID) ([]View, View, error) {
	list, err := tx.SavedViews(ctx, by.ID)
	if err != nil {
		return nil, View{}, err
	}
	at := slices.IndexFunc(list, func(v View) bool { return v.ID == id })
	if at < 0 {
		return nil, View{}, NotFound()
	}
	if !by.MayChange(list[at]) {
		return nil, View{}, fault.New(fault.Forbidden, "the view belongs to another user").Entity(entity).Code("savedViewForeign")
	}
	return list, list[at], nil
}

// set takes over what a draft says, or returns why that is not possible beside the views that
// the user sees.
func (v *View) set(d Draft, beside []View, by User) error {
	name := strings.Join(strings.Fields(d.Name), " ")
	switch {
	case name == "":
		return invalid("a view needs a name").Field("name")
	case utf8.RuneCountInString(name) > MaxName:
		return invalid("the name of a view has at most %d characters", MaxName).Field("name")
	case len(v.Query) > maxQuery:
		return invalid("the search is too long to be saved: leave some filters out").Field("name")
	case d.Shared && !v.Shared && !by.MayShare():
		return fault.New(fault.Forbidden, "your role does not permit to share views").Entity(entity).Code("savedViewSharing").Field("shared")
	}
	own, shared := 0, 0
	for _, other := range beside {
		if other.ID == v.ID {
			continue
		}
		if strings.EqualFold(other.Name, name) {
			return fault.New(fault.Conflict, "a view with the name %q exists already", name).Entity(entity).Code("savedViewName").Field("name")
		}
		if other.Owner == v.Owner {
			own++
		}
		if other.Shared {
			shared++
		}
	}
	switch {
	case own >= maxOwn:
		return fault.New(fault.FailedPrecondition, "a user has at most %d views: delete one first", maxOwn).Entity(entity).Code("savedViewLimit").Field("name")
	case d.Shared && shared >= maxShared:
		return fault.New(fault.FailedPrecondition, "a store has at most %d shared views: delete one first", maxShared).Entity(entity).Code("savedViewLimit").Field("shared")
	}
	v.Name, v.Shared = name, d.Shared
	return nil
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code("savedViewInvalid")
}
