package contractedit

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// MaxDiscountText is the maximum length of a discount's title or code, in characters.
const MaxDiscountText = 255

// discountDetails is the details of an entry about a discount.
type discountDetails struct {
	ID    string `json:"discountId,omitempty"`
	Title string `json:"title,omitempty"`
	Code  string `json:"code,omitempty"`
}

// ApplyCode redeems a discount code on the contract.
func (s *Service) ApplyCode(ctx context.Context, of shop.ID, cmd amend.Command, code string) (contract.Detail, error) {
	code = strings.TrimSpace(code)
	if code == "" || utf8.RuneCountInString(code) > MaxDiscountText {
		return contract.Detail{}, fault.New(fault.Invalid, "discountCode has 1 to %d characters", MaxDiscountText).Entity(amend.Entity).Code("discountCode").Field("discountCode")
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := CheckCode(d.Contract, code); err != nil {
			return amend.Change{}, err
		}
		return amend.Change{
			Edit:    platform.Edit{Discounts: []platform.DiscountEdit{{Code: code}}},
			Entries: []amend.Note{{Event: activity.DiscountApplied, Details: discountDetails{Code: code}}},
		}, nil
	})
}

// CheckCode refuses a contract on which no code can be redeemed, or this one no more.
func CheckCode(c contract.Contract, code string) error {
	if err := amend.CheckEditable(c); err != nil {
		return err
	}
	if slices.ContainsFunc(c.Discounts, func(x contract.Discount) bool { return strings.EqualFold(x.Code, code) }) {
		return fault.New(fault.FailedPrecondition, "discount code %s is applied already", code).Entity(amend.Entity).Code("discountApplied").Field("discountCode")
	}
	return nil
}

// Discount is a manual discount: Percent (1 to 100) or Amount.
type Discount struct {
	Title      string
	Percent    int
	Amount     *money.Amount
	EachItem   bool // Amount is off every item instead of the order
	CycleLimit int  // number of orders it applies to; 0: no limit
	Once       bool // refuse it where the contract has a discount of the same title that is not used up
}

// AddDiscount adds a discount to all lines.
func (s *Service) AddDiscount(ctx context.Context, of shop.ID, cmd amend.Command, want Discount) (contract.Detail, error) {
	bad := func(param, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(amend.Entity).Code("discount").Field(param)
	}
	switch {
	case (want.Percent != 0) == (want.Amount != nil):
		return contract.Detail{}, bad("percentage", "give either percentage or amount")
	case want.Amount == nil && (want.Percent < 1 || want.Percent > 100):
		return contract.Detail{}, bad("percentage", "percentage must be from 1 to 100")
	case want.Amount != nil && (want.Amount.Minor <= 0 || want.Amount.Milli() > terms.MaxPriceMilli):
		return contract.Detail{}, bad("amount", "amount must be more than 0 and at most 999999.99")
	case want.CycleLimit < 0 || want.CycleLimit > terms.MaxCycleLimit:
		return contract.Detail{}, bad("recurringCycleLimit", "recurringCycleLimit must be from 1 to %d, or absent for no end", terms.MaxCycleLimit)
	case utf8.RuneCountInString(want.Title) > MaxDiscountText:
		return contract.Detail{}, bad("discountTitle", "discountTitle is longer than %d characters", MaxDiscountText)
	}
	if err := bundle.CheckDiscountTitle(want.Title); err != nil {
		return contract.Detail{}, err
	}
	if want.Title == "" {
		want.Title = "Discount"
	}
	made := platform.Discount{Title: want.Title, Percent: want.Percent, EachItem: want.EachItem, CycleLimit: want.CycleLimit, AllLines: true}
	if want.Amount != nil {
		made.Amount = *want.Amount
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		if want.Once && d.HasDiscount(made.Title) {
			return amend.Change{}, fault.New(fault.FailedPrecondition, "discount %q is applied already", made.Title).Entity(amend.Entity).Code("discountApplied").Field("discountTitle")
		}
		return amend.Change{
			Edit:    platform.Edit{Discounts: []platform.DiscountEdit{{Add: &made}}},
			Entries: []amend.Note{{Event: activity.DiscountApplied, Details: discountDetails{Title: made.Title}}},
		}, nil
	})
}

// RemoveDiscount takes a discount off the contract. The id may be the whole
// graph id or its last part: the platform names a code's discount by ids of two types.
func (s *Service) RemoveDiscount(ctx context.Context, of shop.ID, cmd amend.Command, id string) (contract.Detail, error) {
	last := id[strings.LastIndexByte(id, '/')+1:]
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		i := slices.IndexFunc(d.Discounts, func(x contract.Discount) bool { return x.ID == id || strings.HasSuffix(x.ID, "/"+last) })
		if i < 0 {
			return amend.Change{}, DiscountNotFound(d.ID, id)
		}
		gone := d.Discounts[i]
		return amend.Change{
			Edit:    platform.Edit{Discounts: []platform.DiscountEdit{{Remove: gone.ID}}},
			Entries: []amend.Note{{Event: activity.DiscountRemoved, Details: discountDetails{ID: gone.ID, Title: gone.Title, Code: gone.Code}}},
		}, nil
	})
}

// DiscountNotFound is the failure of a change of a discount that a contract does not have.
func DiscountNotFound(id contract.ID, discount string) error {
	return fault.New(fault.NotFound, "subscription contract %d has no discount %s", id, discount).Entity(amend.Entity).Code("discountNotFound").Field("discountId")
}
