package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// loose are the kinds that follow a charge, which may be late when the platform fails.
var loose = []string{"transaction_failed", "security_challenge", "out_of_stock", "suspension_warning", "suspension", "failure_digest", "product_replaced", "expiring_card", "tier_reached"}

// compareMessages holds the e-mails and SMS that were caught against those that were expected up to now.
func (y *year) compareMessages() {
	y.t.Helper()
	got, seen := map[addressed][]time.Time{}, map[string]bool{}
	for _, m := range y.mails("") {
		if y.begun[m.ID] {
			continue
		}
		if seen[m.ID] {
			y.t.Errorf("%s %q came twice to %s", m.Kind, m.Subject, m.To)
		}
		seen[m.ID] = true
		to := addressed{"mail", m.Kind, m.To}
		got[to] = append(got[to], m.At)
	}
	for _, m := range y.texts() {
		if m.Kind != "" { // no reply to a word
			to := addressed{"sms", m.Kind, m.To}
			got[to] = append(got[to], m.At)
		}
	}
	total := 0
	kinds := map[string]int{}
	all := maps.Clone(got)
	maps.Copy(all, y.want)
	for to := range all {
		slack := time.Minute
		if slices.Contains(loose, to.kind) {
			slack = 36 * time.Hour
		}
		want := slices.DeleteFunc(slices.Clone(y.want[to]), func(at time.Time) bool { return at.After(y.now.Add(-slack)) })
		came := slices.Clone(got[to])
		slices.SortFunc(want, time.Time.Compare)
		slices.SortFunc(came, time.Time.Compare)
		same := len(came) >= len(want)
		for i, at := range want {
			same = same && came[i].Sub(at).Abs() <= slack
		}
		for _, at := range came[min(len(want), len(came)):] { // of the last hours, which are not compared
			same = same && at.After(y.now.Add(-2*slack))
		}
		if !same {
			y.t.Errorf("%v came at\n%s\nwant\n%s", to, days(came), days(want))
		}
		total += len(want)
		kinds[to.channel+" "+to.kind] += len(want)
	}
	for _, kind := range yearKinds {
		if kinds[kind] == 0 {
			y.t.Errorf("no %s was expected: the year proves nothing about it", kind)
		}
	}
	y.t.Logf("%d messages: %v", total, kinds)
}

func days(list []time.Time) string {
	var text []string
	for _, at := range list {
		text = append(text, at.UTC().Format("2006-01-02 15:04:05"))
	}
	return strings.Join(text, ", ")
}

// compareWebhooks holds what the receiver took against the books of the platform, and against what the year did.
func (y *year) compareWebhooks() {
	y.t.Helper()
	type about struct {
		contract int64
		kind     string
	}
	got, numbers := map[about]int{}, map[string][]int64{}
	y.hears.mu.Lock()
	defer y.hears.mu.Unlock()
	if len(y.hears.again) > 0 {
		y.t.Errorf("came twice: %v", y.hears.again)
	}
	for _, m := range y.hears.taken {
		_, kind, _ := strings.Cut(m.Type, ".")
		of, contract := m.subject(y.t)
		got[about{contract, kind}]++
		numbers[of] = append(numbers[of], *m.Sequence)
		if m.Timestamp.Equal(y.began) { // the endpoint was there just before the events were read
			y.read[m.ID] = true
		}
		if !y.read[m.ID] {
			y.t.Errorf("%s %s about %s at %s was sent and cannot be read", m.Type, m.ID, of, m.Timestamp)
		}
	}
	if len(y.read) != len(y.hears.taken) {
		y.t.Errorf("%d events are read, and %d were sent", len(y.read), len(y.hears.taken))
	}
	for of, list := range numbers {
		slices.Sort(list)
		if list[0] != 1 || list[len(list)-1] != int64(len(list)) {
			y.t.Errorf("messages about %s have the numbers %v", of, list)
		}
	}
	orders := map[int64]int{}
	for _, o := range y.orders() {
		if o.At.After(y.began) {
			orders[o.Contract]++
		}
	}
	for _, r := range y.readers {
		failed := 0
		for _, a := range y.contract(r.id).Attempts {
			if a.State == "FAILED" && a.CreatedAt.After(y.began) {
				failed++
			}
		}
		r.events["billing-success"], r.events["billing-failure"] = orders[r.id], failed
		for _, kind := range []string{"created", "paused", "activated", "cancelled", "billing-success", "billing-failure", "upcoming-order-notification"} {
			if n := got[about{r.id, kind}]; n != r.events[kind] {
				y.t.Errorf("contract %d of %s: %d webhooks %s, want %d", r.id, r.email, n, kind, r.events[kind])
			}
		}
		if n := got[about{r.id, "billing-skipped"}]; !r.cardless && n != r.events["billing-skipped"] {
			y.t.Errorf("contract %d of %s: %d webhooks billing-skipped, want %d", r.id, r.email, n, r.events["billing-skipped"])
		}
	}
	y.t.Logf("%d webhooks, about %d contracts and customers", len(y.hears.taken), len(numbers))
}

// ear is a receiver of webhooks that outlives restarts of the sandbox. It refuses every tenth message once.
type ear struct {
	url string

	mu    sync.Mutex
	tries int
	taken []happened
	again []string // ids of messages that came after they had been taken
}

// all returns what was taken up to now.
func (e *ear) all() []happened {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.taken)
}

func listenAlways(t *testing.T) *ear {
	e := &ear{}
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.tries++; e.tries%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		var m happened
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		if m.ID = r.Header.Get("webhook-id"); seen[m.ID] {
			e.again = append(e.again, m.Type+" "+m.ID)
		} else {
			e.taken = append(e.taken, m)
		}
		seen[m.ID] = true
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// follow reads the events since the last step, as an integration does. Those of a contract must come in their order.
func (y *year) follow() {
	y.t.Helper()
	last := map[string]int64{}
	for {
		list, next := y.events(y.cursor, nil)
		for _, e := range list {
			of, _ := e.subject(y.t)
			if *e.Sequence <= last[of] {
				y.t.Errorf("%s about %s has the number %d after %d", e.Type, of, *e.Sequence, last[of])
			}
			last[of] = *e.Sequence
			y.read[e.ID] = true
		}
		if y.cursor = next; len(list) == 0 {
			return
		}
	}
}

// subject returns what an event is about, and which contract.
func (h happened) subject(t *testing.T) (of string, contract int64) {
	t.Helper()
	var about struct {
		ID         any
		ContractID int64 `json:"contractId"`
		Customer   struct{ CustomerID int64 }
	}
	if err := json.Unmarshal(h.Data, &about); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(h.Type, "loyalty.") {
		return fmt.Sprint("customer ", about.Customer.CustomerID), 0
	}
	contract = about.ContractID
	if id, ok := about.ID.(string); ok {
		var err error
		if contract, err = strconv.ParseInt(number(id), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprint("contract ", contract), contract
}

// tiers expects an e-mail for each tier that a member reaches, as webhooks report it.
func (y *year) tiers() {
	for _, m := range y.hears.all() {
		if m.Type != "loyalty.vip-tier-achieved" {
			continue
		}
		of, _ := m.subject(y.t)
		at := slices.IndexFunc(y.readers, func(r *reader) bool { return of == fmt.Sprint("customer ", r.customer) })
		to := addressed{"mail", "tier_reached", y.readers[at].email}
		y.want[to] = append(y.want[to], y.daytime(m.Timestamp, 8))
	}
}

// digest expects an e-mail to the owner after each week in which a charge was declined.
func (y *year) digest() {
	weeks := map[time.Time]bool{}
	for _, r := range y.readers {
		for _, a := range y.contract(r.id).Attempts {
			if a.State == "FAILED" {
				local := a.CreatedAt.In(y.zone)
				monday := time.Date(local.Year(), local.Month(), local.Day(), 8, 0, 0, 0, y.zone)
				for monday.Weekday() != time.Monday || monday.Before(local) {
					monday = monday.AddDate(0, 0, 1)
				}
				weeks[monday] = true
			}
		}
	}
	to := addressed{"mail", "failure_digest", "owner@demo.myshopify.com"}
	y.want[to] = slices.Collect(maps.Keys(weeks))
}
