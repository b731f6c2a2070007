package bundle

import (
	"errors"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func dollars(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }

// tea and the others are pieces of a box, ten dollars each.
func box(pieces map[int64]int) []Item {
	kinds := map[int64]string{1: "Tea", 2: "Tea", 3: "Coffee", 4: ""}
	var items []Item
	for v := int64(1); v <= 4; v++ {
		if n := pieces[v]; n > 0 {
			items = append(items, Item{Variant: v, Category: kinds[v], Quantity: n, Price: dollars(1000)})
		}
	}
	return items
}

func TestRulesCheck(t *testing.T) {
	t.Parallel()
	two := map[int64]int{1: 2}
	for name, test := range map[string]struct {
		rules         Rules
		before, after map[int64]int
		edit          Edit
		want          string // the key of the broken rule
	}{
		"without limits anything is allowed":                   {Rules{AllowModifications: true}, two, map[int64]int{3: 7}, Edit{}, ""},
		"rules that are off allow anything":                    {Rules{}, two, map[int64]int{}, Edit{Orders: 3}, ""},
		"nothing changes: nothing is broken":                   {Rules{MinProducts: 9, LockAfterFirstOrder: true}, two, two, Edit{Orders: 3}, ""},
		"the same pieces in another order change nothing":      {Rules{}, map[int64]int{1: 1, 3: 1}, map[int64]int{3: 1, 1: 1}, Edit{}, ""},
		"no changes at all":                                    {Rules{AllowModifications: false}, two, map[int64]int{1: 3}, Edit{}, "bundleModificationsNotAllowed"},
		"locked after the first order":                         {Rules{AllowModifications: true, LockAfterFirstOrder: true}, two, map[int64]int{1: 3}, Edit{Orders: 1}, "bundleLocked"},
		"open before the first order":                          {Rules{AllowModifications: true, LockAfterFirstOrder: true}, two, map[int64]int{1: 3}, Edit{}, ""},
		"too late":                                             {Rules{AllowModifications: true, CutoffDays: 3}, two, map[int64]int{1: 3}, Edit{Days: 2}, "bundleModificationCutoff"},
		"just in time":                                         {Rules{AllowModifications: true, CutoffDays: 3}, two, map[int64]int{1: 3}, Edit{Days: 3}, ""},
		"one exchange too many":                                {Rules{AllowModifications: true, MaxSwaps: 2}, map[int64]int{1: 1, 2: 1}, map[int64]int{3: 1, 4: 1}, Edit{Swaps: 1}, "bundleMaxSwapsPerCycle"},
		"the last exchange":                                    {Rules{AllowModifications: true, MaxSwaps: 2}, two, map[int64]int{3: 2}, Edit{Swaps: 1}, ""},
		"taking out is no exchange":                            {Rules{AllowModifications: true, MaxSwaps: 1}, map[int64]int{1: 1, 2: 1}, map[int64]int{1: 1}, Edit{Swaps: 1}, ""},
		"another quantity is no exchange":                      {Rules{AllowModifications: true, MaxSwaps: 1}, two, map[int64]int{1: 5}, Edit{Swaps: 1}, ""},
		"too few pieces":                                       {Rules{AllowModifications: true, MinProducts: 2}, two, map[int64]int{1: 1}, Edit{}, "bundleMinProducts"},
		"an empty box":                                         {Rules{AllowModifications: true, MinProducts: 1}, two, map[int64]int{}, Edit{}, "bundleMinProducts"},
		"pieces count, not variants":                           {Rules{AllowModifications: true, MinProducts: 3}, two, map[int64]int{1: 3}, Edit{}, ""},
		"too many pieces":                                      {Rules{AllowModifications: true, MaxProducts: 2}, two, map[int64]int{1: 2, 3: 1}, Edit{}, "bundleMaxProducts"},
		"worth too little":                                     {Rules{AllowModifications: true, MinValue: dollars(2001)}, map[int64]int{1: 3}, two, Edit{}, "bundleMinValue"},
		"worth just enough":                                    {Rules{AllowModifications: true, MinValue: dollars(2000), MaxValue: dollars(2000)}, map[int64]int{1: 3}, two, Edit{}, ""},
		"worth too much":                                       {Rules{AllowModifications: true, MaxValue: dollars(2999)}, two, map[int64]int{1: 3}, Edit{}, "bundleMaxValue"},
		"another currency is not compared":                     {Rules{AllowModifications: true, MinValue: money.Amount{Minor: 9999999, Currency: "EUR"}, MaxValue: money.Amount{Minor: 1, Currency: "EUR"}}, two, map[int64]int{1: 3}, Edit{}, ""},
		"too few of a category":                                {Rules{AllowModifications: true, CategoryLimits: map[string]Limit{"Coffee": {Min: 1}}}, two, map[int64]int{1: 3}, Edit{}, "bundleCategoryLimit"},
		"too many of a category":                               {Rules{AllowModifications: true, CategoryLimits: map[string]Limit{"Tea": {Max: 2}}}, two, map[int64]int{1: 2, 2: 1}, Edit{}, "bundleCategoryLimit"},
		"categories within their limits":                       {Rules{AllowModifications: true, CategoryLimits: map[string]Limit{"Tea": {1, 2}, "Coffee": {Min: 1}}}, two, map[int64]int{1: 2, 3: 5}, Edit{}, ""},
		"one category only":                                    {Rules{AllowModifications: true, NeedsSeveralCategory: true}, two, map[int64]int{1: 1, 2: 1}, Edit{}, "bundleCategoryDiversity"},
		"two categories":                                       {Rules{AllowModifications: true, NeedsSeveralCategory: true}, two, map[int64]int{1: 1, 3: 1}, Edit{}, ""},
		"a single piece cannot be of two categories":           {Rules{AllowModifications: true, NeedsSeveralCategory: true}, two, map[int64]int{1: 1}, Edit{}, ""},
		"what cannot be changed at all is said before numbers": {Rules{MinProducts: 5}, two, map[int64]int{1: 1}, Edit{}, "bundleModificationsNotAllowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.rules.Enabled = name != "rules that are off allow anything"
			test.edit.Before, test.edit.After = box(test.before), box(test.after)
			err := test.rules.Check(test.edit)
			f, _ := errors.AsType[*fault.Error](err)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (f == nil || f.ErrorKey != test.want || f.Kind != fault.FailedPrecondition):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	list := []Settings{{ID: 1, Plans: []int64{10, 11}}, {ID: 2, Plans: []int64{20}}}
	for name, test := range map[string]struct {
		plans []int64 // of the lines
		want  ID
	}{
		"a line on the second plan of the first":           {[]int64{11}, 1},
		"a line of another kind beside it does not matter": {[]int64{5, 20}, 2},
		"no line on a plan of a bundle":                    {[]int64{5}, 0},
		"a line without a plan":                            {[]int64{0}, 0},
		"lines of two bundles: the older one is the box's": {[]int64{20, 10}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c contract.Contract
			for _, plan := range test.plans {
				c.Lines = append(c.Lines, contract.LineItem{SellingPlanID: plan})
			}
			if got, ok := Of(list, c); got.ID != test.want || ok != (test.want != 0) {
				t.Errorf("got bundle %d, want %d", got.ID, test.want)
			}
		})
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	items := Items([]contract.LineItem{{VariantID: 4, ProductID: 7, Quantity: 2, Price: dollars(300)}}, map[int64]string{7: "Tea"})
	if len(items) != 1 || items[0] != (Item{Variant: 4, Category: "Tea", Quantity: 2, Price: dollars(300)}) {
		t.Errorf("%+v", items)
	}
	if !(Rules{Enabled: true, NeedsSeveralCategory: true}).NeedsCategories() || (Rules{Enabled: true}).NeedsCategories() || (Rules{NeedsSeveralCategory: true}).NeedsCategories() {
		t.Error("when categories are needed")
	}
}

func TestSettingsValidateRejects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Settings)
		want   string // the path at fault
	}{
		"new settings are fine":            {func(*Settings) {}, ""},
		"a custom page without an address": {func(s *Settings) { s.Page.BundleRedirect = ToCustom }, "customRedirectURL"},
		"an address that is a program":     {func(s *Settings) { s.Page.CustomRedirectURL = "javascript:alert(1)" }, "customRedirectURL"},
		"an address of whatever host":      {func(s *Settings) { s.Page.CustomRedirectURL = "//evil.example" }, "customRedirectURL"},
		"a custom page":                    {func(s *Settings) { s.Page.BundleRedirect, s.Page.CustomRedirectURL = ToCustom, "/pages/box" }, ""},
		"a colour that closes the style":   {func(s *Settings) { s.Look.ButtonColor = "red}</style>" }, "buttonColor"},
		"a colour":                         {func(s *Settings) { s.Look.ButtonColor = "rgba(1, 2, 3, 0.5)" }, ""},
		"more at least than at most":       {func(s *Settings) { s.Rules.MinProducts, s.Rules.MaxProducts = 5, 4 }, "maxProducts"},
		"as much at least as at most":      {func(s *Settings) { s.Rules.MinProducts, s.Rules.MaxProducts = 5, 5 }, ""},
		"no most":                          {func(s *Settings) { s.Rules.MinProducts = 5 }, ""},
		"less than nothing":                {func(s *Settings) { s.Rules.MinProducts = -1 }, "minProducts"},
		"values the wrong way round":       {func(s *Settings) { s.Rules.MinValue, s.Rules.MaxValue = dollars(200), dollars(100) }, "maxBundleValue"},
		"an enormous value":                {func(s *Settings) { s.Rules.MinValue = dollars(100_000_001) }, "minBundleValue"},
		"a year and a day":                 {func(s *Settings) { s.Rules.CutoffDays = 366 }, "modificationCutoffDays"},
		"a category the wrong way round":   {func(s *Settings) { s.Rules.CategoryLimits = map[string]Limit{"Tea": {2, 1}} }, "categoryLimits.Tea.max"},
		"a category without a name":        {func(s *Settings) { s.Rules.CategoryLimits = map[string]Limit{" ": {}} }, "categoryLimits"},
		"categories that do not fit the box": {func(s *Settings) {
			s.Rules.MaxProducts = 3
			s.Rules.CategoryLimits = map[string]Limit{"A": {2, 0}, "B": {2, 0}}
		}, "categoryLimits"},
		"a fixed price without a price":     {func(s *Settings) { s.Pricing.Model = Fixed }, "fixedBundlePrice"},
		"a fixed price":                     {func(s *Settings) { s.Pricing.Model, s.Pricing.Fixed = Fixed, dollars(1) }, ""},
		"volume discounts without tiers":    {func(s *Settings) { s.Pricing.Volume = true }, "discounts.volumeDiscountTiers"},
		"tiers that do not rise":            {func(s *Settings) { s.Pricing.Tiers = []Tier{{5, 10}, {5, 20}} }, "discounts.volumeDiscountTiers[1].minProducts"},
		"a tier above everything":           {func(s *Settings) { s.Pricing.Tiers = []Tier{{5, 100.5}} }, "discounts.volumeDiscountTiers[0].discountPercent"},
		"a tier below nothing":              {func(s *Settings) { s.Pricing.Tiers = []Tier{{5, -1}} }, "discounts.volumeDiscountTiers[0].discountPercent"},
		"tiers from 0 to 100 percent":       {func(s *Settings) { s.Pricing.Tiers = []Tier{{1, 0}, {5, 100}} }, ""},
		"no products in a row":              {func(s *Settings) { s.Display.ProductsPerRow = 0 }, "displaySettings.productsPerRow"},
		"a reminder long before":            {func(s *Settings) { s.Notify.ReminderDaysBeforeOrder = 366 }, "notifications.reminderDaysBeforeOrder"},
		"a plan twice":                      {func(s *Settings) { s.Plans = []int64{4, 5, 4} }, "sellingPlanIds[2]"},
		"too much of the storefront's data": {func(s *Settings) { s.Custom = []string{string(make([]byte, MaxCustomBytes+1))} }, "shopCustomizationData"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New()
			test.change(&s)
			err := s.Check()
			f, _ := errors.AsType[*fault.Error](err)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (f == nil || f.Param != test.want || f.Kind != fault.Invalid):
				t.Errorf("got %+v, want %s at fault", f, test.want)
			}
		})
	}
}
