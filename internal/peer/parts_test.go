package peer

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

var demo = shop.Shop{Domain: "demo.myshopify.com", Currency: "USD"}

// answering returns a service that answers with bodies by their paths, and with 404 to all others.
func answering(t *testing.T, status int, bodies map[string]string) *End {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, is := bodies[r.URL.Path]
		if !is {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	others := New(Options{Transport: http.DefaultTransport, Timeout: time.Minute, Clock: clock.NewManual(time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC))})
	return others.End(moving.Peer{Address: server.URL, Loyalty: server.URL, Key: "key", Rate: 1000})
}

func TestPartsAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	e := answering(t, http.StatusOK, map[string]string{
		"/api/external/v2/subscription-groups": `[
			{"id":"gid://shopify/SellingPlanGroup/17","groupName":"Save","productIds":"3001, 3002","variantIds":null,"customerTag":"subscriber","unknown":{"a":1},
			 "subscriptionPlans":[{"id":"gid://shopify/SellingPlan/6101","frequencyCount":"2","frequencyInterval":"week","frequencyName":"Every 2 weeks","discountOffer":"12.5","prepaidFlag":"false"}]},
			{"id":18,"groupName":"Club","productIds":"[{\"id\":3003,\"title\":\"Tea\"}]","variantIds":[{"id":4001}],
			 "subscriptionPlans":[{"idNew":6102,"frequencyCount":1,"frequencyInterval":"MONTH","billingFrequencyCount":3,"billingFrequencyInterval":"MONTH","planType":"PREPAID","discountEnabled":false,
			 "allowedForUpgradeDowngrade":false,"planSequence":4}]},
			{"groupName":"no number"}]`,
		"/api/external/v2/product-swaps": `{"nodes":[{"id":1001,"name":" Tea ","sourceVariants":"[{\"id\":\"gid://shopify/ProductVariant/12\",\"quantity\":2}]","destinationVariants":[{"id":13}],
			"checkForEveryRecurringOrder":"true","changeNextOrderDateBy":7,"ruleSequence":3,"discountCarryForward":"product_plan"}]}`,
		"/api/external/v2/subscription-bundle-settings": `[{"id":9,"title":"Box","addButtonText":"In","cart":7,"bundleTopHtml":"<p>","bundleRedirect":"CHECKOUT","minProducts":3,"minBundleValue":20.5,"sellingPlanIds":["6102",6101],
			"displaySettings":{"layoutType":"LIST"},"substitution":{"allowCustomerToApproveSubstitutions":true},"discounts":{"enableVolumeDiscounts":true,"volumeDiscountTiers":[{"minProducts":3,"discountPercent":10}]}}]`,
		"/api/external/top-customers":    `[{"customerId":7001,"firstName":"Ana","lastName":"Costa","pointsEarned":99.5}]`,
		"/api/external/customer-loyalty": `{"customerId":"7001","customerEmail":"ana@example.com","availablePoints":"40.5","pendingPoints":null,"dob":"1990-02-28T00:00:00Z","customerStatus":"ACTIVE"}`,
	})
	read := func(kind moving.PartKind) []moving.Part {
		t.Helper()
		page, err := e.Parts(t.Context(), demo, kind, shop.Subscriptions, 0)
		if err != nil || page.More {
			t.Fatalf("%s: %+v, %v", kind, page, err)
		}
		return page.Parts
	}
	weekly := plan.Frequency{Interval: cadence.Week, Count: 2}
	monthly := plan.Frequency{Interval: cadence.Month, Count: 1}
	key := func(kind moving.PartKind, there string) moving.PartKey {
		return moving.PartKey{Kind: kind, Line: shop.Subscriptions, There: there}
	}
	want := []moving.Part{
		{PartKey: key(moving.GroupPart, "17"), Name: "Save", Data: moving.PartData{Group: &moving.Group{
			Terms: plan.Terms{Name: "Save", CustomerTag: "subscriber"}, Products: []int64{3001, 3002},
			Options: []plan.Option{{ID: 6101, Name: "Every 2 weeks", Delivery: weekly, Billing: weekly, First: plan.Discount{Enabled: true, Offer: 12.5, Kind: plan.Percentage}, Exchange: true, Sequence: 1}},
		}}},
		{PartKey: key(moving.GroupPart, "18"), Name: "Club", Data: moving.PartData{Group: &moving.Group{
			Terms: plan.Terms{Name: "Club"}, Products: []int64{3003}, Variants: []int64{4001},
			Options: []plan.Option{{ID: 6102, Kind: plan.Prepaid, Delivery: monthly, Billing: plan.Frequency{Interval: cadence.Month, Count: 3}, Sequence: 4}},
		}}},
	}
	if diff := cmp.Diff(want, read(moving.GroupPart)); diff != "" {
		t.Error(diff)
	}
	rule := swap.Rule{
		Name: "Tea", Sources: []swap.Product{{VariantID: 12, Quantity: 2}}, Destinations: []swap.Product{{VariantID: 13, Quantity: 1}}, EveryOrder: true, ShiftDays: new(7), Sequence: 3, Discount: swap.ProductPlan,
	}
	if diff := cmp.Diff([]moving.Part{{PartKey: key(moving.RulePart, "1001"), Name: "Tea", Data: moving.PartData{Rule: &rule}}}, read(moving.RulePart)); diff != "" {
		t.Error(diff)
	}
	box := bundle.New()
	box.Texts.Title, box.Texts.AddButtonText, box.Look.BundleTopHTML, box.Page.BundleRedirect = "Box", "In", "<p>", bundle.ToCheckout
	box.Rules.MinProducts, box.Rules.MinValue, box.Rules.MaxValue, box.Pricing.Fixed = 3, money.Amount{Minor: 2050, Currency: "USD"}, money.Amount{Currency: "USD"}, money.Amount{Currency: "USD"}
	box.Display.LayoutType, box.Swaps.AllowCustomerToApproveSubstitutes, box.Plans = bundle.List, true, []int64{6101, 6102}
	box.Pricing.Volume, box.Pricing.Tiers = true, []bundle.Tier{{MinProducts: 3, Percent: 10}}
	if diff := cmp.Diff([]moving.Part{{PartKey: key(moving.BundlePart, "9"), Name: "Box", Data: moving.PartData{Bundle: &box}}}, read(moving.BundlePart)); diff != "" {
		t.Error(diff)
	}
	if list := read(moving.MemberPart); len(list) != 1 || !list[0].Unread || list[0].Customer != 7001 || list[0].Name != "Ana Costa" {
		t.Errorf("%+v", list)
	}
	member, err := e.Member(t.Context(), demo, 7001)
	if diff := cmp.Diff(moving.Member{Customer: 7001, Email: "ana@example.com", Born: "1990-02-28", Available: 4050}, member); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if _, err := e.Member(t.Context(), demo, 7002); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the record of another customer: %v", err)
	}
	if got := points(1e30); got != loyalty.MaxPoints {
		t.Errorf("more points than there can be are %s", got)
	}
}

func TestListThatServiceDoesNotHaveIsNotFound(t *testing.T) {
	t.Parallel()
	const path = "/api/external/v2/subscription-groups"
	for name, row := range map[string]struct {
		status int
		bodies map[string]string
		want   fault.Kind
	}{
		"no such path":      {0, nil, fault.NotFound},
		"another method":    {http.StatusMethodNotAllowed, map[string]string{path: ""}, fault.NotFound},
		"not implemented":   {http.StatusNotImplemented, map[string]string{path: ""}, fault.NotFound},
		"no permission":     {http.StatusForbidden, map[string]string{path: ""}, fault.FailedPrecondition},
		"it fails":          {http.StatusInternalServerError, map[string]string{path: ""}, fault.Unavailable},
		"no JSON":           {http.StatusOK, map[string]string{path: "<html>"}, fault.Unavailable},
		"delivery profiles": {http.StatusOK, nil, fault.NotFound},
	} {
		kind := moving.GroupPart
		if name == "delivery profiles" {
			kind = moving.ProfilePart
		}
		if _, err := answering(t, row.status, row.bodies).Parts(t.Context(), demo, kind, shop.Subscriptions, 0); !fault.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCancelIsNotTakenForDoneWhereMethodIsMissing(t *testing.T) {
	t.Parallel()
	e := answering(t, http.StatusMethodNotAllowed, map[string]string{"/api/external/v2/subscription-contract-details": ""})
	if err := e.Cancel(t.Context(), demo, shop.Subscriptions, 1); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("cancelling at a service that does not have the operation: %v", err)
	}
}

// What is sent to create parts says the same as what is read of them.
func TestPartsAreSentAsTheyAreRead(t *testing.T) {
	t.Parallel()
	monthly := plan.Frequency{Interval: cadence.Month, Count: 1}
	box := bundle.New()
	box.Texts.Title, box.Look.BundleTopHTML, box.Page.BundleRedirect, box.Custom = "Box", "<p>", bundle.ToCheckout, []string{`{"a":1}`}
	box.Rules.MinProducts, box.Rules.MinValue, box.Rules.MaxValue, box.Pricing.Fixed = 3, money.Amount{Minor: 2050, Currency: "USD"}, money.Amount{Currency: "USD"}, money.Amount{Currency: "USD"}
	box.Rules.CategoryLimits, box.Swaps.AllowCustomerToApproveSubstitutes, box.Plans = map[string]bundle.Limit{"Tea": {Min: 1, Max: 2}}, true, []int64{6101}
	box.Pricing.Volume, box.Pricing.Tiers = true, []bundle.Tier{{MinProducts: 3, Percent: 10}}
	for kind, data := range map[moving.PartKind]moving.PartData{
		moving.GroupPart: {Group: &moving.Group{
			Terms: plan.Terms{Name: "Club", CustomerTag: "a", OrderTag: "b", MemberOrderTag: "c", ProductID: "d", AccessoryProductIDs: "e", Translations: "f", RulesJSON: "g", FormFieldsJSON: "h"},
			Options: []plan.Option{{
				Name: "Monthly", Description: "Each month", Kind: plan.Prepaid, Delivery: monthly, Billing: plan.Frequency{Interval: cadence.Month, Count: 3}, Specific: true, Day: 5, Cutoff: 2, Behavior: "NEXT", Reserve: "ON_SALE",
				MinCycles: 2, MaxCycles: 9, First: plan.Discount{Enabled: true, Offer: 12.5, Kind: plan.Percentage}, Second: plan.Discount{Enabled: true, Offer: 15, Kind: plan.Percentage, After: 3},
				Trial: plan.Trial{Enabled: true, Interval: cadence.Day, Count: 14, KeepDate: true}, MemberOnly: true, InclusiveTags: "x", ExclusiveTags: "y", Exchange: false, RulesJSON: "z", Sequence: 4,
			}},
			Products: []int64{3001, 3002}, Variants: []int64{4001},
		}},
		moving.RulePart: {Rule: &swap.Rule{
			Name: "Tea", Sources: []swap.Product{{VariantID: 12, Name: "Tin", Image: "i", Quantity: 2}}, Destinations: []swap.Product{{VariantID: 13, Quantity: 1}}, FirstOrder: true, EveryOrder: true, Cycle: 2,
			ShiftDays: new(-7), Sequence: 3, CarryDiscount: true, Discount: swap.ProductPlan, NoEmail: true,
		}},
		moving.BundlePart: {Bundle: &box},
	} {
		var sent, key []byte
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				sent, _ = io.ReadAll(r.Body)
				key = []byte(r.Header.Get("Idempotency-Key"))
				return // the answer does not say what was made
			}
			is := map[string]any{}
			_ = json.Unmarshal(sent, &is)
			is["id"] = 17
			_ = json.NewEncoder(w).Encode([]any{is})
		}))
		t.Cleanup(server.Close)
		e := New(Options{Transport: http.DefaultTransport, Timeout: time.Minute, Clock: clock.System{}}).End(moving.Peer{Address: server.URL, Key: "key", Rate: 1000})
		made, err := e.MakePart(t.Context(), demo, moving.Part{PartKey: moving.PartKey{Kind: kind, Line: shop.Subscriptions, There: "3"}, Data: data}, "move-1")
		if err != nil || made.There != "" || string(key) != "move-1" {
			t.Errorf("%s: %+v, %v, under the key %q", kind, made, err, key)
		}
		list, err := e.Parts(t.Context(), demo, kind, shop.Subscriptions, 0)
		if err != nil || len(list.Parts) != 1 {
			t.Fatalf("%s: %+v, %v", kind, list, err)
		}
		if diff := cmp.Diff(data, list.Parts[0].Data); diff != "" {
			t.Errorf("%s: %s\n%s", kind, diff, sent)
		}
	}
}

// A service that does not create parts, or not with this key, is not asked again.
func TestPartsThatCannotBeCreatedAreRefused(t *testing.T) {
	t.Parallel()
	part := moving.Part{PartKey: moving.PartKey{Kind: moving.RulePart, Line: shop.Subscriptions}, Data: moving.PartData{Rule: &swap.Rule{}}}
	for name, row := range map[string]struct {
		status int
		path   string
		want   fault.Kind
	}{
		"no such operation": {http.StatusMethodNotAllowed, "/api/external/v2/product-swaps", fault.FailedPrecondition},
		"no such path":      {http.StatusOK, "/other", fault.FailedPrecondition},
		"no permission":     {http.StatusForbidden, "/api/external/v2/product-swaps", fault.FailedPrecondition},
		"refused":           {http.StatusBadRequest, "/api/external/v2/product-swaps", fault.FailedPrecondition},
		"it fails":          {http.StatusInternalServerError, "/api/external/v2/product-swaps", fault.Unavailable},
	} {
		e := answering(t, row.status, map[string]string{row.path: "{}"})
		if _, err := e.MakePart(t.Context(), demo, part, "key"); !fault.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
