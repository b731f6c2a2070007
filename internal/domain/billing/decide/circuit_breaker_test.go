package decide

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestSpike(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    billing.ChargeStats
		want bool
	}{
		{"nothing ended", billing.ChargeStats{Sent: 100}, false},
		{"too few ended to tell", billing.ChargeStats{Declined: 19, Gateway: 19}, false},
		{"twenty declined by the gateway's fault", billing.ChargeStats{Declined: 20, Gateway: 20}, true},
		{"four of five declined by the gateway's fault", billing.ChargeStats{Paid: 20, Declined: 80, Gateway: 80}, true},
		{"less than four of five", billing.ChargeStats{Paid: 21, Declined: 79, Gateway: 79}, false},
		{"twenty declined by the customers' banks", billing.ChargeStats{Declined: 20}, false},
		{"fifty declined for any reason", billing.ChargeStats{Declined: 50}, true},
		{"nineteen of twenty declined for any reason", billing.ChargeStats{Paid: 5, Declined: 95}, true},
		{"less than nineteen of twenty", billing.ChargeStats{Paid: 6, Declined: 94}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := spike(row.r); got != row.want {
				t.Errorf("a spike: %t, want %t", got, row.want)
			}
		})
	}
}

func TestAllowance(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		r       billing.ChargeStats
		probing bool
		want    int
	}{
		{"a run begins with a hundred", billing.ChargeStats{}, false, 100},
		{"no more are sent while none has ended", billing.ChargeStats{Sent: 100}, false, 0},
		{"what was declined makes no room before any is paid", billing.ChargeStats{Sent: 100, Ended: 40, Declined: 40}, false, 0},
		{"what says nothing of the gateway makes room", billing.ChargeStats{Sent: 100, Ended: 40, Declined: 10}, false, 30},
		{"once one is paid what was declined makes room", billing.ChargeStats{Sent: 100, Ended: 41, Paid: 1, Declined: 40}, false, 41},
		{"every success lets four more go", billing.ChargeStats{Sent: 100, Ended: 100, Paid: 100}, false, 400},
		{"what is under way counts", billing.ChargeStats{Sent: 500, Ended: 100, Paid: 100}, false, 0},
		{"ends of charges that were sent before the window make no room", billing.ChargeStats{Ended: 50, Paid: 50}, false, 200},
		{"a probe is five", billing.ChargeStats{}, true, 5},
		{"a probe with two in flight", billing.ChargeStats{Sent: 5, Ended: 3, Declined: 3}, true, 0},
		{"a probe that is paid goes on while its hold stands", billing.ChargeStats{Sent: 5, Ended: 3, Paid: 1, Declined: 2}, true, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := Allowance(row.r, row.probing); got != row.want {
				t.Errorf("%d may be sent, want %d", got, row.want)
			}
		})
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	p := billing.DefaultPolicy()
	after := func(d time.Duration) time.Time { return billingtest.Now.Add(d) }
	began := after(-time.Hour)
	spike := billing.ChargeStats{Declined: 20, Gateway: 20}
	probing := shop.Hold{Until: after(-time.Minute), Since: began, Times: 1, From: after(-time.Minute)}
	for _, row := range []struct {
		name string
		h    shop.Hold
		r    billing.ChargeStats
		want shop.Hold
		told bool
	}{
		{"an ordinary run is not held", shop.Hold{}, billing.ChargeStats{Paid: 100}, shop.Hold{}, false},
		{"a spike is held for half an hour", shop.Hold{}, spike, shop.Hold{Until: after(30 * time.Minute), Since: billingtest.Now, Times: 1, From: after(30 * time.Minute)}, true},
		{"what ends while it is held changes nothing", shop.Hold{Until: after(time.Minute), Since: began, Times: 1, From: after(time.Minute)}, spike,
			shop.Hold{Until: after(time.Minute), Since: began, Times: 1, From: after(time.Minute)}, false},
		{"a probe of two says nothing", probing, billing.ChargeStats{Declined: 2}, probing, false},
		{"a probe that is declined holds for twice as long", probing, billing.ChargeStats{Declined: 3},
			shop.Hold{Until: after(time.Hour), Since: began, Times: 2, From: after(time.Hour)}, true},
		{"a probe is judged while others wait for its ends", shop.Hold{Until: after(time.Second), Since: began, Times: 1, From: after(-time.Minute)}, billing.ChargeStats{Declined: 5},
			shop.Hold{Until: after(time.Hour), Since: began, Times: 2, From: after(time.Hour)}, true},
		{"the longest hold is four hours", shop.Hold{Until: billingtest.Now, Since: began, Times: 9, From: billingtest.Now}, billing.ChargeStats{Declined: 3},
			shop.Hold{Until: after(4 * time.Hour), Since: began, Times: 10, From: after(4 * time.Hour)}, true},
		{"a probe that is paid ends the hold, and what was before it no longer counts", probing, billing.ChargeStats{Paid: 2, Declined: 1}, shop.Hold{From: billingtest.Now}, true},
		{"ends let a run go on that had to wait for them", shop.Hold{Until: after(time.Second)}, billing.ChargeStats{Sent: 100, Ended: 1, Paid: 1}, shop.Hold{}, false},
		{"a run waits while no more may go", shop.Hold{Until: after(time.Second)}, billing.ChargeStats{Sent: 101, Ended: 1, Paid: 1}, shop.Hold{Until: after(time.Second)}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, change := NextHold(row.h, row.r, p, billingtest.Now)
			if got != row.want || (change != "") != row.told {
				t.Errorf("hold %+v (%q), want %+v", got, change, row.want)
			}
		})
	}
}

func TestForeseen(t *testing.T) {
	t.Parallel()
	frozen, held := shop.Guard{FrozenAt: billingtest.Now}, shop.Guard{Hold: shop.Hold{Until: billingtest.Now.Add(time.Hour)}}
	flying := billingtest.Sent(time.Minute, time.Minute)
	for _, row := range []struct {
		name string
		v    Decision
		a    billing.Attempt
		g    shop.Guard
		want Action
	}{
		{"nothing stands against a charge", Decision{Action: Charge}, billingtest.Due(), shop.Guard{}, Charge},
		{"a frozen store's order waits", Decision{Action: Charge}, billingtest.Due(), frozen, Wait},
		{"a frozen store's order is not given up either", Decision{Action: End}, billingtest.Due(), frozen, Wait},
		{"an order of a store that has left ends, whatever the store waits for", Decision{Action: End, Status: billing.ConnectionGone}, billingtest.Due(), shop.Guard{ConfirmBy: billingtest.Now}, End},
		{"so does the case of its unpaid order", Decision{Action: StartDunning, Status: billing.ConnectionGone, CaseStep: CloseCase}, billingtest.InCase(), frozen, StartDunning},
		{"a frozen store's failure is not charged again", Decision{Action: Charge}, billingtest.Due(func(a *billing.Attempt) { a.Status, a.FirstSentAt = billing.Failure, billingtest.Now.Add(-time.Hour) }), frozen, Wait},
		{"of a frozen store what was sent is asked for and not sent again", Decision{Action: Charge}, flying, frozen, Ask},
		{"of a frozen store what is under way is asked for", Decision{Action: Poll}, flying, frozen, Poll},
		{"a held store's order waits", Decision{Action: Charge}, billingtest.Due(), held, Wait},
		{"of a held store what was sent may be sent again", Decision{Action: Charge}, flying, held, Charge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := WithGuard(row.v, row.a, row.g, billing.DefaultPolicy(), billingtest.Now, billingtest.Now); got.Action != row.want {
				t.Errorf("foreseen %+v, want %d", got, row.want)
			}
		})
	}
}
