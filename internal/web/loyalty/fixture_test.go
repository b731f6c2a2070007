package loyalty

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// Keys of the fixture's shop, by what they may do.
const (
	fullKey  = "key-full"
	readKey  = "key-read"
	otherKey = "key-contracts"
)

func keys() webtest.Keys {
	return webtest.Keys{Store: theShop(), Scopes: map[string]access.Scope{fullKey: access.All, readKey: access.LoyaltyRead, otherKey: access.ContractsRead}}
}

func noon() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func theShop() shop.Shop {
	return shop.Shop{ID: 7, Domain: "demo.myshopify.com", TimeZone: "America/New_York", Currency: "USD", Connected: true}
}

func by() activity.Actor {
	return activity.Actor{Source: activity.MerchantExternalAPI, By: "API key ERP", ClientIP: "192.0.2.1", Request: "req-1"}
}

// fakes stands in for the domain: it remembers what it was asked and answers what
// the test put into it.
type fakes struct {
	member  loyalty.Member
	top     []loyalty.Account
	entries []loyalty.Entry
	program loyalty.Program
	total   int
	err     error

	of       shop.ID
	who      loyalty.CustomerRef
	standing loyalty.RewardStatus
	page     page.Request
	command  any
}

func (f *fakes) Member(_ context.Context, of shop.Shop, who loyalty.CustomerRef, s loyalty.RewardStatus) (loyalty.Member, error) {
	f.of, f.who, f.standing = of.ID, who, s
	return f.member, f.err
}

func (f *fakes) Top(_ context.Context, of shop.ID, p page.Request) ([]loyalty.Account, int, error) {
	f.of, f.page = of, p
	return f.top, f.total, f.err
}

func (f *fakes) History(_ context.Context, of shop.ID, who loyalty.CustomerRef, p page.Request) ([]loyalty.Entry, int, error) {
	f.of, f.who, f.page = of, who, p
	return f.entries, f.total, f.err
}

func (f *fakes) Program(_ context.Context, of shop.ID) (loyalty.Program, error) {
	f.of = of
	return f.program, f.err
}

func (f *fakes) did(of shop.ID, command any) (loyalty.Member, error) {
	f.of, f.command = of, command
	return f.member, f.err
}

func (f *fakes) Enrol(_ context.Context, of shop.ID, c loyalty.EnrolCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) Add(_ context.Context, of shop.ID, c loyalty.PointsCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) Remove(_ context.Context, of shop.ID, c loyalty.PointsCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) Redeem(_ context.Context, of shop.ID, c loyalty.RedeemCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) AddCredit(_ context.Context, of shop.ID, c loyalty.CreditCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) SetReward(_ context.Context, of shop.ID, c loyalty.RewardCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

func (f *fakes) Approve(_ context.Context, of shop.ID, c loyalty.ApproveCommand) (loyalty.Member, error) {
	return f.did(of, c)
}

// server is an interface over fakes.
type server struct {
	*fakes
	t       *testing.T
	handler http.Handler
}

func options(f *fakes) Options {
	at := clock.NewManual(noon())
	return Options{
		Frame:  web.Frame{Log: slog.New(slog.DiscardHandler), Clock: at},
		Gate:   web.Gate{Keys: keys(), Limits: webtest.Unlimited{}, Clock: at},
		Points: f,
	}
}

func serve(t *testing.T, f *fakes) *server {
	t.Helper()
	return &server{fakes: f, t: t, handler: New(options(f))}
}

// ask sends a request with the full key. Headers are given as name, value.
func (s *server) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return webtest.Send(s.t, s.handler, method, target, body, append([]string{"X-API-Key", fullKey, "X-Request-Id", "req-1"}, headers...)...)
}

func theMember() loyalty.Member {
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	return loyalty.Member{
		Account: loyalty.Account{
			ID: 5, Person: loyalty.Person{Customer: 7001, Email: "ada@example.com", FirstName: "Ada", LastName: "Khan"}, Status: loyalty.Active,
			Born: "1990-02-28", ReferralCode: "k3j9x2", EnrolledAt: noon().AddDate(0, -3, 0), Spent: usd(41250), Credit: usd(750),
			Sums: loyalty.Sums{
				Available: 184050, Pending: 9600, Credited: 312000, Earned: 300000, Activities: 14,
				Rewarded: map[loyalty.SourceType]int64{loyalty.Facebook: 1, loyalty.NewsLetter: 1, loyalty.Referral: 2, loyalty.Purchase: 10},
			},
		},
		Expiring: 12000, ExpiresAt: noon().AddDate(0, 9, 0), Tier: &loyalty.Tier{ID: 2, Name: "Oak"}, Next: &loyalty.Tier{ID: 3, Name: "Redwood"},
		Rewards: []loyalty.Reward{
			{
				ID: 31, Customer: 7001, Rule: 1, Type: loyalty.DiscountCode, State: loyalty.Used, Code: "LOYAL-K3J9X2ABCD", PlatformID: "gid://shopify/DiscountCodeNode/80001",
				Description: "5 off an order", Value: usd(500), Entry: 29, Order: 1004, OrderName: "#1004", Uses: 1,
				CreatedAt: noon(), UsedAt: noon().Add(time.Hour), ExpiresAt: noon().AddDate(0, 0, 90),
			},
			{ID: 30, Customer: 7001, Rule: 2, Type: loyalty.DiscountCode, State: loyalty.Reserved, Code: "LOYAL-NOTYET", Description: "10 % off an order", Percent: 10, Entry: 28, CreatedAt: noon()},
		},
	}
}
