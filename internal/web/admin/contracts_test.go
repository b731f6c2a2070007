package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestContractSearchQueryBecomesFilter(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		m, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return m.UTC()
	}
	for name, test := range map[string]struct {
		query string
		want  contract.Filter
	}{
		"without filters the whole line is wanted": {"", contract.Filter{}},
		"days are whole days of the store's zone": {"fromCreatedDate=2025-01-31&toCreatedDate=2025-01-31",
			contract.Filter{CreatedFrom: at("2025-01-31T05:00:00Z"), CreatedTo: at("2025-02-01T04:59:59.999Z")}},
		"instants are instants": {"fromUpdatedDate=2025-01-31T00:00:00Z&toUpdatedDate=2025-01-31T00:00Z",
			contract.Filter{UpdatedFrom: at("2025-01-31T00:00:00Z"), UpdatedTo: at("2025-01-31T00:00:00Z")}},
		"the next date is a range": {"fromNextDate=2025-03-09&toNextDate=2025-03-09",
			contract.Filter{NextFrom: at("2025-03-09T05:00:00Z"), NextTo: at("2025-03-10T03:59:59.999Z")}},
		"parts are passed on":                 {"subscriptionContractId=42&customerName=ann&orderName=%2310", contract.Filter{IDPart: "42", CustomerPart: "ann", OrderPart: "#10"}},
		"a contract may be named by graph id": {"subscriptionContractId=gid://shopify/SubscriptionContract/42", contract.Filter{IDPart: "42"}},
		"the status is read in any case":      {"status=Paused", contract.Filter{Status: contract.Paused}},
		"the billing interval is the delivery's": {"billingPolicyInterval=week&billingPolicyIntervalCount=2",
			contract.Filter{DeliveryInterval: new(cadence.Week), DeliveryCount: 2}},
		"prepaid":                        {"planType=prepaid", contract.Filter{Prepaid: new(true)}},
		"not prepaid":                    {"planType=NON-PREPAID", contract.Filter{Prepaid: new(false)}},
		"imported":                       {"recordType=imported", contract.Filter{Imported: new(true)}},
		"not imported":                   {"recordType=nonimported", contract.Filter{Imported: new(false)}},
		"ids of the lines":               {"productId=1&variantId=gid://shopify/ProductVariant/2&sellingPlanId=3", contract.Filter{ProductID: 1, VariantID: 2, SellingPlanID: 3}},
		"amounts are in thousandths":     {"minOrderAmount=0&maxOrderAmount=19.99", contract.Filter{MinAmount: new(int64(0)), MaxAmount: new(int64(19990))}},
		"the customer":                   {"customerId=gid://shopify/Customer/5&customerEmail=Ann@Example.com", contract.Filter{CustomerID: 5, CustomerEmail: "Ann@Example.com"}},
		"an empty parameter is absent":   {"status=&productId=&planType=&fromNextDate=&minOrderAmount=", contract.Filter{}},
		"a name may be percent-encoded":  {"st%61tus=paused", contract.Filter{Status: contract.Paused}},
		"unknown parameters are ignored": {"colour=red", contract.Filter{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{})
			w := s.ask("GET", searchPath+"?"+test.query, "")
			if w.Code != http.StatusOK {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Line = shop.Subscriptions
			if diff := cmp.Diff(test.want, s.filter); diff != "" || s.of != 7 {
				t.Errorf("filter of shop %d (-want +got):\n%s", s.of, diff)
			}
		})
	}
}

func TestContractSearchAcceptsBothSpellingsOfSort(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{"next_billing_date": "next_billing_date", "nextBillingDate": "next_billing_date", "orderAmount": "order_amount", "id": "id"} {
		s := serve(t, &fakes{})
		w := s.ask("GET", searchPath+"?size=2000&sort="+spelling+",desc", "")
		if diff := cmp.Diff(page.Request{Size: 2000, Sort: []page.Sort{{Field: want, Desc: true}}}, s.page); w.Code != 200 || diff != "" {
			t.Errorf("%s answered %d:\n%s", spelling, w.Code, diff)
		}
	}
}

func TestContractRowsMatchGoldenFile(t *testing.T) {
	t.Parallel()
	bare := contract.Contract{
		ID: 43, Line: shop.Subscriptions, Status: contract.Paused, Currency: "JPY", ImportedID: "old-1", Origin: contract.Imported,
		Billing: contract.Policy{Interval: cadence.Year, Count: 1}, Delivery: contract.Policy{Interval: cadence.Week, Count: 2},
		Lines:    []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/cc", Title: "Rice", Quantity: 1, Price: money.Amount{Minor: 500, Currency: "JPY"}}},
		Lifetime: money.Amount{Currency: "JPY"}, CreatedAt: noon(), UpdatedAt: noon(), PausedAt: noon(),
	}
	w := serve(t, &fakes{contracts: []contract.Contract{theContract(), bare}}).ask("GET", searchPath, "")
	webtest.Golden(t, "subscription-contract-details.json", w.Body.Bytes())

	// The two names differ only in case, which a struct's decoder does not tell apart.
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	for _, fields := range raw {
		var text string
		if err := json.Unmarshal(fields["contractDetailsJSON"], &text); err != nil {
			t.Fatal(err)
		}
		if text != string(fields["contractDetailsJson"]) {
			t.Errorf("the text %s and the list %s differ", text, fields["contractDetailsJson"])
		}
	}
}

// The interface's table of fields, with what was decided beyond it.
func TestContractRowHasEveryField(t *testing.T) {
	t.Parallel()
	want := []string{
		"shop", "id", "subscriptionContractId", "customerId", "orderId", "originalContractId", "graphSubscriptionContractId", "graphCustomerId", "graphOrderId",
		"billingPolicyInterval", "deliveryPolicyInterval", "billingPolicyIntervalCount", "deliveryPolicyIntervalCount", "minCycles", "maxCycles",
		"totalSuccessfulOrders", "upcomingEmailBufferDays", "pauseDurationCycle", "pendingCancellationCycle", "currencyCode", "customerName", "customerEmail",
		"customerFirstName", "customerLastName", "phone", "orderName", "importedId", "cancellationFeedback", "cancellationNote", "orderNote", "orderNoteAttributes",
		"deletedVariantIds", "upcomingEmailTaskUrl", "subscriptionTypeIdentifier", "lastSuccessfulOrder", "pauseReason", "pauseFeedback", "customerTag",
		"billingCountryCode", "deliveryCountryCode", "status", "createdAt", "updatedAt", "nextBillingDate", "endsAt", "startsAt", "activatedOn", "pausedOn",
		"cancelledOn", "billingDateAfterTrial", "pauseTillDate", "pendingCancellationDate", "queueUpdatedAt", "nextPaidBillingDate", "orderAmount", "orderAmountUSD",
		"contractAmount", "contractAmountUSD", "lifetimeValue", "lifetimeValueUSD", "orderAmountShopCurrency", "orderAmountContractCurrency",
		"subscriptionCreatedEmailSent", "autoCharge", "stopUpComingOrderEmail", "pausedFromActive", "skipPaymentCreateUnpaidOrder", "allowDeliveryPriceOverride",
		"disableFixEmptyQueue", "allowDeliveryAddressOverride", "emailBouncedOrFailed", "updatingQueue", "subscriptionCreatedEmailSentStatus",
		"subscriptionCreatedSmsSentStatus", "originType", "subscriptionType", "contractDetailsJSON",
		"contractDetailsJson", "totalPrice", "trialEndDate", "dunning", "dunningState",
	}
	w := serve(t, &fakes{contracts: []contract.Contract{theContract()}}).ask("GET", searchPath, "")
	sameFields(t, want, w.Body.Bytes())
}

// sameFields checks that the first element of a list has exactly the fields.
func sameFields(t *testing.T, want []string, list []byte) {
	t.Helper()
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(list, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%v\n%s", err, list)
	}
	for _, name := range want {
		if _, ok := rows[0][name]; !ok {
			t.Errorf("there is no %s", name)
		}
		delete(rows[0], name)
	}
	for name := range rows[0] {
		t.Errorf("unexpected field %s", name)
	}
}

func TestContractRowNamesItsBundle(t *testing.T) {
	t.Parallel()
	boxed := theContract()
	boxed.Lines[0].SellingPlanID = 6001
	box := bundle.Settings{ID: 12, Line: boxed.Line, Plans: []int64{6001}, Rules: bundle.Rules{Enabled: true, MinProducts: 3}}
	for _, row := range []struct {
		name  string
		boxes boxes
		want  string
	}{
		{"it is a box", boxes{box}, `"subscriptionType":"BUILD_A_BOX_CLASSIC","subscriptionTypeIdentifier":"12"`},
		{"it is none", nil, `"subscriptionType":"REGULAR_SUBSCRIPTION","subscriptionTypeIdentifier":null`},
	} {
		w := serve(t, &fakes{contracts: []contract.Contract{boxed}, boxes: row.boxes}).ask("GET", searchPath, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), row.want) {
			t.Errorf("%s: answered %d %s, want %s", row.name, w.Code, w.Body, row.want)
		}
	}
}
