package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// inCase returns a failed attempt with an open case of which a retry is due.
func inCase(change ...func(*dunning.Case)) Attempt {
	k := dunning.Case{State: dunning.Open, OpenedAt: now.AddDate(0, 0, -1), TriedAt: now.AddDate(0, 0, -1), Class: dunning.Issuer, RetryAt: now}
	for _, f := range change {
		f(&k)
	}
	return due(func(a *Attempt) {
		a.Status, a.Try, a.ErrorCode, a.BillingDate, a.FirstSentAt, a.Dunning = Failure, 1, "CARD_DECLINED", k.OpenedAt, k.OpenedAt, k
	})
}

func TestDecideOnDeclines(t *testing.T) {
	t.Parallel()
	tries := func(n int, ago time.Duration) func(*inputs) {
		return func(g *inputs) {
			for range n {
				g.tries = append(g.tries, now.Add(-ago))
			}
		}
	}
	tried := func(ago time.Duration) func(*inputs) {
		return func(g *inputs) { g.tried = append(g.tried, now.Add(-ago)) }
	}
	late := func(days int) func(*dunning.Case) { // in a case that has had all its retries but the last, so many days ago
		return func(k *dunning.Case) {
			k.OpenedAt = now.AddDate(0, 0, -16-days)
			k.TriedAt = k.OpenedAt.AddDate(0, 0, 12)
		}
	}
	for _, row := range []struct {
		name string
		a    Attempt
		g    inputs
		want decision
	}{
		{"a retry that is due is made", inCase(), monthly(), decision{action: charge}},
		{"a case of which no retry is due has something else to do", inCase(func(k *dunning.Case) { k.RetryAt = now.Add(time.Hour) }), monthly(),
			decision{action: startDunning, how: follow}},
		{"a case of which the end has come has, too", inCase(func(k *dunning.Case) { k.RetryAt, k.EndAt = time.Time{}, now }), monthly(), decision{action: startDunning, how: follow}},
		{"no retry is made for a paused contract", inCase(), monthly(func(g *inputs) { g.contract.Status = contract.Paused }), decision{action: startDunning, status: ContractPaused, how: abandon}},
		{"nor for a cancelled one", inCase(), monthly(func(g *inputs) { g.contract.Status = contract.Cancelled }), decision{action: startDunning, status: ContractCancelled, how: abandon}},
		{"nor for a store without connection", inCase(), monthly(func(g *inputs) { g.shop.Connected = false }), decision{action: startDunning, status: ConnectionGone, how: abandon}},
		{"nor without automatic charges", inCase(), monthly(func(g *inputs) { g.contract.AutoCharge = false }), decision{action: startDunning, status: AutoChargeDisabled, how: abandon}},
		{"a retry waits while another charge is in flight", inCase(), monthly(func(g *inputs) { g.others = []Attempt{{ID: 2, Cycle: 4, Status: Progress}} }),
			decision{action: wait, until: now.Add(10 * time.Minute)}},
		{"a card that was tried fourteen times may be tried", inCase(), monthly(tries(14, time.Hour)), decision{action: charge}},
		{"a card that was tried fifteen times may not", inCase(), monthly(tries(15, time.Hour)), decision{action: startDunning, how: leaveOut}},
		{"not even when it was replaced", inCase(func(k *dunning.Case) { k.Cause = dunning.ByCardUpdate }), monthly(tries(15, time.Hour)), decision{action: startDunning, how: leaveOut}},
		{"fifteen tries of more than thirty days ago are forgotten", inCase(), monthly(tries(15, dunning.TryWindow)), decision{action: charge}},
		{"nor for an order that somebody gave another date", inCase(func(k *dunning.Case) { k.Close(dunning.Lost, now) }), monthly(tries(15, time.Hour)), decision{action: leave}},
		{"which is charged on it otherwise", inCase(func(k *dunning.Case) { k.Close(dunning.Lost, now) }), monthly(tries(14, time.Hour), tried(time.Hour)), decision{action: charge}},
		{"a card that was tried today, for whatever, waits for tomorrow", inCase(), monthly(tried(time.Hour)), decision{action: startDunning, how: putOff}},
		{"one that was tried yesterday does not", inCase(), monthly(tried(15 * time.Hour)), decision{action: charge}},
		{"a retry that somebody asked for does not wait", inCase(func(k *dunning.Case) { k.Cause = dunning.ByCardUpdate }), monthly(tried(time.Hour)), decision{action: charge}},
		{"nor one that follows soon upon a fault on the way to the bank", inCase(func(k *dunning.Case) { k.Class, k.OpenedAt = dunning.Transient, now.Add(-6*time.Hour) }), monthly(tried(time.Hour)), decision{action: charge}},
		{"those by plan after it do", inCase(func(k *dunning.Case) { k.Class = dunning.Transient }), monthly(tried(time.Hour)), decision{action: startDunning, how: putOff}},
		{"the last one waits for a week", inCase(late(6)), monthly(tried(time.Hour)), decision{action: startDunning, how: putOff}},
		{"and is left out then", inCase(late(7)), monthly(tried(time.Hour)), decision{action: startDunning, how: leaveOut}},
		{"a first charge never waits", due(), monthly(tried(time.Hour)), decision{action: charge}},
		{"an order that is paid already is looked for and not charged", due(func(a *Attempt) { a.Status, a.ErrorCode = Failure, "INVOICE_ALREADY_PAID" }), monthly(), decision{action: ask}},
		{"even when it was looked for before", due(func(a *Attempt) { a.Status, a.Try, a.ErrorCode = Requesting, 2, "INVOICE_ALREADY_PAID" }), monthly(), decision{action: ask}},
		{"and when the contract is paused", due(func(a *Attempt) { a.Status, a.ErrorCode = Failure, "INVOICE_ALREADY_PAID" }),
			monthly(func(g *inputs) { g.contract.Status = contract.Paused }), decision{action: ask}},
		{"an order that falls due while an older one is unpaid is left out", due(), monthly(func(g *inputs) { g.contract.Dunning = &contract.Dunning{Attempt: 2, Cycle: 2} }),
			decision{action: end, status: SkippedDunning}},
		{"one that a person asked for is charged", due(func(a *Attempt) { a.Status, a.Manual = Requesting, true }),
			monthly(func(g *inputs) { g.contract.Dunning = &contract.Dunning{Attempt: 2, Cycle: 2} }), decision{action: charge}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := decide(row.a, row.g, now)
			if got.reason = ""; got.how == putOff {
				if day := now.AddDate(0, 0, 1); got.until.Before(day) || !got.until.Before(day.Add(time.Hour)) {
					t.Errorf("put off until %s, want tomorrow after the order time", got.until)
				}
				got.until = time.Time{}
			}
			if got != row.want {
				t.Errorf("decided %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestRetryThatIsPutOffWhereClocksChangeComesOnTheNextLocalDay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ zone, now, want string }{
		"on an ordinary day":                                       {"Europe/Berlin", "2026-03-10T09:30:00+01:00", "2026-03-11T09:00:00+01:00"},
		"on the eve of summer time":                                {"Europe/Berlin", "2026-03-28T09:30:00+01:00", "2026-03-29T09:00:00+02:00"},
		"late on the eve of the day of 23 hours":                   {"Europe/Berlin", "2026-03-28T23:30:00+01:00", "2026-03-29T09:00:00+02:00"},
		"early on the day of 23 hours":                             {"Europe/Berlin", "2026-03-29T00:30:00+01:00", "2026-03-30T09:00:00+02:00"},
		"late on the day of 23 hours":                              {"Europe/Berlin", "2026-03-29T23:30:00+02:00", "2026-03-30T09:00:00+02:00"},
		"on the eve of the end of summer time":                     {"Europe/Berlin", "2026-10-24T23:30:00+02:00", "2026-10-25T09:00:00+01:00"},
		"early on the day of 25 hours":                             {"Europe/Berlin", "2026-10-25T00:30:00+02:00", "2026-10-26T09:00:00+01:00"},
		"late on the day of 25 hours":                              {"Europe/Berlin", "2026-10-25T23:30:00+01:00", "2026-10-26T09:00:00+01:00"},
		"late on the eve of the day of 23 hours, behind UTC":       {"America/New_York", "2026-03-07T23:30:00-05:00", "2026-03-08T09:00:00-04:00"},
		"early on the day of 25 hours, behind UTC":                 {"America/New_York", "2026-11-01T00:30:00-04:00", "2026-11-02T09:00:00-05:00"},
		"early on the day of 25 hours, ahead of UTC by half a day": {"Pacific/Auckland", "2026-04-05T00:30:00+13:00", "2026-04-06T09:00:00+12:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(test.zone)
			must(t, err)
			at, err := time.Parse(time.RFC3339, test.now)
			must(t, err)
			want, err := time.Parse(time.RFC3339, test.want)
			must(t, err)
			a := inCase(func(k *dunning.Case) {
				k.OpenedAt, k.TriedAt, k.RetryAt = at.AddDate(0, 0, -3), at.AddDate(0, 0, -3), at
			})
			g := monthly(func(g *inputs) {
				g.calendar = cadence.Calendar{Zone: zone, Hour: 9}
				g.tried = []time.Time{at.Add(-time.Minute)}
			})
			got := decide(a, g, at.UTC())
			if got.action != startDunning || got.how != putOff {
				t.Fatalf("decided %+v, want the retry put off", got)
			}
			if got.until.Before(want) || got.until.After(want.Add(half)) {
				t.Errorf("put off until %s, want within half an hour after %s", got.until.In(zone).Format(time.RFC3339), test.want)
			}
		})
	}
}

// half is an hour's: within it after the order time retries are made.
const half = 30 * time.Minute

func TestARetryGivesWayToAFirstChargeWithTheSameCard(t *testing.T) {
	t.Parallel()
	for name, ago := range map[string]time.Duration{"that falls due with it": -1, "of eight minutes before": 8 * time.Minute} {
		first := due(func(a *Attempt) { a.ID, a.Contract, a.DueAt = 2, 9002, now })
		s, b := open(t, func(c *contract.Contract) { c.PaymentMethod = "card" }, inCase(), first)
		other := b.contracts[9001]
		other.ID = 9002
		b.contracts[9002] = other
		if ago >= 0 {
			first.Status, first.SentAt, first.DueAt = Success, now.Add(-ago), time.Time{}
			b.attempts[2] = first
		}
		taken, err := s.takeUp(t.Context(), 1)
		must(t, err)
		if len(taken.dunned) != 1 || taken.dunned[0].v.how != putOff || (len(taken.charges) == 1) != (ago < 0) {
			t.Errorf("%s: took up %+v and pursues %+v; want the retry put off alone", name, taken.charges, taken.dunned)
		}
	}
}
