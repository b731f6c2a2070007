package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

func TestLoyaltyCustomerIsFoundByEachName(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	if got := s.loyalty("POST", "/add-points", map[string]any{"customerEmail": "ana@shopper.example", "points": 1500, "note": "welcome"}, nil); got != http.StatusOK {
		t.Fatalf("adding points answered %d", got)
	}
	var ana points
	for range 2 {
		if got := s.loyalty("POST", "/redeem-points", map[string]any{"customerEmail": "ana@shopper.example", "pointRedeemRuleId": 1}, &ana); got != http.StatusOK {
			t.Fatalf("redeeming answered %d", got)
		}
	}
	used := ana.Rewards[0].ID
	if got := s.loyalty("PUT", "/update-discount-code-status", map[string]any{"id": used, "status": "USED"}, nil); got != http.StatusOK {
		t.Fatalf("using a code answered %d", got)
	}
	states := func(p points) string {
		var list []string
		for _, r := range p.Rewards {
			if list = append(list, r.Status); (r.ID == used) != (r.Status == "USED") {
				t.Errorf("reward %d is %s, and %d was used", r.ID, r.Status, used)
			}
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	for name, test := range map[string]struct {
		query string
		want  string // which rewards
		no    bool   // it is refused
	}{
		"the number":                     {"customerId=" + itoa(ana.CustomerID), "UNUSED USED", false},
		"the number, spelled otherwise":  {"customer_id=" + itoa(ana.CustomerID), "UNUSED USED", false},
		"the address":                    {"customerEmail=ANA@shopper.example", "UNUSED USED", false},
		"the address, spelled otherwise": {"customer_email=ana@shopper.example", "UNUSED USED", false},
		"the store as well":              {"shop=demo.myshopify.com&customerId=" + itoa(ana.CustomerID), "UNUSED USED", false},
		"used codes":                     {"status=used&customerId=" + itoa(ana.CustomerID), "USED", false},
		"codes to be used":               {"status=UNUSED&customerId=" + itoa(ana.CustomerID), "UNUSED", false},
		"codes that have ended":          {"status=EXPIRED&customerId=" + itoa(ana.CustomerID), "", false},
		"another store":                  {"shop=other.myshopify.com&customerId=" + itoa(ana.CustomerID), "", true},
		"two different numbers":          {"customer_id=1&customerId=" + itoa(ana.CustomerID), "", true},
		"no status":                      {"status=LOST&customerId=" + itoa(ana.CustomerID), "", true},
		"no customer":                    {"shop=demo.myshopify.com", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var got points
			status := s.loyalty("GET", "/customer-loyalty?"+test.query, nil, &got)
			if test.no {
				if status != http.StatusBadRequest {
					t.Errorf("answered %d %+v, want 400", status, got)
				}
				return
			}
			if status != http.StatusOK || got.CustomerID != ana.CustomerID || states(got) != test.want {
				t.Errorf("answered %d with %q of customer %d, want %q", status, states(got), got.CustomerID, test.want)
			}
		})
	}
}

func TestTopCustomersArePagedAndSorted(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 30})
	m.hurry()
	type top struct {
		CustomerID          int64
		FirstName, LastName string
		PointsEarned        float64
		ActivitiesCompleted int64
	}
	const path = "/api/external/top-customers"
	var all []top
	if total := m.page(path, queryOf("size", "100"), &all); total != len(all) || len(all) < 10 {
		t.Fatalf("%d top customers in one page, of %d", len(all), total)
	}
	for i, c := range all[1:] {
		if c.PointsEarned > all[i].PointsEarned {
			t.Errorf("%+v comes after %+v: want those first who earned most", c, all[i])
		}
	}
	sorts := map[string]func(a, b top) bool{ // whether b may follow a
		"pointsEarned,desc":        func(a, b top) bool { return a.PointsEarned >= b.PointsEarned },
		"pointsEarned,asc":         func(a, b top) bool { return a.PointsEarned <= b.PointsEarned },
		"customerId,desc":          func(a, b top) bool { return a.CustomerID > b.CustomerID },
		"lastName":                 func(a, b top) bool { return a.LastName <= b.LastName },
		"activitiesCompleted,desc": func(a, b top) bool { return a.ActivitiesCompleted >= b.ActivitiesCompleted },
	}
	for sort, follows := range sorts {
		seen := map[int64]bool{}
		var last top
		for page := 0; ; page++ {
			var rows []top
			if total := m.page(path, queryOf("sort", sort, "size", "4", "page", fmt.Sprint(page)), &rows); total != len(all) || len(rows) > 4 {
				t.Errorf("sorted by %s, page %d has %d of %d, want 4 of %d", sort, page, len(rows), total, len(all))
			}
			if len(rows) == 0 {
				break
			}
			for _, c := range rows {
				if seen[c.CustomerID] || len(seen) > 0 && !follows(last, c) {
					t.Errorf("sorted by %s, %+v comes after %+v", sort, c, last)
				}
				seen[c.CustomerID], last = true, c
			}
		}
		if len(seen) != len(all) {
			t.Errorf("sorted by %s, the pages hold %d of %d", sort, len(seen), len(all))
		}
	}
}
