package support

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Position is a place in a timeline: that of an entry or a comment. Zero: before all.
type Position struct {
	At time.Time
	ID int64 // entries and comments have their numbers of one sequence
}

// Filter selects items of a timeline. Empty fields select all.
type Filter struct {
	Source activity.Source
	Event  activity.EventType
	Status activity.Status
	Before Position // only what is older
}

// comments reports whether comments can pass the filter: they are made in the dashboard.
func (f Filter) comments() bool {
	return f.Event == "" && f.Status == "" && (f.Source == "" || f.Source == activity.MerchantPortal)
}

// Item is an entry of the activity log or a comment.
type Item struct {
	Entry   activity.Entry
	Comment *Comment // nil: it is the entry
}

// Position returns the place of the item.
func (i Item) Position() Position {
	if i.Comment != nil {
		return Position{i.Comment.At, int64(i.Comment.ID)}
	}
	return Position{i.Entry.At, i.Entry.ID}
}

// Timeline returns at most PageSize items about a contract and its orders, the newest first, and
// whether there are older ones. A contract that does not exist is NotFound.
func (s *Service) Timeline(ctx context.Context, of shop.ID, id contract.ID, f Filter) (items []Item, more bool, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		entries, err := tx.EntriesAbout(ctx, id, f, PageSize+1)
		if err != nil {
			return err
		}
		for _, e := range entries {
			items = append(items, Item{Entry: e})
		}
		if !f.comments() {
			return nil
		}
		comments, err := tx.CommentsOn(ctx, id, f.Before, PageSize+1)
		for i := range comments {
			items = append(items, Item{Comment: &comments[i]})
		}
		return err
	})
	slices.SortStableFunc(items, func(a, b Item) int {
		x, y := a.Position(), b.Position()
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(y.ID, x.ID))
	})
	if more = len(items) > PageSize; more {
		items = items[:PageSize]
	}
	return items, more, err
}
