package contractedit

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// AddLines adds recurring lines.
func (s *Service) AddLines(ctx context.Context, of shop.ID, cmd amend.Command, lines []terms.NewLine) (contract.Detail, error) {
	if len(lines) == 0 || len(lines) > terms.MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give 1 to %d lines to add", terms.MaxLines).Entity(amend.Entity).Code("linesCount")
	}
	for _, l := range lines {
		if err := terms.CheckLine(l.Quantity, l.Price); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		return s.addition(ctx, store, d, lines)
	})
}

// addition adds lines to a contract.
func (s *Service) addition(ctx context.Context, store shop.Shop, d contract.Detail, lines []terms.NewLine) (amend.Change, error) {
	sold, err := s.Variants(ctx, store, terms.VariantIDs(lines))
	if err != nil {
		return amend.Change{}, err
	}
	var c amend.Change
	for _, l := range lines {
		edit, err := s.NewLineEdit(ctx, store, d, sold[l.Variant], l)
		if err != nil {
			return amend.Change{}, err
		}
		c.Edit.Lines = append(c.Edit.Lines, edit)
		c.Entries = append(c.Entries, amend.Note{Event: activity.ProductAdd, Details: terms.LineDetails{
			Title: sold[l.Variant].ProductTitle, Variant: l.Variant, Quantity: l.Quantity, Price: edit.Price.String(),
		}})
	}
	return c, nil
}

// RemoveLines removes lines. A contract keeps at least one. With drop it also removes
// discounts that apply only to these lines.
func (s *Service) RemoveLines(ctx context.Context, of shop.ID, cmd amend.Command, lines []string, drop bool) (contract.Detail, error) {
	if len(lines) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name at least one line to remove").Entity(amend.Entity).Code("linesCount").Field("lineId")
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		return removal(d, lines, drop)
	})
}

// RemoveRecurringLine removes one line, and the discounts that apply only to it. It returns the contract as it was
// and as it is.
func (s *Service) RemoveRecurringLine(ctx context.Context, of shop.ID, cmd amend.Command, line string) (before, after contract.Detail, err error) {
	after, err = s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		before = d
		return removal(d, []string{line}, true)
	})
	return before, after, err
}

// removal removes lines of a contract, but not all.
func removal(d contract.Detail, lines []string, drop bool) (amend.Change, error) {
	var c amend.Change
	for i, id := range lines {
		at := d.LineByID(id)
		if at < 0 {
			return amend.Change{}, terms.LineNotFound()
		}
		if slices.Contains(lines[:i], id) {
			continue
		}
		l := d.Lines[at]
		c.Edit.Lines = append(c.Edit.Lines, platform.LineEdit{Line: id, Remove: true})
		c.Entries = append(c.Entries, amend.Note{Event: activity.ProductRemove, Details: terms.LineDetails{Line: id, Title: l.Title, Variant: l.VariantID, OldQuantity: l.Quantity}})
	}
	if len(c.Edit.Lines) == len(d.Lines) {
		return amend.Change{}, terms.LastLine()
	}
	if drop {
		c.Edit.Discounts = orphans(d, lines)
	}
	return c, nil
}

// orphans returns edits that remove the discounts that apply only to the given lines.
func orphans(d contract.Detail, lines []string) []platform.DiscountEdit {
	var edits []platform.DiscountEdit
	for _, x := range d.Discounts {
		if x.AllLines || len(x.Lines) == 0 {
			continue
		}
		left := slices.ContainsFunc(x.Lines, func(id string) bool { return !slices.Contains(lines, id) })
		if !left {
			edits = append(edits, platform.DiscountEdit{Remove: x.ID})
		}
	}
	return edits
}
