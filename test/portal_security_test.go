package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/sandbox/storefront"
)

// portalBodies are bodies of operations of the portal that name what a shopper has. An operation with
// a body that is not here fails TestPortalOperationsFindOwnThingsOnly.
var portalBodies = map[string]func(*facts) any{
	"createRetentionActivity": func(f *facts) any { return map[string]any{"contractId": f.contract, "retentionAction": "KEPT"} },
	"updateBillingAttempt":    func(f *facts) any { return map[string]any{"id": f.attempts[0], "orderNote": "x"} },
	"restartContract":         func(*facts) any { return map[string]any{"nextBillingDate": "2027-06-01"} },
	"addLine":                 func(f *facts) any { return map[string]any{"variantId": f.variants[2]} },
	"updateLine":              func(*facts) any { return map[string]any{"quantity": 9} },
	"fillBox": func(f *facts) any {
		return map[string]any{"products": []any{map[string]any{"variantId": f.variants[2], "quantity": 1}}}
	},
	"updateFrequency": func(*facts) any { return map[string]any{"sellingPlanId": 1} },
	"updateShippingAddress": func(*facts) any {
		return map[string]any{"address1": "1 Evil Lane", "city": "Ottawa", "countryCode": "CA"}
	},
	"previewShippingAddress": func(*facts) any {
		return map[string]any{"address1": "1 Evil Lane", "city": "Ottawa", "countryCode": "CA"}
	},
	"updatePaymentMethod": func(f *facts) any { return map[string]any{"paymentMethodId": f.payment} },
	"applyDiscount":       func(*facts) any { return map[string]any{"discountCode": "TEN"} },
	"startCancelSession":  func(f *facts) any { return map[string]any{"contractId": f.contract} },
	"answerCancelReason":  func(*facts) any { return map[string]any{"reason": "other"} },
	"acceptCancelOffer":   func(*facts) any { return map[string]any{} },
	"commentCancellation": func(*facts) any { return map[string]any{"comment": "x"} },
	"setPreferences":      nil, "redeemPoints": nil, "joinLoyalty": nil, "requestMagicLink": nil,
}

// portalOwn are operations that name nothing: they show and change what the caller has.
var portalOwn = []string{
	"getLoggedInCustomer", "getShopInfo", "getPortalSettings", "listPaymentMethods", "listContracts", "getPreferences", "setPreferences", "getMembership", "getLoyalty", "redeemPoints", "joinLoyalty", "requestMagicLink",
}

// signed asks an operation as a customer of a store, as the platform passes it on.
func (w *stage) signed(method, path string, query url.Values, domain string, customer int64, body any) (int, string) {
	w.t.Helper()
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			w.t.Fatal(err)
		}
	}
	who := ""
	if customer != 0 {
		who = fmt.Sprint(customer)
	}
	for name, value := range map[string]string{"shop": domain, "logged_in_customer_id": who, "path_prefix": "/apps/subscriptions", "timestamp": fmt.Sprint(w.now().Unix())} {
		query.Set(name, value)
	}
	query.Set("signature", storefront.Sign(w.appSecret, query))
	return w.asked(method, w.urls.Subscriptions+path+"?"+query.Encode(), sent)
}

func (w *stage) asked(method, address string, sent []byte) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, address, bytes.NewReader(sent))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// cancelFlow is the path of the sessions of cancelling.
const cancelFlow = "/cancel-flow"

// leaves begins a session of cancelling for who has a contract.
func (w *stage) leaves(f *facts, customer int64) {
	w.t.Helper()
	status, text := w.signed(http.MethodPost, portalPath+cancelFlow, url.Values{}, f.domain, customer, map[string]any{"contractId": f.contract})
	var made struct{ ID int64 }
	if err := json.Unmarshal([]byte(text), &made); err != nil || status >= 300 || made.ID == 0 {
		w.t.Fatalf("beginning to cancel answered %d %s, %v", status, text, err)
	}
	f.session = made.ID
}

// naming fills the parameters of an operation with what a customer has. It reports whether the operation
// names anything that belongs to a customer.
func naming(path string, op *openapi3.Operation, f *facts) (string, url.Values, bool) {
	names, query := false, url.Values{}
	for _, p := range op.Parameters {
		value, own := "", true
		switch name := p.Value.Name; {
		case name == "contractId" || name == "subscriptionContractId":
			value = fmt.Sprint(f.contract)
		case name == "billingAttemptId" || name == "id" && strings.Contains(path, "subscription-billing-attempts"):
			value = fmt.Sprint(f.attempts[0])
		case name == "id" && strings.Contains(path, "subscription-customers-detail"):
			value = fmt.Sprint(f.customer)
		case name == "id" && strings.Contains(path, cancelFlow):
			value = fmt.Sprint(max(f.session, 1))
		case name == "lineId":
			value = lastPart(f.lines[0])
		case name == "oldLineId":
			value = f.lines[0]
		default:
			own = false
			switch name {
			case "variantId", "newVariantId":
				value = fmt.Sprint(f.variants[1])
			case "status":
				value = "PAUSED"
			case "billingDate":
				value = "2027-06-01"
			case "quantity":
				value = "2"
			case "discountId", "id":
				value = "1"
			}
		}
		names = names || own
		switch {
		case value == "":
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(value))
		case p.Value.In == "query":
			query.Set(p.Value.Name, value)
		}
	}
	return path, query, names
}

// Whatever a shopper names of another customer, of another store or of a customer who was merged with
// another one is not found, by every operation that there is, and is left as it was.
func TestPortalOperationsFindOwnThingsOnly(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.renew(&w.mine, w.key)
	ana := w.mine
	bob := w.mine
	w.renew(&bob, w.key)
	gone := bob
	w.renew(&gone, w.key)
	w.call("POST", fmt.Sprintf("/platform/customers/%d/merge", gone.customer), map[string]any{"into": bob.customer}, nil)
	w.pass("PT5M")
	erased := gone
	w.renew(&erased, w.key)
	w.call("POST", fmt.Sprintf("/platform/customers/%d/redact", erased.customer), nil, nil)
	w.pass("PT5M")
	w.leaves(&bob, bob.customer)
	w.leaves(&gone, bob.customer) // who has it now
	w.leaves(&w.theirs, w.theirs.customer)
	doc := w.document(w.urls.Subscriptions + "/portal/openapi.json")
	state := func(f facts, key string) string {
		t.Helper()
		var contract, orders json.RawMessage
		w.send("GET", fmt.Sprintf("%s%s/subscription-contract-details?subscriptionContractId=%d", w.urls.Subscriptions, api, f.contract), key, nil, &contract)
		w.send("GET", fmt.Sprintf("%s%s/subscription-billing-attempts/top-orders?contractId=%d", w.urls.Subscriptions, api, f.contract), key, nil, &orders)
		return string(contract) + string(orders)
	}
	logged := func() (n int) {
		t.Helper()
		for _, key := range []string{w.key, w.foreign} {
			var entries []json.RawMessage
			w.send("GET", w.urls.Subscriptions+api+"/activity-logs?eventSource.equals=CUSTOMER_PORTAL&size=100", key, nil, &entries)
			n += len(entries)
		}
		return n
	}
	entries := logged()
	before := []string{state(bob, w.key), state(gone, w.key), state(erased, w.key), state(w.theirs, w.foreign)}
	tried := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			body, listed := portalBodies[op.OperationID]
			if op.RequestBody != nil && !listed {
				t.Errorf("%s has a body and is not in portalBodies", op.OperationID)
				continue
			}
			_, _, names := naming(path, op, &ana)
			if own := slices.Contains(portalOwn, op.OperationID); own == (names || body != nil) {
				t.Errorf("%s names what a customer has: %t, and is in portalOwn: %t", op.OperationID, names || body != nil, own)
				continue
			}
			for who, row := range map[string]struct {
				domain   string
				customer int64
				victim   facts
			}{
				"another customer":           {ana.domain, ana.customer, bob},
				"another store":              {ana.domain, ana.customer, w.theirs},
				"a store's other customer":   {w.theirs.domain, w.theirs.customer, bob},
				"who was merged":             {ana.domain, gone.customer, gone},
				"another, of who was merged": {ana.domain, ana.customer, gone},
				"another, of who was erased": {ana.domain, ana.customer, erased},
			} {
				target, query, _ := naming(path, op, &row.victim)
				var sent any
				if body != nil {
					sent = body(&row.victim)
				}
				if slices.Contains(portalOwn, op.OperationID) {
					if method != http.MethodGet {
						continue
					}
					_, text := w.signed(method, target, query, row.domain, row.customer, nil)
					for _, of := range []string{fmt.Sprintf(`"subscriptionContractId":%d,`, row.victim.contract), row.victim.payment, row.victim.email} {
						if of != "" && of != ana.email && strings.Contains(text, of) { // customers of two stores may share an address
							t.Errorf("%s shows %s %s: %.300s", op.OperationID, who, of, text)
						}
					}
					continue
				}
				tried++
				status, text := w.signed(method, target, query, row.domain, row.customer, sent)
				if who == "who was merged" && status == http.StatusOK && empty([]byte(text)) {
					continue // the customer who is gone has nothing
				}
				if status != http.StatusNotFound {
					t.Errorf("%s %s by %s answered %d %.300s", method, op.OperationID, who, status, text)
				}
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d requests were tried", tried)
	}
	for i, now := range []string{state(bob, w.key), state(gone, w.key), state(erased, w.key), state(w.theirs, w.foreign)} {
		if now != before[i] {
			t.Errorf("of contract %d there is now\n%s\nand was\n%s", i, now, before[i])
		}
	}
	if now := logged(); now != entries {
		t.Errorf("the log has %d entries of customers, and had %d", now, entries)
	}
}

// A request that the platform has not signed just so, just now, opens nothing.
func TestPortalRefusesForgedReplayedAndDoubledParameters(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.renew(&w.mine, w.key)
	const path = "/apps/subscriptions/cp/api/logged-in-customer"
	signed := func(change func(url.Values)) string {
		query := url.Values{"shop": {w.mine.domain}, "logged_in_customer_id": {fmt.Sprint(w.mine.customer)}, "path_prefix": {"/apps/subscriptions"}, "timestamp": {fmt.Sprint(w.now().Unix())}}
		if change != nil {
			change(query)
		}
		query.Set("signature", storefront.Sign(w.appSecret, query))
		return query.Encode()
	}
	for name, row := range map[string]struct {
		query string
		want  int
	}{
		"as signed":                    {signed(nil), 200},
		"another customer":             {strings.Replace(signed(nil), fmt.Sprint(w.mine.customer), "1", 1), 401},
		"a customer more":              {signed(nil) + "&logged_in_customer_id=1", 401},
		"two customers, both signed":   {signed(func(q url.Values) { q.Add("logged_in_customer_id", "1") }), 401},
		"two stores, both signed":      {signed(func(q url.Values) { q.Add("shop", w.theirs.domain) }), 401},
		"two times, both signed":       {signed(func(q url.Values) { q.Add("timestamp", "1") }), 401},
		"two signatures":               {signed(nil) + "&signature=00", 401},
		"no signature":                 {strings.Split(signed(nil), "&signature")[0], 401},
		"two minutes old":              {signed(func(q url.Values) { q.Set("timestamp", fmt.Sprint(w.now().Add(-2*time.Minute).Unix())) }), 401},
		"two minutes ahead":            {signed(func(q url.Values) { q.Set("timestamp", fmt.Sprint(w.now().Add(2*time.Minute).Unix())) }), 401},
		"no customer, signed":          {signed(func(q url.Values) { q.Set("logged_in_customer_id", "") }), 401},
		"a session's cookie is none":   {strings.Replace(signed(nil), "signature", "sig", 1), 401},
		"a store that is not there":    {signed(func(q url.Values) { q.Set("shop", "nosuch.myshopify.com") }), 401},
		"a customer that is no number": {signed(func(q url.Values) { q.Set("logged_in_customer_id", "7 or 1=1") }), 401},
	} {
		if status, text := w.asked(http.MethodGet, w.urls.Subscriptions+path+"?"+row.query, nil); status != row.want {
			t.Errorf("%s: %d %s, want %d", name, status, text, row.want)
		}
	}
}
