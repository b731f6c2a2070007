package bulk

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// entity is what failures of this package are about.
const entity = "bulkAutomation"

// MaxIDs is how many contracts a selection can name one by one.
const MaxIDs = 5000

// Selection says which contracts an action is for: those that are named, those that a search
// finds, or those that failed in a job.
type Selection struct {
	IDs      []contract.ID    `json:"ids,omitempty"`
	Filter   *contract.Filter `json:"filter,omitempty"`
	FailedOf JobID            `json:"failedOf,omitempty"`
}

// Empty reports whether nothing is selected, or no more: the contracts of a job are written
// down.
func (s Selection) Empty() bool { return len(s.IDs) == 0 && s.Filter == nil && s.FailedOf == 0 }

// checked returns the selection with each contract named once, in order.
func (s Selection) checked() (Selection, error) {
	ways := 0
	for _, given := range []bool{len(s.IDs) > 0, s.Filter != nil, s.FailedOf != 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return s, invalid("id", "select at least one contract")
	case ways > 1:
		return s, invalid("id", "select contracts either one by one or by a search")
	case len(s.IDs) > MaxIDs:
		return s, fault.New(fault.Invalid, "%d contracts are selected one by one, and of these at most %d are allowed: select all that a search finds", len(s.IDs), MaxIDs).
			Entity(entity).Code("tooManySelected").Field("id")
	}
	if s.Filter != nil && s.Filter.Line == "" {
		return s, fault.New(fault.Internal, "the search of a selection names no line")
	}
	s.IDs = slices.Clone(s.IDs)
	slices.Sort(s.IDs)
	s.IDs = slices.Compact(s.IDs)
	return s, nil
}

// frozen leaves out contracts that are made after an instant.
func (s Selection) frozen(at time.Time) Selection {
	if s.Filter == nil {
		return s
	}
	f := *s.Filter
	if f.CreatedTo.IsZero() || f.CreatedTo.After(at) {
		f.CreatedTo = at
	}
	s.Filter = &f
	return s
}

// Directory finds the contracts of a selection.
type Directory interface {
	// MatchingContracts returns at most limit contracts that pass the filter, by id, after one.
	MatchingContracts(ctx context.Context, of shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.ID, error)
	// CountMatching returns how many contracts pass the filter.
	CountMatching(ctx context.Context, of shop.ID, f contract.Filter) (int, error)
}

// page returns at most limit contracts of a selection, by id, after one. Those of a job that
// failed are the store's to read.
func (s Selection) page(ctx context.Context, d Directory, of shop.ID, after contract.ID, limit int) ([]contract.ID, error) {
	if s.Filter != nil {
		return d.MatchingContracts(ctx, of, *s.Filter, after, limit)
	}
	from, _ := slices.BinarySearch(s.IDs, after+1)
	return s.IDs[from:min(from+limit, len(s.IDs))], nil
}

// count returns how many contracts are selected.
func (s Selection) count(ctx context.Context, d Directory, of shop.ID) (int, error) {
	if s.Filter != nil {
		return d.CountMatching(ctx, of, *s.Filter)
	}
	return len(s.IDs), nil
}
