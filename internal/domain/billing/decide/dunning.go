package decide

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// unpaid is why an order ends while an older one is unpaid.
func unpaid(c contract.Contract) string {
	return fmt.Sprintf("cycle %d could not be charged yet: no other order is made before it is paid or given up", c.Dunning.Cycle)
}

// CaseStep is the step of a case that is due, other than a charge.
type CaseStep int

// The steps.
const (
	Proceed       CaseStep = iota // send the customer a notice, or take the final action
	SkipRetry                     // skip the retry, and go on with the plan
	PostponeRetry                 // postpone the retry
	CloseCase                     // close the case
)

// whySpent is why a payment method that was tried too often is not tried.
var whySpent = fmt.Sprintf("the payment method was declined or tried again %d times within %d days", dunning.MaxTries, int(dunning.TryWindow.Hours()/24))

// decideFailed decides on a failed attempt that is due and not blocked.
func decideFailed(a billing.Attempt, g Inputs, now time.Time) Decision {
	k := a.Dunning
	spent := dunning.CardLimitReached(g.CardTries, now)
	if !k.State.Live() { // a person gave it a date
		if spent {
			return Decision{Action: Leave, Reason: whySpent}
		}
		return Decision{Action: Charge}
	}
	rules := billing.CaseInputsIn(g.Shop, a, g.Calendar)
	switch {
	case !k.Due(now):
		return Decision{Action: StartDunning, CaseStep: Proceed}
	case spent:
		return Decision{Action: StartDunning, CaseStep: SkipRetry, Reason: whySpent}
	case k.Spaced(rules) && dunning.TriedToday(g.CardUses, g.Calendar, now):
		if day := g.tomorrow(a, now); !day.After(k.LastDay(rules)) {
			return Decision{Action: StartDunning, CaseStep: PostponeRetry, Until: day}
		}
		return Decision{Action: StartDunning, CaseStep: SkipRetry, Reason: "the payment method is tried for another order every day"}
	}
	return Decision{Action: Charge}
}

// tomorrow returns the instant of the next day at which the attempt is tried.
func (g Inputs) tomorrow(a billing.Attempt, now time.Time) time.Time {
	return g.Calendar.At(now.In(g.Calendar.Zone).AddDate(0, 0, 1)).Add(dunning.SpreadOf(billing.KeyOf(g.Shop.Domain, a.Contract, a.Cycle, 0)))
}
