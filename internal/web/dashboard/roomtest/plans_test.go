package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/plans"
)

const plansPath = dashboardtest.At + "/plans"

// plansShelf stands in for the domain.
type plansShelf struct {
	*dashboardtest.Site
	groups  []plan.Group
	created *plan.CreateCommand
	updated *plan.UpdateCommand
	deleted *plan.DeleteCommand
	err     error // of the next change
}

func openPlans(t *testing.T) *plansShelf {
	s := &plansShelf{}
	s.Site = dashboardtest.Open(t, func(site *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, plans.New(plans.Options{Book: s, Groups: s, Figures: s, Clock: site.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return s
}

func monthlyFrequency() plan.Frequency { return plan.Frequency{Interval: cadence.Month, Count: 1} }

// coffeeGroup is a group with two options.
func coffeeGroup() plan.Group {
	return plan.Group{
		ID: 17, PlatformID: 5001, Line: shop.Subscriptions, Terms: plan.Terms{Name: "Coffee", CustomerTag: "subscriber", RulesJSON: "[1]"}, State: plan.Synced, Version: 4,
		Options: []plan.Option{
			{ID: 6001, Name: "Every month", Kind: plan.PayAsYouGo, Billing: monthlyFrequency(), Delivery: monthlyFrequency(), Exchange: true, RulesJSON: "kept", Sequence: 1,
				First: plan.Discount{Enabled: true, Offer: 10, Kind: plan.Percentage}, Second: plan.Discount{Enabled: true, Offer: 15, Kind: plan.Percentage, After: 3}},
			{ID: 6002, Name: "Every 3 months", Kind: plan.PayAsYouGo, Billing: plan.Frequency{Interval: cadence.Month, Count: 3}, Delivery: plan.Frequency{Interval: cadence.Month, Count: 3}, Sequence: 2},
		},
		Products: []plan.Titled{{ID: 3001, Title: "House Blend"}}, Variants: []plan.Titled{{ID: 4001, Title: "Decaf - 250 g"}},
	}
}

func (s *plansShelf) PlanGroups(_ context.Context, of shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error) {
	var list []plan.Group
	for _, g := range s.groups {
		if g.Line == line && of == s.First.ID {
			list = append(list, g)
		}
	}
	total := len(list)
	from := min(p.Page*p.Size, total)
	return list[from:min(from+p.Size, total)], total, nil
}

func (s *plansShelf) PlanGroup(_ context.Context, of shop.ID, line shop.Line, id plan.ID) (plan.Group, error) {
	for _, g := range s.groups {
		if g.ID == id && g.Line == line && of == s.First.ID {
			return g, nil
		}
	}
	return plan.Group{}, plan.NotFound(id)
}

func (s *plansShelf) Create(_ context.Context, _ shop.ID, c plan.CreateCommand) (plan.Group, error) {
	c.Draft.Settle()
	if err := c.Draft.Validate(); err != nil {
		return plan.Group{}, err
	}
	if s.err != nil {
		return plan.Group{}, s.err
	}
	s.created = &c
	s.groups = append(s.groups, coffeeGroup())
	return coffeeGroup(), nil
}

func (s *plansShelf) Update(_ context.Context, _ shop.ID, c plan.UpdateCommand) (plan.Group, error) {
	if c.Draft != nil {
		c.Draft.Settle()
		if err := c.Draft.Validate(); err != nil {
			return plan.Group{}, err
		}
	}
	if s.err != nil {
		return plan.Group{}, s.err
	}
	s.updated = &c
	return coffeeGroup(), nil
}

func (s *plansShelf) Delete(_ context.Context, _ shop.ID, c plan.DeleteCommand) error {
	s.deleted = &c
	return s.err
}

func (s *plansShelf) FindProducts(_ context.Context, _ shop.ID, text string) ([]plan.Titled, bool, error) {
	if s.err != nil {
		return nil, false, s.err
	}
	if text != "" && text != "ear" {
		return nil, false, nil
	}
	return []plan.Titled{{ID: 3001, Title: "House Blend"}, {ID: 3009, Title: "<b>Earl Grey</b>{{7*7}}"}}, text == "", nil
}

func (s *plansShelf) ActiveByGroup(context.Context, shop.ID) (map[int64]int64, error) {
	return map[int64]int64{17: 1284}, nil
}

// optionForm returns the form of an option as a browser sends it, with changes as names and values.
func optionForm(change ...string) []string {
	form := map[string]string{
		"version": "4", "option": "Every month", "count": "1", "interval": "MONTH", "kind": "PAY_AS_YOU_GO", "billing-interval": "MONTH", "first": "on", "first-kind": "PERCENTAGE", "first-offer": "10",
		"second": "on", "second-kind": "PERCENTAGE", "second-offer": "15", "second-after": "3", "trial-interval": "DAY", "members": "all", "exchange": "on", "place": "1", "sample": "20",
	}
	for i := 0; i < len(change); i += 2 {
		form[change[i]] = change[i+1]
	}
	var fields []string
	for name, value := range form {
		if value != "" {
			fields = append(fields, name, value)
		}
	}
	return fields
}

func TestPlanGroupsAreListedWithTheirContracts(t *testing.T) {
	s := openPlans(t)
	s.Want(s.Get(plansPath), http.StatusOK, "No plan group yet", "Create plan group")
	g := coffeeGroup()
	g.Name = "<script>alert(1)</script>{{7*7}}"
	s.groups = []plan.Group{g}
	p := s.Get(plansPath)
	s.Want(p, http.StatusOK, "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", "Every month, Every 3 months", "1 product, 1 variant", "1284")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("the name of a group is markup")
	}
	s.Want(s.Get(plansPath+"?line=memberships"), http.StatusOK, "No plan group yet")
	for i := range 60 {
		g.ID, g.Name = plan.ID(100+i), fmt.Sprintf("Group %d", i)
		s.groups = append(s.groups, g)
	}
	p = s.Get(plansPath + "?page=2")
	s.Want(p, http.StatusOK, "<strong>26–50</strong> of <strong>61</strong>", `rel="prev"`, `rel="next"`)
}

func TestPlanGroupShowsWhatCustomersSee(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	p := s.Get(plansPath + "/17")
	s.Want(p, http.StatusOK, "1284 active contracts are on this group. They keep their price", "10 % off, then 15 % off from order 4", "18.00 EUR", "From order 4", "17.00 EUR", "House Blend", "Decaf - 250 g",
		`value="subscriber"`, "Delete plan group")
	s.groups[0].State, s.groups[0].DueAt = plan.Updating, s.Clock.Now().Add(time.Minute)
	s.Want(s.Get(plansPath+"/17"), http.StatusOK, "A change of this group is not confirmed by the platform.", "The platform is asked again at 25 Nov 2026, 12:01 UTC")
	s.Want(s.Get(plansPath+"/18"), http.StatusNotFound)
	s.Want(s.Get(plansPath+"/x"), http.StatusNotFound)
	s.Want(s.Get("/admin/stores/second/plans/17"), http.StatusNotFound)
	many := coffeeGroup()
	for i := range int64(5000) {
		many.Products = append(many.Products, plan.Titled{ID: 10000 + i, Title: "A product with a rather long name"})
	}
	s.groups = []plan.Group{many}
	if p := s.Get(plansPath + "/17"); len(p.Text) > 60<<10 {
		t.Errorf("a group with many products has %d bytes", len(p.Text))
	}
	s.Want(s.Get(plansPath+"/17?from=5000"), http.StatusOK, "Decaf - 250 g", "<strong>5001–5002</strong> of <strong>5002</strong>")
}

func TestOptionIsSavedWithWhatTheFormDoesNotHave(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	if p := s.Get(plansPath + "/17/options/6001"); p.Status != http.StatusOK || len(p.Text) > 60<<10 {
		t.Fatalf("%d, %d bytes", p.Status, len(p.Text))
	}
	s.Want(s.Post(plansPath+"/17/options/6001", optionForm()...), http.StatusOK, "The change was saved")
	want := coffeeGroup()
	if diff := cmp.Diff(want.Options, s.updated.Draft.Options); diff != "" || s.updated.Version != 4 || s.updated.Actor.By != dashboardtest.Owner {
		t.Errorf("an unchanged form changes the option: %s %+v", diff, s.updated)
	}
	s.Post(plansPath+"/17/options/new", optionForm("option", "Prepaid", "kind", "PREPAID", "billing-count", "3", "second", "", "specific", "on", "day", "15", "cutoff", "2", "behavior", "NEXT", "reserve", "ON_SALE",
		"trial", "on", "trial-count", "14", "keep", "on", "min", "2", "max", "6", "members", "members", "inclusive", "gold", "exclusive", "wholesale", "exchange", "", "place", "7")...)
	added := plan.Option{
		Name: "Prepaid", Kind: plan.Prepaid, Delivery: monthlyFrequency(), Billing: plan.Frequency{Interval: cadence.Month, Count: 3}, Specific: true, Day: 15, Cutoff: 2, Behavior: plan.Next, Reserve: plan.OnSale,
		First: plan.Discount{Enabled: true, Offer: 10, Kind: plan.Percentage}, Second: plan.Discount{Offer: 15, Kind: plan.Percentage, After: 3},
		Trial:     plan.Trial{Enabled: true, Interval: cadence.Day, Count: 14, KeepDate: true},
		MinCycles: 2, MaxCycles: 6, MemberOnly: true, InclusiveTags: "gold", ExclusiveTags: "wholesale", Sequence: 7,
	}
	if got := s.updated.Draft.Options; len(got) != 3 || cmp.Diff(added, got[2]) != "" {
		t.Errorf("added %s", cmp.Diff(added, got[len(got)-1]))
	}
}

func TestInvalidOptionIsSaidAtItsField(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	for _, row := range []struct {
		field, says string
		change      []string
	}{
		{"option", "Name of the option", []string{"option", ""}},
		{"option", "Two plans of the group have the name", []string{"option", "Every 3 months"}},
		{"count", "“Delivered every” is 400 and must be from 1 to 365", []string{"count", "400"}},
		{"count", "“Delivered every” is a whole number", []string{"count", "x"}},
		{"billing-count", "must be a multiple", []string{"kind", "PREPAID", "count", "2", "billing-count", "3"}},
		{"cutoff", "“Cut-off in days” needs a plan on a specific day", []string{"cutoff", "3"}},
		{"day", "“Day” is 40 and must be from 1 to 31", []string{"specific", "on", "day", "40"}},
		{"first-offer", "a percentage is at most 100", []string{"first-offer", "120"}},
		{"first-offer", "is a number, such as 10 or 2.50", []string{"first-offer", "much"}},
		{"second-after", "“Takes its place after orders”", []string{"second-after", ""}},
		{"second", "with a free trial there can be only one discount", []string{"trial", "on", "trial-count", "14"}},
		{"trial-count", "“Length of the trial” is 0", []string{"second", "", "trial", "on"}},
		{"max", "“Most orders” is 2 and must be more than “Least orders”, 4", []string{"min", "4", "max", "2"}},
	} {
		for _, do := range []string{"save", "preview"} {
			if do == "preview" && row.change[1] == "Every 3 months" {
				continue // the preview is of the option alone
			}
			p := s.Post(plansPath+"/17/options/6001", append(optionForm(row.change...), "do", do)...)
			s.Want(p, http.StatusUnprocessableEntity, `id="e-`+row.field+`"`, row.says)
		}
	}
	if s.updated != nil {
		t.Error("an invalid option was saved")
	}
	s.Want(s.Post(plansPath+"/17/options/6001", optionForm("version", "3")...), http.StatusUnprocessableEntity, "The plan group has changed since the page was opened")
	s.err = fault.New(fault.FailedPrecondition, "the platform refuses it: Plans must be unique")
	s.Want(s.Post(plansPath+"/17/options/6001", optionForm()...), http.StatusUnprocessableEntity, "The platform refuses it: Plans must be unique.")
	s.err = fault.New(fault.Unavailable, "the platform does not answer")
	s.Want(s.Post(plansPath+"/17/options/6001", optionForm()...), http.StatusUnprocessableEntity, "The platform does not answer.")
}

func TestPreviewSavesNothing(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	p := s.Post(plansPath+"/17/options/6001", optionForm("first-offer", "25", "sample", "40", "do", "preview")...)
	s.Want(p, http.StatusOK, "30.00 EUR", "40.00 EUR", "From order 4")
	part := s.Post(plansPath+"/preview", optionForm("first-offer", "25", "sample", "40")...)
	s.Want(part, http.StatusOK, "30.00 EUR")
	if strings.Contains(part.Text, "<html") {
		t.Error("the part is a whole page")
	}
	s.Want(s.Post(plansPath+"/preview", optionForm("count", "400")...), http.StatusOK, "Nothing to see yet.")
	if s.updated != nil {
		t.Error("a preview has saved the option")
	}
}

func TestGroupIsCreatedWithItsFirstOption(t *testing.T) {
	s := openPlans(t)
	s.Want(s.Get(plansPath+"/new?line=memberships"), http.StatusOK, `<option value="memberships" selected>`)
	p := s.Post(plansPath+"/new", optionForm("name", "Tea", "line", "memberships", "products", "3001, gid://shopify/Product/3002", "second", "")...)
	s.Want(p, http.StatusOK, "The plan group was made")
	if c := s.created; c.Line != shop.Memberships || c.Draft.Name != "Tea" || len(c.Sold.Products) != 2 || c.Sold.Products[1] != 3002 || c.Draft.Options[0].Name != "Every month" || c.Actor.By != dashboardtest.Owner {
		t.Errorf("created %+v", c)
	}
	s.Want(s.Post(plansPath+"/new", optionForm("name", "")...), http.StatusUnprocessableEntity, `id="e-name"`, "“Name” is required")
	s.Want(s.Post(plansPath+"/new", optionForm("name", "Tea", "products", "3001, tea")...), http.StatusUnprocessableEntity, `id="e-products"`)
	s.err = fault.New(fault.NotFound, "the store has no product 9").Field("productIds")
	s.Want(s.Post(plansPath+"/new", optionForm("name", "Tea", "products", "9")...), http.StatusUnprocessableEntity, `id="e-products"`, "The store has no product 9.")
}

func TestProductsAreSearchedAndAddedByTheirTitles(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	add := plansPath + "/17/products/add"
	s.Want(s.Get(add), http.StatusOK, `value="3001" checked disabled`, "in this group", `value="3009">`, "There are more", "&lt;b&gt;Earl Grey&lt;/b&gt;{{7*7}}")
	s.Want(s.Get(add+"?search=ear"), http.StatusOK, `value="ear"`, `value="3009">`)
	s.Want(s.Get(add+"?search=%3Cscript%3E"), http.StatusOK, "No product has words in its title that begin with &#34;&lt;script&gt;&#34;")
	s.Want(s.Post(add, "tick-products", "3009"), http.StatusOK, "The products are sold on the plans")
	if got := s.updated.Assign.Add.Products; len(got) != 1 || got[0] != 3009 {
		t.Errorf("added %v", got)
	}
	s.err = fault.New(fault.Unavailable, "the platform does not answer")
	s.Want(s.Get(add), http.StatusOK, "The platform does not answer at the moment.", `name="products"`)
	s.err = fault.New(fault.FailedPrecondition, "the store has no product 3009").Field("productIds")
	s.Want(s.Post(add, "tick-products", "3009"), http.StatusUnprocessableEntity, ">3009</textarea>", "The store has no product 3009.") // what was ticked is kept
}

func TestTermsProductsAndGroupsAreChanged(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	s.Want(s.Post(plansPath+"/17", "version", "4", "name", "Beans", "customer-tag", ""), http.StatusOK, "The change was saved")
	if d := s.updated.Draft; d.Name != "Beans" || d.CustomerTag != "" || d.RulesJSON != "[1]" || len(d.Options) != 2 {
		t.Errorf("changed to %+v", d)
	}
	s.Want(s.Post(plansPath+"/17", "version", "4", "name", ""), http.StatusUnprocessableEntity, `id="e-name"`)
	s.Want(s.Get(plansPath+"/17/products/remove?tick-products=3001&tick-variants=4001"), http.StatusOK, ">3001</textarea>", ">4001</textarea>")
	s.Want(s.Post(plansPath+"/17/products/remove", "all", "on"), http.StatusOK, "The products were taken out")
	if !s.updated.Assign.RemoveAll {
		t.Errorf("removed %+v", s.updated)
	}
	s.Want(s.Post(plansPath+"/17/products/remove", "collection", "gid://shopify/Collection/8"), http.StatusOK)
	if s.updated.Collection != 8 || !s.updated.CollectionLeaves {
		t.Errorf("removed %+v", s.updated)
	}
	s.Want(s.Post(plansPath+"/17/products/add", "products", "1 2", "variants", "3"), http.StatusOK, "The products are sold on the plans")
	if a := s.updated.Assign.Add; len(a.Products) != 2 || len(a.Variants) != 1 {
		t.Errorf("added %+v", a)
	}
	s.Want(s.Post(plansPath+"/17/products/add"), http.StatusUnprocessableEntity, `id="e-products"`)
	s.Want(s.Post(plansPath+"/17/products/add", "collection", "x"), http.StatusUnprocessableEntity, `id="e-collection"`)
	s.Want(s.Get(plansPath+"/17/options/6002/remove"), http.StatusOK, "Contracts on it go on as they are")
	s.Want(s.Post(plansPath+"/17/options/6002/remove", "version", "4"), http.StatusOK, "The option was removed")
	if got := s.updated.Draft.Options; len(got) != 1 || got[0].ID != 6001 {
		t.Errorf("left are %+v", got)
	}
	s.Want(s.Get(plansPath+"/17/delete"), http.StatusOK, "1284 active contracts on it")
	s.Want(s.Post(plansPath+"/17/delete", "version", "3"), http.StatusUnprocessableEntity, "has changed since the page was opened")
	s.Want(s.Post(plansPath+"/17/delete", "version", "4"), http.StatusOK, "The plan group was deleted.")
	if s.deleted == nil || s.deleted.ID != 17 {
		t.Errorf("deleted %+v", s.deleted)
	}
}

func TestOnlyStoreManagersChangePlans(t *testing.T) {
	s := openPlans(t)
	s.groups = []plan.Group{coffeeGroup()}
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	for _, path := range []string{"", "/17"} {
		p := s.Get(plansPath + path)
		s.Want(p, http.StatusOK, "Coffee")
		for _, offer := range []string{"Create plan group", "Save changes", "Add option", "Delete plan group", "Remove products"} {
			if strings.Contains(p.Text, offer) {
				t.Errorf("%s offers %q", path, offer)
			}
		}
	}
	for _, path := range []string{"/new", "/17/options/6001", "/17/delete", "/17/products/add"} {
		s.Want(s.Get(plansPath+path), http.StatusForbidden)
		s.Want(s.Post(plansPath+path), http.StatusForbidden)
	}
}
