package admin

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// Keys of the fixture's shop, by what they may do.
const (
	fullKey   = "key-full"
	noneKey   = "key-none" // loyalty only
	memberKey = "key-members"
)

func keys() webtest.Keys {
	return webtest.Keys{Store: theShop(), Scopes: map[string]access.Scope{fullKey: access.All, noneKey: access.LoyaltyRead, memberKey: access.MembershipsRead}}
}

func noon() time.Time { return time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC) }

func theShop() shop.Shop {
	return shop.Shop{ID: 7, Domain: "demo.myshopify.com", TimeZone: "America/New_York", Currency: "USD", OrderHour: 9, Connected: true}
}

// fakes stands in for the domain: it remembers what it was asked and answers
// what the test put into it.
type fakes struct {
	bounced   bool // e-mails to the first customer came back
	entries   []activity.Entry
	contracts []contract.Contract
	records   []billing.Record
	terms     *explain.Terms
	boxes     boxes
	total     int // 0: the number of elements
	err       error
	block     func()

	where    []page.Criterion
	page     page.Request
	filter   contract.Filter
	question billing.Question
	skipped  *command.Skip
	unskip   *command.Skip
	edited   *command.Edit
	trigger  *command.Trigger
	upcoming
	of shop.ID
}

func (f *fakes) Tags(context.Context, shop.ID, int64) ([]string, error) {
	return []string{"vip"}, f.err
}

func (f *fakes) Details(_ context.Context, _ shop.ID, known []contract.Contract) ([]contract.Detail, error) {
	details := make([]contract.Detail, len(known))
	for i, c := range known {
		details[i].Contract = c
	}
	return details, nil
}

func (f *fakes) count(n int) int {
	if f.total != 0 {
		return f.total
	}
	return n
}

func (f *fakes) EntriesOf(_ context.Context, of shop.ID, _ shop.Line, where []page.Criterion, p page.Request) ([]activity.Entry, int, error) {
	f.of, f.where, f.page = of, where, p
	return f.entries, f.count(len(f.entries)), f.err
}

func (f *fakes) Search(_ context.Context, of shop.ID, filter contract.Filter, p page.Request) ([]contract.Contract, int, error) {
	f.of, f.filter, f.page = of, filter, p
	if f.block != nil {
		f.block()
	}
	return f.contracts, f.count(len(f.contracts)), f.err
}

func (f *fakes) Attempt(_ context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (billing.Record, error) {
	f.of = of
	for _, r := range f.records {
		if r.ID == id && line == shop.Subscriptions {
			return r, nil
		}
	}
	return billing.Record{}, fault.New(fault.NotFound, "billing attempt %d does not exist", id).Entity("subscriptionBillingAttempt").Code("billingAttemptNotFound")
}

func (f *fakes) AttemptsWhere(_ context.Context, of shop.ID, q billing.Question, p page.Request) ([]billing.Record, int, error) {
	f.of, f.question, f.page = of, q, p
	return f.records, f.count(len(f.records)), f.err
}

func (f *fakes) Skip(_ context.Context, of shop.ID, c command.Skip) (billing.Record, error) {
	f.of, f.skipped = of, &c
	return f.first(), f.err
}

func (f *fakes) Unskip(_ context.Context, of shop.ID, c command.Skip) (billing.Record, error) {
	f.of, f.unskip = of, &c
	return f.first(), f.err
}

func (f *fakes) Edit(_ context.Context, of shop.ID, c command.Edit) (billing.Record, error) {
	f.of, f.edited = of, &c
	return f.first(), f.err
}

func (f *fakes) Trigger(_ context.Context, of shop.ID, c command.Trigger) error {
	f.of, f.trigger = of, &c
	return f.err
}

func (f *fakes) Explain(_ context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (explain.Explanation, error) {
	r, err := f.Attempt(context.Background(), of, line, id)
	if err != nil {
		return explain.Explanation{}, err
	}
	store := theShop()
	calendar, err := store.Calendar()
	return explain.Explain(explain.Facts{
		Now: noon(), Shop: store, Calendar: calendar, Policy: billing.DefaultPolicy(), Record: r, Entries: f.entries, Terms: f.terms, Needs: prepare.Needs{Prices: r.Of.Priced},
	}), err
}

func (f *fakes) first() billing.Record {
	if len(f.records) == 0 {
		return billing.Record{}
	}
	return f.records[0]
}

// server is an interface over fakes.
type server struct {
	*fakes
	t       *testing.T
	handler http.Handler
	log     *bytes.Buffer
	clock   *clock.Manual
}

func options(f *fakes, line shop.Line, log *bytes.Buffer, at clock.Clock) Options {
	return Options{
		Line:  line,
		Frame: web.Frame{Log: slog.New(slog.NewTextHandler(log, nil)), Clock: at},
		Gate:  web.Gate{Keys: keys(), Limits: &web.Buckets{Clock: at}},
		Trail: f, Search: f, Book: f, Billing: f, Explainer: f,
		Upcoming: f, Reports: f, Customers: f, Shown: f, Mails: f, Sold: f.boxes,
	}
}

// boxes are the bundles of a store, of the subscriptions line.
type boxes []bundle.Settings

func (b boxes) Catalogue(_ context.Context, _ shop.Shop, line shop.Line) ([]bundle.Settings, map[int64]plan.Offer, error) {
	if line != shop.Subscriptions {
		return nil, nil, nil
	}
	return b, nil, nil
}

func serve(t *testing.T, f *fakes) *server { return serveLine(t, f, shop.Subscriptions) }

func serveLine(t *testing.T, f *fakes, line shop.Line) *server {
	t.Helper()
	s := &server{fakes: f, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	s.handler = New(options(f, line, s.log, s.clock))
	return s
}

// ask sends a request with the full key. Headers are given as name, value.
func (s *server) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return webtest.Send(s.t, s.handler, method, target, body, append([]string{"X-API-Key", fullKey, "X-Request-Id", "req-1"}, headers...)...)
}

func theContract() contract.Contract {
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: 42, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Origin: contract.Storefront,
		Customer: contract.Customer{ID: 5, Email: "ann@example.com", FirstName: "Ann", LastName: "Lee", Name: "Ann Lee", Phone: "+15550100"},
		Billing:  month, Delivery: month,
		Lines: []contract.LineItem{{
			ID: "gid://shopify/SubscriptionLine/aa-bb", ProductID: 11, VariantID: 12, SKU: "TEA-1", Title: "Tea", VariantTitle: "Green & mild",
			Image: "https://cdn.example.com/tea.png", Quantity: 2, Price: usd(1050), SellingPlanID: 13, SellingPlanName: "Monthly", Taxable: true,
		}},
		OriginOrderID: 1001, OriginOrderName: "#1001", PaymentMethod: "gid://shopify/CustomerPaymentMethod/pm", PaymentUsable: true,
		BillingCountry: "US", DeliveryCountry: "CA", Note: "leave at the door", Attributes: []contract.Attribute{{Key: "gift", Value: "yes"}},
		NextBillingDate: noon().AddDate(0, 1, 0), MaxCycles: 12, AutoCharge: true, Orders: 3, Lifetime: usd(6300),
		LastOrderID: 1004, LastOrder: "#1004", LastOrderAt: noon(), LastOrderAmount: usd(2100), CreatedAt: noon().AddDate(0, -3, 0), UpdatedAt: noon().Add(123 * time.Millisecond),
		ActivatedAt: noon().AddDate(0, -3, 0),
	}
}

func theRecord() billing.Record {
	return billing.Record{
		Attempt: billing.Attempt{ID: 9, Contract: 42, Cycle: 4, Status: billing.Queued, BillingDate: noon().AddDate(0, 1, 0), Note: "ring twice"},
		Of:      theContract(),
	}
}

func discard(t *testing.T, r io.Reader) {
	t.Helper()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
}
