package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web/dashboard/simulate"
)

// Each scenario ends as it says, by the platform's books and the activity log.
func TestScenariosEndAsTheySay(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	store := b.store()
	b.direct("POST", "/loyalty", `{"expireMonths":2}`, nil)
	var list []simulate.Scenario
	b.direct("GET", "/scenarios", "", &list)
	for _, want := range []struct {
		name    string
		orders  int
		failed  bool // a charge was declined
		status  string
		entries []activity.EventType
	}{
		{"trial-to-paid", 1, false, "ACTIVE", nil},
		{"dunning-recovery", 1, true, "ACTIVE", nil},
		{"min-cycle-freeze", 2, false, "CANCELLED", []activity.EventType{activity.ContractCancelled}},
		{"dunning-pause", 0, true, "PAUSED", []activity.EventType{activity.ContractPaused}},
		{"points-expiry", 2, false, "ACTIVE", nil},
		{"renewal-year", 12, false, "ACTIVE", nil},
		{"prepaid-year", 1, false, "ACTIVE", nil},
	} {
		var made struct {
			ContractID int64
			report
		}
		b.direct("POST", "/scenarios/"+want.name, "", &made)
		id := strconv.FormatInt(made.ContractID, 10)
		var c simulator.Contract
		b.direct("GET", "/platform/contracts/"+id, "", &c)
		if n := len(b.orders("?contractId=" + id)); n != want.orders || c.Status != want.status || want.failed != (made.Failed > 0) {
			t.Errorf("%s: %d orders, the contract is %s, %d charges failed", want.name, n, c.Status, made.Failed)
		}
		where := []page.Criterion{{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{made.ContractID}}}
		entries, _, err := b.front.running().Store.Entries(t.Context(), store.ID, where, page.Request{Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range want.entries {
			if !slices.ContainsFunc(entries, func(e activity.Entry) bool { return e.Event == event }) {
				t.Errorf("%s: the log does not have %s: %+v", want.name, event, entries)
			}
		}
		list = slices.DeleteFunc(list, func(s simulate.Scenario) bool { return s.Name == want.name })
		if want.name != "points-expiry" {
			continue
		}
		history, _, err := b.front.running().Loyalty.History(t.Context(), store.ID, loyalty.CustomerRef{Customer: c.Customer.ID}, page.Request{})
		if err != nil || !slices.ContainsFunc(history, func(e loyalty.Entry) bool { return e.Kind == loyalty.Expire && e.Available <= -100*loyalty.One }) {
			t.Errorf("the points have not expired: %+v, %v", history, err)
		}
	}
	if len(list) > 0 {
		t.Errorf("not played: %+v", list)
	}
}

func TestScenarioIsRefusedInStoreThatCannotShowIt(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	b.direct("POST", "/settings", `{"dunning":{"mode":"SIMPLE","retries":0,"finalAction":"CANCEL"}}`, nil)
	b.direct("POST", "/loyalty", `{"expireMonths":0}`, nil)
	for name, says := range map[string]string{
		"dunning-recovery": "allow retries in its settings, under Billing and dunning", "dunning-pause": "choose pausing in its settings, under Billing and dunning", "points-expiry": "set when they expire",
	} {
		if status, text := ask(t, http.MethodPost, b.urls.Control+"/scenarios/"+name, "", ""); status < 400 || status >= 500 || !strings.Contains(text, says) {
			t.Errorf("%s is answered with %d %s", name, status, text)
		}
	}
	for path, want := range map[string]int{"/scenarios/other": http.StatusNotFound, "/scenarios/renewal-year?shop=none.myshopify.com": http.StatusNotFound} {
		if status, text := ask(t, http.MethodPost, b.urls.Control+path, "", ""); status != want {
			t.Errorf("%s is answered with %d %s", path, status, text)
		}
	}
	if status, text := ask(t, http.MethodGet, b.urls.Control+"/platform/contracts/9001", "", ""); status != http.StatusNotFound {
		t.Errorf("a scenario that was refused made a contract: %d %s", status, text)
	}
}

func TestScenarioOfDashboardWaitsForMove(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	c := &clockwork{Sandbox: b.Sandbox}
	if err := c.begin(simulate.Move{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Play(t.Context(), demo.Main, "trial-to-paid"); err == nil || !strings.Contains(err.Error(), "moving already") {
		t.Errorf("a scenario begins while time moves: %v", err)
	}
	c.moves = nil
	if err := c.Play(t.Context(), "none.myshopify.com", "trial-to-paid"); err == nil || len(c.moves) != 0 {
		t.Errorf("in a store that does not exist: %v, moves %+v", err, c.moves)
	}
	if err := c.Play(t.Context(), demo.Main, "trial-to-paid"); err != nil || len(c.moves) != 1 || c.moves[0].Contract == 0 || c.moves[0].Scenario != "Trial to paid" {
		t.Errorf("the scenario: %v, moves %+v", err, c.moves)
	}
}

// While the clock moves, on the dashboard or the control interface, a scenario is refused before
// it makes anything.
func TestScenarioMakesNothingWhileTimeMoves(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	c := &clockwork{Sandbox: b.Sandbox}
	if err := b.steps.Advance(t.Context(), func(now time.Time) (time.Time, error) {
		if status, text := ask(t, http.MethodPost, b.urls.Control+"/scenarios/trial-to-paid", "", ""); status != http.StatusConflict || !strings.Contains(text, "moving already") {
			t.Errorf("the control interface answers %d %s", status, text)
		}
		if err := c.Play(t.Context(), demo.Main, "trial-to-paid"); !fault.Is(err, fault.Conflict) || len(c.moves) != 0 {
			t.Errorf("the dashboard: %v, moves %+v", err, c.moves)
		}
		return now, nil
	}); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(t, http.MethodGet, b.urls.Control+"/platform/contracts/9001", "", ""); status != http.StatusNotFound {
		t.Errorf("a scenario that was refused made a contract: %d %s", status, text)
	}
	if err := c.Play(t.Context(), "none.myshopify.com", "trial-to-paid"); !fault.Is(err, fault.NotFound) {
		t.Errorf("in a store that does not exist: %v", err)
	}
	b.direct("POST", "/scenarios/trial-to-paid", "", nil) // a scenario that failed keeps others from nothing
}
