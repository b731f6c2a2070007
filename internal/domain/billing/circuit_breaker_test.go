package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestSpike(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    ChargeStats
		want bool
	}{
		{"nothing ended", ChargeStats{Sent: 100}, false},
		{"too few ended to tell", ChargeStats{Declined: 19, Gateway: 19}, false},
		{"twenty declined by the gateway's fault", ChargeStats{Declined: 20, Gateway: 20}, true},
		{"four of five declined by the gateway's fault", ChargeStats{Paid: 20, Declined: 80, Gateway: 80}, true},
		{"less than four of five", ChargeStats{Paid: 21, Declined: 79, Gateway: 79}, false},
		{"twenty declined by the customers' banks", ChargeStats{Declined: 20}, false},
		{"fifty declined for any reason", ChargeStats{Declined: 50}, true},
		{"nineteen of twenty declined for any reason", ChargeStats{Paid: 5, Declined: 95}, true},
		{"less than nineteen of twenty", ChargeStats{Paid: 6, Declined: 94}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.r.spike(); got != row.want {
				t.Errorf("a spike: %t, want %t", got, row.want)
			}
		})
	}
}

func TestAllowance(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		r       ChargeStats
		probing bool
		want    int
	}{
		{"a run begins with a hundred", ChargeStats{}, false, 100},
		{"no more are sent while none has ended", ChargeStats{Sent: 100}, false, 0},
		{"what was declined makes no room before any is paid", ChargeStats{Sent: 100, Ended: 40, Declined: 40}, false, 0},
		{"what says nothing of the gateway makes room", ChargeStats{Sent: 100, Ended: 40, Declined: 10}, false, 30},
		{"once one is paid what was declined makes room", ChargeStats{Sent: 100, Ended: 41, Paid: 1, Declined: 40}, false, 41},
		{"every success lets four more go", ChargeStats{Sent: 100, Ended: 100, Paid: 100}, false, 400},
		{"what is under way counts", ChargeStats{Sent: 500, Ended: 100, Paid: 100}, false, 0},
		{"ends of charges that were sent before the window make no room", ChargeStats{Ended: 50, Paid: 50}, false, 200},
		{"a probe is five", ChargeStats{}, true, 5},
		{"a probe of which two are under way", ChargeStats{Sent: 5, Ended: 3, Declined: 3}, true, 0},
		{"a probe that is paid goes on while its hold stands", ChargeStats{Sent: 5, Ended: 3, Paid: 1, Declined: 2}, true, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.r.allowance(row.probing); got != row.want {
				t.Errorf("%d may be sent, want %d", got, row.want)
			}
		})
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	after := func(d time.Duration) time.Time { return now.Add(d) }
	began := after(-time.Hour)
	spike := ChargeStats{Declined: 20, Gateway: 20}
	probing := shop.Hold{Until: after(-time.Minute), Since: began, Times: 1, From: after(-time.Minute)}
	for _, row := range []struct {
		name string
		h    shop.Hold
		r    ChargeStats
		want shop.Hold
		told bool
	}{
		{"an ordinary run is not held", shop.Hold{}, ChargeStats{Paid: 100}, shop.Hold{}, false},
		{"a spike is held for half an hour", shop.Hold{}, spike, shop.Hold{Until: after(30 * time.Minute), Since: now, Times: 1, From: after(30 * time.Minute)}, true},
		{"what ends while it is held changes nothing", shop.Hold{Until: after(time.Minute), Since: began, Times: 1, From: after(time.Minute)}, spike,
			shop.Hold{Until: after(time.Minute), Since: began, Times: 1, From: after(time.Minute)}, false},
		{"a probe of two says nothing", probing, ChargeStats{Declined: 2}, probing, false},
		{"a probe that is declined holds for twice as long", probing, ChargeStats{Declined: 3},
			shop.Hold{Until: after(time.Hour), Since: began, Times: 2, From: after(time.Hour)}, true},
		{"a probe is judged while others wait for its ends", shop.Hold{Until: after(time.Second), Since: began, Times: 1, From: after(-time.Minute)}, ChargeStats{Declined: 5},
			shop.Hold{Until: after(time.Hour), Since: began, Times: 2, From: after(time.Hour)}, true},
		{"the longest hold is four hours", shop.Hold{Until: now, Since: began, Times: 9, From: now}, ChargeStats{Declined: 3},
			shop.Hold{Until: after(4 * time.Hour), Since: began, Times: 10, From: after(4 * time.Hour)}, true},
		{"a probe that is paid ends the hold, and what was before it no longer counts", probing, ChargeStats{Paid: 2, Declined: 1}, shop.Hold{From: now}, true},
		{"ends let a run go on that had to wait for them", shop.Hold{Until: after(time.Second)}, ChargeStats{Sent: 100, Ended: 1, Paid: 1}, shop.Hold{}, false},
		{"a run waits while no more may go", shop.Hold{Until: after(time.Second)}, ChargeStats{Sent: 101, Ended: 1, Paid: 1}, shop.Hold{Until: after(time.Second)}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, change := nextBreakerState(row.h, row.r, p, now)
			if got != row.want || (change != "") != row.told {
				t.Errorf("hold %+v (%q), want %+v", got, change, row.want)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration, change ...func(*Attempt)) Attempt {
		return due(append(change, func(a *Attempt) { a.DueAt = now.Add(-d) })...)
	}
	for _, row := range []struct {
		name string
		a    Attempt
		want bool
	}{
		{"what is due is not put off", at(time.Minute), false},
		{"a delay of less than two hours is none", at(2*time.Hour - time.Millisecond), false},
		{"what is overdue is put off", at(2 * time.Hour), true},
		{"what a person asked for is not", at(48*time.Hour, func(a *Attempt) { a.Manual = true }), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, off := spread(row.a, shop.Shop{Domain: "a.myshopify.com"}, now)
			if off != row.want || off && (v.action != wait || !v.until.After(now) || v.until.After(now.Add(6*time.Hour))) {
				t.Errorf("put off: %t (%+v), want %t", off, v, row.want)
			}
		})
	}
	if v := decide(at(72*time.Hour), monthly(), now); v.action != wait {
		t.Errorf("decided %+v on an order that is overdue by three days, want it to wait", v)
	}
}

func TestTurnsLieEvenlyAndAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	const contracts, window, parts = 12_000, 6 * time.Hour, 12
	var perPart [parts]int
	for c := range contract.ID(contracts) {
		first := turn("a.myshopify.com", c, window, now)
		if first.Before(now) || !first.Before(now.Add(window)) {
			t.Fatalf("the turn of contract %d is %s, outside the window from %s", c, first, now)
		}
		if again := turn("a.myshopify.com", c, window, first); !again.Equal(first) {
			t.Fatalf("at its own turn, %s, contract %d is told to wait until %s", first, c, again)
		}
		if later := turn("a.myshopify.com", c, window, now.Add(first.Sub(now)/2)); !later.Equal(first) {
			t.Fatalf("another node finds the turn %s, the first one %s", later, first)
		}
		perPart[first.Sub(now)*parts/window]++
	}
	for i, n := range perPart {
		if n < contracts/parts*9/10 || n > contracts/parts*11/10 {
			t.Errorf("%d turns in part %d of the window: %v", n, i, perPart)
		}
	}
}

func TestForeseen(t *testing.T) {
	t.Parallel()
	frozen, held := shop.Guard{FrozenAt: now}, shop.Guard{Hold: shop.Hold{Until: now.Add(time.Hour)}}
	flying := sent(time.Minute, time.Minute)
	for _, row := range []struct {
		name string
		v    decision
		a    Attempt
		g    shop.Guard
		want action
	}{
		{"nothing stands against a charge", decision{action: charge}, due(), shop.Guard{}, charge},
		{"a frozen store's order waits", decision{action: charge}, due(), frozen, wait},
		{"a frozen store's order is not given up either", decision{action: end}, due(), frozen, wait},
		{"an order of a store that has left ends, whatever the store waits for", decision{action: end, status: ConnectionGone}, due(), shop.Guard{ConfirmBy: now}, end},
		{"so does what was to be done about its unpaid order", decision{action: startDunning, status: ConnectionGone, how: abandon}, inCase(), frozen, startDunning},
		{"a frozen store's failure is not charged again", decision{action: charge}, due(func(a *Attempt) { a.Status, a.FirstSentAt = Failure, now.Add(-time.Hour) }), frozen, wait},
		{"of a frozen store what was sent is asked for and not sent again", decision{action: charge}, flying, frozen, ask},
		{"of a frozen store what is under way is asked for", decision{action: poll}, flying, frozen, poll},
		{"a held store's order waits", decision{action: charge}, due(), held, wait},
		{"of a held store what was sent may be sent again", decision{action: charge}, flying, held, charge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := guarded(row.v, row.a, row.g, DefaultPolicy(), now, now); got.action != row.want {
				t.Errorf("foreseen %+v, want %d", got, row.want)
			}
		})
	}
}
