package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// messageSchemas are the schemas of the bodies of messages by type, as the document has them,
// without room for fields that it does not list.
var messageSchemas = sync.OnceValues(func() (map[string]*openapi3.Schema, error) {
	text, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	seen := map[*openapi3.Schema]bool{}
	byType := map[string]*openapi3.Schema{}
	for name, item := range doc.Webhooks {
		byType[name] = item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		closed(byType[name], seen)
	}
	return byType, nil
})

// closed lets objects have the properties that they list only.
func closed(s *openapi3.Schema, seen map[*openapi3.Schema]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	if len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil {
		s.AdditionalProperties.Has = new(false)
	}
	for _, p := range s.Properties {
		closed(p.Value, seen)
	}
	if s.Items != nil {
		closed(s.Items.Value, seen)
	}
	if s.AdditionalProperties.Schema != nil {
		closed(s.AdditionalProperties.Schema.Value, seen)
	}
	for _, p := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		closed(p.Value, seen)
	}
}

// keepsSchema checks the body of a message against the document.
func keepsSchema(t *testing.T, kind string, body []byte) {
	t.Helper()
	schemas, err := messageSchemas()
	if err != nil {
		t.Fatal(err)
	}
	if schemas[kind] == nil {
		t.Fatalf("the document has no webhook %s", kind)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	if err := schemas[kind].VisitJSON(value); err != nil {
		t.Errorf("%s does not have the form that the document says: %v\n%s", kind, err, body)
	}
}

func TestDocumentHasEveryTypeOfMessage(t *testing.T) {
	t.Parallel()
	schemas, err := messageSchemas()
	if err != nil {
		t.Fatal(err)
	}
	all := append([]webhook.Type{webhook.Test}, webhook.Types...)
	for _, k := range all {
		if schemas[string(k)] == nil {
			t.Errorf("no webhook %s", k)
		}
	}
	if len(schemas) != len(all) {
		t.Errorf("%d webhooks of %d types", len(schemas), len(all))
	}
}

// happened is an event as it is read.
type happened struct {
	ID        string
	Type      string
	Timestamp time.Time
	Sequence  *int64
	Cause     *struct {
		Source string
		By     *string
	}
	Data json.RawMessage
}

// events reads a page of events.
func (s *subscription) events(after string, more url.Values) (list []happened, next string) {
	s.t.Helper()
	if more == nil {
		more = url.Values{}
	}
	if after != "" {
		more.Set("after", after)
	}
	var page struct {
		Events []happened
		Next   string
		More   bool
	}
	s.get("/events?"+more.Encode(), &page)
	if page.Next == "" {
		s.t.Error("there is no cursor to go on with")
	}
	return page.Events, page.Next
}

// What is read is what is sent: the same messages, with the same content, and with what only some
// endpoint subscribes to.
func TestEventsAreWhatWebhooksReport(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	list, start := s.events("", nil)
	if len(list) != 0 {
		t.Errorf("the first answer has %+v", list)
	}
	r := listen(s, "subscription.created", "subscription.paused", "subscription.activated", "subscription.billing-skipped", "subscription.cancelled", "loyalty.sign-up")
	s.id = s.checkout(nil)
	contract := fmt.Sprintf("contractId=%d", s.id)
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=PAUSED&"+contract, s.key, nil), http.StatusNoContent, "")
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=ACTIVE&"+contract, s.key, nil), http.StatusNoContent, "")
	want(t, s.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?subscriptionContractId=%d", s.upcoming()[0].ID, s.id), s.key, nil), http.StatusOK, "")
	want(t, s.demand("PUT", "/subscription-contracts-update-status?status=CANCELLED&"+contract, s.key, nil), http.StatusNoContent, "")
	sent := r.messages()
	if len(sent) < 5 {
		t.Fatalf("%d messages were sent", len(sent))
	}

	read, next := s.events(start, nil)
	byID := map[string]happened{}
	for _, e := range read {
		byID[e.ID] = e
	}
	for _, a := range sent {
		e, there := byID[a.Headers["webhook-id"]]
		var body happened
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
			t.Fatal(err)
		}
		if !there || e.Type != body.Type || !e.Timestamp.Equal(body.Timestamp) || *e.Sequence != *body.Sequence || e.Cause.Source != body.Cause.Source || !same(t, e.Data, body.Data) {
			t.Errorf("read %+v\nsent %s", e, a.Body)
		}
	}
	about := map[int64]bool{}
	var before int64
	for _, e := range read {
		var of struct{ ID string }
		if json.Unmarshal(e.Data, &of) != nil || of.ID != fmt.Sprintf("gid://shopify/SubscriptionContract/%d", s.id) {
			continue
		}
		if *e.Sequence <= before || about[*e.Sequence] {
			t.Errorf("%s has the number %d after %d", e.Type, *e.Sequence, before)
		}
		before, about[*e.Sequence] = *e.Sequence, true
		if e.Type == "subscription.paused" && (e.Cause.Source != "MERCHANT_EXTERNAL_API" || e.Cause.By == nil) {
			t.Errorf("paused by %+v", e.Cause)
		}
		if e.Type == "subscription.created" && e.Cause.By != nil {
			t.Errorf("created by %+v", e.Cause)
		}
	}
	if before == 0 {
		t.Error("no event is about the contract")
	}

	only, _ := s.events(start, url.Values{"types": {"subscription.paused,subscription.cancelled"}})
	if len(only) != 2 || only[0].Type != "subscription.paused" || only[1].Type != "subscription.cancelled" {
		t.Errorf("of two types: %+v", only)
	}
	var paged []happened
	for at := start; ; {
		list, after := s.events(at, url.Values{"limit": {"2"}})
		if paged = append(paged, list...); len(list) == 0 {
			if after != next {
				t.Errorf("page by page it ends at %s, and at once at %s", after, next)
			}
			break
		}
		at = after
	}
	if len(paged) != len(read) || len(read) < len(sent) {
		t.Errorf("%d events at once, %d page by page, and %d were sent", len(read), len(paged), len(sent))
	}
	for _, bad := range []string{"after=nonsense", "types=subscription.unknown", "limit=0", "limit=251"} {
		if a := s.demand("GET", "/events?"+bad, s.key, nil); a.status != http.StatusBadRequest {
			t.Errorf("%s answered %d %s", bad, a.status, a.body)
		}
	}

	s.pass("P15D")
	s.events(next, nil)
	s.pass("P16D")
	s.checkout(nil) // what expired goes with what is new
	s.pass("PT0S")
	_, later := s.events(next, nil)
	want(t, s.demand("GET", "/events?after="+start, s.key, nil), http.StatusGone, "eventsExpired")
	s.pass("P31D")
	want(t, s.demand("GET", "/events?after="+later, s.key, nil), http.StatusGone, "eventsNotKept")
	if list, _ := s.events("", nil); len(list) != 0 {
		t.Errorf("those that begin again get %+v", list)
	}
}

func TestEndpointGetsAllMessagesSinceInstantAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, "subscription.created", "subscription.paused", "subscription.activated")
	s.id = s.checkout(nil)
	r.wantTypes("subscription.created")
	s.pass("PT1H")
	status := fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=", s.id)
	want(t, s.demand("PUT", status+"PAUSED", s.key, nil), http.StatusNoContent, "")
	want(t, s.demand("PUT", status+"ACTIVE", s.key, nil), http.StatusNoContent, "")
	sent := r.wantTypes("subscription.created", "subscription.paused", "subscription.activated")
	replay := fmt.Sprintf("/webhook-endpoints/%d/replay", r.id)
	since := map[string]any{"since": sent[1].says(t).Timestamp.Format(time.RFC3339Nano)}
	a := s.demand("POST", replay, s.key, since)
	want(t, a, http.StatusAccepted, "")
	var said struct{ Messages int }
	if a.into(t, &said); said.Messages != 2 {
		t.Errorf("%d messages are sent again, want 2", said.Messages)
	}
	again := r.wantTypes("subscription.created", "subscription.paused", "subscription.activated", "subscription.paused", "subscription.activated")
	for i, a := range again[3:] {
		if a.Body != sent[1+i].Body || a.Headers["webhook-id"] != sent[1+i].Headers["webhook-id"] {
			t.Errorf("sent again %s\nbefore     %s", a.Body, sent[1+i].Body)
		}
	}
	for _, bad := range []string{"2001-01-31", "2999-01-31", "soon", ""} {
		if a := s.demand("POST", replay, s.key, map[string]any{"since": bad}); a.status != http.StatusBadRequest {
			t.Errorf("since %q answered %d %s", bad, a.status, a.body)
		}
	}
}
