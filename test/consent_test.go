package test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// consent is what the merchant is shown before orders are charged.
type consent struct {
	Confirmed bool
	Orders    int `json:"ordersInNext7Days"`
	Overdue   int `json:"overdueOrders"`
	Totals    []struct {
		Orders               int
		Amount, CurrencyCode string
	}
	FirstOrders []struct {
		ContractID int64
		Date       time.Time
	}
}

func (s *subscription) consent(method string) (c consent) {
	s.t.Helper()
	s.call(method, "/consent", nil, &c)
	return c
}

// Nothing of a store that was connected for the first time is charged, not even on
// request, until its merchant has confirmed it.
func TestNewStoreIsNotChargedBeforeMerchantConfirms(t *testing.T) {
	t.Parallel()
	s := subscribeIn(t, sandbox.Options{Empty: true, Unconfirmed: true}, nil)
	s.checkout(map[string]any{"nextBillingDate": s.now().AddDate(0, 0, 40)})
	s.pass("P4D")
	c := s.consent("GET")
	if c.Confirmed || c.Orders != 1 || c.Overdue != 0 || len(c.Totals) != 1 || c.Totals[0].Amount != "25.00" || c.Totals[0].CurrencyCode != "USD" ||
		len(c.FirstOrders) != 1 || c.FirstOrders[0].ContractID != s.id {
		t.Errorf("the merchant is shown %+v", c)
	}
	if status := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil, nil); status < 400 {
		t.Errorf("an order on request is answered %d", status)
	}
	s.pass("P8D")
	s.wantAmounts()
	if c := s.consent("GET"); c.Orders != 1 || c.Overdue != 1 {
		t.Errorf("after the date the merchant is shown %+v", c)
	}
	if c := s.consent("POST"); !c.Confirmed {
		t.Errorf("after the confirmation: %+v", c)
	}
	s.pass("PT12H")
	s.wantAmounts("25.00")
	var entries []struct {
		EventSource, Status, AdditionalInfo, CreatedBy string
	}
	s.get("/activity-logs?entityType.equals=SHOP_INFO&size=5&sort=id,desc", &entries)
	if len(entries) == 0 || entries[0].EventSource != "MERCHANT_PORTAL" || entries[0].Status != "SUCCESS" {
		t.Errorf("the log ends with %+v", entries)
	}
}

// A store that was confirmed and comes back after some hours goes on without a new
// confirmation; one that has missed many orders waits for one.
func TestReinstalledStoreContinuesUnlessItMissedManyOrders(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		contracts int
		away      string
		confirmed bool
	}{
		{"a store that missed one order", 1, "P1DT6H", true},
		{"a store that missed more than 20 orders", 21, "P1DT6H", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribeIn(t, sandbox.Options{Empty: true, MainOnly: true}, nil)
			for range row.contracts - 1 {
				s.checkout(nil)
			}
			s.pass("P9D") // the day before the orders
			s.uninstall()
			s.pass(row.away)
			s.call("POST", "/platform/shops/demo.myshopify.com/reinstall", nil, nil)
			s.pass("PT1H")
			if c := s.consent("GET"); c.Confirmed != row.confirmed {
				t.Errorf("confirmed %t, want %t", c.Confirmed, row.confirmed)
			}
			s.pass("P35D")
			want := 0
			if row.confirmed {
				want = 1
			}
			if got := len(s.orders()); got != want {
				t.Errorf("%d orders, want %d", got, want)
			}
		})
	}
}

// A store that was away for three days finds its contracts cancelled by the platform: that
// is reported, and what the platform has not cancelled goes on.
func TestReinstallReportsContractsThatPlatformCancelled(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.uninstall()
	s.pass("P3D")
	s.call("POST", "/platform/shops/demo.myshopify.com/reinstall", nil, nil)
	s.pass("PT1H")
	if n := s.logged("1 contracts were cancelled while the app was uninstalled"); n != 1 {
		t.Errorf("%d entries report it", n)
	}
	var y struct {
		Stage       string
		Done, Total int
		Finished    bool
	}
	s.call("GET", "/sync", nil, &y)
	if !y.Finished || y.Stage != "DONE" || y.Done != 1 || y.Total != 1 {
		t.Errorf("sync %+v", y)
	}
	s.id = s.checkout(map[string]any{"customer": map[string]any{"email": "bo@shopper.example"}})
	s.pass("P11D")
	s.wantAmounts("25.00")
}

// The merchant gets an e-mail at once: nothing is charged any more, and until when the app
// can be installed again. A merchant who installs it within two days loses no subscription.
func TestMerchantIsToldOfUninstallationAndCanAvoidItsEnd(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.uninstall()
	s.pass("PT10M")
	mails := s.letters("kind=merchant_notice")
	if len(mails) != 1 || mails[0].To != "owner@demo.myshopify.com" || !strings.Contains(mails[0].Text, "install the app again before") {
		t.Fatalf("e-mails to the merchant: %+v", mails)
	}
	var d struct {
		DisconnectedAt, CancelsAt time.Time
		Contracts                 int
	}
	s.call("GET", "/departure", nil, &d)
	if d.Contracts != 1 || d.CancelsAt.Sub(d.DisconnectedAt) != 48*time.Hour {
		t.Errorf("the merchant is shown %+v", d)
	}
	s.pass("P1DT12H")
	s.call("POST", "/platform/shops/demo.myshopify.com/reinstall", nil, nil)
	s.pass("P9D")
	s.wantAmounts("25.00")
	if n := s.logged("were cancelled while"); n != 0 || len(s.letters("kind=merchant_notice")) != 1 {
		t.Errorf("%d reports of cancellations, %d e-mails", n, len(s.letters("kind=merchant_notice")))
	}
}

// A merchant is reminded once if nothing was done, six hours before the platform cancels the contracts.
// An absence that has ended leads to no reminder.
func TestMerchantIsRemindedOnceBeforeContractsAreCancelled(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.uninstall()
	s.pass("P1D")
	s.call("POST", "/platform/shops/demo.myshopify.com/reinstall", nil, nil)
	s.pass("PT6H")
	s.uninstall()
	want := func(n int) []mail {
		t.Helper()
		mails := s.letters("kind=merchant_notice")
		if len(mails) != n {
			t.Fatalf("%d e-mails to the merchant, want %d: %+v", len(mails), n, mails)
		}
		return mails
	}
	s.pass("P1DT17H")
	want(2) // one for each absence
	s.pass("PT2H")
	found := false
	for _, m := range want(3) {
		found = found || m.To == "owner@demo.myshopify.com" && strings.Contains(m.Subject, "end in 6 hours") && strings.Contains(m.Text, "install the app again before")
	}
	if !found {
		t.Errorf("no reminder: %+v", want(3))
	}
	s.pass("P3D")
	want(3)
}
