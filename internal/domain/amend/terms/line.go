package terms

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
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

// LineDetails is the details of an entry about a line.
type LineDetails struct {
	Line        string `json:"lineId,omitempty"`
	Title       string `json:"title,omitempty"`
	Variant     int64  `json:"variantId,omitempty"`
	OldVariant  int64  `json:"oldVariantId,omitempty"`
	Quantity    int    `json:"quantity,omitempty"`
	OldQuantity int    `json:"oldQuantity,omitempty"`
	Price       string `json:"price,omitempty"`
	OldPrice    string `json:"oldPrice,omitempty"`
	Silent      bool   `json:"silent,omitempty"`     // the customer gets no e-mail about it
	Difference  string `json:"difference,omitempty"` // of a replaced product in the paid term, settled with the next orders; below zero: a credit

	AppliesAt time.Time `json:"appliesAt,omitzero"` // Price: when the first order is due that has it; zero: the next order has it
}

// NewLine is a line to add.
type NewLine struct {
	Variant     int64
	Quantity    int
	Price       *money.Amount // of a unit; nil: the selling plan's
	SellingPlan int64         // 0: that of the contract's first line
	Attributes  []contract.Attribute
	Pricing     []contract.CyclePrice // prices by cycle; empty: the selling plan's
}

// NewLineEdit prices a new line.
func (p *Pricer) NewLineEdit(ctx context.Context, store shop.Shop, d contract.Detail, v platform.Variant, l NewLine) (platform.LineEdit, error) {
	edit := platform.LineEdit{Variant: &l.Variant, Quantity: &l.Quantity, Price: l.Price}
	plan, name := l.SellingPlan, ""
	if plan != 0 {
		offer, err := p.Option(ctx, store.ID, d.Line, plan)
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
		edit.Attributes = new(PlatformAttributes(l.Attributes))
	}
	if edit.Price == nil {
		price, pricing, err := p.UnitPrice(ctx, store.ID, d.Contract, v, plan)
		if err != nil {
			return platform.LineEdit{}, err
		}
		edit.Price, edit.Pricing = &price, pricing
	}
	if edit.Price.Currency != d.Currency {
		return platform.LineEdit{}, CurrencyMismatch(v, d.Contract).Field("price")
	}
	if len(l.Pricing) > 0 {
		edit.Pricing = ComputePricing(*edit.Price, l.Pricing)
	}
	return edit, nil
}

// CurrencyMismatch is the error for a variant that the store sells in another currency
// than the contract's.
func CurrencyMismatch(v platform.Variant, c contract.Contract) *fault.Error {
	return fault.New(fault.FailedPrecondition, "variant %d is sold in %s and contract %d is in %s: prices are not converted", v.ID, v.Price.Currency, c.ID, c.Currency).
		Entity(amend.Entity).Code("currencyMismatch")
}

// LastLine refuses to remove the last line of a contract. Clients match its text.
func LastLine() error {
	return fault.New(fault.FailedPrecondition, "Cannot remove line item. Atleast one subscription product must be present in a subscription").
		Entity(amend.Entity).Code("lastLine").Field("lineId")
}

// LineNotFound is the error for a line that the contract does not have. Clients match
// its text.
func LineNotFound() error {
	return fault.New(fault.Invalid, "Contract line not found.").Entity(amend.Entity).Code("lineNotFound").Field("lineId")
}

// VariantIDs returns the variants of new lines, in their order.
func VariantIDs(lines []NewLine) []int64 {
	ids := make([]int64, len(lines))
	for i, l := range lines {
		ids[i] = l.Variant
	}
	return ids
}

// CheckLine refuses a quantity or a unit price that a line item cannot have. A nil price is allowed.
func CheckLine(quantity int, price *money.Amount) error {
	if quantity < 1 || quantity > MaxQuantity {
		return fault.New(fault.Invalid, "quantity must be from 1 to %d", MaxQuantity).Entity(amend.Entity).Code("quantity").Field("quantity")
	}
	return CheckPrice("price", price)
}

// CheckPrice refuses an amount that cannot be a unit price. Nil is allowed.
func CheckPrice(param string, price *money.Amount) error {
	if price != nil && (price.Minor < 0 || price.Milli() > MaxPriceMilli) {
		return fault.New(fault.Invalid, "%s must be from 0 to 999999.99", param).Entity(amend.Entity).Code("price").Field(param)
	}
	return nil
}
