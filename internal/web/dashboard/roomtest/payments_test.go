package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/payments"
)

const paymentsPath = dashboardtest.At + "/failed-payments"

// paymentsDesk stands in for the domain.
type paymentsDesk struct {
	*dashboardtest.Site
	cases    []billing.Record
	recovery analytics.Recovery
	did      []string
	err      error // of the next action
}

func openPayments(t *testing.T) *paymentsDesk {
	d := &paymentsDesk{}
	d.Site = dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, payments.New(payments.Options{Cases: d, Figures: d, Orders: d, Statuses: d, Links: d, Clock: s.Clock}))
	})
	d.SignIn(dashboardtest.Owner)
	return d
}

// declined returns an open case that is a day old.
func (d *paymentsDesk) declined(id int64, code string) billing.Record {
	class, _ := dunning.ClassOf(code)
	now := d.Clock.Now()
	c := billing.Record{
		Attempt: billing.Attempt{
			ID: billing.AttemptID(id), Contract: contract.ID(9000 + id), Cycle: 3, Status: billing.Failure, Try: 1, ErrorCode: code, BillingDate: now.AddDate(0, 0, -1), Version: 4,
			Amount:  money.Amount{Minor: 4999, Currency: "EUR"},
			Dunning: dunning.Case{State: dunning.Open, OpenedAt: now.AddDate(0, 0, -1), TriedAt: now.AddDate(0, 0, -1), FirstCode: code, Class: class, NotifiedAt: now.AddDate(0, 0, -1)},
		},
		Of: contract.Contract{ID: contract.ID(9000 + id), Line: shop.Subscriptions, Status: contract.Active, Customer: contract.Customer{Name: "Ivo Lindqvist", Email: "ivo@shopper.example"}},
	}
	g, err := billing.CaseInputs(d.First, c.Attempt)
	if err != nil {
		d.Fatal(err)
	}
	c.Dunning.Plan(g)
	return c
}

func (d *paymentsDesk) CaseCounts(context.Context, shop.ID) (map[dunning.Class]int, error) {
	counts := make(map[dunning.Class]int)
	for _, c := range d.cases {
		counts[c.Dunning.Class]++
	}
	return counts, nil
}

func (d *paymentsDesk) OpenCases(_ context.Context, _ shop.ID, classes []dunning.Class, after contract.ID, limit int) ([]billing.Record, error) {
	var list []billing.Record
	for _, c := range d.cases {
		fits := len(classes) == 0
		for _, class := range classes {
			fits = fits || class == c.Dunning.Class
		}
		if fits && c.Of.ID > after && len(list) < limit {
			list = append(list, c)
		}
	}
	return list, nil
}

func (d *paymentsDesk) Attempt(_ context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (billing.Record, error) {
	for _, c := range d.cases {
		if c.ID == id && c.Of.Line == line && of == d.First.ID {
			return c, nil
		}
	}
	return billing.Record{}, fault.New(fault.NotFound, "billing attempt %d does not exist", id)
}

func (d *paymentsDesk) Scope(context.Context, shop.Shop) (analytics.Scope, error) {
	today := analytics.DayOf(d.Clock.Now(), time.UTC)
	return analytics.Scope{Today: today, Currency: "EUR", Currencies: []money.Currency{"EUR", "USD"}}, nil
}

func (d *paymentsDesk) Recovery(_ context.Context, _ shop.ID, p analytics.Period, _ analytics.Filter) (analytics.Recovery, error) {
	r := d.recovery
	for week := p.From.Week(); week <= p.To; week += 7 {
		r.Weeks = append(r.Weeks, analytics.RecoveryWeek{Week: week})
	}
	if r.Total.Failed > 0 {
		r.Weeks[len(r.Weeks)-1].RecoverySum = r.Total
	}
	return r, nil
}

func (d *paymentsDesk) do(what string) error {
	if d.err != nil {
		return d.err
	}
	d.did = append(d.did, what)
	return nil
}

func (d *paymentsDesk) Trigger(_ context.Context, _ shop.ID, cmd command.Trigger) error {
	return d.do("trigger by " + cmd.Actor.By)
}

func (d *paymentsDesk) StopRetries(_ context.Context, _ shop.ID, cmd command.Declined) (billing.Record, error) {
	return billing.Record{}, d.do("stop by " + cmd.Actor.By)
}

func (d *paymentsDesk) GiveUp(_ context.Context, _ shop.ID, cmd command.Declined) (billing.Record, error) {
	return billing.Record{}, d.do("give up by " + cmd.Actor.By)
}

func (d *paymentsDesk) SetStatus(_ context.Context, _ shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	return contract.Detail{}, d.do(string(w.To) + " by " + cmd.Actor.By)
}

func (d *paymentsDesk) SendPaymentUpdate(_ context.Context, _ shop.ID, cmd amend.Command) error {
	return d.do("link by " + cmd.Actor.By)
}

func TestStoreWithoutOpenPaymentsIsGoodNews(t *testing.T) {
	d := openPayments(t)
	d.Want(d.Get(paymentsPath), http.StatusOK, "No payment is open", "No order was declined", "Data to 25 Nov 2026, 12:00 UTC")
}

func TestOpenPaymentsSayWhyAndWhatIsNext(t *testing.T) {
	d := openPayments(t)
	d.cases = []billing.Record{d.declined(1, "INSUFFICIENT_FUNDS"), d.declined(2, "EXPIRED_CARD"), d.declined(3, "TEST_MODE")}
	d.cases[0].Of.Customer.Name = "<script>alert(1)</script>{{7*7}}"
	p := d.Get(paymentsPath)
	d.Want(p, http.StatusOK, "3 orders wait to be paid.", "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", "49.99 EUR", "Not enough money", "INSUFFICIENT_FUNDS", "1 made<small>6 left</small>",
		"The card has expired", "When the card changes<small>On 8 Dec 2026 the contract is paused</small>", "It waits for you", `href="/admin/stores/first/contracts/9002"`, "/failed-payments/2/link")
	if strings.Contains(p.Text, "<script>alert") || len(p.Text) > 60<<10 {
		t.Errorf("the page has %d bytes, or markup of a customer", len(p.Text))
	}
	p = d.Get(paymentsPath + "?group=card")
	d.Want(p, http.StatusOK, "EXPIRED_CARD")
	if strings.Contains(p.Text, "INSUFFICIENT_FUNDS") {
		t.Error("the tab of cards has other payments")
	}
	d.Want(d.Get(paymentsPath+"?group=x"), http.StatusBadRequest)
	d.Want(d.Get(paymentsPath+"?period=9y"), http.StatusBadRequest)
	d.Want(d.Get(paymentsPath+"?currency=XTS"), http.StatusBadRequest)
	d.Want(d.Get(paymentsPath+"?after=x"), http.StatusBadRequest)
}

func TestManyOpenPaymentsArePaged(t *testing.T) {
	d := openPayments(t)
	for id := range int64(60) {
		d.cases = append(d.cases, d.declined(id+1, "CARD_DECLINED"))
	}
	p := d.Get(paymentsPath)
	d.Want(p, http.StatusOK, "<strong>1–25</strong> of <strong>60</strong> open payments", "after=9025")
	if strings.Contains(p.Text, "/contracts/9026") || len(p.Text) > 60<<10 {
		t.Errorf("the first page has more than its rows, in %d bytes", len(p.Text))
	}
	d.Want(d.Get(paymentsPath+"?after=9025&shown=25"), http.StatusOK, "/contracts/9026", "<strong>26–50</strong>", `rel="prev"`)
}

func TestFunnelHasItsNumbersInTables(t *testing.T) {
	d := openPayments(t)
	d.recovery.Total = analytics.RecoverySum{
		Failed: 64, FailedAmount: 331800, Recovered: 47, RecoveredAmount: 229810,
		Stages: analytics.Stages{Retried: 61, RetriedAmount: 320140, Mailed: 52, MailedAmount: 279010, Renewed: 21, RenewedAmount: 107630, Lost: 9, LostAmount: 40750},
	}
	d.recovery.Classes = []analytics.RecoveryClass{{Class: dunning.Funds, RecoverySum: d.recovery.Total}}
	p := d.Get(paymentsPath)
	d.Want(p, http.StatusOK, "69.3 % of the failed amount was recovered", "8 orders, 612.40 EUR, still open", "Card updated", "1076.30 EUR", `role="img"`,
		"47 orders recovered, 9 lost, 8 still open", `<td class="num">47</td><td class="num">9</td><td class="num">8</td>`, "Not enough money")
	if strings.Contains(p.Text, "style=") {
		t.Error("the page has inline styles")
	}
	for _, period := range []string{"30d", "12m"} {
		if p := d.Get(paymentsPath + "?period=" + period); p.Status != http.StatusOK || len(p.Text) > 60<<10 {
			t.Errorf("of %s: %d, %d bytes", period, p.Status, len(p.Text))
		}
	}
}

func TestEveryActionIsAskedAboutFirst(t *testing.T) {
	d := openPayments(t)
	d.cases = []billing.Record{d.declined(1, "INSUFFICIENT_FUNDS")}
	d.Want(d.Get(paymentsPath+"/1"), http.StatusOK, "What you can do", "Do not retry", "Pause contract")
	for _, row := range []struct{ action, asks, done, did string }{
		{"retry", "as try 2", "The order is being charged again.", "trigger by ana@staff.example"},
		{"leave", "until 12 Dec 2026 to change the payment method", "The order is no longer charged by plan.", "stop by ana@staff.example"},
		{"skip", "The contract goes on with its next order.", "The order was skipped.", "give up by ana@staff.example"},
		{"pause", "The contract is paused at the platform", "The contract was paused", "PAUSED by ana@staff.example"},
		{"link", "an e-mail to ivo@shopper.example", "The platform sends the customer an e-mail", "link by ana@staff.example"},
	} {
		d.did = nil
		d.Want(d.Get(paymentsPath+"/1/"+row.action), http.StatusOK, "Ivo Lindqvist, contract 9001, of 49.99 EUR", row.asks, `name="version" value="4"`)
		if len(d.did) != 0 {
			t.Errorf("the question about %s has done it", row.action)
		}
		d.Want(d.Post(paymentsPath+"/1/"+row.action, "version", "3"), http.StatusUnprocessableEntity, "The order has changed since the page was opened")
		d.Want(d.Post(paymentsPath+"/1/"+row.action, "version", "4"), http.StatusOK, row.done)
		if len(d.did) != 1 || d.did[0] != row.did {
			t.Errorf("%s did %v", row.action, d.did)
		}
	}
	d.err = fault.New(fault.Unavailable, "the platform does not answer now")
	d.Want(d.Post(paymentsPath+"/1/pause", "version", "4"), http.StatusUnprocessableEntity, "The platform does not answer now.", "Pause the contract")
	d.Want(d.Get(paymentsPath+"/1/dance"), http.StatusNotFound)
	d.Want(d.Get(paymentsPath+"/2/retry"), http.StatusNotFound)
	d.Want(d.Get(paymentsPath+"/x"), http.StatusNotFound)
	d.cases[0].Dunning.State = dunning.Recovered
	d.Want(d.Get(paymentsPath+"/1/retry"), http.StatusConflict, "no longer open")
}

func TestStoreThatIsNotConnectedSaysSo(t *testing.T) {
	d := openPayments(t)
	d.First.Connected = false
	d.Put()
	d.Want(d.Get(paymentsPath), http.StatusOK, "The connection to the platform is gone.")
}

func TestAnalystSeesPaymentsAndChangesNothing(t *testing.T) {
	d := openPayments(t)
	d.cases = []billing.Record{d.declined(1, "INSUFFICIENT_FUNDS")}
	d.Add("ann@staff.example", staff.Analyst)
	d.SignIn("ann@staff.example")
	p := d.Get(paymentsPath)
	d.Want(p, http.StatusOK, "Not enough money")
	if strings.Contains(p.Text, "Retry now") {
		t.Error("an analyst is offered to retry")
	}
	d.Want(d.Get(paymentsPath+"/1"), http.StatusForbidden)
	d.Want(d.Post(paymentsPath+"/1/skip", "version", "4"), http.StatusForbidden)
}
