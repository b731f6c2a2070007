package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// reply is an answer of the service.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// into reads the answer.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v in %.500s", err, r.body)
	}
}

// errorKey returns which rule was broken.
func (r reply) errorKey() string {
	var p struct{ ErrorKey string }
	_ = json.Unmarshal(r.body, &p) //nolint:errcheck // an answer that is no problem has no key
	return p.ErrorKey
}

// request sends JSON to an address. Headers are given as name, value.
func (s *store) request(method, url string, in any, headers ...string) reply {
	s.t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, text}
}

// demand sends a request to the admin interface of a line with a key.
func (s *store) demand(method, path, key string, in any, headers ...string) reply {
	s.t.Helper()
	return s.request(method, s.urls.Subscriptions+api+path, in, append([]string{"X-API-Key", key}, headers...)...)
}

// want checks how a request was answered.
func want(t *testing.T, r reply, status int, errorKey string) {
	t.Helper()
	if r.status != status || r.errorKey() != errorKey {
		t.Fatalf("answered %d %q, want %d %q: %.500s", r.status, r.errorKey(), status, errorKey, r.body)
	}
}

// keyView is what a story looks at in a key.
type keyView struct {
	ID         int64
	Name, Hint string
	Scopes     []string
	Active     bool
	APIKey     string
	RevokedAt  *string
}

func TestKeysAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	var erp, next keyView
	made := s.demand("POST", "/api-keys", s.key, map[string]any{"name": "ERP", "scopes": []string{"contracts:read"}}, "Idempotency-Key", "first")
	want(t, made, 200, "")
	made.into(t, &erp)
	if !strings.HasPrefix(erp.APIKey, "prn_") || !strings.HasPrefix(erp.APIKey, erp.Hint) || !erp.Active {
		t.Errorf("made %+v", erp)
	}
	again := s.demand("POST", "/api-keys", s.key, map[string]any{"name": "ERP", "scopes": []string{"contracts:read"}}, "Idempotency-Key", "first")
	want(t, again, 200, "")
	again.into(t, &next)
	if next.ID != erp.ID || next.APIKey != "" || !bytes.Contains(again.body, []byte(`"apiKey":null`)) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repetition answered %s", again.body)
	}

	want(t, s.demand("GET", "/subscription-contract-details", erp.APIKey, nil), 200, "")
	refused := s.demand("GET", "/api-keys", erp.APIKey, nil)
	want(t, refused, 403, "insufficientScope")
	if got := refused.header.Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="*"` || !bytes.Contains(refused.body, []byte(`"required":["*"]`)) {
		t.Errorf("the refusal says %q: %s", got, refused.body)
	}

	rotated := s.demand("POST", fmt.Sprintf("/api-keys/%d/rotate?graceSeconds=3600", erp.ID), s.key, nil)
	want(t, rotated, 200, "")
	rotated.into(t, &next)
	want(t, s.demand("GET", "/subscription-contract-details", erp.APIKey, nil), 200, "")
	want(t, s.demand("GET", "/subscription-contract-details", next.APIKey, nil), 200, "")
	s.pass("PT1H")
	want(t, s.demand("GET", "/subscription-contract-details", erp.APIKey, nil), 401, "apiKeyInvalid")
	want(t, s.demand("GET", "/subscription-contract-details", next.APIKey, nil), 200, "")

	path := fmt.Sprintf("/api-keys/%d", next.ID)
	want(t, s.demand("DELETE", path, s.key, nil), 200, "")
	want(t, s.demand("DELETE", path, s.key, nil), 200, "")
	want(t, s.demand("DELETE", "/api-keys/999999", s.key, nil), 404, "apiKeyNotFound")
	want(t, s.demand("GET", "/subscription-contract-details", next.APIKey, nil), 401, "apiKeyInvalid")

	var list []keyView
	s.demand("GET", "/api-keys?size=2", s.key, nil).into(t, &list)
	if len(list) != 2 || list[0].Name != "sandbox" || list[1].ID != erp.ID || list[1].Active || list[1].APIKey != "" {
		t.Errorf("listed %+v", list)
	}
	for n := range 9 {
		want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": fmt.Sprint("key ", n)}), 200, "")
	}
	want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": "eleventh"}), 400, "tooManyKeys")
	want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": ""}), 400, "invalid")
	want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": "x", "scopes": []string{"moon:read"}}), 400, "scopeUnknown")
	want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": "x", "scopes": []string{}}), 400, "invalid")
	want(t, s.demand("POST", "/api-keys", s.key, map[string]any{"name": "x", "shop": "other.myshopify.com"}), 400, "shopMismatch")
}

func TestMembershipsHostRequiresMembershipScopes(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	key := func(scopes ...string) string {
		t.Helper()
		var made keyView
		answer := s.demand("POST", "/api-keys", s.key, map[string]any{"name": "x", "scopes": scopes})
		want(t, answer, 200, "")
		answer.into(t, &made)
		return made.APIKey
	}
	reader, biller, member := key("contracts:read"), key("billing:write"), key("memberships:write", "billing:write")
	for name, test := range map[string]struct {
		host, method, path, key string
		status                  int
	}{
		"reading contracts with contracts:read":                      {s.urls.Subscriptions, "GET", "/subscription-contract-details", reader, 200},
		"reading memberships with contracts:read":                    {s.urls.Memberships, "GET", "/subscription-contract-details", reader, 403},
		"reading memberships with memberships:write":                 {s.urls.Memberships, "GET", "/subscription-contract-details", member, 200},
		"reading contracts with memberships:write":                   {s.urls.Subscriptions, "GET", "/subscription-contract-details", member, 403},
		"skipping an order with billing:write":                       {s.urls.Subscriptions, "PUT", "/subscription-billing-attempts/skip-order/1", biller, 404},
		"skipping a membership's with billing:write":                 {s.urls.Memberships, "PUT", "/subscription-billing-attempts/skip-order/1", biller, 403},
		"skipping a membership's with memberships:write as well":     {s.urls.Memberships, "PUT", "/subscription-billing-attempts/skip-order/1", member, 404},
		"the log of memberships with everything":                     {s.urls.Memberships, "GET", "/activity-logs", s.key, 200},
		"managing keys on either host needs everything, and no more": {s.urls.Memberships, "GET", "/api-keys", s.key, 200},
	} {
		if got := s.request(test.method, test.host+api+test.path, nil, "X-API-Key", test.key); got.status != test.status {
			t.Errorf("%s: answered %d, want %d: %.300s", name, got.status, test.status, got.body)
		}
	}
}

func TestSandboxControlChangesShopSettings(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	charge := fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID)
	s.call("POST", "/settings", map[string]any{"shop": "demo.myshopify.com", "enableImmediatePlaceOrder": false}, nil)
	answer := s.demand("PUT", charge, s.key, nil)
	if answer.status != 400 {
		t.Errorf("without the permission: %d %s", answer.status, answer.body)
	}
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true, "requestsPerSecond": 0.001, "requestBurst": 3}, nil)
	want(t, s.demand("PUT", charge, s.key, nil), 200, "")
	granted := 1
	for range 6 {
		answer := s.demand("GET", "/api-keys", s.key, nil)
		if answer.status == 200 {
			granted++
			continue
		}
		want(t, answer, 429, "rateLimit")
		if answer.header.Get("RateLimit-Limit") != "3" || answer.header.Get("RateLimit-Remaining") != "0" || answer.header.Get("Retry-After") == "" {
			t.Errorf("the refusal says %v", answer.header)
		}
	}
	if granted > 3 {
		t.Errorf("%d requests were granted of a burst of 3", granted)
	}
	if got := s.request("POST", s.urls.Control+"/settings", map[string]any{"requestBurst": -1}); got.status != 400 || got.errorKey() != "rateRange" {
		t.Errorf("a negative burst: %d %s", got.status, got.body)
	}
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 0, "requestBurst": 0}, nil)
}
