package sandbox

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func TestWrongControlCalls(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	before := b.orders("")
	for _, row := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"time needs a distance", "POST", "/clock", `{}`, 400},
		{"and only once", "POST", "/clock", `{"advance":"P1D","to":"2027-01-01T00:00:00Z"}`, 400},
		{"a clock without a body", "POST", "/clock", ``, 400},
		{"no JSON", "POST", "/clock", `{`, 400},
		{"no duration", "POST", "/clock", `{"advance":"a while"}`, 400},
		{"a number is no duration", "POST", "/clock", `{"advance":5}`, 400},
		{"time never goes back", "POST", "/clock", `{"to":"2026-10-31T00:00:00Z"}`, 400},
		{"no instant", "POST", "/clock", `{"to":"tomorrow"}`, 400},
		{"not for ever", "POST", "/clock", `{"advance":"P21Y"}`, 400},
		{"an unknown path", "GET", "/time", ``, 404},
		{"a known path and another method", "PUT", "/clock", `{}`, 405},
		{"a body that is too large", "POST", "/clock", `{"advance":"` + strings.Repeat("P", 1<<20) + `"}`, 413},
		{"orders of a contract that does not exist", "GET", "/platform/orders?contractId=1", ``, 404},
		{"orders of no number", "GET", "/platform/orders?contractId=x", ``, 400},
		{"orders since some day", "GET", "/platform/orders?since=x", ``, 400},
		{"a contract that does not exist", "GET", "/platform/contracts/1", ``, 404},
		{"a contract without a number", "GET", "/platform/contracts/x", ``, 400},
		{"a number beyond all", "GET", "/platform/contracts/99999999999999999999", ``, 400},
		{"cycles of no contract", "GET", "/platform/cycles", ``, 400},
		{"cycles of a contract that does not exist", "GET", "/platform/cycles?contractId=1", ``, 404},
		{"variants of an unknown store", "GET", "/platform/variants?shop=x.myshopify.com", ``, 404},
		{"an outcome for no contract", "POST", "/platform/outcomes", `{"code":"SUCCESS"}`, 400},
		{"an outcome for a contract that does not exist", "POST", "/platform/outcomes", `{"contractId":1,"code":"SUCCESS"}`, 404},
		{"an unknown outcome", "POST", "/platform/outcomes", `{"contractId":9001,"code":"MAYBE"}`, 400},
		{"an outcome of a cycle before the first", "POST", "/platform/outcomes", `{"contractId":9001,"cycles":[0],"code":"SUCCESS"}`, 400},
		{"an end of a charge that does not exist", "POST", "/platform/attempts/1", `{"code":"SUCCESS"}`, 404},
		{"an end of a charge without a number", "POST", "/platform/attempts/x", `{"code":"SUCCESS"}`, 400},
		{"an end that charges do not have", "POST", "/platform/attempts/1", `{"code":"CHALLENGE"}`, 400},
		{"more faults than requests", "POST", "/platform/faults", `{"rate":1.1}`, 400},
		{"an unknown fault", "POST", "/platform/faults", `{"rate":0.1,"kinds":["flood"]}`, 400},
		{"faults for a while", "POST", "/platform/faults", `{"rate":0.1,"for":"a while"}`, 400},
		{"a contract of nothing", "POST", "/platform/contracts", `{}`, 400},
		{"a contract without lines", "POST", "/platform/contracts", `{"customer":{"email":"a@b.example"},"nextBillingDate":"2026-12-01","billingPolicy":{"interval":"MONTH","intervalCount":1}}`, 400},
		{"a contract that is due already", "POST", "/platform/contracts", checkoutBody(`"nextBillingDate":"2026-10-01T00:00:00Z"`), 400},
		{"a contract of an unknown variant", "POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":1,"quantity":1}]`), 400},
		{"a contract with an unknown interval", "POST", "/platform/contracts", checkoutBody(`"billingPolicy":{"interval":"DECADE","intervalCount":1}`), 400},
		{"a contract with an unknown card", "POST", "/platform/contracts", checkoutBody(`"paymentMethod":"gold"`), 400},
		{"a contract of an unknown store", "POST", "/platform/contracts", checkoutBody(`"shop":"x.myshopify.com"`), 404},
		{"a contract without a customer", "POST", "/platform/contracts", checkoutBody(`"customer":{}`), 400},
		{"a price that is none", "POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":4001,"quantity":1,"currentPrice":"much"}]`), 400},
		{"a price of more decimals than the currency has", "POST", "/platform/contracts", checkoutBody(`"currencyCode":"JPY","lines":[{"variantId":4001,"quantity":1,"currentPrice":9.99}]`), 400},
		{"a price below nothing", "POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":4001,"quantity":1,"currentPrice":-1}]`), 400},
		{"a price of delivery below nothing", "POST", "/platform/contracts", checkoutBody(`"deliveryPrice":"-1"`), 400},
		{"fewer orders than none", "POST", "/platform/contracts", checkoutBody(`"billingPolicy":{"interval":"MONTH","intervalCount":1,"maxCycles":-2}`), 400},
		{"a line of no pieces", "POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":4001,"quantity":0}]`), 400},
		{"a line without a variant", "POST", "/platform/contracts", checkoutBody(`"lines":[{"quantity":1}]`), 400},
		{"a line of a product", "POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":"gid://shopify/Product/4001","quantity":1}]`), 400},
		{"a contract that is paid every zero months", "POST", "/platform/contracts", checkoutBody(`"billingPolicy":{"interval":"MONTH","intervalCount":0}`), 400},
		{"a contract that is shipped every zero months", "POST", "/platform/contracts", checkoutBody(`"deliveryPolicy":{"interval":"MONTH","intervalCount":0}`), 400},
		{"a contract of what is no customer", "POST", "/platform/contracts", checkoutBody(`"customer":{"id":"gid://shopify/Order/7001"}`), 400},
		{"a contract in no currency", "POST", "/platform/contracts", checkoutBody(`"currencyCode":"$$$"`), 400},
		{"orders of an unknown store", "GET", "/platform/orders?shop=x.myshopify.com", ``, 404},
		{"a store without a domain", "POST", "/platform/shops", `{"ianaTimeZone":"UTC","currencyCode":"USD"}`, 400},
		{"a store in no zone", "POST", "/platform/shops", `{"domain":"z.myshopify.com","ianaTimeZone":"Mars/Base","currencyCode":"USD"}`, 400},
		{"a store with 25 hours", "POST", "/platform/shops", `{"domain":"z.myshopify.com","ianaTimeZone":"UTC","currencyCode":"USD","localOrderHour":24}`, 400},
		{"a store that exists", "POST", "/platform/shops", `{"domain":"demo.myshopify.com","ianaTimeZone":"UTC","currencyCode":"USD"}`, 400},
		{"a customer that does not exist", "GET", "/platform/customers/1", ``, 404},
		{"a customer without a number", "GET", "/platform/customers/x", ``, 400},
		{"a payment method of an unknown customer", "POST", "/platform/customers/1/payment-methods", `{"kind":"card"}`, 404},
		{"a payment method of no kind", "POST", "/platform/customers/7001/payment-methods", `{"kind":"gold"}`, 400},
		{"a discount code that takes nothing off", "POST", "/platform/discount-codes", `{"code":"NOTHING"}`, 400},
		{"a discount code that takes off more than all", "POST", "/platform/discount-codes", `{"code":"MORE","percent":101}`, 400},
		{"a discount code without a name", "POST", "/platform/discount-codes", `{"percent":10}`, 400},
		{"a discount code of an unknown store", "POST", "/platform/discount-codes", `{"shop":"x.myshopify.com","code":"A","percent":10}`, 404},
		{"e-mails of an unknown store", "GET", "/platform/update-emails?shop=x.myshopify.com", ``, 404},
		{"orders of what is no contract", "GET", "/platform/orders?contractId=gid://shopify/Order/9001", ``, 400},
		{"what is no contract", "GET", "/platform/contracts/gid://shopify/Order/9001", ``, 400},
		{"an outcome for what is no contract", "POST", "/platform/outcomes", `{"contractId":"gid://shopify/Order/9001","code":"SUCCESS"}`, 400},
		{"faults without a rate", "POST", "/platform/faults", `{"kinds":["http_500"]}`, 400},
		{"a discount code of two things", "POST", "/platform/discount-codes", `{"code":"BOTH","percent":10,"amount":"5.00"}`, 400},
		{"a discount code of half a cent", "POST", "/platform/discount-codes", `{"code":"HALF","amount":"5.005"}`, 400},
		{"points that expire before they are earned", "POST", "/loyalty", `{"expireMonths":-1}`, 400},
		{"a store in the zone of the machine", "POST", "/platform/shops", `{"domain":"z.myshopify.com","ianaTimeZone":"Local","currencyCode":"USD"}`, 400},
		{"a variant of no store", "DELETE", "/platform/variants/1", ``, 404},
		{"what is no variant", "DELETE", "/platform/variants/gid://shopify/Product/4001", ``, 400},
		{"an unknown payment method", "POST", "/platform/payment-methods/abc", `{"status":"valid"}`, 404},
		{"a status that cards do not have", "POST", "/platform/payment-methods/abc", `{"status":"lost"}`, 400},
		{"a receiver that does not exist", "GET", "/webhook-sink/none", ``, 404},
		{"a snapshot that does not exist", "POST", "/restore", `{"id":"snapshot-9"}`, 404},
		{"a snapshot outside", "POST", "/restore", `{"id":"../.."}`, 404},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, text := ask(t, row.method, b.urls.Control+row.path, "", row.body)
			var problem struct {
				Status                            int
				Title, Detail, Message, RequestID string
				ErrorKey, Path                    string
			}
			if err := json.Unmarshal([]byte(text), &problem); err != nil {
				t.Fatalf("%d %q: %v", status, text, err)
			}
			if status != row.status || problem.Status != row.status {
				t.Errorf("got %d %s, want %d", status, text, row.status)
			}
			if problem.Detail == "" || problem.Message != problem.Detail || problem.ErrorKey == "" || problem.RequestID == "" {
				t.Errorf("the answer lacks something: %s", text)
			}
		})
	}
	if after := b.orders(""); len(after) != len(before) {
		t.Errorf("%d orders were made", len(after)-len(before))
	}
	if got := b.clock.Now(); !got.Equal(beginning()) {
		t.Errorf("time has moved to %s", got)
	}
}

// checkoutBody returns a checkout with one field in another way.
func checkoutBody(other string) string {
	fields := []string{
		`"customer":{"email":"ada@shopper.example","firstName":"Ada","lastName":"Abara"}`, `"currencyCode":"USD"`,
		`"nextBillingDate":"2026-11-20T14:00:00Z"`, `"billingPolicy":{"interval":"MONTH","intervalCount":1}`,
		`"deliveryPolicy":{"interval":"MONTH","intervalCount":1}`, `"lines":[{"variantId":4001,"quantity":2,"currentPrice":"9.50","sellingPlanId":6003}]`,
		`"paymentMethod":"valid"`, `"note":"by hand"`,
	}
	name, _, _ := strings.Cut(other, ":")
	fields = slices.DeleteFunc(fields, func(f string) bool { return other != "" && strings.HasPrefix(f, name+":") })
	if other != "" {
		fields = append(fields, other)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func TestNullCheckoutFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(`"customer":{"id":"gid://shopify/Customer/7001","phone":null}`), &made)
	if made.Customer != 7001 {
		t.Errorf("made %+v, want customer 7001", made)
	}
	b.direct("POST", "/platform/contracts", `{"shop":null,"customer":{"email":"ada@shopper.example","id":null},"currencyCode":null,"nextBillingDate":"2026-11-20",
		"billingPolicy":{"interval":"MONTH","intervalCount":null,"anchors":null,"maxCycles":null},"deliveryPolicy":null,"deliveryPrice":null,"paymentMethod":null,
		"lines":[{"variantId":4001,"quantity":null,"currentPrice":null,"sellingPlanId":null}],"discountCodes":null}`, &made)
	var known simulator.Contract
	b.direct("GET", "/platform/contracts/gid://shopify/SubscriptionContract/"+strconv.FormatInt(made.Contract, 10), "", &known)
	if len(known.Lines) != 1 || known.Lines[0].Quantity != 1 || known.Lines[0].CurrentPrice != "16.00" || known.Billing.IntervalCount != 1 {
		t.Errorf("made %+v", known)
	}
	b.direct("POST", "/platform/discount-codes", `{"code":"NULLS","percent":10,"amount":null,"cycleLimit":null}`, nil)
}

func TestCheckoutIsReceivedBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(""), &made)
	if made.Contract != 9001 || made.Customer != 7001 || made.Order == 0 || len(made.Lines) != 1 {
		t.Errorf("made %+v", made)
	}
	m := b.Manifest()
	if got := b.found(m.Subscriptions, m.APIKey, ""); !slices.Equal(got, []int64{9001}) {
		t.Errorf("the service knows %v", got)
	}
	b.direct("POST", "/platform/contracts", checkoutBody(`"lines":[{"variantId":"gid://shopify/ProductVariant/4001","quantity":1,"currentPrice":5,"sellingPlanId":"6101"}]`), &made)
	if got := b.found(m.Memberships, m.APIKey, ""); !slices.Equal(got, []int64{made.Contract}) {
		t.Errorf("the memberships line knows %v, want %d", got, made.Contract)
	}
	if r := b.advance("P1M"); r.Billed != 2 || r.Orders != 2 || r.Failed != 0 || r.Webhooks == 0 || r.Now != "2026-12-01T12:00:00Z" {
		t.Errorf("a month later: %+v", r)
	}
	if got := b.orders("?contractId=9001"); len(got) != 1 || got[0].Amount != "19.00" || got[0].Cycle != 1 || got[0].AttemptKey == "" || !got[0].At.Equal(time.Date(2026, 11, 20, 14, 0, 2, 0, time.UTC)) {
		t.Errorf("the order is %+v", got)
	}
	if got := b.orders("?since=2026-11-21"); len(got) != 0 {
		t.Errorf("since the day after: %+v", got)
	}
}

// A code in small letters is the same currency.
func TestCheckoutCurrencyIgnoresLetterCase(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(`"currencyCode":"jpy","lines":[{"variantId":4001,"quantity":1,"currentPrice":1200}]`), &made)
	var c simulator.Contract
	b.direct("GET", fmt.Sprintf("/platform/contracts/%d", made.Contract), "", &c)
	if c.Currency != "JPY" || c.Amount != "1200" {
		t.Errorf("the platform has %+v", c)
	}
}

func TestSecondStoreIsInstalled(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	var made shopView
	b.direct("POST", "/platform/shops", `{"domain":"third.myshopify.com","ianaTimeZone":"Pacific/Auckland","currencyCode":"NZD","localOrderHour":7,"localOrderMinute":15}`, &made)
	if made.Shop != "third.myshopify.com" || !strings.HasPrefix(made.APIKey, "prn_") {
		t.Fatalf("made %+v", made)
	}
	var variants []simulator.Variant
	b.direct("GET", "/platform/variants?shop=third.myshopify.com", "", &variants)
	if len(variants) < 20 || variants[0].Price != "27.20" || len(variants[0].Collections) == 0 {
		t.Fatalf("it sells %+v", variants)
	}
	var contract simulator.Made
	b.direct("POST", "/platform/contracts", fmt.Sprintf(
		`{"shop":"third.myshopify.com","customer":{"email":"k@k.example"},"nextBillingDate":"2026-11-10","billingPolicy":{"interval":"WEEK","intervalCount":1},"lines":[{"variantId":%d,"quantity":1}]}`,
		variants[0].ID), &contract)
	if got := b.found(b.urls.Subscriptions, made.APIKey, ""); !slices.Equal(got, []int64{contract.Contract}) {
		t.Errorf("its key shows %v", got)
	}
	b.advance("P10D")
	want := time.Date(2026, time.November, 9, 18, 15, 2, 0, time.UTC) // 07:15 of the 10th in Auckland
	if got := b.orders(fmt.Sprintf("?contractId=%d", contract.Contract)); len(got) != 1 || !got[0].At.Equal(want) || got[0].Currency != "NZD" {
		t.Errorf("its orders are %+v, want one at %s", got, want)
	}
}

func TestChargesFollowDirector(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(""), &made)
	b.direct("POST", "/platform/outcomes", `{"contractId":9001,"cycles":[1],"code":"INSUFFICIENT_FUNDS"}`, nil)
	if r := b.advance("P1M"); r.Billed != 1 || r.Failed != 1 || r.Orders != 1 {
		t.Errorf("a month with a decline and its retry: %+v", r)
	}
	if r := b.advance("P1M"); r.Billed != 1 || r.Failed != 0 || r.Orders != 1 {
		t.Errorf("the month after: %+v", r)
	}
	b.direct("POST", "/platform/payment-methods/"+made.PaymentMethod, `{"status":"expired"}`, nil)
	if r := b.advance("P1M"); r.Failed != 1 || r.Orders != 0 {
		t.Errorf("with an expired card: %+v", r)
	}
	var c simulator.Contract
	b.direct("GET", "/platform/contracts/gid:%2F%2Fshopify%2FSubscriptionContract%2F9001", "", &c)
	if c.MethodStatus != simulator.MethodExpired || len(c.Attempts) != 4 || c.Attempts[0].ErrorCode != "INSUFFICIENT_FUNDS" {
		t.Errorf("the contract is %+v", c)
	}
	var cycles []simulator.Cycle
	b.direct("GET", "/platform/cycles?contractId=9001", "", &cycles)
	if cycles[0].Index != 1 || !cycles[0].Billed || !cycles[1].Billed || cycles[2].Billed {
		t.Errorf("the cycles are %+v", cycles[:3])
	}
}

func TestFaultsDelayWithoutDoubleCharge(t *testing.T) {
	t.Parallel()
	b := start(t, Options{MainOnly: true, Contracts: 16, CheckEvery: reconcileEvery})
	var set faultsView
	b.direct("POST", "/platform/faults", `{"rate":0.4,"kinds":["timeout_after","http_500","connection_reset","webhook_lost","webhook_duplicated"],"seed":7,"for":"P20D"}`, &set)
	b.advance("P1M")
	b.direct("GET", "/platform/faults", "", &set)
	fired := 0
	for _, n := range set.Counts {
		fired += n
	}
	if fired < 10 {
		t.Errorf("hardly a fault fired: %v", set.Counts)
	}
	b.direct("DELETE", "/platform/faults", "", nil)
	b.advance("P2D")
	b.checkBooks()
}

func TestReceiverAnswersAsScripted(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	var sink sinkView
	b.direct("POST", "/webhook-sink", "", &sink)
	if sink.Secret == "" || !strings.HasPrefix(sink.URL, b.urls.Control) {
		t.Fatalf("made %+v", sink)
	}
	path := strings.TrimPrefix(sink.URL, b.urls.Control)
	b.direct("POST", path+"/answers", "[500, 410]", nil)
	for i, want := range []int{500, 410, 200} {
		if status, _ := ask(t, "POST", sink.URL, "", fmt.Sprintf(`{"n":%d}`, i)); status != want {
			t.Errorf("answer %d is %d, want %d", i, status, want)
		}
	}
	var got []arrival
	b.direct("GET", path, "", &got)
	if len(got) != 3 || got[1].Body != `{"n":1}` || got[1].Status != 410 || got[1].Headers["content-length"] == "" && got[1].Headers["user-agent"] == "" || got[1].At == nil {
		t.Errorf("it was sent %+v", got)
	}
	for _, wrong := range []string{`[99]`, `{"a":1}`, `["x"]`} {
		if status, text := ask(t, "POST", sink.URL+"/answers", "", wrong); status != 400 {
			t.Errorf("answers %s: %d %s", wrong, status, text)
		}
	}
}

func TestUnreadySandboxRefusesControl(t *testing.T) {
	t.Parallel()
	h := (&Sandbox{log: slog.New(slog.DiscardHandler)}).control()
	for path, want := range map[string]int{"/clock": http.StatusServiceUnavailable, "/reset": http.StatusServiceUnavailable, "/webhook-sink/x/answers": http.StatusBadRequest} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader("{}")))
		if w.Code != want || want == http.StatusServiceUnavailable && !strings.Contains(w.Body.String(), "notReady") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestControlRefusesPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	at, err := url.Parse(b.urls.Control)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		method, host string
		header       map[string]string
		want         int
	}{
		"a program":                     {"POST", at.Host, nil, http.StatusOK},
		"a program that names the host": {"POST", "localhost:" + at.Port(), nil, http.StatusOK},
		"a page of its own":             {"POST", at.Host, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": b.urls.Control}, http.StatusOK},
		"a page of another site":        {"POST", at.Host, map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, http.StatusForbidden},
		"an old browser's":              {"POST", at.Host, map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		"a name that leads here":        {"POST", "evil.example:" + at.Port(), nil, http.StatusForbidden},
		"a read by such a name":         {"GET", "evil.example", nil, http.StatusForbidden},
	} {
		req, err := http.NewRequestWithContext(t.Context(), row.method, b.urls.Control+"/clock", strings.NewReader(`{"advance":"PT0S"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = row.host
		for k, v := range row.header {
			req.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != row.want {
			t.Errorf("%s: answered %d, want %d", name, res.StatusCode, row.want)
		}
	}
}
