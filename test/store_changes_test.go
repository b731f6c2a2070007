package test

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// restate changes what the store says of itself at the platform.
func (s *store) restate(to map[string]string) {
	s.t.Helper()
	s.call("POST", "/platform/shops/demo.myshopify.com", to, nil)
}

// A store that moves to another time zone keeps the local days of its orders, on either
// side of the date line and of the hour that clocks skip and repeat: no cycle comes twice,
// and none is forgotten.
func TestMovedStoreKeepsOrderDays(t *testing.T) {
	t.Parallel()
	for _, row := range sample([]struct {
		name     string
		from, to string
		at       string // when the store moves
	}{
		{"back over the date line", "Pacific/Auckland", "Pacific/Honolulu", "2026-11-20T19:30:00Z"},
		{"on over the date line, behind the order of the day", "Pacific/Honolulu", "Pacific/Auckland", "2026-11-20T19:30:00Z"},
		{"on over the date line, before the order of the day", "Pacific/Honolulu", "Pacific/Auckland", "2026-11-20T18:30:00Z"},
		{"into the night in which clocks go forward", "Europe/Berlin", "America/New_York", "2027-03-14T05:30:00Z"},
		{"out of the night in which clocks go back", "America/New_York", "Europe/Berlin", "2027-11-07T05:30:00Z"},
	}) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.restate(map[string]string{"ianaTimeZone": row.from})
			at, err := time.Parse(time.RFC3339, row.at)
			if err != nil {
				t.Fatal(err)
			}
			from, to := zoneOf(t, row.from), zoneOf(t, row.to)
			first := at.In(from).AddDate(0, 0, -3)
			s.call("POST", "/clock", map[string]any{"to": at.AddDate(0, 0, -3)}, nil)
			s.id = s.checkout(map[string]any{
				"nextBillingDate": first.AddDate(0, 0, 1).Format(time.DateOnly), "billingPolicy": map[string]any{"interval": "DAY", "intervalCount": 1},
			})
			s.call("POST", "/clock", map[string]any{"to": at}, nil)
			s.restate(map[string]string{"ianaTimeZone": row.to})
			for _, a := range s.upcoming() {
				if local := a.BillingDate.In(to); local.Hour() != 9 && a.BillingDate.Sub(at) > time.Hour {
					t.Errorf("an order to come is at %s", local)
				}
			}
			s.pass("P10D")
			var days []string
			for _, a := range s.past() {
				local := a.BillingDate.In(to)
				if local.Hour() != 9 { // it was made before, or its hour had passed there
					local = a.BillingDate.In(from)
				}
				if local.Hour() != 9 || a.OrderID == nil {
					t.Errorf("attempt %+v", a)
				}
				days = append(days, local.Format(time.DateOnly))
			}
			slices.Reverse(days) // the newest come first
			for i, day := range days {
				if want := first.AddDate(0, 0, i+1).Format(time.DateOnly); day != want {
					t.Errorf("order %d was of %s, want %s; all: %v", i+1, day, want, days)
				}
			}
			var cycles []int
			for _, o := range s.orders() {
				if o.Contract == s.id {
					cycles = append(cycles, o.Cycle)
				}
			}
			for i, cycle := range cycles {
				if cycle != i+1 {
					t.Errorf("the platform has the cycles %v", cycles)
					break
				}
			}
			if len(cycles) != len(days) || len(days) < 11 {
				t.Errorf("%d orders at the platform, %d here", len(cycles), len(days))
			}
		})
	}
}

// A pause that lasts until a day lasts until that day of the store, wherever the store is by
// then: the order of the day is made, and none before it.
func TestPauseInMovedStoreEndsOnItsDay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		from, to string
		ask      []string
		ends     string // of the pause, after the move
		want     string // days of the orders, in UTC, until February 1
	}{
		{"on over the date line", "America/New_York", "Pacific/Auckland", []string{"pauseTillDate", "2026-12-11"}, "2026-12-10T11:00:00Z", "[12-10 01-10]"},
		{"back over the date line", "Pacific/Auckland", "Pacific/Honolulu", []string{"pauseTillDate", "2026-12-12"}, "2026-12-12T10:00:00Z", "[01-11]"},
		{"counted in orders", "America/New_York", "Pacific/Auckland", []string{"pauseDurationCycle", "1"}, "2026-12-10T11:00:00Z", "[12-10 01-10]"},
		{"until a chosen instant", "America/New_York", "Pacific/Auckland", []string{"pauseTillDate", "2026-12-11T08:00:00Z"}, "2026-12-11T08:00:00Z", "[01-10]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.restate(map[string]string{"ianaTimeZone": row.from})
			s.status(http.StatusNoContent, "PAUSED", row.ask...)
			s.until("2026-11-20")
			s.restate(map[string]string{"ianaTimeZone": row.to})
			wantDay(t, "the end of the pause", s.phase().PauseTillDate, row.ends)
			s.until("2027-02-01")
			s.wantOrderDays(row.want)
		})
	}
}

// So does a cancellation that waits for what is paid.
func TestCancellationInMovedStoreWaitsForItsDay(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	s.cancel(http.StatusNoContent, "")
	wantDay(t, "the cancellation", s.phase().PendingCancellationDate, "2027-02-01T14:00:00Z")
	s.restate(map[string]string{"ianaTimeZone": "Pacific/Honolulu"})
	wantDay(t, "the cancellation after the move", s.phase().PendingCancellationDate, "2027-02-01T19:00:00Z")
	s.call("POST", "/clock", map[string]any{"to": "2027-02-01T18:00:00Z"}, nil)
	s.wantPlatform("ACTIVE")
	s.until("2027-02-01")
	s.wantPlatform("CANCELLED")
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// A store that takes another currency sells in it from then on. Its contracts keep theirs.
func TestStoreWithNewCurrencyKeepsContracts(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.restate(map[string]string{"currencyCode": "eur", "name": "Kontor"})
	s.restate(map[string]string{"name": "Kontor am Hafen"}) // which is not stored
	s.until("2026-12-12")
	var rows []struct {
		CurrencyCode            string
		OrderAmount             float64
		OrderAmountShopCurrency *float64 `json:"orderAmountShopCurrency"`
	}
	s.get("/subscription-contract-details", &rows)
	if got := rows[0]; got.CurrencyCode != "USD" || got.OrderAmount != 25 || got.OrderAmountShopCurrency != nil {
		t.Errorf("the contract is %+v, want 25 USD and nothing said of euros", got)
	}
	s.wantAmounts("25.00", "25.00")
	s.wantRecorded(
		`CONTRACT_CREATED {"to":"ACTIVE"}`,
		`UPDATED {"reason":"the store has another currency: its contracts keep theirs","from":"USD","to":"EUR"}`,
		`BILLING_ATTEMPT_TRIGGERED {"cycle":1,"try":1,"orderId":5002,"orderName":"#1002","amount":"25.00","currency":"USD"}`,
		`BILLING_ATTEMPT_TRIGGERED {"cycle":2,"try":1,"orderId":5003,"orderName":"#1003","amount":"25.00","currency":"USD"}`,
	)
}

// Amounts of two currencies are never added up: what a member spent and was given is shown
// in the currency that the store has.
func TestStoreCreditHasStoreCurrency(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/loyalty", map[string]any{"active": true}, nil)
	credit := func(amount int) (got struct{ StoreCreditBalance, SpentAmount float64 }) {
		t.Helper()
		if status := s.loyalty("POST", "/add-credits", map[string]any{"customerId": s.payer(s.id), "amount": amount}, &got); status != http.StatusOK {
			t.Fatalf("giving store credit answered %d", status)
		}
		return got
	}
	if got := credit(5); got.StoreCreditBalance != 5 || got.SpentAmount != 25 {
		t.Errorf("in dollars: %+v", got)
	}
	s.restate(map[string]string{"currencyCode": "JPY"})
	if got := credit(1000); got.StoreCreditBalance != 1000 || got.SpentAmount != 0 {
		t.Errorf("in yen: %+v", got)
	}
	s.until("2026-12-12")
	if got := credit(1); got.StoreCreditBalance != 1001 || got.SpentAmount != 0 {
		t.Errorf("after orders in dollars: %+v", got)
	}
}

// A change that no webhook reported is found by the next reconciliation.
func TestUnreportedMoveIsFoundByReconciliation(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "for": "PT1H"}, nil)
	s.restate(map[string]string{"ianaTimeZone": "Asia/Tokyo"})
	s.pass("P1D")
	for _, a := range s.upcoming() {
		if local := a.BillingDate.In(zoneOf(t, "Asia/Tokyo")); local.Hour() != 9 {
			t.Errorf("an order to come is at %s", local)
		}
	}
	s.wantRecorded(
		`CONTRACT_CREATED {"to":"ACTIVE"}`,
		`UPDATED {"reason":"the store has another time zone: its orders keep their days","from":"America/New_York","to":"Asia/Tokyo"}`,
	)
}
