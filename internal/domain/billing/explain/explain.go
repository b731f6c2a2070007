// Package explain says of one attempt, in values and in sentences for merchants, why it is as it
// is and what comes next. It only reads.
package explain

import (
	"fmt"
)

// Explanation says of one attempt, in values and in sentences that a merchant
// understands, why it is as it is and what comes next. The same facts give the
// same explanation.
type Explanation struct {
	Facts
	Summary     string
	Date        DateReasons
	Prices      PriceReasons
	Preparation PreparationState
	Tries       []TryReport
	Next        NextStep
	Outcome     Outcome
}

// Explain explains an attempt.
func Explain(f Facts) Explanation {
	e := Explanation{Facts: f}
	history := f.history()
	e.Date = f.explainDate(history)
	e.Prices = f.explainPrices(history)
	e.Preparation = f.explainPreparation()
	e.Tries = f.explainTries(history)
	e.Next = f.explainNext()
	e.Outcome = f.explainOutcome(history)
	e.Summary = fmt.Sprintf("The order of cycle %d %s. %s", f.Cycle, standing[f.Status], e.Next.Words)
	if e.Outcome.Final {
		e.Summary = fmt.Sprintf("The order of cycle %d %s. %s", f.Cycle, standing[f.Status], e.Outcome.Words)
	}
	return e
}
