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
	"github.com/perennialhq/perennial/internal/platform"
)

// ID identifies a rule within a shop.
type ID int64

// Rule replaces its source products by its destination products in orders that
// hold all the sources.
//
// A rule for one billing cycle changes the order of that cycle and nothing else.
// Any other rule changes the contract, beginning with the order that it matches:
// once, or again whenever a recurring order holds the sources.
type Rule struct {
	ID            ID
	Line          shop.Line
	Name          string
	Sources       []Product
	Destinations  []Product
	FirstOrder    bool         // the first order of a contract is changed too, if the service charges it
	EveryOrder    bool         // evaluated for every recurring order, not once for a contract
	Cycle         int          // with EveryOrder from this billing cycle on, otherwise for this one; 0: for any
	Sequence      int          // rules are evaluated in this sequence
	CarryDiscount bool         // without a Discount of its own, the rule keeps the existing one
	Discount      DiscountMode // the discount of the new product
	ShiftDays     *int         // the order after the swap, and all later ones, move by so many days; nil: they stay
	NoEmail       bool         // the customer gets no e-mail about it
	Off           bool         // kept, and changes no order
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64

	// Variants are the products that the rule names, as the platform knew them when it was last
	// asked. One that it did not sell is not among them.
	Variants map[int64]platform.Variant
}

// Product is a variant and how many of it.
type Product struct {
	VariantID int64  `json:"id"`
	Name      string `json:"displayName"`
	Image     string `json:"imageSrc"`
	Quantity  int    `json:"quantity"`
}

// DiscountMode says which discount the new product gets.
type DiscountMode string

// The discount modes.
const (
	None                DiscountMode = "NONE"                  // the catalogue's price
	ExistingPlan        DiscountMode = "EXISTING_PLAN"         // as many per cent off as the old product had
	ProductPlan         DiscountMode = "PRODUCT_PLAN"          // the discount of the new product's plan
	ProductThenExisting DiscountMode = "PRODUCT_THEN_EXISTING" // that, or else as many per cent off as the old product had
)

// DiscountModes lists every mode, in the order of the interface.
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

// entity is the entity that errors of this package name.
const entity = "productSwap"

// OneOrderOnly reports whether the rule changes one order and not the contract.
func (r Rule) OneOrderOnly() bool { return r.Cycle > 0 && !r.EveryOrder }

// discountMode returns the discount that the new products get.
func (r Rule) discountMode() DiscountMode {
	if r.CarryDiscount && (r.Discount == "" || r.Discount == None) {
		return ExistingPlan
	}
	return cmp.Or(r.Discount, None)
}

// Check returns an error if the rule is invalid. Its fields are named as in the
// interface.
func (r Rule) Check() error {
	for _, list := range []struct {
		param    string
		products []Product
	}{{"sourceVariants", r.Sources}, {"destinationVariants", r.Destinations}} {
		if list.products == nil {
			return noVariants(list.param)
		}
	}
	return r.CheckBounds()
}

// CheckBounds is Check for a part of a rule: products that are nil are not checked.
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
		return invalid("destinationVariants", "the rule replaces products with the same products")
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

func noVariants(param string) error {
	return invalid(param, "field '%s' must name at least one variant", param)
}

func checkProducts(param string, list []Product) error {
	if list != nil && len(list) == 0 {
		return noVariants(param)
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

// Sort sorts rules into the sequence in which they are evaluated.
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
