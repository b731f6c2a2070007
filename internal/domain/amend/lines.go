package amend

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
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
		return contract.Detail{}, fault.New(fault.Invalid, "give 1 to %d lines to add", MaxLines).On(entity).Keyed("linesCount")
	}
	var ids []int64
	for _, l := range lines {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return contract.Detail{}, err
		}
		ids = append(ids, l.Variant)
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		sold, err := s.variants(ctx, store, ids)
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
		price, pricing, err := s.unitPrice(ctx, store.ID, d.Line, v, plan, d.Orders+1)
		if err != nil {
			return platform.LineEdit{}, err
		}
		edit.Price, edit.Pricing = &price, pricing
	}
	if edit.Price.Currency != d.Currency {
		return platform.LineEdit{}, foreignCurrency(v, d.Contract)
	}
	if len(l.Pricing) > 0 {
		pricing, err := pricingOf(*edit.Price, l.Pricing)
		if err != nil {
			return platform.LineEdit{}, err
		}
		edit.Pricing = pricing
	}
	return edit, nil
}

// foreignCurrency is the answer when the store's price of a variant says nothing
// about its price in the contract's currency.
func foreignCurrency(v platform.Variant, c contract.Contract) error {
	return fault.New(fault.Refused, "variant %d is sold in %s and contract %d is in %s: give a price", v.ID, v.Price.Currency, c.ID, c.Currency).
		On(entity).Keyed("currencyMismatch").At("price")
}

// RemoveLines removes lines. A subscription keeps at least one. With drop, the
// discounts that were for these lines alone go with them.
func (s *Service) RemoveLines(ctx context.Context, of shop.ID, cmd Command, lines []string, drop bool) (contract.Detail, error) {
	if len(lines) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name at least one line to remove").On(entity).Keyed("linesCount").At("lineId")
	}
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
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
	})
}

// lastLine is the refusal to leave a subscription empty. Clients match on its
// words.
func lastLine() error {
	return fault.New(fault.Refused, "Cannot remove line item. Atleast one subscription product must be present in a subscription").
		On(entity).Keyed("lastLine").At("lineId")
}

// lineNotFound is the answer to a line that the contract does not have. Clients
// match on its words.
func lineNotFound() error {
	return fault.New(fault.Invalid, "Contract line not found.").On(entity).Keyed("lineNotFound").At("lineId")
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

// LineChange says what a line is to become. What is nil stays as it is.
type LineChange struct {
	Line        string // graph id of the line, or
	OldVariant  int64  // the line with this variant
	Variant     *int64
	Quantity    *int
	Price       *money.Amount // of a unit
	Reprice     bool          // when the variant changes, the plan gives the price
	Wait        bool          // a downgrade waits for the next order
	Pricing     *[]contract.CyclePrice
	Base        *money.Amount // what prices by cycle count from; nil: the current price
	Attributes  *[]contract.Attribute
	SellingPlan *int64
}

// ChangeLine changes one line.
func (s *Service) ChangeLine(ctx context.Context, of shop.ID, cmd Command, l LineChange) (contract.Detail, error) {
	quantity := 1
	if l.Quantity != nil {
		quantity = *l.Quantity
	}
	if err := checkLine(quantity, l.Price); err != nil {
		return contract.Detail{}, err
	}
	if l.Attributes != nil {
		if err := CheckAttributes(*l.Attributes); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		at := d.LineByID(l.Line)
		if l.Line == "" {
			at = d.LineByVariant(l.OldVariant)
		}
		if at < 0 {
			return change{}, lineNotFound()
		}
		return s.lineChange(ctx, store, d, at, l)
	})
}

func (s *Service) lineChange(ctx context.Context, store shop.Shop, d contract.Detail, at int, l LineChange) (change, error) {
	is := d.Lines[at]
	var c change
	edit := platform.LineEdit{Line: is.ID}
	about := lineNote{Line: is.ID, Title: is.Title, Variant: is.VariantID}
	tell := func(event activity.EventType, n lineNote) { c.entries = append(c.entries, note{event, n}) }
	plan := is.SellingPlanID
	if l.SellingPlan != nil && *l.SellingPlan != is.SellingPlanID {
		offer, err := s.option(ctx, store.ID, d.Line, *l.SellingPlan)
		if err != nil {
			return change{}, err
		}
		edit.SellingPlanID, edit.SellingPlanName = l.SellingPlan, &offer.Name
		plan = *l.SellingPlan
		tell(activity.ProductSellingPlanChange, about)
	}
	price := l.Price
	replaced := l.Variant != nil && *l.Variant != is.VariantID
	if replaced || edit.SellingPlanID != nil {
		variant := is.VariantID
		if replaced {
			variant = *l.Variant
		}
		sold, err := s.variants(ctx, store, []int64{variant})
		if err != nil {
			return change{}, err
		}
		if price == nil && l.Reprice {
			amount, pricing, err := s.unitPrice(ctx, store.ID, d.Line, sold[variant], plan, d.Orders+1)
			if err != nil {
				return change{}, err
			}
			if amount.Currency != d.Currency {
				return change{}, foreignCurrency(sold[variant], d.Contract)
			}
			price, edit.Pricing = &amount, pricing
		}
		if l.Wait && replaced && price != nil && price.Minor < is.Price.Minor && !d.NextBillingDate.IsZero() {
			offer, ours, err := s.offer(ctx, store.ID, d.Line, plan)
			if err != nil {
				return change{}, err
			}
			if ours && offer.Exchange {
				return s.wait(ctx, store, d, is, platform.LineEdit{Line: is.ID, Variant: l.Variant, Price: price})
			}
		}
		if replaced {
			edit.Variant = l.Variant
			tell(activity.ProductReplace, lineNote{Line: is.ID, Title: sold[variant].ProductTitle, Variant: variant, OldVariant: is.VariantID})
		}
	}
	if l.Quantity != nil && *l.Quantity != is.Quantity {
		edit.Quantity = l.Quantity
		tell(activity.ProductQuantityChange, lineNote{Line: is.ID, Title: is.Title, Variant: is.VariantID, Quantity: *l.Quantity, OldQuantity: is.Quantity})
	}
	if price != nil && *price != is.Price {
		edit.Price = price
		if !replaced {
			tell(activity.ProductPriceChange, lineNote{Line: is.ID, Title: is.Title, Variant: is.VariantID, Price: price.String(), OldPrice: is.Price.String()})
		}
	}
	if l.Pricing != nil {
		base := is.Price
		if l.Base != nil {
			base = *l.Base
		}
		pricing, err := pricingOf(base, *l.Pricing)
		if err != nil {
			return change{}, err
		}
		edit.Pricing = pricing
		if now, ok := priceNow(pricing, d.Orders); ok && price == nil && now != is.Price {
			edit.Price = &now
		}
		tell(activity.ProductPricingPolicyChange, about)
	}
	if l.Attributes != nil {
		if len(d.LineDetails) <= at || !slices.Equal(attributes(*l.Attributes), d.LineDetails[at].Attributes) {
			edit.Attributes = new(attributes(*l.Attributes))
			tell(activity.SubscriptionContractUpdated, about)
		}
	}
	if len(c.entries) > 0 {
		c.edit.Lines = []platform.LineEdit{edit}
	}
	return c, nil
}

// pricingOf computes the unit prices that prices by cycle give.
func pricingOf(base money.Amount, cycles []contract.CyclePrice) (*platform.Pricing, error) {
	if len(cycles) > platform.MaxCyclePrices {
		return nil, fault.New(fault.Invalid, "at most %d prices by cycle can be given", platform.MaxCyclePrices).On(entity).Keyed("pricingPolicy")
	}
	p := &platform.Pricing{Base: base}
	for i, step := range cycles {
		if step.After < 0 || i > 0 && step.After <= cycles[i-1].After {
			return nil, fault.New(fault.Invalid, "afterCycle must be 0 or more and grow from one price to the next").On(entity).Keyed("pricingPolicy").At("afterCycle")
		}
		switch step.Kind {
		case platform.PercentOff:
			if step.Percent < 0 || step.Percent > 100 {
				return nil, fault.New(fault.Invalid, "a percentage is from 0 to 100").On(entity).Keyed("pricingPolicy").At("value")
			}
			step.Computed = PercentOff(p.Base, step.Percent)
		case platform.AmountOff:
			step.Computed = money.Amount{Minor: max(0, p.Base.Minor-step.Amount.Minor), Currency: p.Base.Currency}
		case platform.FixedPrice:
			step.Computed = step.Amount
		}
		if step.Amount.Minor < 0 {
			return nil, fault.New(fault.Invalid, "a price by cycle cannot be negative").On(entity).Keyed("pricingPolicy").At("value")
		}
		p.Cycles = append(p.Cycles, step)
	}
	return p, nil
}

// priceNow returns the price that a policy gives after so many orders; false when
// none of its steps counts yet.
func priceNow(p *platform.Pricing, orders int) (now money.Amount, ok bool) {
	for _, step := range p.Cycles {
		if step.After <= orders {
			now, ok = step.Computed, true
		}
	}
	return now, ok
}

// PercentOff takes a percentage off an amount; half a minor unit is rounded up.
func PercentOff(a money.Amount, percent float64) money.Amount {
	kept := int64((100 - percent) * 10_000)
	return money.Amount{Minor: (a.Minor*kept + 500_000) / 1_000_000, Currency: a.Currency}
}

// Swap replaces lines by others: every line whose variant is among old, or the
// line named, gives way to the new variants with their quantities.
type Swap struct {
	OldLine     string
	OldVariants []int64
	New         []NewLine
	CarryOver   bool // the new lines cost what the first old one did
}

// Swap replaces lines by others in one change.
func (s *Service) Swap(ctx context.Context, of shop.ID, cmd Command, w Swap) (contract.Detail, error) {
	if len(w.New) == 0 || len(w.New) > MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give 1 to %d new variants", MaxLines).On(entity).Keyed("linesCount").At("newVariants")
	}
	var ids []int64
	for _, l := range w.New {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return contract.Detail{}, err
		}
		ids = append(ids, l.Variant)
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		var c change
		var old []contract.Line
		for _, l := range d.Lines {
			if l.ID == w.OldLine || slices.Contains(w.OldVariants, l.VariantID) {
				old = append(old, l)
				c.edit.Lines = append(c.edit.Lines, platform.LineEdit{Line: l.ID, Remove: true})
			}
		}
		if len(old) == 0 {
			return change{}, lineNotFound()
		}
		sold, err := s.variants(ctx, store, ids)
		if err != nil {
			return change{}, err
		}
		for i, l := range w.New {
			if l.SellingPlan == 0 {
				l.SellingPlan = old[0].SellingPlanID
			}
			if w.CarryOver && l.Price == nil {
				l.Price = &old[0].Price
			}
			edit, err := s.lineEdit(ctx, store, d, sold[l.Variant], l)
			if err != nil {
				return change{}, err
			}
			c.edit.Lines = append(c.edit.Lines, edit)
			gone := old[min(i, len(old)-1)]
			c.entries = append(c.entries, note{activity.ProductReplace, lineNote{
				Title: sold[l.Variant].ProductTitle, Variant: l.Variant, OldVariant: gone.VariantID, Quantity: l.Quantity, OldQuantity: gone.Quantity,
			}})
		}
		return c, nil
	})
}

// variants reads what is to be sold. A variant that the store does not have is
// not found.
func (s *Service) variants(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found, err := s.Platform.Variants(ctx, store.At(), ids)
	if err != nil {
		return nil, unanswered(err)
	}
	byID := make(map[int64]platform.Variant, len(found))
	for _, v := range found {
		byID[v.ID] = v
	}
	for _, id := range ids {
		if _, ok := byID[id]; !ok {
			return nil, fault.New(fault.NotFound, "the store does not sell variant %d", id).On("productVariant").Keyed("variantNotFound").At("variantId")
		}
	}
	return byID, nil
}

// changeable says whether what a contract delivers may be changed.
func changeable(c contract.Contract) error {
	if c.Status == contract.Cancelled || c.Status == contract.Expired {
		return fault.New(fault.Refused, "subscription contract %d is %s and cannot be changed", c.ID, c.Status).On(entity).Keyed("contractNotActive")
	}
	return nil
}

func checkLine(quantity int, price *money.Amount) error {
	if quantity < 1 || quantity > MaxQuantity {
		return fault.New(fault.Invalid, "quantity must be from 1 to %d", MaxQuantity).On(entity).Keyed("quantity").At("quantity")
	}
	return CheckPrice("price", price)
}

// CheckPrice says whether an amount can be a unit price; nil can. The parameter
// is the one at fault.
func CheckPrice(param string, price *money.Amount) error {
	if price != nil && (price.Minor < 0 || price.Milli() > MaxPriceMilli) {
		return fault.New(fault.Invalid, "%s must be from 0 to 999999.99", param).On(entity).Keyed("price").At(param)
	}
	return nil
}

// Limits of attributes.
const (
	MaxAttributes     = 100
	MaxAttributeKey   = 255  // characters
	MaxAttributeValue = 5000 // characters
)

// CheckAttributes says whether a list can be the attributes of a contract or of
// a line.
func CheckAttributes(list []contract.Attribute) error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).On(entity).Keyed("attributes").At("customAttributesList")
	}
	if len(list) > MaxAttributes {
		return bad("at most %d attributes can be given", MaxAttributes)
	}
	seen := make(map[string]bool, len(list))
	for _, a := range list {
		switch {
		case a.Key == "" || utf8.RuneCountInString(a.Key) > MaxAttributeKey:
			return bad("an attribute's key has 1 to %d characters", MaxAttributeKey)
		case utf8.RuneCountInString(a.Value) > MaxAttributeValue:
			return bad("the value of attribute %q is longer than %d characters", a.Key, MaxAttributeValue)
		case seen[a.Key]:
			return bad("attribute %q is given twice", a.Key)
		}
		seen[a.Key] = true
	}
	return nil
}

func attributes(list []contract.Attribute) []platform.Attribute {
	made := make([]platform.Attribute, len(list))
	for i, a := range list {
		made[i] = platform.Attribute(a)
	}
	return made
}

// PaymentMethodID returns the graph id of a payment method, which callers may
// write without its type.
func PaymentMethodID(s string) string {
	if len(s) > 0 && gid.Number(s) == 0 && !slices.Contains([]byte(s), '/') {
		return "gid://shopify/CustomerPaymentMethod/" + s
	}
	return s
}
