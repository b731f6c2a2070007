package bundle

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limits of settings.
const (
	MaxBundles     = 100 // of a shop
	MaxProducts    = 1000
	MaxValue       = 1_000_000 // in the currency's main unit
	MaxDays        = 365
	MaxSwaps       = 1000
	MaxCategories  = 100
	MaxCategory    = 255 // characters of a name
	MaxTiers       = 20
	MaxPlans       = 500
	MaxCustom      = 100
	MaxPerRow      = 12
	MaxCustomBytes = 100_000 // of all objects together
)

// Check returns an error if the settings are invalid; their texts were checked before. The
// error names the field by its path in the interface.
func (s Settings) Check() error { return firstOf(s.CheckBounds(), s.checkNeeds()) }

// CheckBounds is Check for a part of the settings; the rest is as
// in New. It does not check fields against each other.
func (s Settings) CheckBounds() error {
	return firstOf(s.checkPage(), s.Rules.check(), s.Pricing.check(), s.checkRest())
}

func (s Settings) checkNeeds() error {
	switch {
	case s.Page.BundleRedirect == ToCustom && s.Page.CustomRedirectURL == "":
		return invalid("customRedirectURL", "bundleRedirect CUSTOM needs an address in customRedirectURL")
	case s.Pricing.Model == Fixed && s.Pricing.Fixed.Minor == 0:
		return invalid("fixedBundlePrice", "pricingModel FIXED needs a price in fixedBundlePrice")
	case strings.HasPrefix(strings.TrimSpace(s.Texts.TieredDiscount), "["):
		return invalid("tieredDiscount", "tieredDiscount is the heading of the list of tiers: put the tiers into discounts.volumeDiscountTiers")
	case s.Pricing.Volume && len(s.Pricing.Tiers) == 0:
		return invalid("discounts.volumeDiscountTiers", "enableVolumeDiscounts needs at least one tier")
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Settings) checkPage() error {
	if u := s.Page.CustomRedirectURL; u != "" && !isAddress(u) {
		return invalid("customRedirectURL", "%q is not an address: begin with https://, http:// or /", u)
	}
	for path, color := range map[string]string{
		"buttonColor": s.Look.ButtonColor, "backgroundColor": s.Look.BackgroundColor, "pageBackgroundColor": s.Look.PageBackgroundColor,
		"buttonBackgroundColor": s.Look.ButtonBackgroundColor, "productTitleFontColor": s.Look.ProductTitleFontColor,
	} {
		if strings.ContainsAny(color, `<>{};"'\`) {
			return invalid(path, "%q is not a colour: write it as in a style sheet, such as #1a2b3c", color)
		}
	}
	return nil
}

// isAddress reports whether s is the address of a page, and not a script.
func isAddress(s string) bool {
	if strings.ContainsAny(s, " <>\"'\\") || strings.HasPrefix(s, "//") {
		return false
	}
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "/")
}

func (r Rules) check() error {
	return firstOf(
		between("minProducts", r.MinProducts, MaxProducts), between("maxProducts", r.MaxProducts, MaxProducts),
		order("maxProducts", "minProducts", int64(r.MinProducts), int64(r.MaxProducts)),
		amount("minBundleValue", r.MinValue), amount("maxBundleValue", r.MaxValue),
		order("maxBundleValue", "minBundleValue", r.MinValue.Minor, r.MaxValue.Minor),
		between("modificationCutoffDays", r.CutoffDays, MaxDays), between("maxSwapsPerCycle", r.MaxSwaps, MaxSwaps),
		r.checkCategories(),
	)
}

func (r Rules) checkCategories() error {
	if len(r.CategoryLimits) > MaxCategories {
		return invalid("categoryLimits", "%d categories are limited: at most %d are possible", len(r.CategoryLimits), MaxCategories)
	}
	least := 0
	for _, name := range slices.Sorted(maps.Keys(r.CategoryLimits)) {
		limit, path := r.CategoryLimits[name], "categoryLimits."+name
		if strings.TrimSpace(name) == "" || len([]rune(name)) > MaxCategory {
			return invalid("categoryLimits", "a category has a name of 1 to %d characters", MaxCategory)
		}
		if err := firstOf(
			between(path+".min", limit.Min, MaxProducts), between(path+".max", limit.Max, MaxProducts),
			order(path+".max", path+".min", int64(limit.Min), int64(limit.Max)),
		); err != nil {
			return err
		}
		least += limit.Min
	}
	if r.MaxProducts > 0 && least > r.MaxProducts {
		return invalid("categoryLimits", "the categories need %d products and the box holds at most %d", least, r.MaxProducts)
	}
	return nil
}

func (p Pricing) check() error {
	if err := amount("fixedBundlePrice", p.Fixed); err != nil {
		return err
	}
	if len(p.Tiers) > MaxTiers {
		return invalid("discounts.volumeDiscountTiers", "%d tiers are given: at most %d are possible", len(p.Tiers), MaxTiers)
	}
	for i, t := range p.Tiers {
		path := fmt.Sprintf("discounts.volumeDiscountTiers[%d]", i)
		switch {
		case t.MinProducts < 1 || t.MinProducts > MaxProducts:
			return invalid(path+".minProducts", "a tier begins at 1 to %d products, not at %d", MaxProducts, t.MinProducts)
		case math.IsNaN(t.Percent) || t.Percent < 0 || t.Percent > 100:
			return invalid(path+".discountPercent", "a discount is between 0 and 100 percent, not %v", t.Percent)
		case i > 0 && t.MinProducts <= p.Tiers[i-1].MinProducts:
			return invalid(path+".minProducts", "tiers rise: %d does not come after %d", t.MinProducts, p.Tiers[i-1].MinProducts)
		}
	}
	return nil
}

func (s Settings) checkRest() error {
	size := 0
	for _, object := range s.Custom {
		size += len(object)
	}
	if len(s.Custom) > MaxCustom || size > MaxCustomBytes {
		return invalid("shopCustomizationData", "the storefront's own data is at most %d objects with %d bytes together", MaxCustom, MaxCustomBytes)
	}
	if len(s.Plans) > MaxPlans {
		return invalid("sellingPlanIds", "%d selling plans are given: at most %d are possible", len(s.Plans), MaxPlans)
	}
	for i, id := range s.Plans {
		if path := fmt.Sprintf("sellingPlanIds[%d]", i); slices.Contains(s.Plans[:i], id) {
			return invalid(path, "selling plan %d is given twice", id)
		}
	}
	return firstOf(
		between("notifications.reminderDaysBeforeOrder", int(s.Notify.ReminderDaysBeforeOrder), MaxDays),
		perRow(int(s.Display.ProductsPerRow)),
	)
}

func perRow(n int) error {
	if n < 1 || n > MaxPerRow {
		return invalid("displaySettings.productsPerRow", "%d is not between 1 and %d", n, MaxPerRow)
	}
	return nil
}

// clash returns why two bundles conflict: they share a selling plan.
func (s Settings) clash(others []Settings) error {
	for _, o := range others {
		for i, plan := range s.Plans {
			if o.ID != s.ID && slices.Contains(o.Plans, plan) {
				return refusedAt(fmt.Sprintf("sellingPlanIds[%d]", i), "selling plan %d belongs to bundle %d already", plan, o.ID)
			}
		}
	}
	return nil
}

// ofLine refuses plans of the other line: their contracts are not boxes. A plan
// that is not known yet is allowed.
func (s Settings) ofLine(lines map[int64]shop.Line) error {
	for i, plan := range s.Plans {
		if line, known := lines[plan]; known && line != s.Line {
			return fault.New(fault.FailedPrecondition, "selling plan %d is of the other host's contracts", plan).Entity(entity).
				Code("sellingPlanOfOtherHost").Field(fmt.Sprintf("sellingPlanIds[%d]", i))
		}
	}
	return nil
}

func between(path string, n, most int) error {
	if n < 0 || n > most {
		return invalid(path, "%d is not between 0 and %d", n, most)
	}
	return nil
}

// order refuses a maximum below the minimum; a maximum of 0 is no limit.
func order(high, low string, least, most int64) error {
	if most > 0 && most < least {
		return invalid(high, "%s is smaller than %s", high, low)
	}
	return nil
}

func amount(path string, a money.Amount) error {
	if a.Minor < 0 || a.Milli() > MaxValue*1000 {
		return invalid(path, "%s is not between 0 and %d", a, MaxValue)
	}
	return nil
}

func decimal(n int) string { return strconv.Itoa(n) }

func invalid(path, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Field(path)
}

func refusedAt(path, format string, args ...any) error {
	return fault.New(fault.FailedPrecondition, format, args...).Entity(entity).Code("sellingPlanTaken").Field(path)
}
