package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// tick ticks boxes.
func (v *visit) tick(selectors ...string) {
	v.t.Helper()
	for _, s := range selectors {
		browsertest.Eval[bool](v.tab, fmt.Sprintf("document.querySelector(%q).checked = true", s))
	}
}

// text returns what an element says.
func (v *visit) text(selector string) string {
	v.t.Helper()
	return browsertest.Eval[string](v.tab, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

func TestDevelopersWorkInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard developers"}
	v.signIn(s, m)
	v.open("partners none", at+"/partners", http.StatusOK)
	v.open("webhooks none", at+"/webhooks", http.StatusOK)
	v.open("deliveries none", at+"/webhook-deliveries", http.StatusOK)

	v.open("key form", at+"/keys/new", http.StatusOK)
	v.fill("#f-access", "chosen")
	v.submit("key refused", "#f-name", "Warehouse", http.StatusUnprocessableEntity)
	v.fill("#f-access", "chosen")
	v.tick("[name=scope][value='contracts:read']", "[name=scope][value='activity:read']", "[name=scope][value='contracts:write']")
	v.submit("key made", "#f-name", "<script>alert(1)</script>{{7*7}}", http.StatusOK)
	value := v.text("output")
	for path, want := range map[string]int{"/api/external/v2/activity-logs?size=2&eventSource.equals=SYSTEM_EVENT": http.StatusOK, "/api/external/v2/webhook-endpoints": http.StatusForbidden} {
		if got := ask(t, http.MethodGet, s.Subscriptions+path, value); got != want {
			t.Errorf("%s answers %d, want %d", path, got, want)
		}
	}
	if got := ask(t, http.MethodPut, s.Subscriptions+"/api/external/v2/subscription-contracts-update-order-note/9001?orderNote=gate", value); got != http.StatusOK {
		t.Errorf("the note of an order answers %d", got)
	}
	v.tick("[name=stored]")
	v.click("keys", "form[action$='/stored'] button", http.StatusOK)
	if got := v.text("main tbody tr:nth-child(2) th"); !strings.HasPrefix(got, "<script>alert(1)</script>{{7*7}}") {
		t.Errorf("the name of the key is shown as %q", got)
	}
	v.open("replace key", at+"/keys", http.StatusOK)
	v.tab.Open(browsertest.Eval[string](v.tab, "document.querySelector('main tbody tr:nth-child(2) a.dan').href"))
	v.submit("revoke refused", "#f-typed", "warehouse", http.StatusUnprocessableEntity)
	v.submit("key revoked", "#f-typed", "<script>alert(1)</script>{{7*7}}", http.StatusOK)
	if got := ask(t, http.MethodGet, s.Subscriptions+"/api/external/v2/activity-logs", value); got != http.StatusUnauthorized {
		t.Errorf("a revoked key is answered %d", got)
	}
	for end := time.Now().Add(time.Minute); ; {
		v.tab.Open(at + "/api-log?answer=403")
		if strings.Contains(v.text("main table"), "/api/external/v2/webhook-endpoints") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the API log does not have the request: %s", v.text("main"))
		}
	}
	v.open("api log", at+"/api-log", http.StatusOK)
	v.tab.Open(at + "/contracts/9001")
	v.click("api log of one request", "a[href*='/api-log?request=']", http.StatusOK)
	if got := v.text("main tbody"); !strings.Contains(got, "PUT /api/external/v2/subscription-contracts-update-order-note/9001") || strings.Contains(got, "GET") {
		t.Errorf("the entry leads to the request %q", got)
	}
	v.open("activity", at+"/activity", http.StatusOK)
	v.open("activity filtered", at+"/activity?status.equals=FAILURE&activityBy.contains=nobody", http.StatusOK)

	sink := struct{ URL string }{}
	s.post(t, "/webhook-sink", &sink)
	v.open("endpoint form", at+"/webhooks/new", http.StatusOK)
	v.submit("endpoint refused", "#f-url", sink.URL, http.StatusUnprocessableEntity)
	v.tick("[name=type][value='subscription.billing-success']", "[name=type][value='subscription.paused']")
	v.submit("endpoint", "#f-url", sink.URL, http.StatusOK)
	endpoint := browsertest.Eval[string](v.tab, "location.pathname")
	v.clickAndWait("test event", "form[action$='/test'] button", s)
	v.tab.Open(s.Dashboard + endpoint)
	v.click("secret", "form[action$='/secret'] button", http.StatusOK)
	v.open("replay failed", s.Dashboard+endpoint+"/replay", http.StatusOK)
	v.open("delete endpoint", s.Dashboard+endpoint+"/delete", http.StatusOK)
	v.open("webhooks", at+"/webhooks", http.StatusOK)
	v.open("deliveries", at+"/webhook-deliveries", http.StatusOK)
	v.click("delivery", "main tbody a", http.StatusOK)
	v.clickAndWait("delivery replayed", "form[action$='/replay'] button", s)

	v.open("time", at+"/time", http.StatusOK)
	v.submit("outcome refused", "#f-contract", "1", http.StatusUnprocessableEntity)
	v.tab.Click("button[value=week]") // the page changes while time moves
	for end := time.Now().Add(time.Minute); strings.Contains(v.text("#time-results"), "Time is moving"); v.tab.Open(at + "/time") {
		if time.Now().After(end) {
			t.Fatal("time does not arrive")
		}
		s.rest(t)
	}
	v.open("time arrived", at+"/time", http.StatusOK) // the banner is that of the time when the page was opened
	if got := v.text(".banner.info"); !strings.Contains(got, "(+7 days)") {
		t.Errorf("the banner says %q", got)
	}
	for _, scripts := range []bool{false, true} {
		v.tab.Scripts(scripts)
		v.tab.Open(at + "/time")
		before := v.text("#time-results tbody a")
		v.tab.Click("button[value='trial-to-paid']")
		for end := time.Now().Add(time.Minute); v.text("#time-results tbody a") == before || strings.Contains(v.text("#time-results"), "oving"); v.tab.Open(at + "/time") {
			if time.Now().After(end) {
				t.Fatalf("the scenario does not end (scripts: %v): %s", scripts, v.text("#time-results"))
			}
			s.rest(t)
		}
	}
	v.open("time of a scenario", at+"/time", http.StatusOK)
	v.click("contract of a scenario", "#time-results tbody a", http.StatusOK)
	if got := v.text("main"); !strings.Contains(got, "Sam Trial to paid") {
		t.Errorf("the scenario leads to %s", got)
	}
	v.open("home of another time", at, http.StatusOK)
}

// ask sends a request with a key and returns the status of the answer.
func ask(t *testing.T, method, address, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// post asks the control interface for something.
func (s *site) post(t *testing.T, path string, out any) {
	t.Helper()
	answer, err := http.Post(s.Control+path, "application/json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		t.Fatal(err)
	}
}
