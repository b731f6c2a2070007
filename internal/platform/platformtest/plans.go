package platformtest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/platform"
)

// planning are the promises of platform.Plans.
var planning = []promise{
	{"a group is made with its plans and found again by number and by code", func(t *testing.T, w World) {
		made := group(t, w, platform.Assigned{}, plan("Monthly"), plan("Weekly"))
		if made.ID == 0 || len(made.Plans) != 2 || made.Plans[0].ID == 0 || made.Plans[0].Name != "Monthly" || made.Plans[1].Name != "Weekly" {
			t.Fatalf("made %+v", made)
		}
		got, err := w.Platform().PlanGroup(t.Context(), w.Shop(), made.ID)
		if diff := cmp.Diff(made, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		got, err = w.Platform().PlanGroupByCode(t.Context(), w.Shop(), code, w.Now().Add(-time.Minute))
		if diff := cmp.Diff(made, got); err != nil || diff != "" {
			t.Errorf("by code: %v\n%s", err, diff)
		}
	}},
	{"a group that does not exist is not found", func(t *testing.T, w World) {
		if _, err := w.Platform().PlanGroup(t.Context(), w.Shop(), 1); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		if _, err := w.Platform().PlanGroupByCode(t.Context(), w.Shop(), code, w.Now()); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("by code: got %v, want ErrNotFound", err)
		}
	}},
	{"a group whose answer was lost can be found by its code", func(t *testing.T, w World) {
		w.Break(AnswerLost, func() {
			_, err := w.Platform().CreatePlanGroup(t.Context(), w.Shop(), terms(), []platform.SellingPlan{plan("Monthly")}, platform.Assigned{})
			if !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		got, err := w.Platform().PlanGroupByCode(t.Context(), w.Shop(), code, w.Now().Add(-time.Minute))
		if err != nil || len(got.Plans) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	}},
	{"what is refused leaves nothing behind", func(t *testing.T, w World) {
		_, err := w.Platform().CreatePlanGroup(t.Context(), w.Shop(), terms(), []platform.SellingPlan{plan("Monthly")}, platform.Assigned{Products: []int64{1}})
		wantRefusal(t, err, "NOT_FOUND")
		unbalanced := plan("Uneven")
		unbalanced.Delivery.Count = 2
		_, err = w.Platform().CreatePlanGroup(t.Context(), w.Shop(), terms(), []platform.SellingPlan{unbalanced}, platform.Assigned{})
		wantRefusal(t, err, "SELLING_PLAN_BILLING_CYCLE_MUST_BE_A_MULTIPLE_OF_DELIVERY_CYCLE")
		if _, err := w.Platform().PlanGroupByCode(t.Context(), w.Shop(), code, w.Now().Add(-time.Minute)); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}},
	{"a group takes 31 plans and no more", func(t *testing.T, w World) {
		var plans []platform.SellingPlan
		for i := range 31 {
			plans = append(plans, plan("Plan "+string(rune('A'+i))))
		}
		if made := group(t, w, platform.Assigned{}, plans...); len(made.Plans) != 31 {
			t.Errorf("%d plans", len(made.Plans))
		}
		_, err := w.Platform().CreatePlanGroup(t.Context(), w.Shop(), terms(), append(plans, plan("One more")), platform.Assigned{})
		wantRefusal(t, err, "SELLING_PLAN_COUNT_UPPER_BOUND")
	}},
	{"plans are added, changed and removed together, and others stay", func(t *testing.T, w World) {
		made := group(t, w, platform.Assigned{}, plan("Monthly"), plan("Weekly"), plan("Daily"))
		renamed := plan("Every month")
		renamed.ID = made.Plans[0].ID
		name := "Renamed"
		fresh := plan("Yearly")
		fresh.Position = 9
		got, err := w.Platform().UpdatePlanGroup(t.Context(), w.Shop(), made.ID, platform.PlanGroupChange{
			Name: &name, Update: []platform.SellingPlan{renamed}, Create: []platform.SellingPlan{fresh}, Delete: []int64{made.Plans[2].ID},
		})
		if err != nil || got.Name != name || len(got.Plans) != 3 {
			t.Fatalf("got %+v, %v", got, err)
		}
		want := []platform.PlanRef{{ID: made.Plans[0].ID, Name: "Every month"}, made.Plans[1], {ID: got.Plans[2].ID, Name: "Yearly"}}
		if diff := cmp.Diff(want, got.Plans); diff != "" {
			t.Error(diff)
		}
	}},
	{"the last plan stays", func(t *testing.T, w World) {
		made := group(t, w, platform.Assigned{}, plan("Monthly"))
		_, err := w.Platform().UpdatePlanGroup(t.Context(), w.Shop(), made.ID, platform.PlanGroupChange{Delete: []int64{made.Plans[0].ID}})
		wantRefusal(t, err, "SELLING_PLAN_COUNT_LOWER_BOUND")
	}},
	{"removing a group twice is no error", func(t *testing.T, w World) {
		made := group(t, w, platform.Assigned{}, plan("Monthly"))
		for range 2 {
			if err := w.Platform().DeletePlanGroup(t.Context(), w.Shop(), made.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Platform().PlanGroup(t.Context(), w.Shop(), made.ID); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}},
	{"what is in a group can be added again, and what is not can be removed", func(t *testing.T, w World) {
		sold := onSale(t, w)
		made := group(t, w, sold, plan("Monthly"))
		p := w.Platform()
		for range 2 {
			if err := p.AssignToPlanGroup(t.Context(), w.Shop(), made.ID, sold); err != nil {
				t.Fatalf("add: %v", err)
			}
		}
		for range 2 {
			gone := platform.Assigned{Products: append([]int64{1}, sold.Products...), Variants: append([]int64{1}, sold.Variants...)}
			if err := p.RemoveFromPlanGroup(t.Context(), w.Shop(), made.ID, gone); err != nil {
				t.Fatalf("remove: %v", err)
			}
		}
		if err := p.AssignToPlanGroup(t.Context(), w.Shop(), made.ID, sold); err != nil {
			t.Fatalf("add again: %v", err)
		}
		wantRefusal(t, p.AssignToPlanGroup(t.Context(), w.Shop(), made.ID, platform.Assigned{Products: []int64{1}}), "NOT_FOUND")
	}},
	{"titles are read of what the store has", func(t *testing.T, w World) {
		sold := onSale(t, w)
		products, variants, err := w.Platform().Titles(t.Context(), w.Shop(), platform.Assigned{
			Products: append(sold.Products, 1), Variants: append(sold.Variants, 1),
		})
		if err != nil || len(products) != 1 || len(variants) != 1 || products[0].ID != sold.Products[0] || variants[0].ID != sold.Variants[0] ||
			products[0].Title == "" || variants[0].Title == "" {
			t.Errorf("got %+v, %+v, %v", products, variants, err)
		}
	}},
	{"products are found by the beginnings of words of their titles", func(t *testing.T, w World) {
		sold := onSale(t, w)
		titles, _, err := w.Platform().Titles(t.Context(), w.Shop(), platform.Assigned{Products: sold.Products})
		if err != nil || len(titles) == 0 {
			t.Fatalf("got %+v, %v", titles, err)
		}
		words := strings.Fields(titles[0].Title)
		for name, text := range map[string]string{
			"the whole title": titles[0].Title, "a word": words[len(words)-1], "the beginning of a word": words[0][:2], "in capitals": strings.ToUpper(words[0]),
			"with signs of the search syntax": `"` + words[0] + `":* (`,
		} {
			list, _, err := w.Platform().FindProducts(t.Context(), w.Shop(), text)
			if err != nil || !slices.ContainsFunc(list, func(p platform.Titled) bool { return p == titles[0] }) {
				t.Errorf("%s: got %+v, %v", name, list, err)
			}
		}
		if list, more, err := w.Platform().FindProducts(t.Context(), w.Shop(), words[0]+" zzz"); err != nil || len(list) != 0 || more {
			t.Errorf("got %+v, %t, %v", list, more, err)
		}
	}},
	{"a collection that the store does not have is not found", func(t *testing.T, w World) {
		if _, err := w.Platform().CollectionProducts(t.Context(), w.Shop(), 1, 10); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}},
}

const code = "app-17"

func terms() platform.PlanGroupTerms {
	return platform.PlanGroupTerms{Code: code, Name: "Subscribe", Options: []string{"Delivery"}}
}

// plan is monthly, with an anchor, and ten percent cheaper at first and a fifth
// cheaper later.
func plan(name string) platform.SellingPlan {
	month := platform.Policy{Interval: "MONTH", Count: 1, Anchors: []platform.Anchor{{Type: "MONTHDAY", Day: 15}}}
	return platform.SellingPlan{
		Name: name, Option: name, Billing: month, Delivery: month, Cutoff: 2, AwaitAnchor: true, Reserve: "ON_SALE",
		Prices: []platform.PlanPrice{{Kind: platform.PercentOff, Percent: 10}, {After: 3, Kind: platform.PercentOff, Percent: 20}},
	}
}

// group makes a group of plans, in that order.
func group(t *testing.T, w World, of platform.Assigned, plans ...platform.SellingPlan) platform.PlanGroup {
	t.Helper()
	for i := range plans {
		plans[i].Position = i + 1
	}
	made, err := w.Platform().CreatePlanGroup(t.Context(), w.Shop(), terms(), plans, of)
	if err != nil {
		t.Fatalf("make a group: %v", err)
	}
	return made
}

// onSale returns a product of the store and one of its variants.
func onSale(t *testing.T, w World) platform.Assigned {
	t.Helper()
	got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{w.Contract(Contract{Next: w.Now().Add(time.Hour)})})
	if err != nil || len(got) != 1 {
		t.Fatalf("read a contract: %+v, %v", got, err)
	}
	l := got[0].Lines[0]
	return platform.Assigned{Products: []int64{l.ProductID}, Variants: []int64{l.VariantID}}
}
