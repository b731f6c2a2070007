package admin

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/record"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestContractObjectMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	c := theContract()
	c.PaymentMethod, c.Note, c.Attributes = "gid://shopify/CustomerPaymentMethod/1f", "ring twice", []contract.Attribute{{Key: "gift", Value: "yes"}}
	c.Billing.Anchors = []cadence.Anchor{{Kind: cadence.MonthDay, Day: 15, CutoffDay: 3}}
	line := contract.LineDetail{
		Discounted: usd(1890), Allocations: []contract.Allocation{{Discount: "gid://shopify/SubscriptionManualDiscount/d1", Amount: usd(210)}},
		Pricing: &contract.Pricing{Base: usd(1200), Cycles: []contract.CyclePrice{{After: 0, Kind: "PERCENTAGE", Percent: 12.5, Computed: usd(1050)}, {After: 3, Kind: "PRICE", Amount: usd(900), Computed: usd(900)}}},
	}
	line.Attributes = append(line.Attributes, struct{ Key, Value string }{"size", "L"})
	c.Discounts = []contract.Discount{
		{ID: "gid://shopify/SubscriptionManualDiscount/d1", Title: "Loyal", Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 1},
		{ID: "gid://shopify/SubscriptionAppliedCodeDiscount/d2", Title: "TEN", Code: "TEN", Amount: usd(1000), Lines: []string{"gid://shopify/SubscriptionLine/aa"}, RejectedWhy: "CURRENTLY_INACTIVE"},
	}
	d := contract.Detail{
		Contract: c, LineDetails: []contract.LineDetail{line},
		Method: contract.DeliveryMethod{Kind: record.MethodShipping, Code: "express", Title: "Express", Instructions: "at the door", Address: contract.Address{
			FirstName: "Ann", LastName: "Lee", Address1: "12 Main St", City: "Reno", Province: "Nevada", ProvinceCode: "NV", Country: "United States", CountryCode: "US", Zip: "89501",
		}},
		Instrument: contract.Instrument{
			Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", Masked: "•••• •••• •••• 4242", ExpiryMonth: 4, ExpiryYear: 2027, Name: "Ann Lee", RevokedAt: noon(), RevokedWhy: "MANUALLY_REVOKED",
		},
		Charges:     []contract.Charge{{ID: "gid://shopify/SubscriptionBillingAttempt/8", Key: "prn1-x", CreatedAt: noon(), CompletedAt: noon().Add(2 * time.Second)}},
		Fulfilments: []string{"gid://shopify/FulfillmentOrder/3"},
	}
	text, err := json.Marshal(record.NewContractObject(d))
	if err != nil {
		t.Fatal(err)
	}
	webtest.Golden(t, "contract-object.json", text)
}

// A contract that the platform was not asked about shows what is kept of it, and
// no list of it is null.
func TestStoredContractObjectMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(record.NewContractObject(contract.Detail{Contract: contract.Contract{
		ID: 43, Status: contract.Paused, Currency: "JPY", Billing: contract.Policy{Interval: cadence.Week, Count: 2}, Delivery: contract.Policy{Interval: cadence.Week, Count: 2},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	webtest.Golden(t, "contract-object-kept.json", text)
}
