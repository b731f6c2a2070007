package test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// Entries about the store itself.
const (
	froze   = "SYSTEM_EVENT INFORMATIONAL_EVENT FAILURE"
	thawed  = "MERCHANT_PORTAL INFORMATIONAL_EVENT SUCCESS"
	heldOff = "SYSTEM_EVENT INFORMATIONAL_EVENT FAILURE"
	goesOn  = "SYSTEM_EVENT INFORMATIONAL_EVENT INFO"
)

// housed is a sandbox that can be stopped and started again in its folder.
type housed struct {
	*subscription
	sandbox *sandbox.Sandbox
	options sandbox.Options
}

// house opens a sandbox with an otherwise empty store.
func house(t *testing.T, o sandbox.Options) *housed {
	t.Helper()
	o.CheckEvery = everyDay
	o = cheaper(t, o)
	o.DataDir, o.Listen, o.Log, o.Out = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler), io.Discard
	if onPostgres(t) {
		o.Database = storetest.PostgresOptions(t).URL
	} else {
		o.Database = filepath.Join(o.DataDir, "perennial.db")
		storetest.SQLiteFile(t, o.Database)
	}
	h := &housed{options: o, subscription: &subscription{store: &store{t: t, dir: o.DataDir}}}
	h.start()
	t.Cleanup(func() { h.stop() })
	var before []struct{ ID int64 }
	h.get("/activity-logs?size=1&sort=id,desc", &before)
	if len(before) > 0 {
		h.log = before[0].ID
	}
	return h
}

func (h *housed) start() {
	h.t.Helper()
	var err error
	if h.sandbox, err = sandbox.Start(h.t.Context(), h.options); err != nil {
		h.t.Fatal(err)
	}
	h.urls = h.sandbox.URLs()
	var manifest struct{ APIKey string }
	h.read("sandbox.json", &manifest)
	h.key = manifest.APIKey
}

func (h *housed) stop() {
	h.t.Helper()
	if h.sandbox == nil {
		return
	}
	if err := h.sandbox.Close(); err != nil {
		h.t.Errorf("close the sandbox: %v", err)
	}
	h.sandbox = nil
}

func (h *housed) read(name string, into any) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// outage stops the service and lets time pass without it.
func (h *housed) outage(d time.Duration) {
	h.t.Helper()
	now := h.now()
	h.stop()
	text, err := json.Marshal(map[string]time.Time{"now": now.Add(d)})
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, "clock.json"), text, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// file returns the database's text, which must be stopped.
func (h *housed) file() []byte {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "perennial.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

func (h *housed) putBack(text []byte) {
	h.t.Helper()
	for _, name := range []string{"perennial.db-wal", "perennial.db-shm"} {
		_ = os.Remove(filepath.Join(h.dir, name)) // there may be none
	}
	if err := os.WriteFile(filepath.Join(h.dir, "perennial.db"), text, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// wantCounts asserts how many entries of each kind there are since the store was
// set up, where their order is not settled.
func (s *subscription) wantCounts(want map[string]int) {
	s.t.Helper()
	if got := s.counts(); !maps.Equal(got, want) {
		s.t.Errorf("entries:\n%v\nwant:\n%v", got, want)
	}
}

// counts returns how often each entry was recorded since begin, by source, type and status.
func (s *subscription) counts() map[string]int {
	s.t.Helper()
	got := make(map[string]int)
	for after := s.log; ; {
		var list []struct {
			ID                             int64
			EventSource, EventType, Status string
		}
		s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", after), &list)
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if !beside(e.EventType) {
				got[e.EventSource+" "+e.EventType+" "+e.Status]++
			}
		}
		after = list[len(list)-1].ID
	}
	return got
}

// once fails the test when a cycle has more than one order.
func (s *store) once(orders []order) {
	s.t.Helper()
	seen := make(map[string]bool)
	for _, o := range orders {
		cycle := fmt.Sprintf("cycle %d of contract %d", o.Cycle, o.Contract)
		if seen[cycle] {
			s.t.Errorf("%s was charged twice", cycle)
		}
		seen[cycle] = true
	}
}

func TestNewestMissedOrderIsChargedAndOthersSkipped(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	h.pass("P1D")
	h.call("POST", "/settings", map[string]any{"catchUpHours": 2}, nil)
	if got := h.send("POST", h.urls.Control+"/settings", "", map[string]any{"catchUpHours": 49}, nil); got != http.StatusBadRequest {
		t.Errorf("a window of 49 hours answered %d", got)
	}
	h.outage(26 * 24 * time.Hour) // cycles 1, 2 and 3 were due
	h.pass("PT2H")
	var got []string
	for _, a := range h.past() {
		got = append(got, a.Status)
	}
	if fmt.Sprint(got) != "[SUCCESS SKIPPED SKIPPED]" {
		t.Errorf("past orders, newest first: %v", got)
	}
	if orders := h.orders(); len(orders) != 1 || orders[0].Cycle != 3 {
		t.Errorf("orders %+v, want that of cycle 3", orders)
	}
	gaveUp := "SYSTEM_EVENT BILLING_ATTEMPT_SKIPPED SKIPPED"
	h.wantEntries(created, settled, gaveUp, gaveUp, charged)
}

func TestOrderUnseenByPlatformIsSkippedAsMissed(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	h.pass("P10DT1H") // an hour before the first falls due
	h.begin()
	h.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_before"}, "seed": 3}, nil)
	h.pass("PT2H")
	if past := h.past(); len(past) != 1 || past[0].Status != "SHOPIFY_EXCEPTION" && past[0].Status != "REQUESTING" {
		t.Fatalf("past %+v, want a charge that is on its way", past)
	}
	h.call("DELETE", "/platform/faults", nil, nil)
	h.outage(15 * 24 * time.Hour) // cycles 2 and 3 were due
	h.pass("P2D")
	var past []string
	for _, a := range h.past() {
		past = append(past, a.Status)
	}
	if fmt.Sprint(past) != "[SUCCESS SKIPPED SKIPPED]" {
		t.Errorf("past orders, newest first: %v", past)
	}
	h.wantOrders(3)
	// A comparison that ran while the order was missing found it missing, and the next one found it.
	got, want := h.counts(), map[string]int{
		"SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED PARTIAL_FAILURE": 1, "SYSTEM_EVENT BILLING_ATTEMPT_SKIPPED SKIPPED": 2, "SYSTEM_EVENT " + paid: 1,
	}
	maps.DeleteFunc(got, func(entry string, _ int) bool { return strings.Contains(entry, "INFORMATIONAL_EVENT") })
	if !maps.Equal(got, want) {
		t.Errorf("entries:\n%v\nwant:\n%v", got, want)
	}
}

func TestRestoredDatabaseIsFrozenUntilConfirmed(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P1D")
	h.stop()
	backup := h.file()
	h.start()
	h.pass("P10D") // the first order, after the backup
	h.once(h.orders())
	if n := len(h.orders()); n != 1 {
		t.Fatalf("%d orders before the restore", n)
	}
	h.stop()
	h.putBack(backup)
	h.start()
	h.pass("P31D") // the second order is due
	if orders := h.orders(); len(orders) != 1 {
		t.Errorf("orders %+v: a frozen store was charged", orders)
	}
	if got := h.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", h.upcoming()[0].ID), nil, nil); got != http.StatusBadRequest {
		t.Errorf("an immediate charge of a frozen store answered %d", got)
	}
	var health struct{ Degraded []string }
	h.send("GET", h.urls.Subscriptions+"/readyz", "", nil, &health)
	if !slices.Contains(health.Degraded, "frozen") {
		t.Errorf("readiness says %+v", health)
	}
	if got := h.send("POST", h.urls.Control+"/unfreeze", "", map[string]any{"reason": ""}, nil); got != http.StatusBadRequest {
		t.Errorf("lifting the freeze without a reason answered %d", got)
	}
	h.call("POST", "/unfreeze", map[string]any{"reason": "the restore is over"}, nil)
	h.pass("PT12H")
	orders := h.orders()
	h.once(orders)
	if len(orders) != 2 || orders[1].Cycle != 2 {
		t.Errorf("orders %+v, want those of cycles 1 and 2", orders)
	}
	var got []string
	for _, a := range h.past() {
		got = append(got, fmt.Sprint(a.Status, " ", a.AttemptCount))
	}
	if fmt.Sprint(got) != "[SUCCESS 1 SUCCESS 1]" {
		t.Errorf("past orders %v", got)
	}
	h.wantEntries(created, froze, charged, thawed, charged)
}

func TestFrozenStoreReconcilesChargesInFlight(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P10DT1H") // an hour before the first falls due
	h.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_before"}, "seed": 3}, nil)
	h.pass("PT2H")
	h.stop()
	h.options.Database = filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(h.options.Database, h.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.call("DELETE", "/platform/faults", nil, nil)
	h.pass("PT5H") // the platform never saw the charge, and says so
	if n := len(h.orders()); n != 0 {
		t.Errorf("%d orders of a frozen store", n)
	}
	h.call("POST", "/unfreeze", map[string]any{"reason": "it is no copy"}, nil)
	h.pass("PT2H")
	h.wantOrders(1)
}

func TestRestartFreezesNothing(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	for range 3 {
		h.pass("P5D")
		h.stop()
		h.start()
	}
	if n := len(h.orders()); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	h.wantEntries(created, charged)
}

// What a database from a backup waits for may have been taken back since, and a call to
// the platform cannot be undone.
func TestFrozenStoreSendsNoScheduledChange(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		spec        map[string]any
		before      func(h *housed) // the backup
		since, then func(h *housed)
		day         string // on which it would have happened
		stands      string
		entries     []string
	}{
		{
			name: "a cancellation that was taken back",
			spec: map[string]any{
				"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
				"nextBillingDate": "2027-02-01",
			},
			before:  func(h *housed) { h.cancel(http.StatusNoContent, "") },
			since:   func(h *housed) { h.status(http.StatusNoContent, "ACTIVE") },
			then:    func(h *housed) { h.status(http.StatusNoContent, "ACTIVE") },
			day:     "2027-02-02",
			stands:  "ACTIVE",
			entries: []string{created, endScheduled, froze, endCleared, thawed, charged},
		},
		{
			name:    "a pause that was made longer",
			before:  func(h *housed) { h.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2026-11-20") },
			since:   func(h *housed) { h.status(http.StatusNoContent, "ACTIVE", "activationDate", "2027-03-01") },
			then:    func(*housed) {},
			day:     "2026-11-22",
			stands:  "PAUSED",
			entries: []string{created, paused, scheduled, froze, thawed, resumed, requeued},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := house(t, sandbox.Options{Empty: true, MainOnly: true})
			h.id = h.checkout(row.spec)
			row.before(h)
			h.stop()
			backup := h.file()
			h.start()
			row.since(h)
			h.stop()
			h.putBack(backup)
			h.start()
			h.until(row.day)
			h.wantPlatform(row.stands)
			row.then(h)
			h.call("POST", "/unfreeze", map[string]any{"reason": "what was lost has been asked for again"}, nil)
			h.pass("P1D")
			h.wantPlatform("ACTIVE")
			h.wantEntries(row.entries...)
		})
	}
}

func TestCopiedDatabaseIsFrozenWhereServed(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P1D")
	h.stop()
	h.options.Database = filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(h.options.Database, h.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.pass("P20D")
	if n := len(h.orders()); n != 0 {
		t.Errorf("the copy charged %d orders", n)
	}
	h.wantEntries(created, froze)
	h.stop()
	h.options.Database = ""
	h.start()
	h.pass("PT7H")
	if n := len(h.orders()); n != 1 {
		t.Errorf("the original charged %d orders", n)
	}
	h.wantEntries(created, charged)
}

func TestDeclineSpikeHoldsChargesUntilProbeIsPaid(t *testing.T) {
	t.Parallel()
	const broken, after = 105, 45 // on the day of the outage, and on the day after it
	const waiting = 1             // on the day of the outage, behind those
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	due := h.now().AddDate(0, 0, 10)
	var ids []int64
	for i := range broken + waiting + after {
		on := due
		if i >= broken+waiting {
			on = due.AddDate(0, 0, 1)
		}
		id := h.checkout(map[string]any{"nextBillingDate": on, "customer": map[string]any{"email": fmt.Sprintf("c%d@shopper.example", i), "firstName": "C"}})
		if ids = append(ids, id); i < broken {
			h.call("POST", "/platform/outcomes", map[string]any{"contractId": id, "code": "PAYMENT_PROVIDER_ERROR"}, nil)
		}
	}
	h.pass(fmt.Sprintf("PT%dM", int(time.Date(due.Year(), due.Month(), due.Day(), 14, 10, 0, 0, time.UTC).Sub(h.now()).Minutes())))
	if n := h.tries(ids); n != 100 {
		t.Errorf("%d charges were sent while nearly all were declined, want 100", n)
	}
	h.pass("PT15M")
	if n := h.tries(ids); n != 100 {
		t.Errorf("%d charges while they are held for half an hour, want 100", n)
	}
	h.pass("PT10M") // the probe, which is declined
	if n := h.tries(ids); n != broken {
		t.Errorf("%d charges after the probe, want %d", n, broken)
	}
	h.pass("PT50M")
	if n := h.tries(ids); n != broken {
		t.Errorf("%d charges while they are held for an hour, want %d", n, broken)
	}
	h.pass("P1D") // the one that waited, a probe of the next day, which is paid, and the rest
	orders := h.orders()
	h.once(orders)
	if n := len(orders); n != broken+waiting+after { // those that were declined have been tried again
		t.Errorf("%d orders once the gateway is back, want %d", n, broken+waiting+after)
	}
	first := 0
	for _, o := range orders {
		if o.At.Sub(orders[waiting].At).Abs() < time.Second {
			first++
		}
	}
	if first != 5 {
		t.Errorf("%d charges made the probe, want 5", first)
	}
	h.wantCounts(map[string]int{created: broken + waiting + after, declined: broken, charged: broken + waiting + after, heldOff: 2, goesOn: 1})
}

// tries returns how many charges the platform saw.
func (s *store) tries(contracts []int64) (n int) {
	s.t.Helper()
	for _, id := range contracts {
		n += len(s.contract(id).Attempts)
	}
	return n
}

func TestOrdersOfDisconnectedStoreEndOnTheirDates(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	s.pass("P9D")
	s.uninstall()
	s.pass("P23D") // on its 2nd, 9th, 16th and 23rd day an order falls due
	var got []string
	for _, a := range s.past() {
		got = append(got, a.Status)
	}
	if fmt.Sprint(got) != "[SOCIAL_CONNECTION_NULL SOCIAL_CONNECTION_NULL SOCIAL_CONNECTION_NULL SOCIAL_CONNECTION_NULL]" {
		t.Errorf("past orders: %v", got)
	}
	var stuck struct{ Gone string }
	s.call("GET", "/stuck", nil, &stuck)
	if stuck.Gone == "" {
		t.Error("the list of what a person has to look at does not name the store")
	}
}

func TestOrderWaitingForCatchUpYieldsToNewerOne(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	var ids []int64
	for range 8 {
		ids = append(ids, h.checkout(map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}}))
	}
	h.call("POST", "/settings", map[string]any{"catchUpHours": 48}, nil)
	h.pass("P9D")
	h.outage(8 * 24 * time.Hour) // the first orders are a week late, and the second ones fall due while some of them wait
	h.pass("P4D")
	second := map[int64]time.Time{}
	for _, o := range h.orders() {
		if o.Cycle == 2 {
			second[o.Contract] = o.At
		}
	}
	for _, o := range h.orders() {
		if o.Cycle == 1 && o.At.After(second[o.Contract]) {
			t.Errorf("contract %d: the order of cycle 1 was made at %s, after that of cycle 2", o.Contract, o.At)
		}
	}
	if len(second) != len(ids) {
		t.Errorf("%d second orders of %d contracts", len(second), len(ids))
	}
}
