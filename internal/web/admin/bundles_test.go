package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// shelf stands in for the bundle feature: it holds one bundle.
type shelf struct {
	is      bundle.Settings
	page    page.Request
	put     *bundle.Settings
	made    bool
	deleted bundle.ID
}

func (s *shelf) Bundle(_ context.Context, _ shop.ID, line shop.Line, id bundle.ID) (bundle.Settings, error) {
	if id != s.is.ID || line != shop.Subscriptions {
		return bundle.Settings{}, bundle.NotFound(id)
	}
	return s.is, nil
}

func (s *shelf) Bundles(_ context.Context, _ shop.ID, _ shop.Line, p page.Request) ([]bundle.Settings, int, error) {
	s.page = p
	return []bundle.Settings{s.is}, 41, nil
}

func (s *shelf) Create(_ context.Context, _ shop.ID, wanted bundle.Settings, _ activity.Actor) (bundle.Settings, error) {
	put := wanted
	s.made, s.put = true, &put
	wanted.ID = 77
	return wanted, nil
}

func (s *shelf) Update(_ context.Context, _ shop.ID, wanted bundle.Settings, _ activity.Actor) (bundle.Settings, error) {
	s.put = &wanted
	return wanted, nil
}

func (s *shelf) Delete(_ context.Context, _ shop.ID, id bundle.ID, _ activity.Actor) error {
	s.deleted = id
	return nil
}

func theBundle() bundle.Settings {
	s := bundle.New()
	s.ID, s.Line, s.Version, s.CreatedAt, s.UpdatedAt = 31, shop.Subscriptions, 4, noon().AddDate(0, -1, 0), noon()
	s.Texts.Title, s.Look.BundleTopHTML, s.Look.ButtonColor = "Build your <box>", "<h1>Box & more</h1>", "#1a2b3c"
	s.Page.DescriptionLength, s.Page.SkipFirstPage = 120, true
	s.Custom = []string{`{"theme":"dark","depth":{"n":1}}`}
	usd := func(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }
	s.Rules = bundle.Rules{
		Enabled: true, MinProducts: 3, MaxProducts: 12, MinValue: usd(2550), MaxValue: usd(30000), AllowModifications: true,
		CutoffDays: 2, MaxSwaps: 4, CategoryLimits: map[string]bundle.Limit{"Tea": {Min: 1, Max: 3}, "Coffee": {Max: 6}}, NeedsSeveralCategory: true,
	}
	s.Pricing = bundle.Pricing{Model: bundle.Fixed, Fixed: usd(4990), Volume: true, Rotates: true, Tiers: []bundle.Tier{{MinProducts: 6, Percent: 5}, {MinProducts: 10, Percent: 12.5}}}
	s.Plans = []int64{801, 802}
	return s
}

func bundleServer(t *testing.T, f *shelf) *server {
	t.Helper()
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, shop.Subscriptions, s.log, s.clock)
	o.Shelf, o.Bundles = f, f
	s.handler = New(o)
	return s
}

func TestBundleMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	s := bundleServer(t, &shelf{is: theBundle()})
	w := s.ask("GET", bundlesPath+"/31", "")
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	webtest.Golden(t, "bundle-settings.json", w.Body.Bytes())
	for target, want := range map[string]int{"/32": 404, "/0": 400, "/x": 400} {
		if w := s.ask("GET", bundlesPath+target, ""); w.Code != want {
			t.Errorf("%s answered %d, want %d", target, w.Code, want)
		}
	}
}

// Both shapes that the interface gives for a bundle are in the answer, and every
// field has its type.
func TestBundleHasFieldsOfBothShapes(t *testing.T) {
	t.Parallel()
	w := bundleServer(t, &shelf{is: theBundle()}).ask("GET", bundlesPath+"/31", "")
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	const (
		texts = "shop selectedFrequencyLabelText addButtonText selectMinimumProductButtonText productsToProceedText proceedToCheckoutButtonText myDeliveryText " +
			"bundleTopHtml bundleBottomHtml failedToAddTitleText okBtnText failedToAddMsgText buttonColor backgroundColor pageBackgroundColor buttonBackgroundColor " +
			"variantNotAvailable currencySwitcherClassName productPriceFormatField customRedirectURL viewProduct productDetails editQuantity cart shoppingCart title " +
			"tieredDiscount subtotal checkoutMessage continueShopping spendAmountGetDiscount buyQuantityGetDiscount removeItem productFilterConfig rightSidebarHTML " +
			"leftSidebarHTML congratsMessageText spentText quantityLabel variantLabelTextV2 itemsText productTitleFontColor bundleRedirect openingSidebarType pricingModel createdAt updatedAt"
		numbers = "id descriptionLength minProducts maxProducts minBundleValue maxBundleValue fixedBundlePrice modificationCutoffDays maxSwapsPerCycle"
		flags   = "isBundleWithoutScroll showCompareAtPrice enableRedirectToProductPage disableProductDescription enableDisplayProductVendor enableDisplayProductType " +
			"enableCustomAdvancedFields enableProductDetailButton enableShowProductBasePrice enableClearCartSelectedProducts enableServiceBABHeader enableOpeningSidebar " +
			"isMergeIntoSingleBABVariantDropdown enableEditQuantityTextbox displayUnavailableProduct allowAddUnavailableProduct showOrderNoteField showSubLoyaltyTable " +
			"restrictPriceRateCalculation disableProductCardImageSlider skipFilterVariantsByAllocationsId moveOneTimePurchaseToTop skipFirstPage enabled allowModifications " +
			"lockAfterFirstOrder enableProductRotation requireCategoryDiversity"
	)
	for kind, names := range map[reflect.Kind]string{reflect.String: texts, reflect.Float64: numbers, reflect.Bool: flags} {
		for _, name := range strings.Fields(names) {
			if v, ok := got[name]; !ok || reflect.TypeOf(v).Kind() != kind {
				t.Errorf("%s is %v, want a %s", name, v, kind)
			}
		}
	}
	for name, fields := range map[string]string{
		"displaySettings": "layoutType productsPerRow showProductImages showProductDescriptions showPricing enableFiltering enableSearch showBundlePreview",
		"notifications":   "sendBundleCreatedEmail sendModificationReminderEmail reminderDaysBeforeOrder sendBundleModifiedConfirmation",
		"substitution":    "allowSubstitutions substitutionMethod notifyCustomerOfSubstitutions allowCustomerToApproveSubstitutions",
		"recommendations": "enableRecommendations recommendationStrategy showBestSellers showCuratedBundles",
		"discounts":       "enableVolumeDiscounts volumeDiscountTiers",
		"categoryLimits":  "Tea Coffee",
	} {
		inner, _ := got[name].(map[string]any)
		for _, field := range strings.Fields(fields) {
			if _, ok := inner[field]; !ok {
				t.Errorf("%s has no %s", name, field)
			}
		}
	}
}

func TestBundleListPagesBundlesOfLine(t *testing.T) {
	t.Parallel()
	f := &shelf{is: theBundle()}
	w := bundleServer(t, f).ask("GET", bundlesPath+"?page=1&size=5&sort=updatedAt,desc", "")
	if w.Code != 200 || w.Header().Get("X-Total-Count") != "41" || !strings.HasPrefix(w.Body.String(), "[{") {
		t.Errorf("answered %d %v %.100s", w.Code, w.Header(), w.Body)
	}
	if diff := cmp.Diff(page.Request{Page: 1, Size: 5, Sort: []page.Sort{{Field: "updatedAt", Desc: true}}}, f.page); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func putBundle(t *testing.T, f *shelf, method, body string) *httptest.ResponseRecorder {
	t.Helper()
	return bundleServer(t, f).ask(method, bundlesPath, body)
}

func TestUpdateBundleAcceptsSettingsAsRead(t *testing.T) {
	t.Parallel()
	f := &shelf{is: theBundle()}
	read := bundleServer(t, f).ask("GET", bundlesPath+"/31", "").Body.String()
	w := putBundle(t, f, "PUT", read)
	if w.Code != http.StatusOK || w.Body.String() != read {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(theBundle(), *f.put); diff != "" {
		t.Errorf("(-was +put):\n%s", diff)
	}
}

func TestUpdateBundleChangesNamedFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body   string
		change func(*bundle.Settings)
	}{
		"nothing": {`{}`, func(*bundle.Settings) {}},
		"a text":  {`{"title":"Box"}`, func(s *bundle.Settings) { s.Texts.Title = "Box" }},
		"null clears": {`{"title":null,"buttonColor":null,"descriptionLength":null,"skipFirstPage":null}`, func(s *bundle.Settings) {
			s.Texts.Title, s.Look.ButtonColor, s.Page.DescriptionLength, s.Page.SkipFirstPage = "", "", 0, false
		}},
		"null gives a required text its default": {`{"addButtonText":null}`, func(s *bundle.Settings) { s.Texts.AddButtonText = "Add" }},
		"null ends lists":                        {`{"shopCustomizationData":null,"categoryLimits":null,"sellingPlanIds":null}`, func(s *bundle.Settings) { s.Custom, s.Rules.CategoryLimits, s.Plans = nil, nil, nil }},
		"one field of an object":                 {`{"displaySettings":{"productsPerRow":5}}`, func(s *bundle.Settings) { s.Display.ProductsPerRow = 5 }},
		"null in an object":                      {`{"displaySettings":{"productsPerRow":null},"notifications":null}`, func(s *bundle.Settings) { s.Display.ProductsPerRow, s.Notify = 3, bundle.Notify{} }},
		"limits as a whole":                      {`{"categoryLimits":{"Tea":{"max":9}}}`, func(s *bundle.Settings) { s.Rules.CategoryLimits = map[string]bundle.Limit{"Tea": {Max: 9}} }},
		"tiers as a whole":                       {`{"discounts":{"volumeDiscountTiers":[{"minProducts":2}]}}`, func(s *bundle.Settings) { s.Pricing.Tiers = []bundle.Tier{{MinProducts: 2}} }},
		"words in any letter case": {`{"bundleRedirect":"checkout","openingSidebarType":"min_amount","pricingModel":"dynamic"}`, func(s *bundle.Settings) {
			s.Page.BundleRedirect, s.Page.OpeningSidebarType, s.Pricing.Model = bundle.ToCheckout, bundle.SidebarMinAmount, bundle.Dynamic
		}},
		"plans as numbers and graph ids": {`{"sellingPlanIds":[9,"10","gid://shopify/SellingPlan/11"]}`, func(s *bundle.Settings) { s.Plans = []int64{9, 10, 11} }},
		"values": {`{"minBundleValue":10.05,"maxBundleValue":0,"minProducts":0}`, func(s *bundle.Settings) {
			s.Rules.MinValue.Minor, s.Rules.MaxValue.Minor, s.Rules.MinProducts = 1005, 0, 0
		}},
		"the store's own data":             {`{"shopCustomizationData":[{"a":[1,null]},{}]}`, func(s *bundle.Settings) { s.Custom = []string{`{"a":[1,null]}`, `{}`} }},
		"unknown fields and the own store": {`{"colour":"red","shop":"demo.myshopify.com"}`, func(*bundle.Settings) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &shelf{is: theBundle()}
			w := putBundle(t, f, "PUT", strings.Replace(test.body, "{", `{"id":31,`, 1))
			if strings.HasSuffix(test.body, "{}") {
				w = putBundle(t, f, "PUT", `{"id":31}`)
			}
			if w.Code != http.StatusOK {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			want := theBundle()
			test.change(&want)
			if diff := cmp.Diff(want, *f.put, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCreateBundleFillsDefaults(t *testing.T) {
	t.Parallel()
	f := &shelf{}
	w := putBundle(t, f, "POST", `{"title":"Box","addButtonText":null,"minProducts":2}`)
	want := bundle.New()
	want.Line, want.Texts.Title, want.Rules.MinProducts = shop.Subscriptions, "Box", 2
	want.Rules.MinValue.Currency, want.Rules.MaxValue.Currency, want.Pricing.Fixed.Currency = "USD", "USD", "USD"
	if w.Code != http.StatusOK || !f.made {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(want, *f.put, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBundleOfOtherHostIsNotFound(t *testing.T) {
	t.Parallel()
	f := &shelf{is: theBundle()}
	o := options(&fakes{}, shop.Memberships, &bytes.Buffer{}, clock.NewManual(noon()))
	o.Shelf, o.Bundles = f, f
	s := &server{fakes: &fakes{}, t: t, handler: New(o)}
	for _, ask := range []struct{ method, path, body string }{{"GET", "/31", ""}, {"PUT", "", `{"id":31,"title":"Mine"}`}, {"DELETE", "/31", ""}} {
		if w := s.ask(ask.method, bundlesPath+ask.path, ask.body); w.Code != http.StatusNotFound || webtest.Problem(t, w).ErrorKey != "bundleNotFound" || f.put != nil || f.deleted != 0 {
			t.Errorf("%s%s answered %d %s", ask.method, ask.path, w.Code, w.Body)
		}
		own := &shelf{is: theBundle()}
		if w := bundleServer(t, own).ask(ask.method, bundlesPath+ask.path, ask.body); w.Code != http.StatusOK {
			t.Errorf("on its own host %s%s answered %d %s", ask.method, ask.path, w.Code, w.Body)
		}
	}
}

func TestDeleteBundlePassesItsIDOn(t *testing.T) {
	t.Parallel()
	f := &shelf{is: theBundle()}
	if w := bundleServer(t, f).ask("DELETE", bundlesPath+"/31", ""); w.Code != 200 || w.Body.Len() != 0 || f.deleted != 31 {
		t.Errorf("answered %d %q, deleted %d", w.Code, w.Body, f.deleted)
	}
}

func TestBundleWithInvalidFieldIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ body, path string }{
		"no id":                         {`{"title":"a"}`, "id"},
		"another store":                 {`{"id":31,"shop":"other.myshopify.com"}`, "shop"},
		"a number for a text":           {`{"id":31,"title":5}`, "title"},
		"a text for a number":           {`{"id":31,"minProducts":"5"}`, "minProducts"},
		"a text for a flag":             {`{"id":31,"enabled":"yes"}`, "enabled"},
		"a text of too many characters": {`{"id":31,"title":"` + strings.Repeat("ü", 1001) + `"}`, "title"},
		"markup of too many characters": {`{"id":31,"bundleTopHtml":"` + strings.Repeat("x", 50001) + `"}`, "bundleTopHtml"},
		"a required text that is empty": {`{"id":31,"myDeliveryText":" "}`, "myDeliveryText"},
		"an unknown redirect":           {`{"id":31,"bundleRedirect":"MOON"}`, "bundleRedirect"},
		"a redirect without an address": {`{"id":31,"bundleRedirect":"CUSTOM"}`, "customRedirectURL"},
		"an unknown sidebar":            {`{"id":31,"openingSidebarType":"X"}`, "openingSidebarType"},
		"an unknown model":              {`{"id":31,"pricingModel":"X"}`, "pricingModel"},
		"an unknown layout":             {`{"id":31,"displaySettings":{"layoutType":"X"}}`, "displaySettings.layoutType"},
		"too many in a row":             {`{"id":31,"displaySettings":{"productsPerRow":13}}`, "displaySettings.productsPerRow"},
		"an unknown method":             {`{"id":31,"substitution":{"substitutionMethod":"X"}}`, "substitution.substitutionMethod"},
		"an unknown strategy":           {`{"id":31,"recommendations":{"recommendationStrategy":"X"}}`, "recommendations.recommendationStrategy"},
		"half a product":                {`{"id":31,"minProducts":2.5}`, "minProducts"},
		"half a product of a category":  {`{"id":31,"categoryLimits":{"Tea":{"min":0.5}}}`, "categoryLimits.Tea.min"},
		"half a product of a tier":      {`{"id":31,"discounts":{"volumeDiscountTiers":[{"minProducts":2.5,"discountPercent":1}]}}`, "discounts.volumeDiscountTiers[0].minProducts"},
		"less than no products":         {`{"id":31,"maxProducts":-1}`, "maxProducts"},
		"more at least than at most":    {`{"id":31,"minProducts":13}`, "maxProducts"},
		"half a cent":                   {`{"id":31,"minBundleValue":1.005}`, "minBundleValue"},
		"too many days":                 {`{"id":31,"modificationCutoffDays":366}`, "modificationCutoffDays"},
		"a percentage above all":        {`{"id":31,"discounts":{"volumeDiscountTiers":[{"minProducts":2,"discountPercent":101}]}}`, "discounts.volumeDiscountTiers[0].discountPercent"},
		"tiers that fall":               {`{"id":31,"discounts":{"volumeDiscountTiers":[{"minProducts":5,"discountPercent":1},{"minProducts":4,"discountPercent":2}]}}`, "discounts.volumeDiscountTiers[1].minProducts"},
		"data that is no object":        {`{"id":31,"shopCustomizationData":[{},5]}`, "shopCustomizationData[1]"},
		"a plan that is a product":      {`{"id":31,"sellingPlanIds":["gid://shopify/Product/5"]}`, "sellingPlanIds[0]"},
		"a date that differs":           {`{"id":31,"createdAt":"2020-01-01T00:00:00Z"}`, "createdAt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &shelf{is: theBundle()}
			w := putBundle(t, f, "PUT", test.body)
			if p := webtest.Problem(t, w); w.Code != http.StatusBadRequest || deref(p.Params) != test.path || f.put != nil {
				t.Errorf("answered %d %q at %q, want it at %q", w.Code, p.Detail, deref(p.Params), test.path)
			}
		})
	}
	t.Run("large numbers are written out", func(t *testing.T) {
		t.Parallel()
		p := webtest.Problem(t, putBundle(t, &shelf{is: theBundle()}, "PUT", `{"id":31,"minBundleValue":2000000.5}`))
		if want := "is 2000000.5 and must be between 0 and 1000000"; !strings.Contains(p.Detail, want) {
			t.Errorf("answered %q, want %q", p.Detail, want)
		}
	})
	t.Run("what is wrong with the body comes before what does not exist", func(t *testing.T) {
		t.Parallel()
		if w := putBundle(t, &shelf{is: theBundle()}, "PUT", `{"id":99,"minProducts":-1}`); w.Code != 400 {
			t.Errorf("answered %d", w.Code)
		}
		if w := putBundle(t, &shelf{is: theBundle()}, "PUT", `{"id":99,"title":"a"}`); w.Code != 404 {
			t.Errorf("answered %d", w.Code)
		}
	})
	t.Run("a new one has no id yet", func(t *testing.T) {
		t.Parallel()
		w := putBundle(t, &shelf{}, "POST", `{"id":5}`)
		if p := webtest.Problem(t, w); w.Code != 400 || deref(p.Params) != "id" {
			t.Errorf("answered %d %q", w.Code, p.Detail)
		}
	})
}
