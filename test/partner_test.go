package test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/deliver/signed"
	"github.com/perennialhq/perennial/internal/domain/partner"
)

// application is a partner's application that runs on this machine.
type application struct {
	*store
	id      string
	secrets struct{ Secret, AppKey, SigningSecret string }

	mu      sync.Mutex
	calls   []decision
	refuse  int  // how many calls other than verifications are answered with 503 first
	confirm bool // whether requests to be connected are confirmed
}

// decision is the body of a call to an application.
type decision struct {
	Path       string
	ID         string `json:"-"` // of the message
	Connection int64  `json:"connection_id"`
	Shop       string
	Status     string
	Code       string
	State      string
	Scopes     []string
}

// register starts an application and registers it.
func register(s *store, id string, scopes ...string) *application {
	s.t.Helper()
	a := &application{store: s, id: id, confirm: true}
	server := httptest.NewServer(a)
	s.t.Cleanup(server.Close)
	s.call("POST", "/partners", map[string]any{"id": id, "name": strings.ToUpper(id), "baseUrl": server.URL + "/perennial", "scopes": scopes}, &a.secrets)
	return a
}

// ServeHTTP checks the signature and plays the application's part.
func (a *application) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	seconds, err := strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		a.t.Error(err)
	}
	signature, err := signed.Sign(a.secrets.SigningSecret, partner.Message{ID: r.Header.Get("webhook-id"), At: time.Unix(seconds, 0), Body: body})
	if err != nil || signature != r.Header.Get("webhook-signature") {
		a.t.Errorf("%s: the signature is %q and should be %q, %v", r.URL, r.Header.Get("webhook-signature"), signature, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/perennial/")
	if path == "verify" {
		var asked struct{ Shop, Nonce string }
		if err := json.Unmarshal(body, &asked); err != nil {
			a.t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"nonce": asked.Nonce, "ok": a.confirm}) //nolint:errcheck // the service hung up
		return
	}
	if a.refuse > 0 {
		a.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	call := decision{ID: r.Header.Get("webhook-id")}
	if err := json.Unmarshal(body, &call); err != nil {
		a.t.Error(err)
	}
	call.Path = path
	a.calls = append(a.calls, call)
}

// received returns the application's last call, and fails unless it received exactly
// one more than the given number.
func (a *application) received(before int) decision {
	a.t.Helper()
	a.call("POST", "/clock", map[string]string{"advance": "PT0S"}, nil) // waits until all is quiet
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) != before+1 {
		a.t.Fatalf("the application received %d calls, not %d: %+v", len(a.calls), before+1, a.calls)
	}
	return a.calls[before]
}

// post sends a request of the application's own.
func (a *application) post(path string, in any) reply {
	a.t.Helper()
	method := http.MethodPost
	if in == nil && !strings.HasSuffix(path, "rotate") && !strings.HasSuffix(path, "disconnect") {
		method = http.MethodGet
	}
	credentials := base64.StdEncoding.EncodeToString([]byte(a.id + ":" + a.secrets.Secret))
	return a.request(method, a.urls.Subscriptions+"/api/partner/"+a.id+path, in, "Authorization", "Basic "+credentials)
}

// connect asks to be connected.
func (a *application) connect(scopes ...string) reply {
	a.t.Helper()
	return a.post("/connect", map[string]any{"shop_domain": "demo.myshopify.com", "callback_nonce": "0123456789abcdef", "scopes": scopes, "state": "mine"})
}

// connectionView is what a story looks at in a connection, on either side.
type connectionView struct {
	ID            int64
	Connection    int64 `json:"connection_id"`
	Status        string
	Scopes        []string
	Requested     []string `json:"requestedScopes"`
	AwaitsYou     bool     `json:"awaitsApproval"`
	TokenIssued   bool
	CallbackError *string
	LastUsedAt    *time.Time
	Calls         []struct{ Calls, Errors int }
	Token         string
}

func (r reply) connection(t *testing.T, status int) connectionView {
	t.Helper()
	want(t, r, status, "")
	var c connectionView
	r.into(t, &c)
	return c
}

// partnerEntries returns the events of connections in the order in which they
// happened.
func (s *subscription) partnerEntries() []string {
	s.t.Helper()
	var entries []struct{ EventType, EventSource, ActivityBy, ClientIP string }
	s.get("/activity-logs?entityType.equals=PARTNER_CONNECTION&size=100&sort=id,asc", &entries)
	events := make([]string, len(entries))
	for i, e := range entries {
		events[i] = e.EventType
		if e.EventSource == "SYSTEM_EVENT" && (e.ActivityBy != "" || e.ClientIP != "") {
			s.t.Errorf("an entry of the service has an actor: %+v", e)
		}
		if e.EventType == "PARTNER_CONNECTED" && (e.EventSource != "MERCHANT_EXTERNAL_API" || e.ActivityBy != "partner app REPORTS" || e.ClientIP == "") {
			s.t.Errorf("the application's own doing: %+v", e)
		}
	}
	return events
}

func TestApplicationConnectsAndDisconnects(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	a := register(s.store, "reports", "contracts:read", "billing:write")

	asked := a.connect("contracts:read").connection(t, 202)
	if asked.Status != "pending_merchant_approval" {
		t.Errorf("asked %+v", asked)
	}
	if again := a.connect("billing:write").connection(t, 202); again.Connection != asked.Connection || !slices.Equal(again.Scopes, []string{"contracts:read"}) {
		t.Errorf("asked again: %+v", again)
	}
	path := fmt.Sprintf("/partner-connections/%d", asked.Connection)
	if seen := s.demand("GET", path, s.key, nil).connection(t, 200); !seen.AwaitsYou || seen.Status != "PENDING" {
		t.Errorf("the merchant sees %+v", seen)
	}
	s.demand("POST", path+"/approve", s.key, nil).connection(t, 200)
	call := a.received(0)
	if call.Path != "approved" || call.Shop != "demo.myshopify.com" || call.Connection != asked.Connection || call.State != "mine" || call.Code == "" {
		t.Fatalf("received %+v", call)
	}
	want(t, a.post("/token", map[string]any{"code": "prc_wrong"}), 400, "codeInvalid")
	want(t, a.post("/token", map[string]any{"code": call.Code, "connection_id": asked.Connection + 1}), 400, "codeInvalid")
	token := a.post("/token", map[string]any{"code": call.Code, "connection_id": asked.Connection}).connection(t, 200).Token
	want(t, a.post("/token", map[string]any{"code": call.Code}), 400, "codeInvalid")

	want(t, s.demand("GET", "/subscription-contract-details", token, nil), 200, "")
	want(t, s.demand("GET", "/subscription-contract-details", token, nil, "X-App-Key", a.secrets.AppKey), 200, "")
	want(t, s.demand("GET", "/api-keys", token, nil), 403, "insufficientScope")
	skip := fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", s.upcoming()[0].ID)
	want(t, s.demand("PUT", skip, token, nil), 403, "insufficientScope")

	// More is asked for, and granted to the same token.
	if more := a.connect("contracts:read", "billing:write").connection(t, 202); more.Status != "pending_merchant_approval" || more.Connection != asked.Connection {
		t.Errorf("asked for more: %+v", more)
	}
	want(t, s.demand("PUT", skip, token, nil), 403, "insufficientScope")
	s.demand("POST", path+"/approve", s.key, nil).connection(t, 200)
	if call := a.received(1); call.Code != "" || !slices.Equal(call.Scopes, []string{"contracts:read", "billing:write"}) {
		t.Errorf("received %+v", call)
	}
	want(t, s.demand("PUT", skip, token, nil), 200, "")
	var skipped []struct{ ActivityBy, EventSource string }
	s.get("/activity-logs?eventType.equals=BILLING_ATTEMPT_SKIPPED", &skipped)
	if len(skipped) != 1 || skipped[0].ActivityBy != "partner app REPORTS" {
		t.Errorf("the log has %+v", skipped)
	}

	// Scopes are taken away, and cannot be given back so.
	s.demand("PUT", path+"/scopes", s.key, map[string]any{"scopes": []string{"billing:write"}}).connection(t, 200)
	want(t, s.demand("GET", "/subscription-contract-details", token, nil), 403, "insufficientScope")
	want(t, s.demand("PUT", path+"/scopes", s.key, map[string]any{"scopes": []string{"contracts:read"}}), 400, "scopeNotGranted")

	// Taking away nothing is no change; the merchant grants what else it names.
	s.demand("PUT", path+"/scopes", s.key, map[string]any{"scopes": []string{"billing:write"}}).connection(t, 200)
	given := s.demand("POST", "/partner-connections", s.key, map[string]any{"partnerId": "reports", "scopes": []string{"contracts:read"}}).connection(t, 200)
	if given.ID != asked.Connection || !slices.Equal(given.Scopes, []string{"billing:write", "contracts:read"}) {
		t.Errorf("given %+v", given)
	}
	want(t, s.demand("GET", "/subscription-contract-details", token, nil), 200, "")
	if call := a.received(2); call.Code != "" || !slices.Equal(call.Scopes, given.Scopes) {
		t.Errorf("received %+v", call)
	}

	next := a.post(fmt.Sprintf("/connections/%d/rotate", asked.Connection), nil).connection(t, 200).Token
	want(t, s.demand("GET", "/api-keys", token, nil), 401, "apiKeyInvalid")
	want(t, s.demand("GET", "/api-keys", next, nil), 403, "insufficientScope")

	s.call("POST", "/partners/reports", map[string]string{"status": "SUSPENDED"}, nil)
	want(t, s.demand("GET", "/api-keys", next, nil), 403, "partnerSuspended")
	want(t, s.demand("GET", "/api-keys", s.key, nil, "X-App-Key", a.secrets.AppKey), 401, "appKeyInvalid")
	want(t, a.connect("contracts:read"), 403, "partnerSuspended")
	s.call("POST", "/partners/reports", map[string]string{"status": "live"}, nil)

	seen := s.demand("GET", path, s.key, nil).connection(t, 200)
	if len(seen.Calls) != 1 || seen.Calls[0].Calls < 8 || seen.Calls[0].Errors < 4 || seen.LastUsedAt == nil || !seen.TokenIssued {
		t.Errorf("the review shows %+v", seen)
	}
	if left := a.post(fmt.Sprintf("/connections/%d/disconnect", asked.Connection), nil).connection(t, 200); left.Status != "disconnected" {
		t.Errorf("left %+v", left)
	}
	want(t, s.demand("GET", "/api-keys", next, nil), 401, "apiKeyInvalid")
	s.demand("POST", path+"/disconnect", s.key, nil).connection(t, 200)
	want(t, s.demand("POST", path+"/approve", s.key, nil), 400, "connectionState")
	if got, all := s.partnerEntries(), []string{
		"PARTNER_CONNECTION_REQUESTED", "PARTNER_CONNECTION_APPROVED", "PARTNER_CONNECTED", "PARTNER_CONNECTION_REQUESTED", "PARTNER_CONNECTION_APPROVED",
		"UPDATED", "PARTNER_CONNECTION_APPROVED", "PARTNER_CONNECTED", "PARTNER_DISCONNECTED",
	}; !slices.Equal(got, all) {
		t.Errorf("the log has %v\nwant %v", got, all)
	}
}

func TestMerchantConnectsApplicationThatIsDownAtFirst(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	a := register(s.store, "reports", "contracts:read")
	a.refuse = 2
	want(t, s.demand("POST", "/partner-connections", s.key, map[string]any{"partnerId": "nobody"}), 404, "partnerNotFound")
	want(t, s.demand("POST", "/partner-connections", s.key, map[string]any{"partnerId": "reports", "scopes": []string{"billing:write"}}), 400, "scopeNotAllowed")
	made := s.demand("POST", "/partner-connections", s.key, map[string]any{"partnerId": "reports"}).connection(t, 200)
	if made.Status != "CONNECTED" || made.TokenIssued {
		t.Errorf("made %+v", made)
	}
	s.pass("PT1M")
	path := fmt.Sprintf("/partner-connections/%d", made.ID)
	if seen := s.demand("GET", path, s.key, nil).connection(t, 200); seen.CallbackError == nil || !strings.Contains(*seen.CallbackError, "503") {
		t.Errorf("the merchant sees %+v", seen)
	}
	s.pass("PT5M")
	call := a.received(0)
	if call.Path != "connect" || call.Code == "" {
		t.Fatalf("received %+v", call)
	}
	s.pass("PT10M")
	want(t, a.post("/token", map[string]any{"code": call.Code}), 400, "codeInvalid")
	s.demand("POST", path+"/approve", s.key, nil).connection(t, 200) // sends another code
	token := a.post("/token", map[string]any{"code": a.received(1).Code}).connection(t, 200).Token
	want(t, s.demand("GET", "/subscription-contract-details", token, nil), 200, "")

	s.uninstall()
	want(t, s.demand("GET", "/subscription-contract-details", token, nil), 401, "apiKeyInvalid")
	if seen := s.demand("GET", path, s.key, nil).connection(t, 200); seen.Status != "UNINSTALLED" {
		t.Errorf("the merchant sees %+v", seen)
	}
	want(t, a.connect("contracts:read"), 404, "shopNotFound")
	if got, all := s.partnerEntries(), []string{
		"PARTNER_CONNECTION_REQUESTED", "PARTNER_CONNECTION_APPROVED", "PARTNER_CONNECTED", "PARTNER_DISCONNECTED",
	}; !slices.Equal(got, all) {
		t.Errorf("the log has %v\nwant %v", got, all)
	}
}

// uninstall lets the platform say that the store gave up the service.
func (s *subscription) uninstall() {
	s.t.Helper()
	s.call("POST", "/platform/shops/demo.myshopify.com/uninstall", nil, nil)
}

// says sends a webhook that the platform has signed.
func (s *subscription) says(topic, payload string) {
	s.t.Helper()
	if got := s.sends(topic, "demo.myshopify.com", payload); got != http.StatusOK {
		s.t.Fatalf("the webhook was answered %d", got)
	}
	s.pass("PT0S")
}

// sends sends a webhook with a body that the platform has signed, under any topic and of
// any store, and returns the status of the answer.
func (s *subscription) sends(topic, shop, payload string) int {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var manifest struct{ AppSecret string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		s.t.Fatal(err)
	}
	body := []byte(payload)
	mac := hmac.New(sha256.New, []byte(manifest.AppSecret))
	mac.Write(body)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.urls.Subscriptions+"/webhooks", strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"X-Shopify-Topic": topic, "X-Shopify-Shop-Domain": shop, "X-Shopify-Webhook-Id": "w " + topic, "X-Shopify-Event-Id": "e " + topic,
		"X-Shopify-Api-Version": "2026-10", "X-Shopify-Triggered-At": s.now().Format(time.RFC3339), "X-Shopify-Hmac-Sha256": base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestRejectedAndExpiredConnectionsGrantNothing(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	a := register(s.store, "reports", "contracts:read")
	a.confirm = false
	want(t, a.connect("contracts:read"), 424, "callbackFailed")
	a.confirm = true
	want(t, a.connect("billing:write"), 400, "scopeNotAllowed")
	want(t, a.connect("*"), 400, "scopeNotAllowed")
	want(t, a.connect(), 400, "invalid")
	want(t, a.post("/connect", map[string]any{"shop_domain": "nobody.myshopify.com", "callback_nonce": "0123456789", "scopes": []string{"contracts:read"}}), 404, "shopNotFound")
	want(t, a.post("/connect", map[string]any{"shop_domain": "demo.myshopify.com", "callback_nonce": "0123456789", "scopes": []string{"contracts:read"}, "return_url": "https://evil.example/"}), 400, "invalid")

	rejected := a.connect("contracts:read").connection(t, 202)
	path := fmt.Sprintf("/partner-connections/%d", rejected.Connection)
	s.demand("POST", path+"/reject", s.key, nil).connection(t, 200)
	if call := a.received(0); call.Path != "rejected" || call.Code != "" {
		t.Errorf("received %+v", call)
	}
	want(t, s.demand("POST", path+"/approve", s.key, nil), 400, "connectionState")

	// A merchant that names scopes grants these and not all that was asked for.
	both := register(s.store, "both", "contracts:read", "billing:write")
	both.connect("contracts:read", "billing:write").connection(t, 202)
	if c := s.demand("POST", "/partner-connections", s.key, map[string]any{"partnerId": "both", "scopes": []string{"contracts:read"}}).connection(t, 200); c.Status != "CONNECTED" || !slices.Equal(c.Scopes, []string{"contracts:read"}) {
		t.Errorf("granted %+v", c)
	}
	expired := a.connect("contracts:read").connection(t, 202)
	if expired.Connection == rejected.Connection {
		t.Error("a rejected connection came back to life")
	}
	s.pass("P7D")
	if seen := a.post(fmt.Sprintf("/connections/%d", expired.Connection), nil).connection(t, 200); seen.Status != "expired" {
		t.Errorf("after a week: %+v", seen)
	}

	// Connections of other applications and of other shops cannot be seen.
	other := register(s.store, "others", "contracts:read")
	want(t, other.post(fmt.Sprintf("/connections/%d", expired.Connection), nil), 404, "connectionNotFound")
	other.secrets.Secret = a.secrets.Secret
	want(t, other.connect("contracts:read"), 401, "partnerCredentialsInvalid")
	want(t, a.request("POST", a.urls.Subscriptions+"/api/partner/reports/connect", map[string]any{}), 401, "partnerCredentialsMissing")
	want(t, s.demand("GET", "/partner-connections/999999", s.key, nil), 404, "connectionNotFound")

	// A merchant's key together with an application's.
	want(t, s.demand("GET", "/api-keys", s.key, nil, "X-App-Key", a.secrets.AppKey), 200, "")
	want(t, s.demand("GET", "/api-keys", s.key, nil, "X-App-Key", "pra_nonsense"), 401, "appKeyInvalid")
	want(t, s.demand("GET", "/api-keys", s.key, nil, "X-App-Key", ""), 401, "appKeyInvalid")
	want(t, s.demand("GET", "/api-keys", "unknown key", nil, "X-App-Key", a.secrets.AppKey), 401, "apiKeyInvalid")
}
