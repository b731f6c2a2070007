package intake

import (
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

// beginning is what a contract takes from its plan option, and the platform does not
// know.
type beginning struct {
	trial    *contract.Trial
	lifelong bool
}

// beginOnOption returns the trial or lifetime payment of a contract on an option.
//
// By default the first order is due when the trial ends, or on the first fixed day after
// it that respects the cut-off. With KeepDate it is due on its date without the trial,
// if the trial is over by then, else on the first date of its calendar after the trial.
func beginOnOption(c contract.Contract, o plan.Option, cal cadence.Calendar) beginning {
	b := beginning{lifelong: o.Lifetime}
	if !o.Trial.Enabled {
		return b
	}
	b.trial = TrialOf(c, o, cal)
	return b
}

// TrialOf returns the free trial of a contract on an option that has one.
func TrialOf(c contract.Contract, o plan.Option, cal cadence.Calendar) *contract.Trial {
	length := cadence.Policy{Interval: o.Trial.Interval, Count: o.Trial.Count}
	ends := cadence.Series{Policy: length, Calendar: cal, Start: c.CreatedAt}.Nth(1)
	t := contract.Trial{EndsAt: ends, ChargeAt: ends}
	switch {
	case o.Trial.KeepDate && !c.NextBillingDate.IsZero():
		usual := cadence.Series{Policy: c.Billing, Calendar: cal, Start: c.NextBillingDate}
		if t.ChargeAt = usual.Nth(0); t.ChargeAt.Before(ends) {
			t.ChargeAt = usual.Nth(usual.After(ends.Add(-1)))
		}
	case len(c.Billing.Anchors) > 0:
		t.ChargeAt, _ = c.Billing.WithCutoff(o.Cutoff).First(cal, ends, cadence.Next)
	}
	return &t
}
