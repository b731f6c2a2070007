// Package swap decides what rules make of the lines of an order: which products
// are replaced by which, when, and at what price.
package swap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ID is the service's number of a rule, unique within a shop.
type ID int64

// Rule replaces its source products by its destination products in orders that
// hold all the sources.
//
// A rule for one billing cycle changes the order of that cycle and nothing else.
// Any other rule changes the contract, beginning with the order that it meets:
// once, or again whenever a recurring order holds the sources.
type Rule struct {
	ID            ID
	Line          shop.Line
	Name          string
	Sources       []Product
	Destinations  []Product
	FirstOrder    bool         // the very first order of a contract is changed too, where the service charges it
	EveryOrder    bool         // looked at for every recurring order, not once for a contract
	Cycle         int          // with EveryOrder from this billing cycle on, otherwise for this one; 0: for any
	Sequence      int          // rules are looked at in this order
	CarryDiscount bool         // without a Discount of its own, the rule carries the existing one
	Discount      DiscountMode // what becomes of the discount
	ShiftDays     *int         // the order after the swap, and all later ones, move by so many days; nil: they stay
	NoEmail       bool         // the customer gets no e-mail about it
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64
}

// Product is a variant and how many of it.
type Product struct {
	VariantID int64  `json:"id"`
	Name      string `json:"displayName"`
	Image     string `json:"imageSrc"`
	Quantity  int    `json:"quantity"`
}

// CarryDiscount says which discount the new product gets.
type DiscountMode string

// The ways to carry a discount.
const (
	None                DiscountMode = "NONE"                  // the catalogue's price
	ExistingPlan        DiscountMode = "EXISTING_PLAN"         // as many per cent off as the old product had
	ProductPlan         DiscountMode = "PRODUCT_PLAN"          // what a plan of the new product takes off
	ProductThenExisting DiscountMode = "PRODUCT_THEN_EXISTING" // that, or else as many per cent off as the old product had
)

// DiscountModes lists every way, in the order of the interface.
var DiscountModes = []DiscountMode{None, ExistingPlan, ProductPlan, ProductThenExisting}

// The limits of a rule.
const (
	maxName     = 255
	maxProducts = 50
	maxQuantity = 9999
	maxCycle    = 1000
	maxSequence = 1_000_000
	maxShift    = 365 // days, both ways
)

// entity is what failures of this package are about.
const entity = "productSwap"

// OneOrderOnly reports whether the rule changes one order and not the contract.
func (r Rule) OneOrderOnly() bool { return r.Cycle > 0 && !r.EveryOrder }

// carry returns which discount the new products get.
func (r Rule) carry() DiscountMode {
	if r.CarryDiscount && (r.Discount == "" || r.Discount == None) {
		return ExistingPlan
	}
	return cmp.Or(r.Discount, None)
}

// Check says what forbids the rule. The parameters that its failures name are
// the interface's.
func (r Rule) Check() error {
	for _, list := range []struct {
		param    string
		products []Product
	}{{"sourceVariants", r.Sources}, {"destinationVariants", r.Destinations}} {
		if list.products == nil {
			return unnamed(list.param)
		}
	}
	return r.CheckBounds()
}

// CheckBounds is Check of a rule of which a part is known: products that are nil
// may be any.
func (r Rule) CheckBounds() error {
	if n := utf8.RuneCountInString(r.Name); n > maxName {
		return invalid("name", "the name has %d characters: at most %d are allowed", n, maxName)
	}
	if err := checkProducts("sourceVariants", r.Sources); err != nil {
		return err
	}
	if err := checkProducts("destinationVariants", r.Destinations); err != nil {
		return err
	}
	if r.Sources != nil && same(r.Sources, r.Destinations) {
		return invalid("destinationVariants", "the rule replaces products by themselves")
	}
	if r.Cycle < 0 || r.Cycle > maxCycle {
		return invalid("forBillingCycle", "forBillingCycle is %d and must be from 1 to %d, or null for any", r.Cycle, maxCycle)
	}
	if r.Sequence < 0 || r.Sequence > maxSequence {
		return invalid("ruleSequence", "ruleSequence is %d and must be from 0 to %d", r.Sequence, maxSequence)
	}
	if r.ShiftDays != nil && (*r.ShiftDays < -maxShift || *r.ShiftDays > maxShift) {
		return invalid("changeNextOrderDateBy", "changeNextOrderDateBy is %d and must be from %d to %d days", *r.ShiftDays, -maxShift, maxShift)
	}
	return nil
}

func unnamed(param string) error {
	return invalid(param, "field '%s' must name at least one variant", param)
}

func checkProducts(param string, list []Product) error {
	if list != nil && len(list) == 0 {
		return unnamed(param)
	}
	if len(list) > maxProducts {
		return invalid(param, "field '%s' names %d variants: at most %d are allowed", param, len(list), maxProducts)
	}
	seen := make(map[int64]bool, len(list))
	for _, p := range list {
		switch {
		case p.VariantID < 1:
			return invalid(param, "field '%s': every variant needs an id", param)
		case seen[p.VariantID]:
			return invalid(param, "field '%s' names variant %d twice", param, p.VariantID)
		case p.Quantity < 1 || p.Quantity > maxQuantity:
			return invalid(param, "field '%s': the quantity of variant %d is %d and must be from 1 to %d", param, p.VariantID, p.Quantity, maxQuantity)
		}
		seen[p.VariantID] = true
	}
	return nil
}

func invalid(param, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code("productSwapInvalid").Field(param)
}

// same reports whether two lists hold the same quantities of the same variants.
func same(a, b []Product) bool {
	key := func(list []Product) string {
		texts := make([]string, len(list))
		for i, p := range list {
			texts[i] = fmt.Sprintf("%d×%d", p.VariantID, p.Quantity)
		}
		slices.Sort(texts)
		return strings.Join(texts, " ")
	}
	return key(a) == key(b)
}

// Sort puts rules into the order in which they are looked at.
func Sort(rules []Rule) {
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.ID, b.ID))
	})
}

// Variants returns the variants that the rules name, each once.
func Variants(rules []Rule) []int64 {
	seen := make(map[int64]bool)
	var ids []int64
	for _, r := range rules {
		for _, p := range slices.Concat(r.Sources, r.Destinations) {
			if !seen[p.VariantID] {
				seen[p.VariantID] = true
				ids = append(ids, p.VariantID)
			}
		}
	}
	return ids
}
