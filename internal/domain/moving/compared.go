package moving

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Verdict is how an order that the other service made compares with the planned one.
type Verdict string

// The verdicts. All but Same are differences; Unexplained has no known reason.
const (
	Same        Verdict = "SAME"
	Taxes       Verdict = "TAXES"       // the amounts differ by what no service knows in advance: taxes and shipping rates
	SkippedThey Verdict = "SKIPPED"     // it was skipped there after the last reading
	DeclinedBy  Verdict = "DECLINED"    // the charge was declined there
	ChangedAt   Verdict = "CHANGED"     // the contract was changed there after the last reading
	StoppedAt   Verdict = "STOPPED"     // it was paused or ended there after the last reading
	Late        Verdict = "LATE"        // it was made there on a later day
	Missing     Verdict = "MISSING"     // it was not made there
	Unplanned   Verdict = "UNPLANNED"   // it was made there and was not planned here
	Unexplained Verdict = "UNEXPLAINED" // it differs, and no rule says why
)

// Verdicts lists them, the good ones first.
var Verdicts = []Verdict{Same, Taxes, SkippedThey, DeclinedBy, ChangedAt, StoppedAt, Late, Missing, Unplanned, Unexplained}

// Understood reports whether a rule explains the difference.
func (v Verdict) Understood() bool { return v != Missing && v != Unplanned && v != Unexplained }

// Compared is an order that fell due while its contract was a shadow.
type Compared struct {
	Move    ID
	There   int64
	Date    time.Time // on which it was planned, or made if it was not planned
	Verdict Verdict
	Planned money.Amount
	Charged money.Amount // no currency: nothing was
	Order   int64        // made there; 0: none
	Text    string       // what differs
}
