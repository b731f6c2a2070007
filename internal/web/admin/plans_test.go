package admin

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// planFakes stands in for the feature: it remembers what it was asked.
type planFakes struct {
	groups  []plan.Group
	line    shop.Line
	asked   []int64
	page    page.Request
	created *plan.CreateCommand
	updated *plan.UpdateCommand
	deleted *plan.DeleteCommand
	left    *plan.RemoveCommand
}

func (f *planFakes) PlanGroup(_ context.Context, _ shop.ID, line shop.Line, id plan.ID) (plan.Group, error) {
	f.line = line
	for _, g := range f.groups {
		if g.ID == id {
			return g, nil
		}
	}
	return plan.Group{}, plan.NotFound(id)
}

func (f *planFakes) PlanGroupID(_ context.Context, _ shop.ID, line shop.Line, number int64, atPlatform bool) (plan.ID, error) {
	f.line = line
	for _, g := range f.groups {
		if int64(g.ID) == number && !atPlatform || g.PlatformID == number {
			return g.ID, nil
		}
	}
	return 0, plan.NotFound(plan.ID(number))
}

func (f *planFakes) PlanGroups(_ context.Context, _ shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error) {
	f.line, f.page = line, p
	return f.groups, len(f.groups), nil
}

func (f *planFakes) PlanOptions(ctx context.Context, of shop.ID, line shop.Line, ids []int64, p page.Request) ([]plan.Offer, int, error) {
	f.page = p
	offers, err := f.OffersOf(ctx, of, line, ids)
	return offers, len(offers), err
}

func (f *planFakes) OffersOf(_ context.Context, _ shop.ID, line shop.Line, ids []int64) ([]plan.Offer, error) {
	f.line, f.asked = line, ids
	var offers []plan.Offer
	for _, g := range f.groups {
		for _, o := range g.Options {
			offers = append(offers, plan.Offer{Option: o, Group: g.ID, GroupName: g.Name})
		}
	}
	return offers, nil
}

func (f *planFakes) Create(_ context.Context, _ shop.ID, c plan.CreateCommand) (plan.Group, error) {
	f.created = &c
	return theGroup(), nil
}

func (f *planFakes) Update(_ context.Context, _ shop.ID, c plan.UpdateCommand) (plan.Group, error) {
	f.updated = &c
	return theGroup(), nil
}

func (f *planFakes) Delete(_ context.Context, _ shop.ID, c plan.DeleteCommand) error {
	f.deleted = &c
	return nil
}

func (f *planFakes) RemoveEverywhere(_ context.Context, _ shop.ID, c plan.RemoveCommand) ([]plan.Group, error) {
	f.left = &c
	return f.groups, nil
}

func servePlans(t *testing.T, line shop.Line, groups ...plan.Group) (*server, *planFakes) {
	t.Helper()
	f := &planFakes{groups: groups}
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, line, s.log, s.clock)
	o.Plans, o.PlanBook = f, f
	s.handler = New(o)
	return s, f
}

// theGroup has a plain option and one with everything.
func theGroup() plan.Group {
	month := plan.Frequency{Interval: cadence.Month, Count: 1}
	return plan.Group{
		ID: 17, PlatformID: 8001, Line: shop.Subscriptions, State: plan.Synced, Version: 4,
		Terms: plan.Terms{Name: "Coffee club", CustomerTag: "subscriber", RulesJSON: "[]"},
		Options: []plan.Option{
			{ID: 6001, Name: "Every month", Kind: plan.PayAsYouGo, Billing: month, Delivery: month, Exchange: true, Sequence: 1,
				First: plan.Discount{Enabled: true, Offer: 10, Kind: plan.Percentage}},
			{
				ID: 6002, Name: "Every quarter", Description: "Three at once", Kind: plan.Prepaid, Billing: plan.Frequency{Interval: cadence.Month, Count: 3}, Delivery: month,
				Specific: true, Day: 15, Cutoff: 2, Behavior: plan.Next, MinCycles: 1, MaxCycles: 4, MemberOnly: true, InclusiveTags: "gold", ExclusiveTags: "banned", Sequence: 2,
				First:  plan.Discount{Enabled: true, Offer: 5.5, Kind: plan.Fixed, Masked: true},
				Second: plan.Discount{Enabled: true, Offer: 99.9, Kind: plan.Price, After: 2, Masked: true}, RulesJSON: "{}",
				Trial: plan.Trial{Interval: cadence.Week, Count: 2, KeepDate: true},
			},
		},
		Products: []plan.Titled{{ID: 3001, Title: "House Blend"}, {ID: 3002, Title: `"Guji" & more`}}, Variants: []plan.Titled{{ID: 4001, Title: "Bean - 1 kg"}},
	}
}

func TestSubscriptionGroupsMatchGoldenFile(t *testing.T) {
	t.Parallel()
	s, _ := servePlans(t, shop.Subscriptions, theGroup())
	webtest.Golden(t, "subscription-group.json", s.ask("GET", groupsPath+"/17", "").Body.Bytes())
	w := s.ask("GET", groupsPath, "")
	sameFields(t, []string{
		"id", "sellingPlanGroupId", "groupName", "productCount", "productVariantCount", "productIds", "variantIds", "productId", "accessoryProductIds", "translations", "rulesJson",
		"formFieldsJson", "customerTag", "orderTag", "memberOrderTag", "subscriptionPlans", "updateProducts", "deleteProducts",
	}, w.Body.Bytes())
	if w.Header().Get("X-Total-Count") != "1" {
		t.Errorf("headers %v", w.Header())
	}
}

// The interface's table of fields of a plan option.
func TestPlanOptionHasEveryField(t *testing.T) {
	t.Parallel()
	want := []string{
		"id", "idNew", "frequencyCount", "billingFrequencyCount", "frequencyInterval", "billingFrequencyInterval", "freeTrialInterval", "frequencyName",
		"frequencyDescription", "prepaidFlag", "groupName", "memberInclusiveTags", "memberExclusiveTags", "rulesJson", "discountOffer", "discountOffer2",
		"afterCycle1", "afterCycle2", "specificDayValue", "specificMonthValue", "maxCycles", "minCycles", "cutOff", "freeTrialCount", "planSequence",
		"discountType", "discountType2", "discountEnabled", "discountEnabled2", "discountEnabledMasked", "discountEnabled2Masked", "specificDayEnabled",
		"freeTrialEnabled", "keepOriginalNextBillingDateAfterTrial", "memberOnly", "nonMemberOnly", "lifeTimeMembership", "allowedForUpgradeDowngrade",
		"frequencyType", "planType", "deliveryPolicyPreAnchorBehavior", "inventoryPolicyReserve", "groupId",
	}
	s, f := servePlans(t, shop.Memberships, theGroup())
	w := s.ask("GET", base+"/subscription-contract-details/billing-interval?sellingPlanIds=6001,gid://shopify/SellingPlan/6002", "")
	sameFields(t, want, w.Body.Bytes())
	if diff := cmp.Diff([]int64{6001, 6002}, f.asked); diff != "" || f.line != shop.Memberships {
		t.Errorf("asked on %s for %s", f.line, diff)
	}
	for _, path := range []string{"/all-selling-plans", "/subscription-groups/all-selling-plans"} {
		sameFields(t, want, s.ask("GET", base+path, "").Body.Bytes())
		if f.asked != nil || f.page.Size != 2000 {
			t.Errorf("%s: asked for %v, %+v", path, f.asked, f.page)
		}
	}
	none, _ := servePlans(t, shop.Subscriptions)
	if got := strings.TrimSpace(none.ask("GET", base+"/subscription-contract-details/billing-interval?sellingPlanIds=1", "").Body.String()); got != "[]" {
		t.Errorf("without plans: %s", got)
	}
}

func TestCreateGroupBodyBecomesDraft(t *testing.T) {
	t.Parallel()
	week := plan.Frequency{Interval: cadence.Week, Count: 2}
	for name, test := range map[string]struct {
		body string
		want plan.CreateCommand
	}{
		"as little as possible": {
			`{"groupName":"Tea","subscriptionPlans":[{"frequencyName":"Every 2 weeks","frequencyCount":2,"frequencyInterval":"week"}]}`,
			plan.CreateCommand{Draft: plan.Draft{Terms: plan.Terms{Name: "Tea"}, Options: []plan.Option{{
				Name: "Every 2 weeks", Delivery: week, Exchange: true, Sequence: 1,
			}}}},
		},
		"a discount is one when it is given, and of percents": {
			`{"groupName":"Tea","customerTag":"a,b","productIds":"1, 2","variantIds":"[{\"id\":7,\"title\":\"x\"}]","subscriptionPlans":[{"frequencyName":"W","frequencyCount":2,"frequencyInterval":"WEEK",
				"discountOffer":12.5,"planSequence":9,"deliveryPolicyPreAnchorBehavior":"next","frequencyType":"on_specific_day","specificDayValue":1,"freeTrialCount":7,"freeTrialInterval":"DAY","prepaidFlag":"false"}]}`,
			plan.CreateCommand{Draft: plan.Draft{Terms: plan.Terms{Name: "Tea", CustomerTag: "a,b"}, Options: []plan.Option{{
				Name: "W", Delivery: week, Billing: week, Kind: plan.PayAsYouGo, Exchange: true, Sequence: 9, Behavior: plan.Next, Specific: true, Day: 1,
				First: plan.Discount{Enabled: true, Offer: 12.5, Kind: plan.Percentage}, Trial: plan.Trial{Enabled: true, Interval: cadence.Day, Count: 7},
			}}}, Sold: plan.Assigned{Products: []int64{1, 2}, Variants: []int64{7}}},
		},
		"ids in every way that they are written": {
			`{"groupName":"Tea","productIds":[1,"2",{"id":"gid://shopify/Product/3"}],"variantIds":"gid://shopify/ProductVariant/4","updateProducts":{"productIds":"5"},
				"subscriptionPlans":[{"frequencyName":"W","frequencyCount":2,"frequencyInterval":"WEEK","billingFrequencyCount":4,"billingFrequencyInterval":"WEEK","prepaidFlag":"true","discountEnabled":false,"discountOffer":5}]}`,
			plan.CreateCommand{Draft: plan.Draft{Terms: plan.Terms{Name: "Tea"}, Options: []plan.Option{{
				Name: "W", Delivery: week, Billing: plan.Frequency{Interval: cadence.Week, Count: 4}, Kind: plan.Prepaid, Exchange: true, Sequence: 1,
				First: plan.Discount{Offer: 5, Kind: plan.Percentage},
			}}}, Sold: plan.Assigned{Products: []int64{1, 2, 3, 5}, Variants: []int64{4}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := servePlans(t, shop.Memberships)
			w := s.ask("POST", groupsPath, test.body)
			if w.Code != http.StatusCreated {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Line, test.want.Actor = shop.Memberships, f.created.Actor
			if diff := cmp.Diff(test.want, *f.created); diff != "" || f.created.Actor.By == "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpdateGroupBodyChangesNamedFields(t *testing.T) {
	t.Parallel()
	same := func(change ...func(d *plan.Draft)) plan.UpdateCommand {
		g := theGroup()
		d := g.Draft()
		for _, c := range change {
			c(&d)
		}
		return plan.UpdateCommand{Line: shop.Subscriptions, ID: 17, Version: 4, Draft: &d}
	}
	none, two := []int64(nil), []int64{1, 2}
	for name, test := range map[string]struct {
		body string
		want plan.UpdateCommand
	}{
		"nothing":                     {`{}`, same()},
		"the record as it was read":   {"", same(func(*plan.Draft) {})},
		"a name":                      {`{"groupName":"Other"}`, same(func(d *plan.Draft) { d.Name = "Other" })},
		"a text that is cleared":      {`{"customerTag":null,"rulesJson":""}`, same(func(d *plan.Draft) { d.CustomerTag, d.RulesJSON = "", "" })},
		"a plan's field, others stay": {`{"subscriptionPlans":[{"idNew":"6001","frequencyName":"Monthly"},{"id":"gid://shopify/SellingPlan/6002"}]}`, same(func(d *plan.Draft) { d.Options[0].Name = "Monthly" })},
		"a plan that is left out":     {`{"subscriptionPlans":[{"id":6001}]}`, same(func(d *plan.Draft) { d.Options = d.Options[:1] })},
		"a plan's frequency, both":    {`{"subscriptionPlans":[{"id":6001,"frequencyCount":2},{"id":6002}]}`, same(func(d *plan.Draft) { d.Options[0].Delivery.Count, d.Options[0].Billing.Count = 2, 2 })},
		"a plan that becomes prepaid": {`{"subscriptionPlans":[{"id":6001,"prepaidFlag":"true","billingFrequencyCount":6},{"id":6002}]}`, same(func(d *plan.Draft) { d.Options[0].Kind, d.Options[0].Billing.Count = plan.Prepaid, 6 })},
		"a plan that leaves its day":  {`{"subscriptionPlans":[{"id":6001},{"id":6002,"specificDayEnabled":false,"cutOff":null}]}`, same(func(d *plan.Draft) { d.Options[1].Specific, d.Options[1].Cutoff = false, 0 })},
		"a discount that ends":        {`{"subscriptionPlans":[{"id":6001,"discountEnabled":false},{"id":6002}]}`, same(func(d *plan.Draft) { d.Options[0].First.Enabled = false })},
		"products are replaced":       {`{"id":17,"productIds":"1,2"}`, func() plan.UpdateCommand { c := same(); c.Assign.Products = &two; return c }()},
		"with their counts": {`{"productIds":"1,2,5,1","productCount":3,"variantIds":null,"productVariantCount":0}`, func() plan.UpdateCommand {
			c := same()
			c.Assign.Products, c.Assign.Variants = &[]int64{1, 2, 5, 1}, &none
			return c
		}()},
		"variants are emptied": {`{"variantIds":null}`, func() plan.UpdateCommand { c := same(); c.Assign.Variants = &none; return c }()},
		"products are added and removed": {`{"updateProducts":{"productIds":"1,2"},"deleteProducts":{"variantIds":"4"}}`, func() plan.UpdateCommand {
			c := same()
			c.Assign.Add.Products, c.Assign.Remove.Variants = two, []int64{4}
			return c
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := servePlans(t, shop.Subscriptions, theGroup())
			if test.body == "" {
				test.body = s.ask("GET", groupsPath+"/17", "").Body.String()
				test.want.Assign.Products, test.want.Assign.Variants = &[]int64{3001, 3002}, &[]int64{4001}
			}
			w := s.ask("PUT", groupsPath+"/17", test.body)
			if w.Code != http.StatusOK {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Actor = f.updated.Actor
			if diff := cmp.Diff(test.want, *f.updated); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGroupWithInvalidFieldIsRefused(t *testing.T) {
	t.Parallel()
	plans := func(text string) string { return `{"subscriptionPlans":[{"id":6001},{"id":6002` + text + `}]}` }
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		field              string
	}{
		"no JSON":                         {"POST", "", `x`, 400, ""},
		"another store's":                 {"POST", "", `{"shop":"other.myshopify.com"}`, 400, "shop"},
		"ids that are none":               {"POST", "", `{"productIds":"1,x"}`, 400, ""},
		"a variant among the products":    {"PUT", "/17", `{"productIds":["gid://shopify/ProductVariant/1"]}`, 400, ""},
		"a product to add as a variant":   {"PUT", "/17", `{"updateProducts":{"variantIds":"gid://shopify/Product/1"}}`, 400, ""},
		"plans that are no list":          {"POST", "", `{"subscriptionPlans":{}}`, 400, "subscriptionPlans"},
		"a plan that is no object":        {"POST", "", `{"subscriptionPlans":[3]}`, 400, ""},
		"no plans":                        {"PUT", "/17", `{"subscriptionPlans":[]}`, 400, "subscriptionPlans"},
		"plans that are null":             {"PUT", "/17", `{"subscriptionPlans":null}`, 400, "subscriptionPlans"},
		"an interval that is none":        {"PUT", "/17", plans(`,"frequencyInterval":"DECADE"`), 400, "subscriptionPlans[1].frequencyInterval"},
		"a type of plan that is none":     {"PUT", "/17", plans(`,"planType":"LATER"`), 400, "subscriptionPlans[1].planType"},
		"a type of discount":              {"PUT", "/17", plans(`,"discountType":"ALL"`), 400, "subscriptionPlans[1].discountType"},
		"a count that is a text":          {"PUT", "/17", plans(`,"frequencyCount":"x"`), 400, ""},
		"a count beyond 32 bits":          {"PUT", "/17", plans(`,"maxCycles":4294967296`), 400, ""},
		"no interval between payments":    {"POST", "", `{"groupName":"T","subscriptionPlans":[{"frequencyName":"W","frequencyCount":2,"frequencyInterval":"WEEK","billingFrequencyCount":0}]}`, 400, "subscriptionPlans[0].billingFrequencyCount"},
		"nor between deliveries":          {"POST", "", `{"groupName":"T","subscriptionPlans":[{"frequencyName":"W","frequencyCount":0,"billingFrequencyInterval":"WEEK","billingFrequencyCount":2}]}`, 400, "subscriptionPlans[0].frequencyCount"},
		"two words for one thing":         {"PUT", "/17", plans(`,"planType":"PREPAID","prepaidFlag":"false"`), 400, "subscriptionPlans[1].prepaidFlag"},
		"two ids":                         {"PUT", "/17", plans(`,"idNew":"6001"`), 400, "subscriptionPlans[1].idNew"},
		"another object's id":             {"PUT", "/17", `{"subscriptionPlans":[{"id":"gid://shopify/Product/6001"}]}`, 400, "subscriptionPlans[0].id"},
		"a field that no group has":       {"PUT", "/17", `{"minimumOrderValue":5}`, 400, "minimumOrderValue"},
		"a field that no plan has":        {"PUT", "/17", plans(`,"setupFee":5`), 400, "subscriptionPlans[1].setupFee"},
		"a plan of another group":         {"PUT", "/17", plans(`,"groupId":18`), 400, "subscriptionPlans[1].groupId"},
		"an id that is not the path's":    {"PUT", "/17", `{"id":18}`, 400, "id"},
		"no id at all":                    {"PUT", "", `{}`, 400, "id"},
		"a count that the service counts": {"PUT", "/17", `{"productCount":7}`, 400, "productCount"},
		"a count of other products":       {"PUT", "/17", `{"productIds":"1,2,5","productCount":7}`, 400, "productCount"},
		"a group that is not there":       {"PUT", "/18", `{}`, 404, ""},
		"and a body that is wrong":        {"PUT", "/18", `{"productIds":"x"}`, 400, ""},
		"a number that is none":           {"GET", "/x", ``, 400, "id"},
		"nothing to add":                  {"PUT", "/17/add-products", ``, 400, "productIds"},
		"nothing to remove":               {"PUT", "/17/remove-products?deleteAllProductsAndVariants=false", ``, 400, "productIds"},
		"nothing to remove anywhere":      {"PUT", "/remove-products", ``, 400, "productIds"},
		"a comma after the last number":   {"PUT", "/17/remove-products?productIds=3001,", ``, 400, "productIds"},
		"a comma before the first number": {"PUT", "/17/remove-products?variantIds=,3001", ``, 400, "variantIds"},
		"a comma and no number":           {"PUT", "/17/remove-products?variantIds=,", ``, 400, "variantIds"},
		"a graph id where numbers are":    {"PUT", "/17/remove-products?productIds=gid://shopify/Product/1", ``, 400, "productIds"},
		"a collection that is none":       {"PUT", "/17/add-products?collectionId=x", ``, 400, "collectionId"},
		"a page that is too large":        {"GET", "?size=2001", ``, 400, "size"},
		"a sort that is none":             {"GET", "?sort=state", ``, 400, "sort"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := servePlans(t, shop.Subscriptions, theGroup())
			w := s.ask(test.method, groupsPath+test.path, test.body)
			p := webtest.Problem(t, w)
			if w.Code != test.status || test.field != "" && (p.Params == nil || *p.Params != test.field) {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
			if f.created != nil || f.updated != nil || f.left != nil {
				t.Error("the feature was asked all the same")
			}
		})
	}
	s, _ := servePlans(t, shop.Subscriptions)
	if w := s.ask("GET", base+"/subscription-contract-details/billing-interval", ""); !strings.Contains(w.Body.String(), "Required request parameter 'sellingPlanIds' for method parameter type String is not present") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestGroupProductQueryBecomesAssignment(t *testing.T) {
	t.Parallel()
	s, f := servePlans(t, shop.Subscriptions, theGroup())
	if w := s.ask("PUT", groupsPath+"/17/add-products?productIds=1,2&variantIds=3&collectionId=gid://shopify/Collection/4", ""); w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	want := plan.UpdateCommand{Line: shop.Subscriptions, ID: 17, Collection: 4, Assign: plan.Assignment{Add: plan.Assigned{Products: []int64{1, 2}, Variants: []int64{3}}}}
	want.Actor = f.updated.Actor
	if diff := cmp.Diff(want, *f.updated); diff != "" {
		t.Error(diff)
	}
	if w := s.ask("PUT", groupsPath+"/17/remove-products?productIds=1,2&collectionId=4", ""); w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	want.CollectionLeaves, want.Assign = true, plan.Assignment{Remove: plan.Assigned{Products: []int64{1, 2}}}
	if diff := cmp.Diff(want, *f.updated); diff != "" {
		t.Error(diff)
	}
	if w := s.ask("PUT", groupsPath+"/17/remove-products?deleteAllProductsAndVariants=true", ""); w.Code != 200 || !f.updated.Assign.RemoveAll {
		t.Errorf("%d %s %+v", w.Code, w.Body, f.updated)
	}
	w := s.ask("PUT", groupsPath+"/remove-products?deleteAllProductsAndVariants=true&variantIds=9", "")
	everywhere := plan.RemoveCommand{Line: shop.Subscriptions, All: true, Remove: plan.Assigned{Variants: []int64{9}}, Actor: f.left.Actor}
	if diff := cmp.Diff(everywhere, *f.left); w.Code != 200 || diff != "" || w.Header().Get("X-Total-Count") != "1" {
		t.Errorf("%d %s", w.Code, diff)
	}
	if w := s.ask("DELETE", groupsPath+"/17", ""); w.Code != http.StatusNoContent || w.Body.Len() != 0 || f.deleted.ID != 17 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.ask("PUT", groupsPath, fmt.Sprintf(`{"id":%d}`, 17)); w.Code != 200 || f.updated.ID != 17 || f.updated.Draft == nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
