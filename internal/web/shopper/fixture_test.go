package shopper

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func noon() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func demo() shop.Shop {
	return shop.Shop{ID: 7, Domain: "demo.myshopify.com", PlatformID: 60001, TimeZone: "America/Toronto", Currency: "USD", OrderHour: 8, OrderMinute: 30, Connected: true}
}

// ada is the shopper, as the domain sees her.
func ada() activity.Actor {
	return activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "192.0.2.1", Customer: 7001}
}

// fakes stand for the domain and note what they were asked.
type fakes struct {
	err     error
	command any
	asked   billing.Question
	filter  contract.Filter
	of      shop.ID
	named   bool // whether the operation lets the shopper name the store
	record  billing.Record
}

// Enter lets in shoppers whose request has a signature.
func (f *fakes) Enter(_ *http.Request, query url.Values, named bool) (login.Visitor, error) {
	f.named = named
	if query.Get("signature") != "good" {
		return login.Visitor{}, fault.New(fault.Unauthenticated, "the shopper is not signed in to the store").Entity("customer").Code("signedOut")
	}
	query.Del("signature")
	return login.Visitor{Principal: login.Principal{Shop: 7, Customer: 7001, Via: login.ByProxy}, Store: demo(), Prefix: "/a/club", Query: query}, nil
}

func (f *fakes) did(of shop.ID, command any) (billing.Record, error) {
	f.of, f.command = of, command
	return f.record, f.err
}

func (f *fakes) Attempt(_ context.Context, of shop.ID, _ shop.Line, id billing.AttemptID) (billing.Record, error) {
	if id != f.record.ID || of != 7 {
		return billing.Record{}, fault.New(fault.NotFound, "billing attempt %d does not exist", id).Code("billingAttemptNotFound")
	}
	return f.record, nil
}

func (f *fakes) AttemptsWhere(_ context.Context, of shop.ID, q billing.Question, _ page.Request) ([]billing.Record, int, error) {
	f.of, f.asked = of, q
	return []billing.Record{f.record}, 41, f.err
}

// offer is what is asked of a variant.
type offer struct {
	amend.Command
	Variant int64
}

func (f *fakes) VariantPrice(_ context.Context, of shop.ID, cmd amend.Command, id int64) (contractedit.VariantPrice, error) {
	_, err := f.did(of, offer{cmd, id})
	return contractedit.VariantPrice{Variant: variant(), Unit: money.Amount{Minor: 1125, Currency: "USD"}}, err
}

func (f *fakes) Record(_ context.Context, of shop.ID, cmd retention.Command) (retention.Activity, error) {
	_, err := f.did(of, cmd)
	return retention.Activity{ID: 501, Contract: cmd.Contract, Customer: 7001, At: noon(), Details: cmd.Details}, err
}

func (f *fakes) Search(_ context.Context, of shop.ID, q contract.Filter, _ page.Request) ([]contract.Contract, int, error) {
	f.of, f.filter = of, q
	return []contract.Contract{theContract()}, 1, f.err
}

func (f *fakes) ContractsOf(_ context.Context, _ shop.ID, line shop.Line, customer int64) ([]contract.Contract, error) {
	if line != shop.Memberships || customer != 7001 {
		return nil, f.err
	}
	return []contract.Contract{theContract()}, f.err
}

func (f *fakes) Catalogue(context.Context, shop.Shop, shop.Line) ([]bundle.Settings, map[int64]plan.Offer, error) {
	return nil, nil, nil
}

// leaver stands for the flow of cancelling.
type leaver struct{ *fakes }

// Shown answers with the flow of a contract, and every step with the session that follows.
func (f leaver) Shown(_ context.Context, of shop.ID, cmd session.Command) (session.View, error) {
	_, err := f.did(of, cmd)
	return session.View{Flow: leavingFlow(), Reasons: leavingFlow().Reasons, Contract: theContract()}, err
}

func (f leaver) Start(_ context.Context, of shop.ID, cmd session.Command) (session.View, error) {
	_, err := f.did(of, cmd)
	return leavingSession(session.Asking), err
}

func (f leaver) stepped(of shop.ID, cmd any, to session.Step) (session.View, error) {
	_, err := f.did(of, cmd)
	return leavingSession(to), err
}

func (f leaver) Session(_ context.Context, of shop.ID, cmd session.Named) (session.View, error) {
	return f.stepped(of, cmd, session.Offering)
}

func (f leaver) Answer(_ context.Context, of shop.ID, cmd session.Answer) (session.View, error) {
	return f.stepped(of, cmd, session.Offering)
}

func (f leaver) Accept(_ context.Context, of shop.ID, cmd session.Acceptance) (session.View, error) {
	return f.stepped(of, cmd, session.Ended)
}

func (f leaver) Decline(_ context.Context, of shop.ID, cmd session.Named) (session.View, error) {
	return f.stepped(of, cmd, session.Confirming)
}

func (f leaver) Back(_ context.Context, of shop.ID, cmd session.Named) (session.View, error) {
	return f.stepped(of, cmd, session.Asking)
}

func (f leaver) Keep(_ context.Context, of shop.ID, cmd session.Named) (session.View, error) {
	return f.stepped(of, cmd, session.Ended)
}

func (f leaver) Confirm(_ context.Context, of shop.ID, cmd session.Named) (session.View, error) {
	return f.stepped(of, cmd, session.Ended)
}

func (f leaver) Comment(_ context.Context, of shop.ID, cmd session.Answer) (session.View, error) {
	return f.stepped(of, cmd, session.Ended)
}

func leavingFlow() flow.Flow {
	return flow.Flow{Version: 3, Mode: flow.Retention, Support: "help@store.example", Reasons: []flow.Reason{{Key: "too-much", Label: map[string]string{"en": "I have too much", "de": "Ich habe zu viel"}, Comment: true}}}
}

func leavingSession(at session.Step) session.View {
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	v := session.View{
		Flow: leavingFlow(), Reasons: leavingFlow().Reasons, Contract: theContract(), Line: shop.Memberships,
		Effect:  session.Effect{Next: noon().AddDate(0, 0, 10), Pays: usd(2450), Orders: 2, Paid: usd(2450)},
		Session: session.Session{ID: 601, Contract: 9001, Customer: 7001, Flow: 3, Step: at, StartedAt: noon()},
	}
	v.Effect.Rest = billing.Rest{
		Orders: []billing.Ordered{{Attempt: billing.Attempt{ID: 9, BillingDate: noon().AddDate(0, 0, 10)}, Pays: usd(2450)}, {Attempt: billing.Attempt{BillingDate: noon().AddDate(0, 1, 10)}, Pays: usd(2000)}},
		Total:  usd(4450), Deliveries: []time.Time{noon().AddDate(0, 0, 10)},
	}
	if at == session.Offering {
		v.Reason, v.Session.Comment, v.OfferedAt = "too-much", "Two bags are enough", noon()
		v.Offer = &session.Proposal{
			Offer: flow.Offer{Kind: flow.Skip, Orders: 1}, Next: noon().AddDate(0, 1, 10), Pays: usd(2450), Was: usd(2450), Skips: []session.Skipped{{Attempt: 9, Date: noon().AddDate(0, 0, 10), Amount: usd(2450)}},
			Choices: []session.Choice{{Key: "7002", Title: "Decaf", Variant: 7002, Quantity: 1, Every: "2 MONTH", Pays: usd(1000)}}, Contact: "help@store.example", Until: noon().AddDate(0, 2, 0),
		}
	}
	if at == session.Ended {
		v.Outcome, v.EndedAt = session.Cancelled, noon()
	}
	return v
}

func variant() platform.Variant {
	return platform.Variant{
		ID: 4001, ProductID: 3001, Title: "250 g", ProductTitle: "House Blend Coffee", SKU: "COFFEE-250", Handle: "house-blend", Vendor: "Khan Roasters",
		Image: "https://cdn.shopify.com/s/files/house-blend.jpg", Price: money.Amount{Minor: 1250, Currency: "USD"},
	}
}

func theContract() contract.Contract {
	return contract.Contract{
		ID: 9001, Line: shop.Memberships, Status: contract.Active, Customer: contract.Customer{ID: 7001, Email: "ada@example.com"}, Currency: "USD",
		OriginOrderID: 5001, Orders: 1, MinCycles: 3, CreatedAt: noon(), NextBillingDate: noon().AddDate(0, 0, 10),
		Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Delivery: contract.Policy{Interval: cadence.Month, Count: 1},
		Lines: []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/12", ProductID: 3001, VariantID: 4001, Title: "House Blend Coffee", Quantity: 2, Price: money.Amount{Minor: 1225, Currency: "USD"}}},
	}
}

func theRecord() billing.Record {
	c := theContract()
	return billing.Record{
		Attempt: billing.Attempt{ID: 9, Contract: c.ID, Cycle: 3, Status: billing.Queued, BillingDate: noon().AddDate(0, 0, 10), Note: "Ring twice"}, Of: c,
	}
}

func options(f *fakes, line shop.Line) Options {
	at := clock.NewManual(noon())
	return Options{
		Line: line, Frame: web.Frame{Log: slog.New(slog.DiscardHandler), Clock: at}, Gate: web.Gate{Shoppers: f, Limits: webtest.Unlimited{}, Clock: at},
		Portal: f, Prices: f, Links: f, Points: f, Book: f, Sold: f, OneOffBook: f, Mails: f, Retention: f, Cancelling: leaver{f}, Consents: f,
	}
}

// server is an interface over fakes.
type server struct {
	*fakes
	t       *testing.T
	handler http.Handler
}

func serve(t *testing.T, f *fakes) *server {
	t.Helper()
	return &server{fakes: f, t: t, handler: New(options(f, shop.Memberships))}
}

// ask sends a request that the platform signed. Headers are given as name, value.
func (s *server) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return s.send(method, Base(shop.Memberships)+path+sign+"signature=good", body, headers...)
}

func (s *server) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return webtest.Send(s.t, s.handler, method, target, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}
