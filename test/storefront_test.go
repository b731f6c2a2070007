package test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// What a product's page says of a plan is what the checkout and the renewals cost.
func TestStorefrontShowsWhatRenewalsCost(t *testing.T) {
	t.Parallel()
	percent := map[string]any{"discountEnabled": true, "discountOffer": 10, "discountType": "PERCENTAGE", "afterCycle1": 0}
	for name, row := range map[string]struct {
		option map[string]any
		page   string // what the plan is shown as; a piece costs $16.00
		paid   string // at the checkout
		orders []string
	}{
		"every month": {percent, "Monthly $14.40 per delivery Save $1.60 Today: $14.40 Every renewal: $14.40", "14.40", []string{"14.40", "14.40", "14.40"}},
		"prepaid": {
			map[string]any{
				"planType": "PREPAID", "frequencyCount": 1, "billingFrequencyCount": 3, "billingFrequencyInterval": "MONTH",
				"discountEnabled": true, "discountOffer": 15, "discountType": "PERCENTAGE", "afterCycle1": 0,
			},
			"Monthly $13.60 per delivery Save $2.40 Today: $40.80 for 3 deliveries Every renewal: $40.80 for 3 deliveries", "40.80", []string{"40.80"},
		},
		"a price that changes": {
			map[string]any{
				"discountEnabled": true, "discountOffer": 50, "discountType": "PERCENTAGE", "afterCycle1": 0,
				"discountEnabled2": true, "discountOffer2": 5, "discountType2": "PERCENTAGE", "afterCycle2": 2,
			},
			"Monthly $8.00 per delivery Save $0.80 Today: $8.00 From order 3 on: $15.20", "8.00", []string{"8.00", "15.20", "15.20"},
		},
		"a free first order": {
			map[string]any{
				"freeTrialEnabled": true, "freeTrialCount": 1, "freeTrialInterval": "MONTH",
				"discountEnabled": true, "discountOffer": 10, "discountType": "PERCENTAGE", "afterCycle1": 0,
			},
			"Monthly First order free Save $1.60 Today: nothing to pay From order 2 on: $14.40", "0.00", []string{"14.40", "14.40", "14.40"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			option := map[string]any{"frequencyName": "Monthly", "frequencyCount": 1, "frequencyInterval": "MONTH"}
			for k, v := range row.option {
				option[k] = v
			}
			var made group
			if got := s.send("POST", s.urls.Subscriptions+planGroups, s.key, map[string]any{
				"groupName": "Save", "productIds": `[{"id": 3001}]`, "subscriptionPlans": []any{option},
			}, &made); got != http.StatusCreated {
				t.Fatalf("making a group answered %d", got)
			}
			page := s.page("/products/house-blend-coffee")
			if !strings.Contains(page, row.page) {
				t.Errorf("the page shows\n%s\nwant\n%s", page, row.page)
			}
			plan := made.Plans[0].IDNew[strings.LastIndex(made.Plans[0].IDNew, "/")+1:]
			var bought struct{ ID int64 }
			if got := s.send("POST", fmt.Sprintf("%s/checkout?variant=4001&plan=%s&email=bo@shopper.example", s.urls.Storefront, plan), "", nil, &bought); got != http.StatusOK {
				t.Fatalf("the checkout answered %d", got)
			}
			s.id = bought.ID
			var is struct {
				Lines []struct{ CurrentPrice string }
			}
			s.call("GET", fmt.Sprintf("/platform/contracts/%d", s.id), nil, &is)
			if got := is.Lines[0].CurrentPrice; got != row.paid {
				t.Errorf("the checkout charged %s, want %s", got, row.paid)
			}
			s.until("2027-02-10")
			s.wantAmounts(row.orders...)
		})
	}
}

var markup = regexp.MustCompile(`<[^>]*>`)

// page returns the words of a page of the store's domain, in one line.
func (s *store) page(path string) string {
	s.t.Helper()
	answer, err := http.Get(s.urls.Storefront + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s answered %d, %v", path, answer.StatusCode, err)
	}
	return strings.Join(strings.Fields(markup.ReplaceAllString(string(text), " ")), " ")
}
