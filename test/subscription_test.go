package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

const api = "/api/external/v2"

// attempt is what a story looks at in a billing attempt.
type attempt struct {
	ID              int64
	ContractID      int64 `json:"contractId"`
	Status          string
	BillingDate     time.Time `json:"billingDate"`
	AttemptCount    int       `json:"attemptCount"`
	OrderID         *int64    `json:"orderId"`
	OrderName       *string   `json:"orderName"`
	ResponseMessage *string   `json:"billingAttemptResponseMessage"`
	OrderNote       *string   `json:"orderNote"`
}

// row is what a story looks at in a contract.
type row struct {
	SubscriptionContractID int64 `json:"subscriptionContractId"`
	Status                 string
	NextBillingDate        *time.Time `json:"nextBillingDate"`
	Orders                 int        `json:"totalSuccessfulOrders"`
}

// subscription is one contract in an otherwise empty store, due in ten days.
type subscription struct {
	*store
	key string
	id  int64
	log int64 // the last entry of the store's own beginnings
}

// subscribe opens an empty store and lets one customer subscribe every month. No other store
// uses the service: each of its days would take as long, and nothing would happen in them.
func subscribe(t *testing.T, change map[string]any) *subscription {
	t.Helper()
	return subscribeIn(t, sandbox.Options{Empty: true, MainOnly: true}, change)
}

// subscribeChecked does the same where the store is compared with the platform every day, as in
// production: for stories in which something is lost on the way.
func subscribeChecked(t *testing.T, change map[string]any) *subscription {
	t.Helper()
	return subscribeIn(t, sandbox.Options{Empty: true, MainOnly: true, CheckEvery: everyDay}, change)
}

// subscribeBesideOthers does the same where the other demo stores use the service too.
func subscribeBesideOthers(t *testing.T, change map[string]any) *subscription {
	t.Helper()
	return subscribeIn(t, sandbox.Options{Empty: true}, change)
}

// subscribeIn does the same in a sandbox with options.
func subscribeIn(t *testing.T, o sandbox.Options, change map[string]any) *subscription {
	t.Helper()
	s := &subscription{store: open(t, o)}
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ APIKey string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	s.key = manifest.APIKey
	var before []struct{ ID int64 }
	s.get("/activity-logs?size=1&sort=id,desc", &before)
	if len(before) > 0 {
		s.log = before[0].ID
	}
	s.id = s.checkout(change)
	return s
}

// checkout makes a contract and returns its number.
func (s *subscription) checkout(change map[string]any) int64 {
	s.t.Helper()
	var variants []struct{ VariantID int64 }
	s.call("GET", "/platform/variants", nil, &variants)
	spec := map[string]any{
		"customer":        map[string]any{"email": "ana@shopper.example", "firstName": "Ana", "lastName": "Silva"},
		"currencyCode":    "USD",
		"nextBillingDate": s.now().AddDate(0, 0, 10),
		"billingPolicy":   map[string]any{"interval": "MONTH", "intervalCount": 1},
		"lines":           []any{map[string]any{"variantId": variants[0].VariantID, "quantity": 2, "currentPrice": "12.50"}},
		"paymentMethod":   "valid",
	}
	for k, v := range change {
		spec[k] = v
	}
	var made struct{ ID int64 }
	s.call("POST", "/platform/contracts", spec, &made)
	return made.ID
}

// get reads from the admin interface.
func (s *subscription) get(path string, out any) {
	s.t.Helper()
	if got := s.send("GET", s.urls.Subscriptions+api+path, s.key, nil, out); got != http.StatusOK {
		s.t.Fatalf("GET %s answered %d", path, got)
	}
}

// put changes something over the admin interface and returns the status.
func (s *subscription) put(path string, in, out any) int {
	s.t.Helper()
	return s.send("PUT", s.urls.Subscriptions+api+path, s.key, in, out)
}

func (s *subscription) upcoming() []attempt {
	s.t.Helper()
	var list []attempt
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &list)
	return list
}

func (s *subscription) past() []attempt {
	s.t.Helper()
	var list []attempt
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &list)
	return list
}

func (s *subscription) row() row {
	s.t.Helper()
	var list []row
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &list)
	if len(list) != 1 {
		s.t.Fatalf("%d contracts found by the number %d", len(list), s.id)
	}
	return list[0]
}

// wantEntries asserts the exact list of entries since the store was set up, oldest
// first, each as
// "source event status".
func (s *subscription) wantEntries(want ...string) {
	s.t.Helper()
	var list []struct{ EventSource, EventType, Status string }
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &list)
	var got []string
	for _, e := range list {
		if !beside(e.EventType) {
			got = append(got, e.EventSource+" "+e.EventType+" "+e.Status)
		}
	}
	if !slices.EqualFunc(got, want, func(is, wants string) bool { return slices.Contains(strings.Split(wants, or), is) }) {
		s.t.Errorf("entries:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

func lines(list []string) (text string) {
	for _, l := range list {
		text += "  " + l + "\n"
	}
	return text
}

// or stands between entries that are both right.
const or = " or "

const (
	created   = "SHOPIFY_EVENT CONTRACT_CREATED SUCCESS"
	charged   = "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED SUCCESS"
	declined  = "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED FAILURE"
	triggered = "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_TRIGGERED INFO"
	skipped   = "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_SKIPPED SUCCESS"
)
