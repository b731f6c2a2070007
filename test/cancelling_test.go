package test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
)

// cancelSession is what a story looks at in a session of cancelling.
type cancelSession struct {
	ID      *int64
	Step    *string
	Mode    string
	Reasons []struct {
		Key, Label string
	}
	Offer *struct {
		Type            string
		NextBillingDate *time.Time `json:"nextBillingDate"`
		NextAmount      *struct{ Amount, CurrencyCode string }
		PresentAmount   *struct{ Amount string }
		Skips           []struct{ BillingAttemptID int64 }
	}
	Effect struct {
		EndsAt         *time.Time
		WaitsFor       *string
		DeliveriesLeft int
		Orders         []struct {
			BillingDate time.Time
			Amount      struct{ Amount string }
		}
		OrdersTotal *struct{ Amount string }
		Deliveries  []struct{ DeliveryDate time.Time }
	}
	Outcome, Reference *string
}

func (c cancelSession) at() string {
	if c.Step == nil {
		return ""
	}
	return *c.Step
}

// leaver is a customer who goes through the flow of cancelling, and the store's own user who
// sets it up.
type leaver struct {
	*shopper
	sub  *subscription
	user *dashboardUser
	page string
}

// leaves signs the contract's customer in at the store.
func (s *subscription) leaves() *leaver {
	s.t.Helper()
	return &leaver{shopper: s.visit(s.payer(s.id)), sub: s}
}

// merchant signs in the store's own user and returns where its pages are in the dashboard.
func (s *subscription) merchant() (user *dashboardUser, at string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var m sandbox.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		s.t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	user = &dashboardUser{store: s.store, browser: &http.Client{Jar: jar}}
	if path, _ := user.form("/admin/signin", "email", m.DashboardUser, "password", m.DashboardPassword); strings.Contains(path, "signin") {
		s.t.Fatal("the demo user cannot sign in")
	}
	return user, "/admin/stores/" + login.Handle(m.Shop)
}

// publish publishes a flow in the dashboard, whose fields are names and values in turn.
func (s *subscription) publish(fields ...string) *leaver {
	s.t.Helper()
	l := s.leaves()
	l.user, l.page = s.merchant()
	l.page += "/cancellations"
	version := l.user.hidden(l.user.page(l.page+"/flow"), "version")
	if _, text := l.user.form(l.page+"/flow", append([]string{"version", version, "mode", "RETENTION", "do", "publish"}, fields...)...); !strings.Contains(text, "The flow was published.") {
		s.t.Fatalf("the flow was not published:\n%s", text)
	}
	return l
}

// starts begins a session of the contract and answers with its path.
func (l *leaver) starts() (path string, is cancelSession) {
	l.t.Helper()
	l.want(200, "POST", "/cancel-flow", map[string]any{"contractId": l.sub.id}, &is)
	return fmt.Sprintf("/cancel-flow/%d", *is.ID), is
}

// discount is a flow with one reason and one offer.
var discount = []string{"budget", "500", "holdback", "0", "r0-key", "price", "r0-label", "It costs too much", "r0-more", "de: Zu teuer", "r0-o0-kind", "DISCOUNT", "r0-o0-percent", "20", "r0-o0-orders", "2"}

const inPortal = "CUSTOMER_PORTAL "

// A customer who would cancel because of the price accepts a discount: the next two orders are
// cheaper, and the third is not.
func TestAcceptedDiscountMakesNextOrdersCheaper(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	l := s.publish(discount...)
	var is cancelSession
	l.want(200, "GET", fmt.Sprintf("/cancel-flow?contractId=%d&locale=de", s.id), nil, &is)
	if is.ID != nil || is.Mode != "RETENTION" || len(is.Reasons) != 1 || is.Reasons[0].Label != "Zu teuer" {
		t.Errorf("before: %+v", is)
	}
	path, is := l.starts()
	if is.at() != "REASON" || is.Reasons[0].Label != "It costs too much" {
		t.Errorf("started: %+v", is)
	}
	l.want(200, "POST", path+"/reason", map[string]any{"reason": "price", "comment": "A little less, please"}, &is)
	if is.at() != "OFFER" || is.Offer == nil || is.Offer.Type != "DISCOUNT" || is.Offer.NextAmount.Amount != "20.00" || is.Offer.PresentAmount.Amount != "25.00" {
		t.Fatalf("offered: %s %+v", is.at(), is.Offer)
	}
	l.want(200, "POST", path+"/accept", map[string]any{}, &is)
	l.want(200, "POST", path+"/accept", map[string]any{}, &is)
	if is.at() != "ENDED" || *is.Outcome != "ACCEPTED" {
		t.Errorf("accepted: %s", l.text)
	}
	s.pass("P80D")
	s.wantAmounts("20.00", "20.00", "25.00")
	var entries []struct{ EventType string }
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d&eventSource.equals=CUSTOMER_PORTAL", s.log), &entries)
	if len(entries) != 2 || entries[0].EventType != "DISCOUNT_APPLIED" || entries[1].EventType != "CREATED" {
		t.Errorf("the customer's entries are %+v", entries)
	}
	page := html.UnescapeString(l.user.page(l.page + "?days=90"))
	for _, want := range []string{"It costs too much", "A little less, please", "Discount", "100 %", "10.00 USD"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

// A customer cancels to the end: past the question and the offer, with the default flow.
func TestCustomerCancelsPastTheOffer(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	l := s.leaves()
	path, is := l.starts()
	if len(is.Reasons) != 9 || is.Effect.EndsAt != nil {
		t.Errorf("started: %+v", is)
	}
	if got := l.ask("POST", path+"/reason", map[string]any{"reason": "boredom"}, nil); got != 400 || l.key() != "reasonUnknown" {
		t.Errorf("an unknown reason: %d %s", got, l.text)
	}
	l.want(200, "POST", path+"/reason", map[string]any{"reason": "too-much"}, &is)
	if is.at() != "OFFER" || is.Offer.Type != "SKIP" || len(is.Offer.Skips) != 2 {
		t.Fatalf("offered: %s", l.text)
	}
	l.headers = map[string]string{"Content-Type": ""}
	l.want(200, "POST", path+"/decline", nil, &is)
	if is.at() != "CONFIRM" {
		t.Errorf("declined: %s", l.text)
	}
	l.want(200, "POST", path+"/confirm", nil, &is)
	if *is.Outcome != "CANCELLED" || is.Reference == nil || !strings.HasPrefix(*is.Reference, fmt.Sprintf("C-%d-", s.id)) {
		t.Errorf("confirmed: %s", l.text)
	}
	s.wantPlatform("CANCELLED")
	s.pass("P40D")
	s.wantOrderDays("[]")
	if c := s.phase(); c.Status != "cancelled" || c.CancellationFeedback == nil || *c.CancellationFeedback != "I have too much" {
		t.Errorf("the contract is %+v", c)
	}
	s.wantEntries(created, inPortal+"CONTRACT_CANCELLED SUCCESS", inPortal+"CREATED INFO")
	l.headers = nil
	if got := l.ask("POST", "/cancel-flow", map[string]any{"contractId": s.id}, nil); got != 400 {
		t.Errorf("a session of a cancelled contract: %d %s", got, l.text)
	}
}

// Deliveries that are paid for come, and then the contract ends.
func TestPrepaidCancellationInPortalWaitsForEndOfTerm(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	l := s.leaves()
	path, is := l.starts()
	shown := is
	if is.Effect.EndsAt == nil || *is.Effect.WaitsFor != "PREPAID" || is.Effect.DeliveriesLeft == 0 {
		t.Errorf("started: %s", l.text)
	}
	l.want(200, "POST", path+"/reason", map[string]any{"reason": "too-much"}, &is)
	if is.at() != "CONFIRM" {
		t.Errorf("a skip is offered for what is paid: %s", l.text)
	}
	l.want(200, "POST", path+"/confirm", nil, &is)
	if *is.Outcome != "CANCEL_SCHEDULED" {
		t.Errorf("confirmed: %s", l.text)
	}
	wantDay(t, "the end", is.Effect.EndsAt, "2027-02-01T14:00:00Z")
	if e := is.Effect; len(e.Orders) > 0 || len(e.Deliveries) != shown.Effect.DeliveriesLeft || !reflect.DeepEqual(e.Deliveries, shown.Effect.Deliveries) {
		t.Errorf("%d deliveries are left, and listed are %v with orders %v", shown.Effect.DeliveriesLeft, e.Deliveries, e.Orders)
	}
	s.until("2027-01-31")
	s.wantPlatform("ACTIVE")
	s.until("2027-02-01")
	s.wantPlatform("CANCELLED")
	s.wantEntries(created, inPortal+"PREPAID_DEFERRED_CANCELLATION_SCHEDULED SUCCESS", inPortal+"CREATED INFO", endExecuted, ended)
}

// A customer who has committed to orders gets those, and then the contract ends. What the platform
// charges is what the customer was shown before confirming, also for orders that were not planned yet.
func TestCommittedCancellationInPortalWaitsForTheOrders(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 9}})
	if status := s.put(oneOffPath(s.id, s.upcoming()[1].ID, s.articles()[2].VariantID, "&quantity=2"), nil, nil); status != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", status)
	}
	s.call("POST", "/settings", map[string]any{"freezeUntilMinCycles": true}, nil)
	l := s.leaves()
	path, is := l.starts()
	var shown []string
	for _, o := range is.Effect.Orders {
		shown = append(shown, o.BillingDate.Format(time.DateOnly)+" "+o.Amount.Amount)
	}
	total := *is.Effect.OrdersTotal
	if is.Effect.EndsAt == nil || *is.Effect.WaitsFor != "MINIMUM" {
		t.Errorf("started: %s", l.text)
	}
	l.want(200, "POST", path+"/reason", map[string]any{"reason": "too-much"}, &is)
	if is.at() != "CONFIRM" {
		t.Errorf("a skip is offered although orders are committed to: %s", l.text)
	}
	l.want(200, "POST", path+"/confirm", nil, &is)
	if *is.Outcome != "CANCEL_SCHEDULED" {
		t.Errorf("confirmed: %s", l.text)
	}
	s.pass("P30D")
	s.wantPlatform("ACTIVE")
	s.pass("P300D")
	s.wantPlatform("CANCELLED")
	_, orders := s.ledger()
	var charged []string
	var sum int64
	for _, o := range orders {
		charged = append(charged, o.At.Format(time.DateOnly)+" "+o.Amount)
		amount, err := money.Parse(o.Amount, "USD")
		if err != nil {
			t.Fatal(err)
		}
		sum += amount.Minor
	}
	if len(charged) != 8 || charged[0][10:] == charged[1][10:] || !slices.Equal(charged, shown) {
		t.Errorf("the platform charged\n%s\nshown was\n%s", lines(charged), lines(shown))
	}
	if got := (money.Amount{Minor: sum, Currency: "USD"}).String(); got != total.Amount {
		t.Errorf("the platform charged %s, shown was %s", got, total.Amount)
	}
}

// Of the customers a share gets no offer, and the report compares the two sides.
func TestSomeCustomersAreHeldBackAndCompared(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	fields := append([]string(nil), discount...)
	fields[3] = "50"
	l := s.publish(fields...)
	with, without := 0, 0
	for i := range 12 {
		s.id = s.checkout(map[string]any{"customer": map[string]any{"email": fmt.Sprintf("c%d@shopper.example", i)}})
		one := s.leaves()
		path, is := one.starts()
		one.want(200, "POST", path+"/reason", map[string]any{"reason": "price"}, &is)
		switch is.at() {
		case "OFFER":
			with++
			one.want(200, "POST", path+"/accept", map[string]any{}, &is)
		case "CONFIRM":
			if without++; is.Offer != nil {
				t.Errorf("a customer who is held back sees the offer %+v", is.Offer)
			}
			one.want(200, "POST", path+"/confirm", nil, &is)
		}
	}
	if with == 0 || without == 0 {
		t.Fatalf("%d customers have an offer and %d have none", with, without)
	}
	s.pass("PT1M") // the report ends before the present instant
	page := html.UnescapeString(l.user.page(l.page))
	for _, want := range []string{"Version 1", fmt.Sprintf("%d with", with), fmt.Sprintf("%d without", without), "+100 points", "Offers help"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}
