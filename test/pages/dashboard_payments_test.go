package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// order sends an order to the control interface.
func (s *site) order(t *testing.T, path string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.Control+path, "application/json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s answered %d", path, answer.StatusCode)
	}
}

// says checks that a page says a text, once it is loaded.
func (v *visit) says(want string) {
	v.t.Helper()
	v.tab.Loaded()
	if got := browsertest.Eval[string](v.tab, "document.body.innerText"); !strings.Contains(got, want) {
		v.t.Errorf("the page does not say %q:\n%s", want, got)
	}
}

func TestFailedPaymentsAreWorkedOnInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/failed-payments"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard payments"}
	v.signIn(s, m)
	v.open("none", at, http.StatusOK)
	v.says("No payment is open")

	codes := []string{"INSUFFICIENT_FUNDS", "EXPIRED_CARD", "CARD_DECLINED", "FRAUD_SUSPECTED", "MERCHANT_ACCOUNT_ERROR", "AUTHENTICATION_REQUIRED"}
	for id := 9001; id <= 9012; id++ {
		for range 6 {
			s.order(t, "/platform/outcomes", map[string]any{"contractId": id, "code": codes[id%len(codes)]})
		}
	}
	s.order(t, "/clock", map[string]any{"advance": "P24D"})
	v.open("many", at, http.StatusOK)
	v.says("Not enough money")
	browsertest.Eval[bool](v.tab, "document.querySelectorAll('details').forEach(d => d.open = true), true")
	v.look("many with table", http.StatusOK, http.StatusOK)
	v.open("cards", at+"?group=card&period=30d", http.StatusOK)

	payment := func(label string) string {
		v.tab.Open(at)
		href := browsertest.Eval[string](v.tab, fmt.Sprintf(`[...document.querySelectorAll("main tbody tr")].find(r => r.textContent.includes(%q)).querySelector("a.icon").href`, label))
		return href
	}
	one := payment("INSUFFICIENT_FUNDS")
	v.open("one", one, http.StatusOK)
	v.open("leave", one+"/leave", http.StatusOK)
	v.click("left", "main button.pri", http.StatusOK)
	v.says("The order is no longer charged by plan.")
	v.open("link", one+"/link", http.StatusOK)
	v.click("linked", "main button.pri", http.StatusOK)
	v.says("The platform sends the customer an e-mail")
	other := payment("EXPIRED_CARD")
	v.open("skip", other+"/skip", http.StatusOK)
	v.click("skipped", "main button.dan", http.StatusOK)
	v.says("The order was skipped.")
	v.open("closed", other+"/skip", http.StatusConflict)
	paused := payment("MERCHANT_ACCOUNT_ERROR")
	v.tab.Open(paused + "/pause")
	s.order(t, "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_before"}, "seed": 7, "for": "P1D"})
	v.click("platform down", "main button.pri", http.StatusUnprocessableEntity)
	answer, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.Control+"/platform/faults", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := http.DefaultClient.Do(answer); err != nil {
		t.Fatal(err)
	} else {
		done.Body.Close()
	}
	v.click("paused", "main button.pri", http.StatusOK)
	v.says("The contract was paused")
	v.open("gone", at+"/999999999/retry", http.StatusNotFound)
}
