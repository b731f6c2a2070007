package decide

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

func TestDecideOnDeclines(t *testing.T) {
	t.Parallel()
	tries := func(n int, ago time.Duration) func(*Inputs) {
		return func(g *Inputs) {
			for range n {
				g.CardTries = append(g.CardTries, billingtest.Now.Add(-ago))
			}
		}
	}
	tried := func(ago time.Duration) func(*Inputs) {
		return func(g *Inputs) { g.CardUses = append(g.CardUses, billingtest.Now.Add(-ago)) }
	}
	late := func(days int) func(*dunning.Case) { // in a case that has had all its retries but the last, so many days ago
		return func(k *dunning.Case) {
			k.OpenedAt = billingtest.Now.AddDate(0, 0, -16-days)
			k.TriedAt = k.OpenedAt.AddDate(0, 0, 12)
		}
	}
	for _, row := range []struct {
		name string
		a    billing.Attempt
		g    Inputs
		want Decision
	}{
		{"a retry that is due is made", billingtest.InCase(), monthly(), Decision{Action: Charge}},
		{"a case without a due retry takes another step", billingtest.InCase(func(k *dunning.Case) { k.RetryAt = billingtest.Now.Add(time.Hour) }), monthly(),
			Decision{Action: StartDunning, CaseStep: Proceed}},
		{"so does a case that ends", billingtest.InCase(func(k *dunning.Case) { k.RetryAt, k.EndAt = time.Time{}, billingtest.Now }), monthly(), Decision{Action: StartDunning, CaseStep: Proceed}},
		{"no retry is made for a paused contract", billingtest.InCase(), monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }), Decision{Action: StartDunning, Status: billing.ContractPaused, CaseStep: CloseCase}},
		{"nor for a cancelled one", billingtest.InCase(), monthly(func(g *Inputs) { g.Contract.Status = contract.Cancelled }), Decision{Action: StartDunning, Status: billing.ContractCancelled, CaseStep: CloseCase}},
		{"nor for a store without connection", billingtest.InCase(), monthly(func(g *Inputs) { g.Shop.Connected = false }), Decision{Action: StartDunning, Status: billing.ConnectionGone, CaseStep: CloseCase}},
		{"nor without automatic charges", billingtest.InCase(), monthly(func(g *Inputs) { g.Contract.AutoCharge = false }), Decision{Action: StartDunning, Status: billing.AutoChargeDisabled, CaseStep: CloseCase}},
		{"a retry waits while another charge is in flight", billingtest.InCase(), monthly(func(g *Inputs) { g.Others = []billing.Attempt{{ID: 2, Cycle: 4, Status: billing.Progress}} }),
			Decision{Action: Wait, Until: billingtest.Now.Add(10 * time.Minute)}},
		{"a card that was tried fourteen times may be tried", billingtest.InCase(), monthly(tries(14, time.Hour)), Decision{Action: Charge}},
		{"a card that was tried fifteen times may not", billingtest.InCase(), monthly(tries(15, time.Hour)), Decision{Action: StartDunning, CaseStep: SkipRetry}},
		{"not even when it was replaced", billingtest.InCase(func(k *dunning.Case) { k.Cause = dunning.ByCardUpdate }), monthly(tries(15, time.Hour)), Decision{Action: StartDunning, CaseStep: SkipRetry}},
		{"fifteen tries of more than thirty days ago are forgotten", billingtest.InCase(), monthly(tries(15, dunning.TryWindow)), Decision{Action: Charge}},
		{"nor for an order that a person moved", billingtest.InCase(func(k *dunning.Case) { k.Close(dunning.Lost, billingtest.Now) }), monthly(tries(15, time.Hour)), Decision{Action: Leave}},
		{"which is charged on it otherwise", billingtest.InCase(func(k *dunning.Case) { k.Close(dunning.Lost, billingtest.Now) }), monthly(tries(14, time.Hour), tried(time.Hour)), Decision{Action: Charge}},
		{"a card that was tried today, for whatever, waits for tomorrow", billingtest.InCase(), monthly(tried(time.Hour)), Decision{Action: StartDunning, CaseStep: PostponeRetry}},
		{"one that was tried yesterday does not", billingtest.InCase(), monthly(tried(15 * time.Hour)), Decision{Action: Charge}},
		{"a retry after a remedy does not wait", billingtest.InCase(func(k *dunning.Case) { k.Cause = dunning.ByCardUpdate }), monthly(tried(time.Hour)), Decision{Action: Charge}},
		{"nor one that follows soon upon a fault on the way to the bank", billingtest.InCase(func(k *dunning.Case) { k.Class, k.OpenedAt = dunning.Transient, billingtest.Now.Add(-6*time.Hour) }), monthly(tried(time.Hour)), Decision{Action: Charge}},
		{"those by plan after it do", billingtest.InCase(func(k *dunning.Case) { k.Class = dunning.Transient }), monthly(tried(time.Hour)), Decision{Action: StartDunning, CaseStep: PostponeRetry}},
		{"the last one waits for a week", billingtest.InCase(late(6)), monthly(tried(time.Hour)), Decision{Action: StartDunning, CaseStep: PostponeRetry}},
		{"and is left out then", billingtest.InCase(late(7)), monthly(tried(time.Hour)), Decision{Action: StartDunning, CaseStep: SkipRetry}},
		{"a first charge never waits", billingtest.Due(), monthly(tried(time.Hour)), Decision{Action: Charge}},
		{"an order that is paid already is looked for and not charged", billingtest.Due(func(a *billing.Attempt) { a.Status, a.ErrorCode = billing.Failure, "INVOICE_ALREADY_PAID" }), monthly(), Decision{Action: Ask}},
		{"even when it was looked for before", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.ErrorCode = billing.Requesting, 2, "INVOICE_ALREADY_PAID" }), monthly(), Decision{Action: Ask}},
		{"and when the contract is paused", billingtest.Due(func(a *billing.Attempt) { a.Status, a.ErrorCode = billing.Failure, "INVOICE_ALREADY_PAID" }),
			monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }), Decision{Action: Ask}},
		{"an order that falls due while an older one is unpaid is left out", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Dunning = &contract.Dunning{Attempt: 2, Cycle: 2} }),
			Decision{Action: End, Status: billing.SkippedDunning}},
		{"one that a person asked for is charged", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Manual = billing.Requesting, true }),
			monthly(func(g *Inputs) { g.Contract.Dunning = &contract.Dunning{Attempt: 2, Cycle: 2} }), Decision{Action: Charge}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := Due(row.a, row.g, billingtest.Now)
			if got.Reason = ""; got.CaseStep == PostponeRetry {
				if day := billingtest.Now.AddDate(0, 0, 1); got.Until.Before(day) || !got.Until.Before(day.Add(time.Hour)) {
					t.Errorf("put off until %s, want tomorrow after the order time", got.Until)
				}
				got.Until = time.Time{}
			}
			if got != row.want {
				t.Errorf("decided %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestPostponedRetryAcrossClockChangeIsOnNextLocalDay(t *testing.T) {
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
			billingtest.Must(t, err)
			at, err := time.Parse(time.RFC3339, test.now)
			billingtest.Must(t, err)
			want, err := time.Parse(time.RFC3339, test.want)
			billingtest.Must(t, err)
			a := billingtest.InCase(func(k *dunning.Case) {
				k.OpenedAt, k.TriedAt, k.RetryAt = at.AddDate(0, 0, -3), at.AddDate(0, 0, -3), at
			})
			g := monthly(func(g *Inputs) {
				g.Calendar = cadence.Calendar{Zone: zone, Hour: 9}
				g.CardUses = []time.Time{at.Add(-time.Minute)}
			})
			got := Due(a, g, at.UTC())
			if got.Action != StartDunning || got.CaseStep != PostponeRetry {
				t.Fatalf("decided %+v, want the retry put off", got)
			}
			if got.Until.Before(want) || got.Until.After(want.Add(half)) {
				t.Errorf("put off until %s, want within half an hour after %s", got.Until.In(zone).Format(time.RFC3339), test.want)
			}
		})
	}
}

// half is an hour's: within it after the order time retries are made.
const half = 30 * time.Minute
