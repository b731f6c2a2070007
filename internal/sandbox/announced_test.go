package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// The places where the service says what an order will cost.
const (
	inTopOrders = "the list of upcoming orders"
	inReminder  = "the reminder"
	inEvent     = "the event"
	inCharging  = "the Charging page"
)

// announcement has the last amounts of an order before its charge, by place.
type announcement map[string]string

// announcements are those of the main store's orders, by attempt. It shares no code with the service's
// pricing: amounts are read where people and programs read them.
type announcements struct {
	*bench
	said    map[int64]announcement
	queue   map[int64]queuedOrder // by attempt
	cursors map[string]string     // of events, by address of the service
	began   time.Time

	forecast    map[money.Currency]int64
	unpaid      map[money.Currency]int64 // of it, by contracts that cannot be charged
	forecastEnd time.Time
}

// queuedOrder is an order to come as the service's interface shows it.
type queuedOrder struct {
	ID          int64
	ContractID  int64
	BillingDate time.Time
	OrderAmount float64
}

// topOrders lists the upcoming orders of a contract.
func (b *bench) topOrders(contract int64) []queuedOrder {
	b.t.Helper()
	var list []queuedOrder
	if err := json.Unmarshal([]byte(b.api(contract, fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", contract))), &list); err != nil {
		b.t.Fatal(err)
	}
	return list
}

// listenToAnnouncements begins to read what is said.
func listenToAnnouncements(b *bench) *announcements {
	b.unlimit()
	a := &announcements{
		bench: b, said: map[int64]announcement{}, queue: map[int64]queuedOrder{}, cursors: map[string]string{}, began: b.clock.Now(), forecast: map[money.Currency]int64{}, unpaid: map[money.Currency]int64{},
	}
	a.readEvents()
	a.readForecast()
	return a
}

// say keeps the last amount of a place.
func (a *announcements) say(attempt int64, place, amount string) {
	if a.said[attempt] == nil {
		a.said[attempt] = announcement{}
	}
	a.said[attempt][place] = amount
}

// pass lets weeks pass. The orders of a day are read before it begins.
func (a *announcements) pass(weeks int) {
	for range weeks {
		for range 7 {
			a.readDay()
			a.advance("P1D")
		}
		a.readEvents() // after 30 days without a reader they would no longer be kept
	}
	a.readReminders()
}

// chargingPage has the figures of the Charging page about the next 7 days.
type chargingPage struct {
	Orders int `json:"ordersInNext7Days"`
	Totals []struct {
		Amount       string
		CurrencyCode money.Currency
	}
	FirstOrders []struct {
		ContractID   int64
		Date         time.Time
		Amount       string
		CurrencyCode money.Currency
	}
}

// checkTotals compares the sums of the page with its orders, if it lists them all.
func (a *announcements) checkTotals(page chargingPage) {
	a.t.Helper()
	sums, listed := map[money.Currency]int64{}, map[money.Currency]int64{}
	for _, total := range page.Totals {
		sums[total.CurrencyCode] = a.minor(total.Amount, total.CurrencyCode)
	}
	for _, o := range page.FirstOrders {
		listed[o.CurrencyCode] += a.minor(o.Amount, o.CurrencyCode)
	}
	if page.Orders == len(page.FirstOrders) && !maps.Equal(sums, listed) {
		a.t.Errorf("on %s the Charging page has the sums %v of orders for %v", a.clock.Now(), sums, listed)
	}
}

// readDay reads what the Charging page and the lists of upcoming orders say of the next day's orders.
func (a *announcements) readDay() {
	a.t.Helper()
	var page chargingPage
	a.direct("GET", "/consent?shop="+demo.Main, "", &page)
	a.checkTotals(page)
	tomorrow := a.clock.Now().AddDate(0, 0, 1)
	for _, o := range page.FirstOrders {
		if o.Date.After(tomorrow) {
			continue
		}
		for _, queued := range a.topOrders(o.ContractID) {
			a.queue[queued.ID] = queued
			if queued.BillingDate.Equal(o.Date) {
				a.say(queued.ID, inTopOrders, fmt.Sprintf("%.2f", queued.OrderAmount))
				a.say(queued.ID, inCharging, o.Amount)
			}
		}
	}
}

// readEvents reads the events about upcoming orders that are new.
func (a *announcements) readEvents() {
	a.t.Helper()
	for _, base := range []string{a.urls.Subscriptions, a.urls.Memberships} {
		for more := true; more; {
			var page struct {
				Events []struct{ Data queuedOrder }
				Next   string
				More   bool
			}
			path := "/api/external/v2/events?limit=250&types=subscription.upcoming-order-notification,membership.upcoming-order-notification&after=" + url.QueryEscape(a.cursors[base])
			status, text := ask(a.t, http.MethodGet, base+path, a.Manifest().APIKey, "")
			if err := json.Unmarshal([]byte(text), &page); status != http.StatusOK || err != nil {
				a.t.Fatalf("events: %d, %v in %s", status, err, text)
			}
			for _, e := range page.Events {
				a.say(e.Data.ID, inEvent, fmt.Sprintf("%.2f", e.Data.OrderAmount))
			}
			a.cursors[base], more = page.Next, page.More
		}
	}
}

// reminded finds the amount of an order and its attempt in a reminder.
var reminded = regexp.MustCompile(`(?s)Total before taxes\s+\D*?([\d,]+\.\d\d)\n.*?/s/\d+/orders/(\d+)\s`)

// readReminders reads the reminders in the mailbox.
func (a *announcements) readReminders() {
	a.t.Helper()
	for _, m := range a.mails.find("", "upcoming_order") {
		found := reminded.FindAllStringSubmatch(m.Text, -1)
		if len(found) == 0 {
			a.t.Errorf("the reminder to %s says no amount:\n%s", m.To, m.Text)
		}
		for _, one := range found {
			attempt, err := strconv.ParseInt(one[2], 10, 64)
			if err != nil {
				a.t.Fatal(err)
			}
			a.say(attempt, inReminder, strings.ReplaceAll(one[1], ",", ""))
		}
	}
}

// forecastDays is the number of days of the forecast that is compared.
const forecastDays = 30

// readForecast keeps what the forecast says of the coming days.
func (a *announcements) readForecast() {
	a.t.Helper()
	running := a.front.running()
	of, err := running.Store.Shops().ShopByDomain(a.t.Context(), demo.Main)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, currency := range []money.Currency{"USD", "CAD"} {
		f, err := running.Analytics.Forecast(a.t.Context(), of.ID, forecastDays, analytics.Filter{Currency: currency})
		if err != nil {
			a.t.Fatal(err)
		}
		a.forecast[currency] = f.Scheduled
	}
	zone, err := time.LoadLocation(of.TimeZone)
	if err != nil {
		a.t.Fatal(err)
	}
	a.forecastEnd = analytics.DayOf(a.began, zone).In(zone).AddDate(0, 0, forecastDays)
	a.readUnpaid()
}

// readUnpaid keeps what the forecast has of contracts without a payment method that can be charged: the platform
// has them, and will have no orders of them.
func (a *announcements) readUnpaid() {
	a.t.Helper()
	ids, err := a.sim.Contracts(demo.Main)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, id := range ids {
		c := a.platformContract(id)
		if c.Status != "ACTIVE" || c.MethodStatus == simulator.MethodValid {
			continue
		}
		cycles, err := a.sim.Cycles(id)
		if err != nil {
			a.t.Fatal(err)
		}
		for _, y := range cycles {
			if y.Expected.After(a.began) && y.Expected.Before(a.forecastEnd) {
				a.unpaid[c.Currency] += a.minor(c.Amount, c.Currency)
			}
		}
	}
}

// minor reads an amount of the platform in the smallest unit.
func (a *announcements) minor(text string, currency money.Currency) int64 {
	a.t.Helper()
	amount, err := money.ParseExact(text, currency)
	if err != nil {
		a.t.Fatal(err)
	}
	return amount.Minor
}

// check compares what was said of each order with the platform's books. There must be so many orders at least.
func (a *announcements) check(least int) {
	a.t.Helper()
	compared := 0
	for _, order := range a.bench.orders("?shop=" + demo.Main + "&since=" + a.began.Format(time.RFC3339)) {
		said := a.said[a.attemptOf(order)]
		for _, place := range []string{inTopOrders, inCharging, inReminder, inEvent} {
			if said[place] == "" {
				a.t.Errorf("%s said nothing of order %s of contract %d at %s", place, order.Name, order.Contract, order.At)
				continue
			}
			compared++
			if said[place] != order.Amount {
				a.t.Errorf("%s said %s of order %s of contract %d (cycle %d), and %s was charged", place, said[place], order.Name, order.Contract, order.Cycle, order.Amount)
			}
		}
	}
	if compared < 4*least {
		a.t.Errorf("only %d amounts were compared, want 4 of each of %d orders", compared, least)
	}
}

// attemptOf returns the attempt that an order of the platform's books is of: the contract's last one that was
// due by then; 0 when none was announced.
func (a *announcements) attemptOf(order simulator.Renewal) int64 {
	var last queuedOrder
	for _, queued := range a.queue {
		if queued.ContractID == order.Contract && !queued.BillingDate.After(order.At) && queued.BillingDate.After(last.BillingDate) {
			last = queued
		}
	}
	return last.ID
}

// checkForecast compares the forecast at the beginning with what was charged in its days.
func (a *announcements) checkForecast() {
	a.t.Helper()
	charged := maps.Clone(a.unpaid)
	for _, order := range a.bench.orders("?shop=" + demo.Main + "&since=" + a.began.Format(time.RFC3339)) {
		if order.At.Before(a.forecastEnd) {
			charged[order.Currency] += a.minor(order.Amount, order.Currency)
		}
	}
	if !maps.Equal(charged, a.forecast) {
		a.t.Errorf("the forecast of %d days said %v, and %v was charged, with %v of contracts that cannot be", forecastDays, a.forecast, charged, a.unpaid)
	}
}

// What is said of an order last before its charge is what the platform charges, for each kind of contract and
// for the demo contracts.
func TestDemoStoreIsChargedAsAnnounced(t *testing.T) {
	t.Parallel()
	a := listenToAnnouncements(startInline(t, Options{MainOnly: true, Contracts: 24, Kinds: true}))
	a.pass(9)
	a.checkForecast()
	a.check(70)
}
