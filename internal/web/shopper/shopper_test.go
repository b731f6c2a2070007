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
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/portal"
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
	day := time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC)    // begins in Toronto
	nine, one := portal.OrderRef{Attempt: 9}, portal.ContractRef{ID: 9001}
	seen := portal.ContractRef{ID: 9001, Version: 7}
	once := portal.OneTime{ContractRef: one, Attempt: 9, Variant: 4001, Quantity: 3}
	for name, row := range map[string]struct {
		method, path, body string
		want               any
	}{
		"a skip": {"PUT", "/subscription-billing-attempts/skip-order/9?subscriptionContractId=9001&isPrepaid=false", "",
			act{"skip", portal.OrderRef{Attempt: 9, Contract: 9001, Prepaid: new(false)}, nil}},
		"a skip of what was seen":          {"PUT", "/subscription-billing-attempts/skip-order/9?version=7", "", act{"skip", portal.OrderRef{Attempt: 9, Version: 7}, nil}},
		"a skip of the next one":           {"PUT", "/subscription-billing-attempts/skip-upcoming-order?subscriptionContractId=9001&version=7", "", act{"skip next", seen, nil}},
		"an order that keeps its products": {"PUT", "/subscription-billing-attempts/keep-products/9", "", act{"keep", nine, nil}},
		"a skip taken back":                {"PUT", "/subscription-billing-attempts/unskip-order/9", "", act{"unskip", nine, nil}},
		"an order now":                     {"PUT", "/subscription-billing-attempts/attempt-billing/9", "", act{"order now", nine, nil}},
		"a payment again":                  {"PUT", "/subscription-billing-attempts/retry-payment/9", "", act{"retry", nine, nil}},
		"a move":                           {"PUT", "/subscription-billing-attempts/reschedule/9?billingDate=2026-03-01", "", act{"reschedule", nine, move{date, false}}},
		"a move of all":                    {"PUT", "/subscription-billing-attempts/reschedule/9?billingDate=2026-03-01&rescheduleFutureOrder=true", "", act{"reschedule", nine, move{date, true}}},
		"another day":                      {"PUT", "/subscription-billing-attempts", `{"id":9,"billingDate":"2026-03-01"}`, act{"edit", nine, portal.OrderEdit{Date: &date}}},
		"another note":                     {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":"Door"}`, act{"edit", nine, portal.OrderEdit{Note: new("Door")}}},
		"no note":                          {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":null,"status":"scheduled"}`, act{"edit", nine, portal.OrderEdit{Note: new("")}}},
		"a record as it was read": {"PUT", "/subscription-billing-attempts", `{"id":9,"orderNote":"Ring twice","status":"QUEUED","billingDate":"2026-02-10T12:00:00Z","contractId":9001}`,
			act{"edit", nine, portal.OrderEdit{}}},
		"a quantity": {"PUT", "/subscription-contract-one-offs-update-quantity?contractId=9001&billingAttemptId=9&variantId=4001&quantity=3", "", act{"update once", once, nil}},
		"a quantity in a body": {"PUT", "/subscription-contract-one-offs-update-quantity", `{"contractId":9001,"billingAttemptId":9,"variantId":"4001","quantity":3}`,
			act{"update once", once, nil}},
		"a one-time product": {"PUT", "/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=9001&billingAttemptId=9&variantId=4001&quantity=3", "",
			act{"add once", once, nil}},
		"no one-time product": {"DELETE", "/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=9001&billingAttemptId=9&variantId=4001", "",
			act{"remove once", portal.OneTime{ContractRef: one, Attempt: 9, Variant: 4001, Quantity: 1}, nil}},
		"a price":                    {"GET", "/data/variant-contextual-pricing?variantId=4001&contractId=9001", "", offer{member, 4001}},
		"a price without a contract": {"GET", "/data/variant-contextual-pricing?variantId=gid://shopify/ProductVariant/4001", "", offer{amend.Command{Line: shop.Memberships, Actor: ada()}, 4001}},
		"payment methods":            {"GET", "/subscription-contract-details/shopify/customer/payment-methods", "", act{"payment methods", nil, nil}},
		"another variant": {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":9001,"oldLineId":"l","newVariantId":4002,"quantity":2}`,
			act{"change line", one, portal.LineEdit{Line: "l", Variant: new(int64(4002)), Quantity: new(2)}}},
		"another variant, of one": {"POST", "/subscription-contract-details/replace-variants-v2", `{"contractId":9001,"oldLineId":"l","newVariantId":4002}`,
			act{"change line", one, portal.LineEdit{Line: "l", Variant: new(int64(4002)), Quantity: new(1)}}},
		"another variant, in the query": {"POST", "/subscription-contract-details/replace-variants-v2?contractId=9001&oldLineId=l&newVariantId=4002&quantity=3&version=7", "",
			act{"change line", seen, portal.LineEdit{Line: "l", Variant: new(int64(4002)), Quantity: new(3)}}},
		"another variant, in both": {"POST", "/subscription-contract-details/replace-variants-v2?newVariantId=4003", `{"contractId":9001,"oldLineId":"l","newVariantId":4002}`,
			act{"change line", one, portal.LineEdit{Line: "l", Variant: new(int64(4003)), Quantity: new(1)}}},
		"a pause": {"PUT", "/subscription-contracts-update-status?contractId=9001&status=paused&pauseTillDate=2026-03-01&pauseReason=r&pauseFeedback=f", "",
			act{"pause", one, portal.PauseParams{Until: day, Reason: "r", Feedback: "f"}}},
		"a pause of orders":      {"PUT", "/subscription-contracts-update-status?contractId=9001&status=PAUSED&pauseDurationCycle=2&version=7", "", act{"pause", seen, portal.PauseParams{Cycles: 2}}},
		"an end of a pause":      {"PUT", "/subscription-contracts-update-status?contractId=9001&status=ACTIVE", "", act{"resume", one, time.Time{}}},
		"an end of a pause then": {"PUT", "/subscription-contracts-update-status?contractId=9001&status=ACTIVE&activationDate=2026-03-01", "", act{"resume", one, day}},
		"an end by status":       {"PUT", "/subscription-contracts-update-status?contractId=9001&status=CANCELLED&cancellationFeedback=f", "", act{"cancel", one, "f"}},
		"an end":                 {"DELETE", "/subscription-contracts/9001?cancellationFeedback=f&version=7", "", act{"cancel", seen, "f"}},
		"another line":           {"POST", "/contracts/9001/lines?version=7", `{"variantId":"4002","quantity":2}`, act{"add", seen, portal.NewProduct{Variant: 4002, Quantity: 2}}},
		"a line's change":        {"PUT", "/contracts/9001/lines/l", `{"variantId":4002,"quantity":2}`, act{"change line", one, portal.LineEdit{Line: "l", Variant: new(int64(4002)), Quantity: new(2)}}},
		"a line by its graph id": {"PUT", "/contracts/9001/lines/gid:%2F%2Fshopify%2FSubscriptionLine%2F12", `{"quantity":2}`, act{"change line", one, portal.LineEdit{Line: "gid://shopify/SubscriptionLine/12", Quantity: new(2)}}},
		"a box":                  {"PUT", "/contracts/9001/box?version=7", `{"products":[{"variantId":4002,"quantity":2},{"variantId":"4003","quantity":1}]}`, act{"fill box", seen, []contractedit.BoxItem{{Variant: 4002, Quantity: 2}, {Variant: 4003, Quantity: 1}}}},
		"no line":                {"DELETE", "/contracts/9001/lines/l", "", act{"remove", one, "l"}},
		"another frequency":      {"PUT", "/contracts/9001/frequency", `{"sellingPlanId":6101}`, act{"frequency", one, int64(6101)}},
		"another address":        {"PUT", "/contracts/9001/shipping-address", `{"address1":"12 Mill Lane","city":"Ottawa","countryCode":"CA"}`, act{"address", one, "Ottawa"}},
		"another card":           {"PUT", "/contracts/9001/payment-method", `{"paymentMethodId":"ab"}`, act{"payment", one, "gid://shopify/CustomerPaymentMethod/ab"}},
		"a code":                 {"POST", "/contracts/9001/discount", `{"discountCode":"TEN"}`, act{"discount", one, "TEN"}},
		"no code":                {"DELETE", "/contracts/9001/discount?discountId=d", "", act{"no discount", one, "d"}},
		"preferences": {"PUT", "/preferences", `{"language":"pt-BR","emails":{"order_skipped":false,"upcoming_order":true},"version":2}`,
			act{"preferences", nil, portal.Preferences{Customer: 7001, Language: "pt-BR", Off: []notify.Kind{notify.OrderSkipped}, Version: 2}}},
		"an agreement to SMS": {"PUT", "/preferences", `{"sms":{"agreed":true,"phone":"+1 613 555 0101"}}`, optin.Wish{Phone: "+1 613 555 0101", Agreed: true, Actor: ada()}},
		"the end of one":      {"PUT", "/preferences", `{"sms":{"agreed":false}}`, optin.Wish{Actor: ada()}},
		"a reward":            {"POST", "/loyalty/redeem", `{"pointRedeemRuleId":1}`, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: 7001}, Rule: 1, Actor: ada()}},
		"taking part":         {"POST", "/loyalty/join", "", loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: 7001}, Actor: ada()}},
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
		"an agreement without number": {"PUT", "/preferences", `{"sms":{"agreed":true}}`, "phoneInvalid", "phone"},
		"one to what is no number":    {"PUT", "/preferences", `{"sms":{"agreed":true,"phone":"0613 555 0101"}}`, "phoneInvalid", "phone"},
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

// Operations that answer another status than 200 reach the domain too.
func TestRequestsWithOtherAnswersReachDomain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method, path, body string
		status             int
		want               any
	}{
		"a restart":           {"POST", "/contracts/9001/restart", `{"nextBillingDate":"2026-03-01"}`, 201, act{"restart", portal.ContractRef{ID: 9001}, time.Date(2026, 3, 1, 13, 30, 0, 0, time.UTC)}},
		"a link for the card": {"POST", "/contracts/9001/payment-method/send-update-link", "", 204, act{"payment link", portal.ContractRef{ID: 9001}, nil}},
		"a link to sign in":   {"POST", "/magic-link", `{"email":" ada@shopper.example "}`, 204, askedLink{"ada@shopper.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{record: theRecord()})
			w := s.ask(row.method, row.path, row.body)
			if diff := cmp.Diff(row.want, s.command); diff != "" || w.Code != row.status {
				t.Errorf("answered %d %s (-want +got):\n%s", w.Code, w.Body, diff)
			}
		})
	}
}

// A change without a body needs no type, unless a page of another site sends it; a body must be JSON.
func TestChangesOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	const skip = "/subscription-billing-attempts/skip-order/9"
	for name, row := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		key                string
	}{
		"a program":                     {"PUT", skip, "", nil, 200, ""},
		"the store's page":              {"PUT", skip, "", []string{"Sec-Fetch-Site", "same-origin", "Origin", "https://demo.myshopify.com"}, 200, ""},
		"an old browser at the store":   {"PUT", skip, "", []string{"Origin", "https://demo.myshopify.com"}, 200, ""},
		"an old browser behind a proxy": {"PUT", skip, "", []string{"Origin", "https://shop.example", "X-Forwarded-Host", "shop.example"}, 200, ""},
		"another site":                  {"PUT", skip, "", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403, "crossOrigin"},
		"another site's old browser":    {"PUT", skip, "", []string{"Origin", "https://evil.example"}, 403, "crossOrigin"},
		"a sister site":                 {"DELETE", "/subscription-contracts/9001", "", []string{"Sec-Fetch-Site", "same-site", "Origin", "https://blog.demo.example"}, 403, "crossOrigin"},
		"a page of no origin":           {"PUT", skip, "", []string{"Origin", "null"}, 403, "crossOrigin"},
		"a form":                        {"POST", "/contracts/9001/payment-method/send-update-link", "", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "contentType"},
		"a text":                        {"PUT", "/contracts/9001/frequency", `{"sellingPlanId":6101}`, []string{"Content-Type", "text/plain"}, 415, "contentType"},
		"a body without a type":         {"PUT", "/contracts/9001/frequency", `{"sellingPlanId":6101}`, nil, 415, "contentType"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{record: theRecord()})
			w := s.ask(row.method, row.path, row.body, append([]string{"Content-Type", ""}, row.headers...)...)
			if w.Code != row.status || (s.command != nil) != (row.status == 200) {
				t.Fatalf("answered %d %s, did %+v", w.Code, w.Body, s.command)
			}
			if row.key != "" && webtest.Problem(t, w).ErrorKey != row.key {
				t.Errorf("answered %s", w.Body)
			}
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("the answer has %s", name)
				}
			}
		})
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
		"contract.json": "/contracts/9001", "box.json": "/contracts/9001/box", "frequencies.json": "/contracts/9001/frequencies", "products.json": "/contracts/9001/products?lineId=1&search=decaf&page=1",
		"one-time-products.json": "/contracts/9001/one-time-products", "portal-settings.json": "/customer-portal-settings/1", "preferences.json": "/preferences",
		"membership.json": "/membership/status", "loyalty.json": "/loyalty", "one-offs.json": "/upcoming-subscription-contract-one-offs-by-contractId?contractId=9001",
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
