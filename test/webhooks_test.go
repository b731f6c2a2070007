package test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// receiver is a server that a store's webhooks reach.
type receiver struct {
	*subscription
	id          int64 // of the endpoint
	url, secret string
}

// arrived is a webhook as it was received.
type arrived struct {
	At      time.Time
	Headers map[string]string
	Body    string
	Status  int
}

// tale is what a webhook says.
type tale struct {
	Type      string
	Timestamp time.Time
	Data      json.RawMessage
}

// listen sets up a receiver that subscribes to types.
func listen(s *subscription, types ...string) *receiver {
	s.t.Helper()
	r := &receiver{subscription: s}
	var sink struct{ URL, Secret string }
	s.call("POST", "/webhook-sink", nil, &sink)
	r.url, r.secret = sink.URL, sink.Secret
	made := s.demand("POST", "/webhook-endpoints", s.key, map[string]any{"url": r.url, "types": types, "secret": r.secret})
	want(s.t, made, http.StatusOK, "")
	var e struct {
		ID     int64
		Secret string
	}
	made.into(s.t, &e)
	if r.id = e.ID; e.Secret != r.secret {
		s.t.Errorf("the secret is %q and was given as %q", e.Secret, r.secret)
	}
	return r
}

// answers sets what the receiver answers next; afterwards 200.
func (r *receiver) answers(codes ...int) {
	r.t.Helper()
	r.send("POST", r.url+"/answers", "", codes, nil)
}

// messages returns what arrived, when all is quiet. Every signature must be right.
func (r *receiver) messages() []arrived {
	r.t.Helper()
	r.pass("PT0S")
	var list []arrived
	r.send("GET", r.url, "", nil, &list)
	for _, a := range list {
		if !slices.Contains(strings.Fields(a.Headers["webhook-signature"]), signedBy(r.t, r.secret, a)) {
			r.t.Errorf("the signature %q does not fit the secret", a.Headers["webhook-signature"])
		}
		keepsSchema(r.t, a.says(r.t).Type, []byte(a.Body))
		for _, name := range []string{"id", "timestamp", "signature"} {
			if a.Headers["svix-"+name] != a.Headers["webhook-"+name] || a.Headers["svix-"+name] == "" {
				r.t.Errorf("svix-%s is %q", name, a.Headers["svix-"+name])
			}
		}
		if a.Headers["webhook-timestamp"] != fmt.Sprint(a.At.Unix()) || a.Headers["content-type"] != "application/json" {
			r.t.Errorf("headers %v at %s", a.Headers, a.At)
		}
	}
	return list
}

// signedBy is the signature that the standard asks for.
func signedBy(t *testing.T, secret string, a arrived) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(a.Headers["webhook-id"] + "." + a.Headers["webhook-timestamp"] + "." + a.Body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (a arrived) says(t *testing.T) tale {
	t.Helper()
	var m tale
	if err := json.Unmarshal([]byte(a.Body), &m); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return m
}

// wantTypes asserts the types of the messages that a receiver got, in order.
func (r *receiver) wantTypes(types ...string) []arrived {
	r.t.Helper()
	list := r.messages()
	got := make([]string, len(list))
	for i, a := range list {
		got[i] = a.says(r.t).Type
	}
	if !slices.Equal(got, types) {
		r.t.Fatalf("got\n%s\nwant\n%s", lines(got), lines(types))
	}
	return list
}

// sent is how a delivery fares.
type sent struct {
	ID           int64
	MessageID    string
	Type, Status string
	Tries        int
	ResponseCode *int
	Error        *string
	ResponseBody *string
	NextTryAt    *time.Time
}

func (r *receiver) deliveries(query string) []sent {
	r.t.Helper()
	var list []sent
	r.get("/webhook-deliveries?size=100&"+query, &list)
	return list
}

// same reports whether two JSON texts say the same.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// charge has an attempt charged at once and waits for its end.
func (r *receiver) charge(attempt int64) {
	r.t.Helper()
	want(r.t, r.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", attempt), r.subscription.key, nil), http.StatusOK, "")
	r.pass("PT1M")
}

func TestWebhooksReportImmediateCharges(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS", "SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE")
	dull := listen(s, "membership.created", "membership.billing-success")

	s.pass("P11D") // the first order is charged on its date; no endpoint subscribes to that
	r.wantTypes()
	first := s.upcoming()[0].ID
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	r.charge(first)
	got := r.wantTypes("SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE")[0]
	var record struct {
		ID     int64
		Status string
	}
	if err := json.Unmarshal(got.says(t).Data, &record); err != nil || record.ID != first || record.Status != "FAILURE" {
		t.Errorf("got %+v, %v", record, err)
	}
	past := s.demand("GET", fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), s.key, nil)
	var records []json.RawMessage
	past.into(t, &records)
	if !same(t, unmailed(got.says(t).Data), unmailed(records[0])) {
		t.Errorf("got\n%s\nand the interface answers\n%s", got.says(t).Data, records[0])
	}
	if len(dull.messages()) != 0 || len(dull.deliveries(fmt.Sprintf("endpointId=%d", dull.id))) != 0 {
		t.Error("a receiver got a type that it had not subscribed to")
	}

	r.charge(first)
	list := r.wantTypes("SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS")
	if list[0].Headers["webhook-id"] == list[1].Headers["webhook-id"] || !strings.HasPrefix(list[1].Headers["webhook-id"], "msg_") {
		t.Errorf("ids %q and %q", list[0].Headers["webhook-id"], list[1].Headers["webhook-id"])
	}
}

// unmailed returns a record without what tells whether its mails left: they leave before the webhook
// or after it.
func unmailed(record []byte) []byte {
	for _, is := range []string{`EmailSentStatus":"SENT"`, `SmsSentStatus":"SMS_SETTINGS_DISABLED"`} {
		field, _, _ := strings.Cut(is, `":"`)
		record = bytes.ReplaceAll(record, []byte(is), []byte(field+`":"UNSENT"`))
	}
	return record
}

func TestWebhooksReportContractLifecycle(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "subscription.created", "subscription.updated", "subscription.activated", "subscription.paused", "subscription.cancelled",
		"subscription.next-order-date-changed", "subscription.billing-interval-changed", "subscription.billing-success", "subscription.billing-failure", "subscription.billing-skipped")
	s.id = s.checkout(nil)
	made := r.wantTypes("subscription.created")[0]
	shown := s.demand("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), s.key, nil)
	if !same(t, made.says(t).Data, shown.body) {
		t.Errorf("got\n%s\nand the interface answers\n%s", made.says(t).Data, shown.body)
	}
	contract := fmt.Sprintf("contractId=%d", s.id)
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=PAUSED&"+contract, s.key, nil), http.StatusNoContent, "")
	r.wantTypes("subscription.created", "subscription.paused")
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=ACTIVE&"+contract, s.key, nil), http.StatusNoContent, "")
	want(t, s.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?subscriptionContractId=%d", s.upcoming()[0].ID, s.id), s.key, nil), http.StatusOK, "")
	r.wantTypes("subscription.created", "subscription.paused", "subscription.activated", "subscription.billing-skipped")
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=CANCELLED&"+contract, s.key, nil), http.StatusNoContent, "")
	r.wantTypes("subscription.created", "subscription.paused", "subscription.activated", "subscription.billing-skipped", "subscription.cancelled")
}

func TestWebhooksAreRetriedOnSchedule(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "subscription.billing-success")
	r.answers(500, 500, 200)
	s.pass("P11D")
	list := r.wantTypes("subscription.billing-success", "subscription.billing-success", "subscription.billing-success")
	for i, wait := range []time.Duration{5 * time.Second, 5 * time.Minute} {
		if waited := list[i+1].At.Sub(list[i].At); waited < wait || waited > wait+wait/10 {
			t.Errorf("try %d came after %s, not %s", i+2, waited, wait)
		}
		if list[i+1].Headers["webhook-id"] != list[0].Headers["webhook-id"] || list[i+1].Body != list[0].Body || list[i].Status != 500 {
			t.Errorf("try %d is another message", i+2)
		}
	}
	d := r.deliveries("status=DELIVERED")
	if len(d) != 1 || d[0].Tries != 3 || d[0].ResponseCode == nil || *d[0].ResponseCode != 200 || d[0].Error != nil || d[0].MessageID != list[0].Headers["webhook-id"] {
		t.Fatalf("deliveries %+v", d)
	}

	replay := fmt.Sprintf("/webhook-deliveries/%d/replay", d[0].ID)
	want(t, s.demand("POST", replay, s.key, nil), http.StatusOK, "")
	again := r.messages()
	if len(again) != 4 || again[3].Headers["webhook-id"] != list[0].Headers["webhook-id"] || again[3].Body != list[0].Body || again[3].At.Equal(list[0].At) {
		t.Errorf("after a replay: %+v", again)
	}

	r.answers(slices.Repeat([]int{503}, 100)...)
	want(t, s.demand("POST", replay, s.key, nil), http.StatusOK, "")
	s.pass("P4D")
	if d := r.deliveries("status=FAILED"); len(d) != 1 || d[0].Tries != 10 || *d[0].ResponseCode != 503 || d[0].NextTryAt != nil {
		t.Errorf("after the last try: %+v", d)
	}
	if n := len(r.messages()); n != 14 {
		t.Errorf("%d arrived, want 14", n)
	}
}

func TestWebhooksOfOneContractKeepOrderAndBlockNoOther(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "subscription.created", "subscription.paused", "subscription.activated")
	s.id = s.checkout(nil)
	r.wantTypes("subscription.created")
	r.answers(500)
	contract := fmt.Sprintf("contractId=%d", s.id)
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=PAUSED&"+contract, s.key, nil), http.StatusNoContent, "")
	r.wantTypes("subscription.created", "subscription.paused") // the last one was refused
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=ACTIVE&"+contract, s.key, nil), http.StatusNoContent, "")
	s.checkout(nil) // another contract
	r.wantTypes("subscription.created", "subscription.paused", "subscription.created")
	s.pass("PT1M")
	list := r.wantTypes("subscription.created", "subscription.paused", "subscription.created", "subscription.paused", "subscription.activated")
	var is struct{ Status string }
	if err := json.Unmarshal(list[4].says(t).Data, &is); err != nil || is.Status != "ACTIVE" {
		t.Errorf("got %+v, %v", is, err)
	}
	if err := json.Unmarshal(list[3].says(t).Data, &is); err != nil || is.Status != "PAUSED" {
		t.Errorf("the later message shows %+v, %v", is, err)
	}
}

func TestFailingWebhookEndpointsAreDisabled(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	leaver, failing := listen(s, "subscription.billing-success"), listen(s, "subscription.billing-success")
	leaver.answers(410)
	failing.answers(slices.Repeat([]int{500}, 100)...)
	s.pass("P11D")
	var e struct {
		Enabled        bool
		DisabledReason *string
	}
	s.get(fmt.Sprintf("/webhook-endpoints/%d", leaver.id), &e)
	if e.Enabled || e.DisabledReason == nil || !strings.Contains(*e.DisabledReason, "410") {
		t.Errorf("after 410: %+v", e)
	}
	want(t, s.demand("POST", fmt.Sprintf("/webhook-endpoints/%d/test", leaver.id), s.key, nil), http.StatusBadRequest, "webhookEndpointDisabled")
	s.pass("P30D") // another order is charged, and its message fails at once
	if s.get(fmt.Sprintf("/webhook-endpoints/%d", failing.id), &e); e.Enabled || e.DisabledReason == nil || !strings.Contains(*e.DisabledReason, "5 days") {
		t.Errorf("after 30 days: %+v", e)
	}
	if n := len(leaver.messages()); n != 1 {
		t.Errorf("%d arrived at the one that left", n)
	}
	var log []struct{ EventSource, AdditionalInfo string }
	s.get("/activity-logs?size=100&entityType.equals=SHOP_INFO&additionalInfo.contains=disabled", &log)
	if len(log) != 2 || log[0].EventSource != "SYSTEM_EVENT" || !strings.Contains(log[0].AdditionalInfo, "5 days") {
		t.Errorf("the log says %+v", log)
	}

	on := s.demand("PATCH", fmt.Sprintf("/webhook-endpoints/%d", failing.id), s.key, map[string]any{"enabled": true})
	want(t, on, http.StatusOK, "")
	failing.answers()
	before := len(failing.messages())
	want(t, s.demand("POST", fmt.Sprintf("/webhook-endpoints/%d/test", failing.id), s.key, nil), http.StatusOK, "")
	list := failing.messages()
	if len(list) != before+1 || list[before].says(t).Type != "webhook.test" {
		t.Errorf("%d arrived, want %d", len(list), before+1)
	}
}

func TestWebhookEndpointsOnTheWire(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "subscription.billing-success")
	for name, test := range map[string]struct {
		body any
		key  string
		at   string
	}{
		"no address":       {map[string]any{"url": "erp", "types": []string{"subscription.created"}}, "webhookURL", "url"},
		"another protocol": {map[string]any{"url": "ftp://erp.example.com", "types": []string{"subscription.created"}}, "webhookURL", "url"},
		"an unknown type":  {map[string]any{"url": r.url, "types": []string{"subscription.moon"}}, "webhookType", "types"},
		"no type":          {map[string]any{"url": r.url}, "webhookType", "types"},
		"a short secret":   {map[string]any{"url": r.url, "types": []string{"subscription.created"}, "secret": "whsec_AAAA"}, "webhookSecret", "secret"},
	} {
		answer := s.demand("POST", "/webhook-endpoints", s.key, test.body)
		if answer.status != http.StatusBadRequest || answer.errorKey() != test.key || !strings.Contains(string(answer.body), `"`+test.at+`"`) {
			t.Errorf("%s: %d %s", name, answer.status, answer.body)
		}
	}
	path := fmt.Sprintf("/webhook-endpoints/%d", r.id)
	var other struct{ APIKey string }
	s.call("POST", "/platform/shops", map[string]any{"domain": "second.myshopify.com", "ianaTimeZone": "Europe/Paris", "currencyCode": "EUR"}, &other)
	want(t, s.demand("GET", path, other.APIKey, nil), http.StatusNotFound, "webhookEndpointNotFound")
	want(t, s.demand("DELETE", path, other.APIKey, nil), http.StatusNotFound, "webhookEndpointNotFound")
	want(t, s.demand("POST", "/webhook-deliveries/1/replay", s.key, nil), http.StatusNotFound, "webhookDeliveryNotFound")
	narrow := keyView{}
	s.demand("POST", "/api-keys", s.key, map[string]any{"name": "ERP", "scopes": []string{"contracts:read"}}).into(t, &narrow)
	want(t, s.demand("GET", "/webhook-endpoints", narrow.APIKey, nil), http.StatusForbidden, "insufficientScope")

	list := s.demand("GET", "/webhook-endpoints", s.key, nil)
	if want(t, list, http.StatusOK, ""); strings.Contains(string(list.body), "whsec_") || !strings.Contains(string(list.body), r.url) {
		t.Errorf("listed %s", list.body)
	}

	old := r.secret
	var fresh struct {
		Secret         string
		OldSecretUntil *time.Time
	}
	s.demand("POST", path+"/rotate-secret", s.key, nil).into(t, &fresh)
	if fresh.Secret == old || !strings.HasPrefix(fresh.Secret, "whsec_") || fresh.OldSecretUntil == nil {
		t.Fatalf("rotated to %+v", fresh)
	}
	try := func() arrived {
		t.Helper()
		want(t, s.demand("POST", path+"/test", s.key, nil), http.StatusOK, "")
		list := r.messages()
		return list[len(list)-1]
	}
	both := try() // messages would verify it against the old secret
	if got := both.Headers["webhook-signature"]; got != signedBy(t, fresh.Secret, both)+" "+signedBy(t, old, both) {
		t.Errorf("while secrets change the signature is %q", got)
	}
	s.pass("P2D")
	want(t, s.demand("POST", path+"/test", s.key, nil), http.StatusOK, "")
	s.pass("PT0S")
	var all []arrived
	s.send("GET", r.url, "", nil, &all)
	if last := all[len(all)-1]; last.Headers["webhook-signature"] != signedBy(t, fresh.Secret, last) {
		t.Errorf("afterwards it is %q", last.Headers["webhook-signature"])
	}

	want(t, s.demand("DELETE", path, s.key, nil), http.StatusOK, "")
	want(t, s.demand("GET", path, s.key, nil), http.StatusNotFound, "webhookEndpointNotFound")
	for range 20 {
		want(t, s.demand("POST", "/webhook-endpoints", s.key, map[string]any{"url": r.url, "types": []string{"subscription.created"}}), http.StatusOK, "")
	}
	want(t, s.demand("POST", "/webhook-endpoints", s.key, map[string]any{"url": r.url, "types": []string{"subscription.created"}}), http.StatusBadRequest, "tooManyWebhookEndpoints")
}
