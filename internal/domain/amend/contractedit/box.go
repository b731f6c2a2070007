package contractedit

import (
	"context"
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// BoxItem is a product of a box.
type BoxItem struct {
	Variant  int64
	Quantity int // 1 or more
}

// BoxPlan is how the lines of a box become what it shall hold. Lines that are not on the box's selling
// plans stay as they are.
type BoxPlan struct {
	Quantities map[string]int     // by graph id of the lines that get another quantity
	Exchanged  map[string]BoxItem // by graph id of the lines that get another product
	Added      []BoxItem
	Removed    []string // graph ids
}

// PlanBox compares the lines on selling plans with what a box shall hold. A product that goes is
// exchanged for one that comes, in their orders.
func PlanBox(lines []contract.LineItem, plans []int64, want []BoxItem) BoxPlan {
	p := BoxPlan{Quantities: map[string]int{}, Exchanged: map[string]BoxItem{}}
	held := make(map[int64]bool)
	var gone []string
	for _, l := range lines {
		if !slices.Contains(plans, l.SellingPlanID) {
			continue
		}
		at := slices.IndexFunc(want, func(i BoxItem) bool { return i.Variant == l.VariantID })
		switch {
		case at < 0 || held[l.VariantID]: // a second line of a product goes
			gone = append(gone, l.ID)
			continue
		case want[at].Quantity != l.Quantity:
			p.Quantities[l.ID] = want[at].Quantity
		}
		held[l.VariantID] = true
	}
	for _, i := range want {
		switch {
		case held[i.Variant]:
		case len(gone) > 0:
			p.Exchanged[gone[0]], gone = i, gone[1:]
		default:
			p.Added = append(p.Added, i)
		}
	}
	p.Removed = gone
	return p
}

// Coming returns the variants that the box does not hold yet, by number.
func (p BoxPlan) Coming() []int64 {
	var list []int64
	for _, i := range slices.Concat(p.Added, slices.Collect(maps.Values(p.Exchanged))) {
		list = append(list, i.Variant)
	}
	slices.Sort(list)
	return list
}

// FillBox makes a contract's lines on a box's selling plans hold exactly some products, in one change.
// New products come on the plan of the line that they replace, or on the box's first, at its price.
// The rules of the box are checked as for any change of lines.
func (s *Service) FillBox(ctx context.Context, of shop.ID, cmd amend.Command, plans []int64, want []BoxItem) (contract.Detail, error) {
	if err := checkBox(want); err != nil {
		return contract.Detail{}, err
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		return s.boxChange(ctx, store, d, plans, PlanBox(d.Lines, plans, want))
	})
}

func checkBox(want []BoxItem) error {
	if len(want) == 0 || len(want) > terms.MaxLines {
		return fault.New(fault.Invalid, "give 1 to %d products", terms.MaxLines).Entity(amend.Entity).Code("linesCount").Field("products")
	}
	known := make(map[int64]bool)
	for _, i := range want {
		if err := terms.CheckLine(i.Quantity, nil); err != nil {
			return err
		}
		if known[i.Variant] {
			return fault.New(fault.Invalid, "variant %d is given twice", i.Variant).Entity(amend.Entity).Code("linesCount").Field("products")
		}
		known[i.Variant] = true
	}
	return nil
}

func (s *Service) boxChange(ctx context.Context, store shop.Shop, d contract.Detail, plans []int64, p BoxPlan) (amend.Change, error) {
	var all amend.Change
	also := func(c amend.Change, err error) error {
		all.Edit.Lines, all.Edit.Discounts = append(all.Edit.Lines, c.Edit.Lines...), append(all.Edit.Discounts, c.Edit.Discounts...)
		all.Entries = append(all.Entries, c.Entries...)
		return err
	}
	for _, l := range d.Lines {
		change := LineChange{Line: l.ID, Reprice: true}
		if other, exchanged := p.Exchanged[l.ID]; exchanged {
			change.Variant, change.Quantity = &other.Variant, &other.Quantity
		} else if n, changed := p.Quantities[l.ID]; changed {
			change.Quantity = &n
		} else {
			continue
		}
		if err := also(s.lineChange(ctx, store, d, change)); err != nil {
			return amend.Change{}, err
		}
	}
	if len(p.Removed) > 0 {
		if err := also(removal(d, p.Removed, true)); err != nil {
			return amend.Change{}, err
		}
	}
	if len(p.Added) > 0 {
		added := make([]terms.NewLine, len(p.Added))
		for i, one := range p.Added {
			added[i] = terms.NewLine{Variant: one.Variant, Quantity: one.Quantity, SellingPlan: PlanOfBox(d.Lines, plans)}
		}
		if err := also(s.addition(ctx, store, d, added)); err != nil {
			return amend.Change{}, err
		}
	}
	return all, nil
}

// PlanOfBox returns the first of the box's selling plans that lines are on; 0: none is.
func PlanOfBox(lines []contract.LineItem, plans []int64) int64 {
	for _, l := range lines {
		if slices.Contains(plans, l.SellingPlanID) {
			return l.SellingPlanID
		}
	}
	return 0
}

// LineEdits returns what a box's plan does to lines, for the rules of the box: with the prices that quote
// gives new products.
func (p BoxPlan) LineEdits(lines []contract.LineItem, plans []int64, quote func(variant int64) platform.LineEdit) []platform.LineEdit {
	var edits []platform.LineEdit
	for _, l := range lines {
		if other, exchanged := p.Exchanged[l.ID]; exchanged {
			e := quote(other.Variant)
			e.Line, e.Quantity = l.ID, &other.Quantity
			edits = append(edits, e)
		} else if n, changed := p.Quantities[l.ID]; changed {
			edits = append(edits, platform.LineEdit{Line: l.ID, Quantity: &n})
		} else if slices.Contains(p.Removed, l.ID) {
			edits = append(edits, platform.LineEdit{Line: l.ID, Remove: true})
		}
	}
	on := PlanOfBox(lines, plans)
	for _, one := range p.Added {
		e := quote(one.Variant)
		e.Quantity, e.SellingPlanID = &one.Quantity, &on
		edits = append(edits, e)
	}
	return edits
}
