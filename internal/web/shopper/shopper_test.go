package shopper

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// What a shopper asks reaches the domain in the shopper's name, and for the store and
// the line that they are at.
func TestRequestsSendCommandsOfShopper(t *testing.T) {
	t.Parallel()
	member := amend.Command{Line: shop.Memberships, Contract: 9001, Actor: ada()}
	date := time.Date(2026, 3, 1, 13, 30, 0, 0, time.UTC) // 8:30 in Toronto
	for name, row := range map[string]struct {
		method, path, body string
		want               any
	}{
		"a skip": {"PUT", "/subscription-billing-attempts/skip-order/9?subscriptionContractId=9001&isPrepaid=false", "",
			command.Skip{Line: shop.Memberships, Attempt: 9, Contract: 9001, Prepaid: new(false), Actor: ada()}},
		"a skip taken back": {"PUT", "/subscription-billing-attempts/unskip-order/9", "", command.Skip{Line: shop.Memberships, Attempt: 9, Actor: ada()}},
		"an order now":      {"PUT", "/subscription-billing-attempts/attempt-billing/9", "", command.Trigger{Line: shop.Memberships, Attempt: 9, Actor: ada()}},
		"another day": {"PUT", "/subscription-billing-attempts", `{"id":9,"billingDate":"2026-03-01"}`,
			command.Edit{Line: shop.Memberships, Attempt: 9, BillingDate: &date, Actor: ada()}},
		"another note": {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":"Door"}`,
			command.Edit{Line: shop.Memberships, Attempt: 9, Note: new("Door"), Actor: ada()}},
		"no note": {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":null,"status":"scheduled"}`,
			command.Edit{Line: shop.Memberships, Attempt: 9, Note: new(""), Actor: ada()}},
		"a record as it was read": {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":"Ring twice","status":"QUEUED","billingDate":"2026-02-10T12:00:00Z","contractId":9001}`,
			command.Edit{Line: shop.Memberships, Attempt: 9, Actor: ada()}},
		"a quantity": {"PUT", "/subscription-contract-one-offs-update-quantity?contractId=9001&billingAttemptId=9&variantId=4001&quantity=3", "",
			command.OneOff{Line: shop.Memberships, Contract: 9001, Attempt: 9, Variant: 4001, Quantity: 3, Actor: ada()}},
		"a quantity in a body": {"PUT", "/subscription-contract-one-offs-update-quantity", `{"contractId":9001,"billingAttemptId":9,"variantId":"4001","quantity":3}`,
			command.OneOff{Line: shop.Memberships, Contract: 9001, Attempt: 9, Variant: 4001, Quantity: 3, Actor: ada()}},
		"a price":                    {"GET", "/data/variant-contextual-pricing?variantId=4001&contractId=9001", "", offer{member, 4001}},
		"a price without a contract": {"GET", "/data/variant-contextual-pricing?variantId=gid://shopify/ProductVariant/4001", "", offer{amend.Command{Line: shop.Memberships, Actor: ada()}, 4001}},
		"payment methods":            {"GET", "/subscription-contract-details/shopify/customer/payment-methods", "", int64(7001)},
		"another variant":            {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":9001,"oldLineId":"l","newVariantId":4002,"quantity":2}`, replaced{member, contractedit.Swap{OldLine: "l", New: []terms.NewLine{{Variant: 4002, Quantity: 2}}}}},
		"another variant, of one":    {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":9001,"oldLineId":"l","newVariantId":4002}`, replaced{member, contractedit.Swap{OldLine: "l", New: []terms.NewLine{{Variant: 4002, Quantity: 1}}}}},
		"another variant, in the query": {"POST", "/subscription-contract-details/replace-variants-v2?contractId=9001&oldLineId=l&newVariantId=4002&quantity=3", "",
			replaced{member, contractedit.Swap{OldLine: "l", New: []terms.NewLine{{Variant: 4002, Quantity: 3}}}}},
		"another variant, in both": {"POST", "/subscription-contract-details/replace-variants-v2?newVariantId=4003", `{"contractId":9001,"oldLineId":"l","newVariantId":4002}`,
			replaced{member, contractedit.Swap{OldLine: "l", New: []terms.NewLine{{Variant: 4003, Quantity: 1}}}}},
		"a thought of leaving": {"POST", "/customer-retention-activities", `{"contractId":9001,"retentionAction":"KEPT","cancellationReason":"r","discountApplied":"d","additionalInfo":"{}"}`,
			retention.Command{Line: shop.Memberships, Contract: 9001, Actor: ada(), Details: retention.Details{Action: "KEPT", Reason: "r", Discount: "d", Info: "{}"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{record: theRecord()})
			w := s.ask(row.method, row.path, row.body)
			if diff := cmp.Diff(row.want, s.command); diff != "" || w.Code != http.StatusOK || s.of != 7 {
				t.Errorf("answered %d %s for shop %d (-want +got):\n%s", w.Code, w.Body, s.of, diff)
			}
		})
	}
}

func TestListsAskOnlyForRecordsOfShopper(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]billing.Question{
		"/subscription-billing-attempts/top-orders":                  {Line: shop.Memberships, Customer: 7001, Upcoming: true},
		"/subscription-billing-attempts/past-orders?contractId=9001": {Line: shop.Memberships, Customer: 7001, Contract: 9001},
		"/subscription-billing-attempts/past-orders?customerId=1":    {Line: shop.Memberships, Customer: 7001},
	} {
		s := serve(t, &fakes{record: theRecord()})
		w := s.ask("GET", path, "")
		if diff := cmp.Diff(want, s.asked); diff != "" || w.Code != http.StatusOK || s.of != 7 {
			t.Errorf("%s answered %d (-want +got):\n%s", path, w.Code, diff)
		}
	}
	s := serve(t, &fakes{})
	if w := s.ask("GET", "/subscription-customers-detail/valid/gid:%2F%2Fshopify%2FCustomer%2F7001", ""); w.Code != http.StatusOK || s.filter.CustomerID != 7001 || s.filter.Line != shop.Memberships {
		t.Errorf("answered %d for %+v", w.Code, s.filter)
	}
	if w := s.ask("GET", "/subscriptions-contracts-freeze-status-detail?contractId=9002", ""); w.Code != http.StatusNotFound {
		t.Errorf("a contract that the shopper has not: %d", w.Code)
	}
}

// Links lead to the store's own domain, under the prefix that the store has chosen,
// and have nothing of what the platform added.
func TestPageLinksAreRelativeToStore(t *testing.T) {
	t.Parallel()
	w := serve(t, &fakes{record: theRecord()}).ask("GET", "/subscription-billing-attempts/top-orders?size=20&contractId=9001", "")
	want := `</a/club/cp/api/subscription-billing-attempts/top-orders?contractId=9001&page=0&size=20>; rel="first", </a/club/cp/api/subscription-billing-attempts/top-orders?contractId=9001&page=2&size=20>; rel="last", ` +
		`</a/club/cp/api/subscription-billing-attempts/top-orders?contractId=9001&page=1&size=20>; rel="next"`
	if got := w.Header().Get("Link"); got != want || w.Header().Get("X-Total-Count") != "41" {
		t.Errorf("link %s\nwant %s", got, want)
	}
}

func TestInvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method, path, body string
		key, param         string
	}{
		"another status":              {"PUT", "/subscription-billing-attempts", `{"id":9,"status":"SKIPPED"}`, "fieldReadOnly", "status"},
		"an unknown status":           {"PUT", "/subscription-billing-attempts", `{"id":9,"status":"LOST"}`, "invalid", "status"},
		"another amount":              {"PUT", "/subscription-billing-attempts", `{"id":9,"orderAmount":0.5}`, "fieldReadOnly", "orderAmount"},
		"no amount":                   {"PUT", "/subscription-billing-attempts", `{"id":9,"orderAmount":null}`, "fieldReadOnly", "orderAmount"},
		"another store":               {"PUT", "/subscription-billing-attempts", `{"id":9,"shop":"other.myshopify.com"}`, "fieldReadOnly", "shop"},
		"a mark":                      {"PUT", "/subscription-billing-attempts", `{"id":9,"applyUsageCharge":true}`, "fieldReadOnly", "applyUsageCharge"},
		"no date":                     {"PUT", "/subscription-billing-attempts", `{"id":9,"billingDate":null}`, "bodyField", "billingDate"},
		"a date that is none":         {"PUT", "/subscription-billing-attempts", `{"id":9,"billingDate":"soon"}`, "invalid", "billingDate"},
		"no order":                    {"PUT", "/subscription-billing-attempts", `{"orderNote":"x"}`, "bodyField", "id"},
		"no variant":                  {"GET", "/data/variant-contextual-pricing", "", "parameterMissing", "variantId"},
		"another currency":            {"GET", "/data/variant-contextual-pricing?variantId=4001&currencyCode=EUR", "", "currencyMismatch", "currencyCode"},
		"a product as a variant":      {"GET", "/data/variant-contextual-pricing?variantId=gid://shopify/Product/1", "", "invalid", "variantId"},
		"no contract":                 {"GET", "/subscriptions-contracts-freeze-status-detail", "", "parameterMissing", "contractId"},
		"a contract that is an order": {"GET", "/subscription-billing-attempts/top-orders?contractId=gid://shopify/Order/1", "", "invalid", "contractId"},
		"a page that is too large":    {"GET", "/subscription-billing-attempts/past-orders?size=2001", "", "pageTooLarge", "size"},
		"no action's contract":        {"POST", "/customer-retention-activities", `{"retentionAction":"KEPT"}`, "bodyField", "contractId"},
		"another store's action":      {"POST", "/customer-retention-activities", `{"shop":"other.myshopify.com","contractId":1,"retentionAction":"KEPT"}`, "shopMismatch", "shop"},
		"a swap for nothing":          {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":1,"oldLineId":"l"}`, "bodyField", "newVariantId"},
		"a swap of nothing":           {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":1,"newVariantId":1}`, "bodyField", "oldLineId"},
		"a quantity of none":          {"PUT", "/subscription-contract-one-offs-update-quantity?contractId=1&billingAttemptId=1&variantId=1&quantity=0", "", "invalid", "quantity"},
		"no quantity":                 {"PUT", "/subscription-contract-one-offs-update-quantity?contractId=1&billingAttemptId=1&variantId=1", "", "parameterMissing", "quantity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{record: theRecord()})
			w := s.ask(row.method, row.path, row.body)
			p := webtest.Problem(t, w)
			param := ""
			if p.Params != nil {
				param = *p.Params
			}
			if _, asked := s.command.(offer); w.Code != http.StatusBadRequest || p.ErrorKey != row.key || param != row.param || s.command != nil && !asked {
				t.Errorf("answered %d %s at %q: %s; did %+v", w.Code, p.ErrorKey, param, p.Detail, s.command)
			}
		})
	}
}

func TestPostedBodyMustBeJSON(t *testing.T) {
	t.Parallel()
	for media, want := range map[string]int{
		"application/json": http.StatusOK, "application/json; charset=utf-8": http.StatusOK, "Application/JSON": http.StatusOK,
		"text/plain": http.StatusUnsupportedMediaType, "application/x-www-form-urlencoded": http.StatusUnsupportedMediaType, "": http.StatusUnsupportedMediaType,
		"text/plain; application/json": http.StatusUnsupportedMediaType, "application/jsonp": http.StatusUnsupportedMediaType,
	} {
		s := serve(t, &fakes{})
		w := s.ask("POST", "/customer-retention-activities", `{"contractId":9001,"retentionAction":"KEPT"}`, "Content-Type", media)
		if w.Code != want || (s.command != nil) != (want == http.StatusOK) {
			t.Errorf("%q answered %d, did %+v", media, w.Code, s.command)
		}
	}
}

// One shopper's requests use up no other shopper's.
func TestRateLimitIsPerShopper(t *testing.T) {
	t.Parallel()
	var bucket access.Bucket
	f := &fakes{}
	o := options(f, shop.Subscriptions)
	o.Gate.Limits = webtest.Unlimited{Last: &bucket}
	s := &server{fakes: f, t: t, handler: New(o)}
	s.send("GET", Base(shop.Subscriptions)+"/logged-in-customer?signature=good", "")
	if want := access.ShopperBucket(demo(), 7001); bucket != want || bucket.Shop >= 0 || want == access.ShopperBucket(demo(), 7002) {
		t.Errorf("the bucket is %+v, want %+v", bucket, want)
	}
}

func TestAnswersMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{record: theRecord()})
	for file, path := range map[string]string{
		"variant-pricing.json": "/data/variant-contextual-pricing?variantId=4001", "payment-methods.json": "/subscription-contract-details/shopify/customer/payment-methods",
		"shop-info.json": "/shop-infos-by-current-login", "freeze-status.json": "/subscriptions-contracts-freeze-status-detail?contractId=9001",
	} {
		webtest.Golden(t, file, s.ask("GET", path, "").Body.Bytes())
	}
	webtest.Golden(t, "retention-activity.json", s.ask("POST", "/customer-retention-activities", `{"contractId":9001,"retentionAction":"KEPT"}`).Body.Bytes())
	if got := strings.TrimSpace(s.ask("GET", "/logged-in-customer", "").Body.String()); got != "7001" {
		t.Errorf("signed in is %s", got)
	}
}

// Every field that the interface names is there.
func TestStoreAndPaymentMethodsHaveEveryField(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	var info map[string]json.RawMessage
	var methods struct{ Nodes []map[string]json.RawMessage }
	for path, into := range map[string]any{"/shop-infos-by-current-login": &info, "/subscription-contract-details/shopify/customer/payment-methods": &methods} {
		if err := json.Unmarshal(s.ask("GET", path, "").Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	for _, field := range strings.Fields(`shop shopId ianaTimeZone localOrderHour localOrderMinute passwordEnabled allowLocalDelivery allowLocalPickup allowShipping enableChangeFromNextBillingDate
		useStorefrontAPI changeNextOrderDateOnBillingAttempt regenerateScheduleOnManualAttempt deliveryPartnerEnabled reviewsPartnerEnabled serviceLoyaltyIntegrated serviceBundleIntegrated`) {
		if _, ok := info[field]; !ok {
			t.Errorf("the store lacks %s", field)
		}
	}
	for _, field := range strings.Fields(`id instrument revokedAt revokedReason sellingPlanId sellingPlanName productId sku title variantId quantity variantTitle customAttributes lineDiscountedPrice
		currentPrice variantImage discountAllocations pricingPolicy taxable`) {
		if _, ok := methods.Nodes[0][field]; !ok {
			t.Errorf("the payment method lacks %s", field)
		}
	}
}

func TestDomainErrorsReachShopper(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{record: theRecord(), err: fault.New(fault.FailedPrecondition, "2 of 3 orders are completed: 1 more").Code("contractFrozen")})
	for _, path := range []string{"/skip-order/9", "/attempt-billing/9"} {
		w := s.ask("PUT", "/subscription-billing-attempts"+path, "")
		if p := webtest.Problem(t, w); w.Code != http.StatusBadRequest || p.ErrorKey != "contractFrozen" {
			t.Errorf("%s answered %d %s", path, w.Code, w.Body)
		}
	}
	if w := s.ask("PUT", "/subscription-billing-attempts", `{"id":10,"orderNote":"x"}`); w.Code != http.StatusNotFound {
		t.Errorf("an attempt that is not the shopper's answered %d", w.Code)
	}
	var p web.Problem
	if w := s.ask("GET", "/nothing", ""); w.Code != http.StatusNotFound || json.Unmarshal(w.Body.Bytes(), &p) != nil || p.ErrorKey != "pathNotFound" {
		t.Errorf("an unknown path answered %d %s", w.Code, w.Body)
	}
}
