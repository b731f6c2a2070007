package bundle

import (
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Rules are what a box may hold and when it may be changed. A limit of 0 is
// no limit. Products are counted in pieces.
type Rules struct {
	Enabled              bool // otherwise no rule applies
	MinProducts          int
	MaxProducts          int
	MinValue             money.Amount // in the store's currency, of all pieces before discounts
	MaxValue             money.Amount
	AllowModifications   bool
	LockAfterFirstOrder  bool
	CutoffDays           int // days before the next order in which nothing may be changed
	MaxSwaps             int // of a cycle
	CategoryLimits       map[string]Limit
	NeedsSeveralCategory bool // a box of several pieces holds at least two categories
}

// Limit is how many pieces of a category a box holds. A Max of 0 is no limit.
type Limit struct {
	Min int
	Max int
}

// Item is a variant in a box.
type Item struct {
	Variant  int64
	Category string // the product's type at the platform; empty: none
	Quantity int
	Price    money.Amount // of a piece
}

// Edit is a requested change of a box.
type Edit struct {
	Before, After []Item
	Orders        int // renewal orders so far
	Swaps         int // variants exchanged earlier in this cycle
	Days          int // whole days to the next order
}

// Items returns the lines of a contract as items. The categories are those of
// the products; rules that need none may be given none.
func Items(lines []contract.LineItem, categories map[int64]string) []Item {
	items := make([]Item, len(lines))
	for i, l := range lines {
		items[i] = Item{Variant: l.VariantID, Category: categories[l.ProductID], Quantity: l.Quantity, Price: l.Price}
	}
	return items
}

// NeedsCategories reports whether items must have their categories to be checked.
func (r Rules) NeedsCategories() bool {
	return r.Enabled && (len(r.CategoryLimits) > 0 || r.NeedsSeveralCategory)
}

// Check returns nil when the rules allow a change of a box, and otherwise a
// FailedPrecondition error that names the first rule broken. A change that leaves
// every variant's quantity as it is breaks none.
func (r Rules) Check(e Edit) error {
	before, after := Counts(e.Before), Counts(e.After)
	if !r.Enabled || maps.Equal(before, after) {
		return nil
	}
	if err := r.checkTime(e, before, after); err != nil {
		return err
	}
	return r.CheckBox(e.After)
}

func (r Rules) checkTime(e Edit, before, after map[int64]int) error {
	switch swaps := e.Swaps + Swaps(before, after); {
	case !r.AllowModifications:
		return refused("bundleModificationsNotAllowed", "the products of this box cannot be changed")
	case r.LockAfterFirstOrder && e.Orders > 0:
		return refused("bundleLocked", "the products of this box cannot be changed after its first order")
	case r.CutoffDays > 0 && e.Days < r.CutoffDays:
		return refused("bundleModificationCutoff", "the next order is in %s: the box can be changed until %s before it", days(e.Days), days(r.CutoffDays))
	case r.MaxSwaps > 0 && swaps > r.MaxSwaps:
		return refused("bundleMaxSwapsPerCycle", "%d products would be exchanged in this cycle: at most %d are possible", swaps, r.MaxSwaps)
	}
	return nil
}

// CheckBox returns nil when a box satisfies the rules, and otherwise a
// FailedPrecondition error that names the first rule broken. Values in another
// currency than the store's are not compared.
func (r Rules) CheckBox(items []Item) error {
	if err := r.checkSize(items); err != nil || !r.Enabled {
		return err
	}
	return r.checkCategoriesOf(items)
}

// CheckSize is CheckBox, without the rules about categories, of the lines that are in the box.
func (s Settings) CheckSize(lines []contract.LineItem) error {
	return s.Rules.checkSize(Items(s.Inside(lines), nil))
}

func (r Rules) checkSize(items []Item) error {
	if !r.Enabled {
		return nil
	}
	pieces := 0
	var value money.Amount
	for _, i := range items {
		pieces += i.Quantity
		value = money.Amount{Minor: value.Minor + i.Price.Minor*int64(i.Quantity), Currency: i.Price.Currency}
	}
	below := r.MinValue.Minor > 0 && value.Currency == r.MinValue.Currency && value.Minor < r.MinValue.Minor
	above := r.MaxValue.Minor > 0 && value.Currency == r.MaxValue.Currency && value.Minor > r.MaxValue.Minor
	switch {
	case pieces < r.MinProducts:
		return refused("bundleMinProducts", "the box would hold %d products: at least %d are needed", pieces, r.MinProducts)
	case r.MaxProducts > 0 && pieces > r.MaxProducts:
		return refused("bundleMaxProducts", "the box would hold %d products: at most %d are possible", pieces, r.MaxProducts)
	case below:
		return refused("bundleMinValue", "the box would be worth %s: at least %s is needed", value, r.MinValue)
	case above:
		return refused("bundleMaxValue", "the box would be worth %s: at most %s is possible", value, r.MaxValue)
	}
	return nil
}

func (r Rules) checkCategoriesOf(items []Item) error {
	pieces, byCategory := 0, map[string]int{}
	for _, i := range items {
		pieces += i.Quantity
		byCategory[i.Category] += i.Quantity
	}
	for _, name := range slices.Sorted(maps.Keys(r.CategoryLimits)) {
		limit, n := r.CategoryLimits[name], byCategory[name]
		switch {
		case n < limit.Min:
			return refused("bundleCategoryLimit", "the box would hold %d products of %q: at least %d are needed", n, name, limit.Min)
		case limit.Max > 0 && n > limit.Max:
			return refused("bundleCategoryLimit", "the box would hold %d products of %q: at most %d are possible", n, name, limit.Max)
		}
	}
	if r.NeedsSeveralCategory && pieces > 1 && len(byCategory) < 2 {
		return refused("bundleCategoryDiversity", "the box would hold products of one category only: choose from at least two")
	}
	return nil
}

// Counts returns the pieces of each variant.
func Counts(items []Item) map[int64]int {
	n := map[int64]int{}
	for _, i := range items {
		if i.Quantity > 0 {
			n[i.Variant] += i.Quantity
		}
	}
	return n
}

// Swaps returns how many variants were exchanged for others between two states
// of a box, given as pieces by variant: as many as left it and came into it.
func Swaps(before, after map[int64]int) int {
	gone, come := 0, 0
	for v := range before {
		if after[v] == 0 {
			gone++
		}
	}
	for v := range after {
		if before[v] == 0 {
			come++
		}
	}
	return min(gone, come)
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return decimal(n) + " days"
}

func refused(key, format string, args ...any) error {
	return fault.New(fault.FailedPrecondition, format, args...).Entity(entity).Code(key)
}
