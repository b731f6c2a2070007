package test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// addressed is what a message is: how it travels, about what, and to which address.
type addressed struct{ channel, kind, to string }

// reader is a subscriber of the year: what is expected of the contract's messages.
type reader struct {
	id, customer int64
	email, phone string // no phone: no consent to SMS
	member       bool   // the contract is a membership
	every        string // unit of the interval, such as MONTH
	scripted     bool   // the year changes the contract
	quiet        time.Time
	ended        bool // cancelled, or suspended
	cardless     bool // its payment method cannot be charged
	unpaid       bool // it has none, so that no order is announced
	refused      bool // does not want e-mails before orders
	paused       int  // steps until it runs again; 0: it runs
	added        string
	events       map[string]int // expected webhooks, by type
}

// year is a demo store whose messages are computed as time passes: from what the year does to
// contracts, from the orders that are planned, and from what docs/messages.md says.
type year struct {
	*housed
	hears   *ear
	read    map[string]bool // ids of events that were read
	cursor  string
	chance  *rand.Rand
	zone    *time.Location
	began   time.Time
	now     time.Time
	readers []*reader
	want    map[addressed][]time.Time
	once    map[addressed]map[time.Time]bool // what is one message for several orders
	noticed map[string]bool                  // order, date and which reminder
	posted  map[int64]bool                   // orders that the webhook has announced
	begun   map[string]bool                  // messages from before the year
	silent  bool                             // the store sends no order_skipped
}

const (
	stepDays  = 5
	dayLength = 24 * time.Hour
)

// daytime returns when something is sent that is due at an instant, between two hours.
func (y *year) daytime(at time.Time, opens int) time.Time {
	local := at.In(y.zone)
	morning := time.Date(local.Year(), local.Month(), local.Day(), opens, 0, 0, 0, y.zone)
	switch {
	case local.Hour() < opens:
		return morning
	case local.Hour() >= 20:
		return morning.AddDate(0, 0, 1)
	}
	return at
}

// expect expects an e-mail, and the SMS beside it, to what belongs to a contract.
func (y *year) expect(r *reader, kind string, at time.Time) {
	y.want[addressed{"mail", kind, r.email}] = append(y.want[addressed{"mail", kind, r.email}], at)
	y.text(r, kind, at)
}

func (y *year) text(r *reader, kind string, at time.Time) {
	if r.phone != "" && slices.Contains([]string{"subscription_created", "upcoming_order", "transaction_failed"}, kind) {
		to := addressed{"sms", kind, r.phone}
		y.want[to] = append(y.want[to], y.daytime(at, 9))
	}
}

// reminders returns how long before an order its customer is reminded.
func (r *reader) reminders(count int) []time.Duration {
	yearly := r.every == "YEAR" || r.every == "MONTH" && count >= 12
	switch {
	case yearly:
		return []time.Duration{21 * dayLength, 7 * dayLength}
	case r.member && r.every == "MONTH":
		return []time.Duration{7 * dayLength}
	case r.weekly(count):
		return []time.Duration{dayLength}
	}
	return []time.Duration{3 * dayLength}
}

func (r *reader) weekly(count int) bool {
	return r.every == "WEEK" && count == 1 || r.every == "DAY" && count <= 7
}

// ask calls the interface of the contract's line.
func (y *year) ask(r *reader, method, path string, in, out any) {
	y.t.Helper()
	host := y.urls.Subscriptions
	if r.member {
		host = y.urls.Memberships
	}
	if got := y.send(method, host+api+path, y.key, in, out); got != http.StatusOK && got != http.StatusNoContent {
		y.t.Fatalf("%s %s answered %d", method, path, got)
	}
}

// plan returns the orders of a contract that are queued, soonest first.
func (y *year) plan(r *reader) []attempt {
	var list []attempt
	y.ask(r, "GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", r.id), nil, &list)
	return slices.DeleteFunc(list, func(a attempt) bool { return a.Status != "QUEUED" })
}

// announce expects what is said before the orders of a contract until an instant.
func (y *year) announce(r *reader, until time.Time, quietly bool) {
	if r.ended || r.paused > 0 {
		return
	}
	count := y.contract(r.id).Billing.IntervalCount
	for _, a := range y.plan(r) {
		before := 3 * dayLength
		if r.weekly(count) {
			before = dayLength
		}
		if at := a.BillingDate.Add(-before); !y.posted[a.ID] && at.Before(until) && a.BillingDate.After(y.now) {
			y.posted[a.ID] = true
			r.events["upcoming-order-notification"]++
		}
		late := -1
		for i, before := range r.reminders(count) {
			key := fmt.Sprintf("%d %s %d", r.id, a.BillingDate, i)
			at := a.BillingDate.Add(-before)
			switch {
			case y.noticed[key] || !at.Before(until) || !a.BillingDate.After(y.now):
			case !at.After(y.now):
				y.noticed[key], late = true, i
			case r.unpaid:
			default:
				y.noticed[key] = true
				y.remind(r, at, quietly)
			}
		}
		if late >= 0 && !r.unpaid {
			y.remind(r, y.now, quietly)
		}
	}
}

// remind expects one message about all orders of a person that are announced at an instant.
func (y *year) remind(r *reader, at time.Time, quietly bool) {
	expect := func(to addressed, at time.Time) {
		if y.once[to] == nil {
			y.once[to] = map[time.Time]bool{}
		}
		if !quietly && !y.once[to][at.UTC()] {
			y.want[to] = append(y.want[to], at)
		}
		y.once[to][at.UTC()] = true
	}
	if !r.refused {
		expect(addressed{"mail", "upcoming_order", r.email}, y.daytime(at, 8))
	}
	if r.phone != "" {
		expect(addressed{"sms", "upcoming_order", r.phone}, y.daytime(at, 9))
	}
}

// reread takes in the contracts that the demo store has had before. What its swap rule will replace was
// said when they were made.
func (y *year) reread() {
	for _, member := range []bool{false, true} {
		var rows []struct {
			ID            int64 `json:"subscriptionContractId"`
			CustomerID    int64
			CustomerEmail string
			Status        string
		}
		y.ask(&reader{member: member}, "GET", "/subscription-contract-details?size=100", nil, &rows)
		for _, row := range rows {
			is := y.contract(row.ID)
			r := &reader{id: row.ID, customer: row.CustomerID, email: row.CustomerEmail, member: member, every: is.Billing.Interval, events: map[string]int{}, ended: !strings.EqualFold(row.Status, "active")}
			y.readers = append(y.readers, r)
			if r.ended {
				continue
			}
			if is.PaymentMethodStatus != "valid" {
				y.suspend(r, y.plan(r)[0].BillingDate)
				r.unpaid = is.PaymentMethodStatus == "none"
			}
		}
	}
}

// Customers act, pay and do not pay in a demo store. Through failures of the platform, of the receivers
// of webhooks and of the provider of SMS, and through restarts, every message is sent that an independent
// computation expects, at its time, and no other. A check has 70 days of it, a soak a year on both
// databases.
func TestMessagesAreThoseThatTheYearAsksFor(t *testing.T) {
	t.Parallel()
	y := &year{
		housed: house(t, sandbox.Options{MainOnly: true, Contracts: 24}), chance: rand.New(rand.NewPCG(31, yearSeed)), zone: newYork(t),
		want: map[addressed][]time.Time{}, once: map[addressed]map[time.Time]bool{}, noticed: map[string]bool{}, posted: map[int64]bool{}, begun: map[string]bool{}, read: map[string]bool{},
	}
	y.pass("PT5H") // it is noon
	y.now = y.housed.now()
	y.began = y.now
	y.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 5000, "enabledSms": []string{"subscription_created", "upcoming_order", "transaction_failed"}}, nil)
	for _, m := range y.mails("") {
		y.begun[m.ID] = true
	}
	types := []string{
		"SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS", "SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE",
		"loyalty.sign-up", "loyalty.earned", "loyalty.redeemed", "loyalty.credits-earned", "loyalty.vip-tier-achieved", "loyalty.referral-reward", "loyalty.birthday-trigger",
	}
	for _, kind := range []string{
		"created", "activated", "paused", "cancelled", "expired", "updated", "next-order-date-changed", "billing-interval-changed", "billing-success", "billing-failure", "billing-skipped", "upcoming-order-notification",
	} {
		types = append(types, "subscription."+kind, "membership."+kind)
	}
	y.hears = listenAlways(t)
	want(t, y.demand("POST", "/webhook-endpoints", y.key, map[string]any{"url": y.hears.url, "types": types}), http.StatusOK, "")
	_, y.cursor = y.events("", nil)
	y.reread()
	for _, r := range y.readers {
		y.announce(r, y.now.Add(time.Nanosecond), true)
	}
	names := []string{"ada", "bob", "cleo", "dan", "eve", "finn", "gil", "hana", "ivo", "jana", "kim", "lars", "mona", "nils", "olga", "pia"}
	for i, name := range names {
		r := y.subscribes(name, "")
		if i < 5 {
			y.agree(r, fmt.Sprintf("+1613555010%d", i))
		}
		r.scripted = name != "hana" // whose card expires
	}
	faults := map[string]any{"rate": 0.05, "seed": 7, "kinds": []string{
		"timeout_before", "timeout_after", "http_500", "throttled", "webhook_lost", "webhook_duplicated", "webhook_late", "webhook_reordered", "connection_reset",
	}}
	for step := range yearSteps {
		y.now = y.housed.now()
		y.event(step)
		for _, r := range y.readers {
			if r.scripted {
				y.act(r)
			}
		}
		next := y.now.Add(stepDays * dayLength)
		for _, r := range y.readers {
			y.announce(r, next.Add(time.Nanosecond), false)
		}
		y.call("POST", "/sms/faults", map[string]any{"hang": step % 2}, nil)
		y.call("POST", "/platform/faults", faults, nil)
		y.pass("P2D")
		if step%9 == 4 {
			y.stop()
			y.start()
			y.call("POST", "/platform/faults", faults, nil)
		}
		y.pass(fmt.Sprintf("P%dD", stepDays-3))
		y.call("DELETE", "/platform/faults", nil, nil)
		y.pass("P1D")
		y.follow()
	}
	y.now = y.housed.now()
	y.digest()
	y.tiers()
	y.compareMessages()
	y.pass("PT1H") // what was sent last can be read
	y.follow()
	y.compareWebhooks()
}

// event does what happens once in the year.
func (y *year) event(step int) {
	ada, bob, cleo := y.named("ada"), y.named("bob"), y.named("cleo")
	switch step {
	case 2: // a card that expires at the end of December
		hana := y.named("hana")
		y.card(hana, map[string]any{"expires": "2026-12"})
		y.expect(hana, "expiring_card", time.Date(2026, 12, 2, 5, 0, 0, 0, time.UTC))
		y.expect(hana, "expiring_card", time.Date(2026, 12, 25, 5, 0, 0, 0, time.UTC))
	case 3:
		y.visit(bob.customer).want(http.StatusOK, "PUT", "/preferences", map[string]any{"emails": map[string]any{"upcoming_order": false}}, nil)
		bob.refused = true
	case 5:
		second := y.subscribes("ada", ada.phone)
		second.scripted = false
	case 7:
		y.call("POST", "/settings", map[string]any{"disabledMails": []string{"order_skipped"}}, nil)
		y.silent = true
	case 9:
		y.subscription.answers(cleo.phone, "Stop.")
		cleo.phone = ""
	case 11:
		y.card(y.named("hana"), map[string]any{"status": "valid"})
		y.call("POST", "/settings", map[string]any{"disabledMails": []string{}}, nil)
		y.silent = false
	}
}

func (y *year) named(name string) *reader {
	return y.readers[slices.IndexFunc(y.readers, func(r *reader) bool { return r.email == name+"@shopper.example" })]
}
