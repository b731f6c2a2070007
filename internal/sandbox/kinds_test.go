package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// kindRow is a contract in a list of the interface.
type kindRow struct {
	SubscriptionContractID int64
	Status                 string
	SubscriptionType       string
	CurrencyCode           string
	BillingPolicyCount     int `json:"billingPolicyIntervalCount"`
	DeliveryPolicyCount    int `json:"deliveryPolicyIntervalCount"`
	MinCycles              *int
	PauseTillDate          *string
	TrialEndDate           *string
}

// shownKind is a contract of a kind as the service and the platform show it.
type shownKind struct {
	row      kindRow
	detail   string // the service's contract, as JSON
	platform simulator.Contract
	first    float64 // amount of the next order, 0: none
}

// remaining returns how many orders the contract's only discount at the platform is still for.
func (k shownKind) remaining() int {
	if len(k.platform.Discounts) != 1 {
		return 0
	}
	return k.platform.Discounts[0].Limit - k.platform.Discounts[0].Used
}

// The main store has a contract of each kind, by the service's interface and in the platform's books, beside
// the demo contracts, which are those of a store without the kinds.
func TestDemoStoreHasContractOfEachKind(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{MainOnly: true, Contracts: 2, Kinds: true})
	b.unlimit()
	ids := b.Manifest().Examples.Kinds
	for name, is := range map[string]func(k shownKind) bool{
		"percentageDiscount":     func(k shownKind) bool { return k.remaining() == 4 && k.says(`"percentage":15`, `"MANUAL"`) },
		"amountDiscount":         func(k shownKind) bool { return k.remaining() == 4 && k.says(`"3.50"`, `"appliesOnEachItem":false`) },
		"amountDiscountEachItem": func(k shownKind) bool { return k.remaining() == 4 && k.says(`"1.25"`, `"appliesOnEachItem":true`) },
		"codeDiscount":           func(k shownKind) bool { return k.remaining() == 3 && k.says(`"percentage":15`, `"CODE_DISCOUNT"`) },
		"freeShippingDiscount":   func(k shownKind) bool { return k.remaining() == 3 && k.says(`"SHIPPING_LINE"`) },
		"priceSteps":             func(k shownKind) bool { return k.says(`"afterCycle":0`, `"afterCycle":2`, `"13.49"`) },
		"dearerSwap":             func(k shownKind) bool { return k.platform.Lines[0].CurrentPrice == "8.10" && k.first == 13 },
		"cheaperSwap":            func(k shownKind) bool { return k.platform.Lines[0].CurrentPrice == "12.60" && k.first == 15.25 },
		"prepaidDiscount": func(k shownKind) bool {
			return k.remaining() == 4 && k.row.BillingPolicyCount == 3*k.row.DeliveryPolicyCount
		},
		"oneOff":        func(k shownKind) bool { return k.platform.Amount == "19.30" && k.first == 36.30 },
		"otherCurrency": func(k shownKind) bool { return k.row.CurrencyCode == "CAD" && k.platform.Currency == "CAD" },
		"pausedUntil": func(k shownKind) bool {
			return k.row.Status == "paused" && k.row.PauseTillDate != nil && k.platform.Status == "PAUSED"
		},
		"trial":      func(k shownKind) bool { return k.row.TrialEndDate != nil },
		"commitment": func(k shownKind) bool { return *k.row.MinCycles == 3 && k.platform.Billing.MinCycles == 3 },
		"membershipDiscount": func(k shownKind) bool {
			return k.remaining() == 4 && k.platform.Lines[0].SellingPlanID == demo.MembershipPlans()[0]
		},
		"boxSum": func(k shownKind) bool { return k.row.SubscriptionType == "BUILD_A_BOX_CLASSIC" && k.first == 108.40 },
		"boxFixedPrice": func(k shownKind) bool {
			return k.row.SubscriptionType == "BUILD_A_BOX_SINGLE_PRODUCT" && k.first == 83.90
		},
		"boxTiers": func(k shownKind) bool { return k.row.SubscriptionType == "BUILD_A_BOX_CLASSIC" && k.first == 100.64 },
		"boxFixedPriceTiers": func(k shownKind) bool {
			return k.row.SubscriptionType == "BUILD_A_BOX_SINGLE_PRODUCT" && k.first == 83.06
		},
	} {
		if ids[name] < 9003 {
			t.Errorf("%s is contract %d, want one after the demo contracts", name, ids[name])
		} else if k := b.shownKind(ids[name]); !is(k) {
			t.Errorf("%s is %+v", name, k)
		}
		delete(ids, name)
	}
	if len(ids) != 0 {
		t.Errorf("these kinds are not looked at: %v", ids)
	}
	if got := b.found(b.urls.Subscriptions, b.Manifest().APIKey, ""); !slices.Equal(got[:2], []int64{9001, 9002}) {
		t.Errorf("the demo contracts are %v", got[:2])
	}
}

// says reports whether the service's contract has all these texts.
func (k shownKind) says(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(k.detail, text) })
}

// shownKind reads a contract of the main store from the service and the platform.
func (b *bench) shownKind(id int64) shownKind {
	b.t.Helper()
	k := shownKind{platform: b.platformContract(id)}
	k.detail = b.api(id, fmt.Sprintf("/subscription-contracts/contract-external/%d", id))
	var rows []kindRow
	if err := json.Unmarshal([]byte(b.api(id, "/subscription-contract-details?size=100")), &rows); err != nil {
		b.t.Fatal(err)
	}
	if at := slices.IndexFunc(rows, func(r kindRow) bool { return r.SubscriptionContractID == id }); at >= 0 {
		k.row = rows[at]
	}
	if orders := b.topOrders(id); len(orders) > 0 {
		k.first = orders[0].OrderAmount
	}
	return k
}

// unlimit lets the test send as many requests as it wants.
func (b *bench) unlimit() {
	b.t.Helper()
	b.direct("POST", "/settings", `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	if b.second != nil {
		b.direct("POST", "/settings?instance=second", `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	}
}

func (b *bench) platformContract(id int64) simulator.Contract {
	b.t.Helper()
	c, err := b.sim.Contract(id)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// api returns what the service's interface answers on the side of the business that a contract is on.
func (b *bench) api(contract int64, path string) string {
	b.t.Helper()
	base := b.urls.Subscriptions
	if slices.Contains(demo.MembershipPlans(), b.platformContract(contract).Lines[0].SellingPlanID) {
		base = b.urls.Memberships
	}
	status, text := ask(b.t, http.MethodGet, base+"/api/external/v2"+path, b.Manifest().APIKey, "")
	if status != http.StatusOK {
		b.t.Fatalf("GET %s: %d %s", path, status, text)
	}
	return text
}
