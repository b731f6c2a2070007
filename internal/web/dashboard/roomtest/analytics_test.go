package roomtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	figures "github.com/perennialhq/perennial/internal/web/dashboard/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// analyticsPages are the addresses below the store's.
var analyticsPages = []string{"mrr", "subscribers", "churn", "cohorts", "revenue", "forecast", "recovery"}

func openAnalytics(t *testing.T) *dashboardtest.Site {
	t.Helper()
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, figures.New(figures.Options{Figures: &analytics.Service{Store: s.DB.Figures(), Clock: s.Clock}, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return s
}

// putAsOf stores contracts and attempts of a store as they are at an instant.
func putAsOf(t *testing.T, s *dashboardtest.Site, of shop.ID, at time.Time, contracts []contract.Contract, attempts ...billing.Attempt) {
	t.Helper()
	for i := range contracts {
		contracts[i].UpdatedAt = at
	}
	for i := range attempts {
		attempts[i].UpdatedAt = at
	}
	err := s.DB.Update(t.Context(), of, func(tx *store.Tx) error {
		if err := tx.PutContracts(t.Context(), contracts); err != nil {
			return err
		}
		if _, err := tx.Contracts(t.Context(), billing.ContractIDs(attempts)); err != nil {
			return err
		}
		return tx.PutAttempts(t.Context(), attempts)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func analyticsContract(id contract.ID, minor int64, created time.Time) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Customer: contract.Customer{ID: 100 + int64(id)}, Billing: month, Delivery: month,
		Lines:     []contract.LineItem{{ID: "a", Quantity: 1, Price: money.Amount{Minor: minor, Currency: "EUR"}, SellingPlanID: 51}},
		CreatedAt: created, UpdatedAt: created, OriginOrderID: 1, Series: contract.Series{Cycle: 2, Start: created},
	}
}

func TestPagesWithoutFiguresSayWhenTheyBegin(t *testing.T) {
	t.Parallel()
	s := openAnalytics(t)
	for _, name := range analyticsPages {
		s.Want(s.Get(dashboardtest.At+"/analytics/"+name), http.StatusOK, "No figures yet", "They begin with the first contract of the store")
	}
}

func TestPagesShowWhatHappened(t *testing.T) {
	t.Parallel()
	s := openAnalytics(t)
	g := plan.Group{PlatformID: 1, Line: shop.Subscriptions, State: plan.Synced, Terms: plan.Terms{Name: "=cmd|' /C calc'!A0"}, Options: []plan.Option{{ID: 51}}, CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
	if err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) }); err != nil {
		t.Fatal(err)
	}
	now := s.Clock.Now()
	july, september := now.AddDate(0, -4, 0), now.AddDate(0, -2, 0)
	list := []contract.Contract{analyticsContract(1, 1000, july), analyticsContract(2, 2500, july), analyticsContract(3, 4000, september)}
	putAsOf(t, s, s.First.ID, july, list[:2])
	putAsOf(t, s, s.First.ID, september, list[2:])
	list[1].Status = contract.Cancelled
	failed := billing.Attempt{Contract: 3, Cycle: 2, Status: billing.Failure, Try: 1, BillingDate: now, Dunning: dunning.Case{State: dunning.Open, FirstCode: "INSUFFICIENT_FUNDS"}}
	queued := billing.Attempt{Contract: 1, Cycle: 2, Status: billing.Queued, BillingDate: now.AddDate(0, 0, 3), DueAt: now.AddDate(0, 0, 3)}
	putAsOf(t, s, s.First.ID, now.AddDate(0, 0, -9), list[1:2], failed, queued)
	second := analyticsContract(1, 777_700, now)
	putAsOf(t, s, s.Second.ID, now, []contract.Contract{second})

	for name, says := range map[string][]string{
		"mrr": {
			"MRR grew from 0 in 12 months, to 50.00 EUR", `role="img"`, "Gains outweigh pauses and churn", `<th scope="row">Nov 2026</th>`, "&#43;35.00", "−25.00",
			"Monthly recurring revenue: what all active contracts bring in a month.", "=cmd|&#39; /C calc&#39;!A0",
		},
		"subscribers": {"Active subscribers grew from 0 in 12 months, to 2", "Active contracts grew from 0 in 12 months, to 2", "Customers with at least one active contract"},
		"churn":       {"All who left did so by choice", "Nov 2026 to date", "33.3 %"},
		"cohorts":     {"100 % of subscribers are still active after three months", "Jul 2026", `class="num few"`},
		"forecast":    {"10.00 EUR scheduled in 30 days", "28 Nov 2026", "What to expect is not shown yet: it takes 30 orders that were paid, skipped or given up in the last 90 days, and there are 0."},
		"recovery":    {"0.0 % of what failed has been recovered", "Not enough money", "40.00"},
	} {
		p := s.Get(dashboardtest.At + "/analytics/" + name)
		s.Want(p, http.StatusOK, says...)
		if strings.Contains(p.Text, "7,777") || strings.Contains(p.Text, "style=") || len(p.Text) > 60_000 {
			t.Errorf("%s has %d bytes, what is another store's, or an inline style", name, len(p.Text))
		}
	}
	s.Want(s.Get(dashboardtest.At+"/analytics/mrr?period=90d&compare=year&group=1"), http.StatusOK, "A year earlier", "in 90 days")
	s.Want(s.Get(dashboardtest.At+"/analytics/cohorts?show=revenue"), http.StatusOK, "Renewal revenue by month of the first contract")
	csv := s.Get(dashboardtest.At + "/analytics/mrr.csv?period=30d")
	s.Want(csv, http.StatusOK, "Day,MRR in EUR,Change\r\n", "2026-11-16,50.00,-25.00\r\n", "Month,Start,")
	if got := csv.Header.Get("Content-Disposition"); got != `attachment; filename="mrr-2026-11-25.csv"` {
		t.Errorf("the download is %q", got)
	}
	for _, query := range []string{"period=9y", "currency=XXX", "group=a"} {
		s.Want(s.Get(dashboardtest.At+"/analytics/mrr?"+query), http.StatusBadRequest)
	}
	s.Want(s.Get(dashboardtest.At+"/analytics/forecast?days=7"), http.StatusBadRequest)
}

func TestForecastShowsBandWhereResultsAreEnough(t *testing.T) {
	t.Parallel()
	s := openAnalytics(t)
	now := s.Clock.Now()
	list := []contract.Contract{analyticsContract(1, 1000, now.AddDate(0, -4, 0)), analyticsContract(2, 3000, now.AddDate(0, -4, 0)), analyticsContract(3, 500, now.AddDate(0, -4, 0))}
	var orders []billing.Attempt
	for i := range 40 {
		a := billing.Attempt{Contract: 3, Cycle: 2 + i, Status: billing.Success, OrderID: int64(i + 1), Amount: money.Amount{Minor: 500, Currency: "EUR"}, Try: 1, BillingDate: now}
		if i%10 == 0 {
			a.Status, a.OrderID, a.Amount = billing.Skipped, 0, money.Amount{}
		}
		orders = append(orders, a)
	}
	putAsOf(t, s, s.First.ID, now.AddDate(0, 0, -5), list, orders...)
	for i := range 2 {
		date := now.AddDate(0, 0, 3+i)
		putAsOf(t, s, s.First.ID, now, nil, billing.Attempt{Contract: contract.ID(i + 1), Cycle: 2, Status: billing.Queued, BillingDate: date, DueAt: date})
	}
	at := dashboardtest.At + "/analytics/forecast"
	// p is 37/42: 30.00² × 0.104875 × (1 + 1/42) is the variance of the larger day.
	s.Want(s.Get(at), http.StatusOK, "36.00 EUR expected in 30 days, of 40.00 scheduled", "40 results of the last 90 days", `class="band"`, "Band: 10 % to 90 %",
		`<td class="num">27.00</td><td class="num">14.40</td><td class="num">30.00</td>`, "about one time in ten less is paid than its lower end")
	s.Want(s.Get(at+".csv"), http.StatusOK, "Day,Orders,Scheduled in EUR,Expected in EUR,\"Low, 10 %\",\"High, 90 %\"\r\n", "2026-11-29,1,30.00,27.00,14.40,30.00\r\n")
	long := s.Get(at + "?days=90")
	s.Want(long, http.StatusOK, "36.00 EUR expected in 90 days")
	if len(long.Text) > 60_000 {
		t.Errorf("the forecast of 90 days has %d bytes", len(long.Text))
	}
}

// paidRenewal returns a paid renewal of a contract.
func paidRenewal(c contract.ID, cycle int, minor int64) billing.Attempt {
	return billing.Attempt{Contract: c, Cycle: cycle, Status: billing.Success, OrderID: int64(cycle), Amount: money.Amount{Minor: minor, Currency: "EUR"}, Try: 1}
}

func TestRevenueIsOfOrdersAndOfSubscribers(t *testing.T) {
	t.Parallel()
	s := openAnalytics(t)
	g := plan.Group{PlatformID: 1, Line: shop.Subscriptions, State: plan.Synced, Terms: plan.Terms{Name: "Coffee"}, Options: []plan.Option{{ID: 51}}, CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
	if err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) }); err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(g.ID)
	now := s.Clock.Now()
	july, october := now.AddDate(0, -4, 0), now.AddDate(0, -1, 0)
	other := analyticsContract(3, 500, october)
	other.Lines[0].SellingPlanID = 0
	putAsOf(t, s, s.First.ID, july, []contract.Contract{analyticsContract(1, 1000, july), analyticsContract(2, 2500, july)})
	putAsOf(t, s, s.First.ID, october, []contract.Contract{other}, paidRenewal(1, 2, 1100), paidRenewal(2, 2, 2505))
	failed := billing.Attempt{Contract: 3, Cycle: 3, Status: billing.Failure, Try: 1, BillingDate: now, Dunning: dunning.Case{State: dunning.Open, FirstCode: "EXPIRED_CARD"}}
	putAsOf(t, s, s.First.ID, now.AddDate(0, 0, -2), nil, paidRenewal(3, 2, 600), paidRenewal(1, 3, 1100), failed)

	at := dashboardtest.At + "/analytics/"
	s.Want(s.Get(at+"revenue"), http.StatusOK, "An average order is 13.26 EUR in 12 months", "A subscriber has paid 17.68 EUR to date", // 53.05 of 4 orders and 3 subscribers
		`<th scope="row">1 Oct 2026</th><td class="num">2</td><td class="num">36.05</td><td class="num">18.03</td>`, `<th scope="row">1 Sep 2026</th><td class="num">0</td><td class="num">0.00</td><td class="num">–</td>`,
		`<th scope="row">Jul 2026</th><td class="num">2</td><td class="num">47.05</td><td class="num">23.53</td>`, `<th scope="row">Oct 2026</th><td class="num">1</td><td class="num">6.00</td><td class="num">6.00</td>`,
		`<th scope="row">All</th><td class="num">3</td><td class="num">53.05</td><td class="num">17.68</td>`, "It is gross and predicts nothing", "Renewal revenue divided by the number of paid renewals")
	s.Want(s.Get(at+"revenue.csv?period=90d"), http.StatusOK, "From,Paid renewals,Revenue in EUR,Average order\r\n", "2026-11-20,2,17.00,8.50\r\n", "First contract,Subscribers,Revenue to date in EUR,Each to date\r\n", "2026-07,2,47.05,23.53\r\n")
	s.Want(s.Get(at+"revenue?period=30d"), http.StatusOK, "An average order is 8.50 EUR in 30 days")
	s.Want(s.Get(at+"revenue?group=0"), http.StatusOK, "An average order is 6.00 EUR", "A subscriber has paid 17.68 EUR to date", "of all plan groups")
	s.Want(s.Get(at+"revenue?group="+id), http.StatusOK, "An average order is 15.68 EUR", `<option value="`+id+`" selected>Coffee</option>`)

	s.Want(s.Get(at+"recovery"), http.StatusOK, "0.0 % of what failed has been recovered", "The payment method cannot be charged", ">Coffee</option>")
	s.Want(s.Get(at+"recovery?group="+id), http.StatusOK, "No payment has failed")
	s.Want(s.Get(at+"recovery?group=0"), http.StatusOK, "0.0 % of what failed has been recovered")
	for _, page := range []string{"churn", "cohorts"} {
		if p := s.Get(at + page); strings.Contains(p.Text, ">Coffee</option>") {
			t.Errorf("%s can be chosen by plan group, and its sums are of the store", page)
		}
	}
}

func TestRevenueWithoutRenewalsSaysSo(t *testing.T) {
	t.Parallel()
	s := openAnalytics(t)
	putAsOf(t, s, s.First.ID, s.Clock.Now(), []contract.Contract{analyticsContract(1, 1000, s.Clock.Now().AddDate(-1, 0, 0))})
	s.Want(s.Get(dashboardtest.At+"/analytics/revenue"), http.StatusOK, "No renewal was paid in 12 months", "No subscriber has begun yet")
}
