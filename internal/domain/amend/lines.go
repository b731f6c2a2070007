package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of a line.
const (
	MaxQuantity   = 9999
	MaxPriceMilli = 999_999_990 // of a unit, in thousandths of the main unit
	MaxLines      = 100         // that one request adds
)

// lineNote is the information of an entry about a line.
type lineNote struct {
	Line        string `json:"lineId,omitempty"`
	Title       string `json:"title,omitempty"`
	Variant     int64  `json:"variantId,omitempty"`
	OldVariant  int64  `json:"oldVariantId,omitempty"`
	Quantity    int    `json:"quantity,omitempty"`
	OldQuantity int    `json:"oldQuantity,omitempty"`
	Price       string `json:"price,omitempty"`
	OldPrice    string `json:"oldPrice,omitempty"`
}

// NewLine is a line to be added.
type NewLine struct {
	Variant     int64
	Quantity    int
	Price       *money.Amount // of a unit; nil: what the plan gives
	SellingPlan int64         // 0: that of the contract's first line
	Attributes  []contract.Attribute
	Pricing     []contract.CyclePrice // how the price changes with the orders; empty: as the plan says
}

// AddLines adds recurring lines.
func (s *Service) AddLines(ctx context.Context, of shop.ID, cmd Command, lines []NewLine) (contract.Detail, error) {
	if len(lines) == 0 || len(lines) > MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give 1 to %d lines to add", MaxLines).Entity(entity).Code("linesCount")
	}
	for _, l := range lines {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		sold, err := s.variants(ctx, store, variantsOf(lines))
		if err != nil {
			return change{}, err
		}
		var c change
		for _, l := range lines {
			edit, err := s.lineEdit(ctx, store, d, sold[l.Variant], l)
			if err != nil {
				return change{}, err
			}
			c.edit.Lines = append(c.edit.Lines, edit)
			c.entries = append(c.entries, note{activity.ProductAdd, lineNote{
				Title: sold[l.Variant].ProductTitle, Variant: l.Variant, Quantity: l.Quantity, Price: edit.Price.String(),
			}})
		}
		return c, nil
	})
}

// lineEdit prices a new line.
func (s *Service) lineEdit(ctx context.Context, store shop.Shop, d contract.Detail, v platform.Variant, l NewLine) (platform.LineEdit, error) {
	edit := platform.LineEdit{Variant: &l.Variant, Quantity: &l.Quantity, Price: l.Price}
	plan, name := l.SellingPlan, ""
	if plan != 0 {
		offer, err := s.option(ctx, store.ID, d.Line, plan)
		if err != nil {
			return platform.LineEdit{}, err
		}
		name = offer.Name
	}
	if plan == 0 && len(d.Lines) > 0 {
		plan, name = d.Lines[0].SellingPlanID, d.Lines[0].SellingPlanName
	}
	if plan != 0 {
		edit.SellingPlanID = &plan
		if name != "" {
			edit.SellingPlanName = &name
		}
	}
	if len(l.Attributes) > 0 {
		edit.Attributes = new(attributes(l.Attributes))
	}
	if edit.Price == nil {
		price, pricing, err := s.unitPrice(ctx, store.ID, d.Contract, v, plan)
		if err != nil {
			return platform.LineEdit{}, err
		}
		edit.Price, edit.Pricing = &price, pricing
	}
	if edit.Price.Currency != d.Currency {
		return platform.LineEdit{}, foreignCurrency(v, d.Contract).Field("price")
	}
	if len(l.Pricing) > 0 {
		edit.Pricing = pricingOf(*edit.Price, l.Pricing)
	}
	return edit, nil
}

// foreignCurrency is the answer when the store's price of a variant says nothing
// about its price in the contract's currency.
func foreignCurrency(v platform.Variant, c contract.Contract) *fault.Error {
	return fault.New(fault.FailedPrecondition, "variant %d is sold in %s and contract %d is in %s: prices are not converted", v.ID, v.Price.Currency, c.ID, c.Currency).
		Entity(entity).Code("currencyMismatch")
}

// RemoveLines removes lines. A subscription keeps at least one. With drop, the
// discounts that were for these lines alone go with them.
func (s *Service) RemoveLines(ctx context.Context, of shop.ID, cmd Command, lines []string, drop bool) (contract.Detail, error) {
	if len(lines) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name at least one line to remove").Entity(entity).Code("linesCount").Field("lineId")
	}
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		return removal(d, lines, drop)
	})
}

// removal removes lines of a contract, and leaves one at least.
func removal(d contract.Detail, lines []string, drop bool) (change, error) {
	var c change
	for i, id := range lines {
		at := d.LineByID(id)
		if at < 0 {
			return change{}, lineNotFound()
		}
		if slices.Contains(lines[:i], id) {
			continue
		}
		l := d.Lines[at]
		c.edit.Lines = append(c.edit.Lines, platform.LineEdit{Line: id, Remove: true})
		c.entries = append(c.entries, note{activity.ProductRemove, lineNote{Line: id, Title: l.Title, Variant: l.VariantID, OldQuantity: l.Quantity}})
	}
	if len(c.edit.Lines) == len(d.Lines) {
		return change{}, lastLine()
	}
	if drop {
		c.edit.Discounts = orphans(d, lines)
	}
	return c, nil
}

// lastLine is the refusal to leave a subscription empty. Clients match on its
// words.
func lastLine() error {
	return fault.New(fault.FailedPrecondition, "Cannot remove line item. Atleast one subscription product must be present in a subscription").
		Entity(entity).Code("lastLine").Field("lineId")
}

// lineNotFound is the answer to a line that the contract does not have. Clients
// match on its words.
func lineNotFound() error {
	return fault.New(fault.Invalid, "Contract line not found.").Entity(entity).Code("lineNotFound").Field("lineId")
}

// orphans returns edits that remove the discounts that are for the given lines
// alone.
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

// variantsOf returns what lines are to have, in their order.
func variantsOf(lines []NewLine) []int64 {
	ids := make([]int64, len(lines))
	for i, l := range lines {
		ids[i] = l.Variant
	}
	return ids
}

// variants reads what is to be sold. A variant that the store does not have is
// not found.
func (s *Service) variants(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	sold, err := s.sold(ctx, store, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if _, ok := sold[id]; !ok {
			return nil, fault.New(fault.NotFound, "the store does not sell variant %d", id).Entity("productVariant").Code("variantNotFound").Field("variantId")
		}
	}
	return sold, nil
}

// soldNow reads what lines have. Variants that the store does not sell any more are
// left out.
func (s *Service) soldNow(ctx context.Context, store shop.Shop, lines []contract.Line) (map[int64]platform.Variant, error) {
	ids := make([]int64, len(lines))
	for i, l := range lines {
		ids[i] = l.VariantID
	}
	return s.sold(ctx, store, ids)
}

// sold reads variants, by their numbers. Those that the store does not sell are left
// out.
func (s *Service) sold(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	sold := make(map[int64]platform.Variant, len(ids))
	for chunk := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), platform.MaxIDs) {
		found, err := s.Platform.Variants(ctx, store.At(), chunk)
		if err != nil {
			return nil, unanswered(err)
		}
		for _, v := range found {
			sold[v.ID] = v
		}
	}
	return sold, nil
}

// changeable says whether what a contract delivers may be changed.
func changeable(c contract.Contract) error {
	if c.Status == contract.Cancelled || c.Status == contract.Expired {
		return fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot be changed", c.ID, c.Status).Entity(entity).Code("contractNotActive")
	}
	return nil
}

func checkLine(quantity int, price *money.Amount) error {
	if quantity < 1 || quantity > MaxQuantity {
		return fault.New(fault.Invalid, "quantity must be from 1 to %d", MaxQuantity).Entity(entity).Code("quantity").Field("quantity")
	}
	return CheckPrice("price", price)
}

// CheckPrice says whether an amount can be a unit price; nil can. The parameter
// is the one at fault.
func CheckPrice(param string, price *money.Amount) error {
	if price != nil && (price.Minor < 0 || price.Milli() > MaxPriceMilli) {
		return fault.New(fault.Invalid, "%s must be from 0 to 999999.99", param).Entity(entity).Code("price").Field(param)
	}
	return nil
}
