package billing

import (
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Facts are what an explanation of an attempt rests on.
type Facts struct {
	Now      time.Time
	Shop     shop.Shop
	Calendar cadence.Calendar
	Policy   Policy
	Record                    // the attempt, its contract, and one-time products that wait for the order
	Others   []Attempt        // the contract's attempts that are in flight, or QUEUED and due
	Needs    Needs            // what keeps the order from being charged as the contract has it
	Terms    *Terms           // the contract as the platform has it now; nil: it was not asked, or did not answer
	Silent   bool             // it was asked and did not answer
	Entries  []activity.Entry // about the attempt, oldest first
	Earlier  int              // entries before those

	CardTries []time.Time // that count against the contract's payment method; only of an attempt that failed
}

// Terms are what the platform keeps of a contract and the service does not.
type Terms struct {
	Lines     []contract.Line
	Details   []contract.LineDetail
	Discounts []contract.Discount
	Plans     map[string]contract.Pricing // what plans of ours say of lines that have no policy at the platform, by line
}

// Needs say why an order is prepared before it is charged. The zero value is no
// need.
type Needs struct {
	Prices  bool // prices of its lines change with the orders
	Note    bool // it has a note of its own
	OneOffs int  // one-time products that it carries
	Rules   bool // swap rules of the store concern it
	Undo    bool // the platform's order holds a change that is no longer wanted
}

// any reports whether the order has to be prepared.
func (n Needs) any() bool { return n != Needs{} }

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

// Outcome is what became of an attempt so far.
type Outcome struct {
	Final bool // nothing changes it any more but a person, or the platform's word that an order exists after all
	Words string
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

// standing says of each status how an order stands that has it.
var standing = map[Status]string{
	Success:            "has been made",
	Failure:            "has not been paid",
	Requesting:         "is being charged",
	Progress:           "is being paid at the platform",
	Queued:             "waits for its date",
	Skipped:            "is left out",
	ConnectionGone:     "was not charged",
	ContractCancelled:  "was not charged",
	ContractEnded:      "was not charged",
	ContractPaused:     "was not charged",
	AutoChargeDisabled: "was not charged",
	SkippedDunning:     "was given up",
	Challenge:          "waits for the customer to confirm the payment",
	PlatformException:  "has been charged without a known end",
}

// explainOutcome says what became of the attempt so far.
func (f Facts) explainOutcome(history []happening) Outcome {
	switch f.Status {
	case Success:
		words := fmt.Sprintf("Order %s (number %d) was made for %s.", f.OrderName, f.OrderID, spoken(f.Amount))
		if at, ok := lastOf(history, charged); ok {
			words = fmt.Sprintf("Order %s (number %d) was made for %s, which was learned at %s.", f.OrderName, f.OrderID, spoken(f.Amount), f.moment(at.At))
		}
		if f.FirstSentAt.IsZero() {
			words += " The service did not send the charge: it found the order at the platform."
		}
		if n := count(history, doubled); n > 0 {
			words += fmt.Sprintf(" The platform has told %s of another order for this cycle: the service cannot take it back, and a person must look at it.", times(n))
		}
		return Outcome{Final: true, Words: words}
	case Failure:
		return Outcome{Words: "The last charge ended without a payment: " + f.answer() + "."}
	case Skipped, ConnectionGone, ContractCancelled, ContractEnded, ContractPaused, AutoChargeDisabled, SkippedDunning:
		return f.explainEnd(history)
	case Challenge:
		return Outcome{Words: "There is no order yet: the bank of the customer asks for a confirmation of the payment."}
	}
	return Outcome{Words: "There is no order yet."}
}

// explainEnd says why an attempt ended without a charge.
func (f Facts) explainEnd(history []happening) Outcome {
	if f.Status == Skipped && f.ErrorMessage == "" {
		words := "It was skipped."
		if skip, ok := lastOf(history, skippedBy); ok {
			words = fmt.Sprintf("%s skipped it at %s.", capital(whoever(skip.Actor)), f.moment(skip.At))
		}
		return Outcome{Final: !f.BillingDate.After(f.Now), Words: words}
	}
	words := "It ended without a charge"
	if f.ErrorMessage != "" {
		words += ": " + f.answer()
	}
	end, ok := lastOf(history, ended)
	if f.Status == SkippedDunning && ok && end.told.Reason != "" && end.told.Reason != f.ErrorMessage {
		words += ". It was given up, because " + end.told.Reason
	}
	if ok {
		words += fmt.Sprintf(" (decided at %s)", f.moment(end.At))
	}
	return Outcome{Final: true, Words: words + "."}
}

// answer returns what was said of the last failure.
func (f Facts) answer() string { return answered(f.ErrorCode, f.ErrorMessage) }

func answered(code, message string) string {
	switch message = strings.TrimSuffix(message, "."); {
	case code == "" && message == "":
		return "no reason was given"
	case code == "" || message == "":
		return code + message
	}
	return fmt.Sprintf("%s (%s)", message, code)
}

// moment returns an instant as the store's clocks show it, and in UTC.
func (f Facts) moment(at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	layout := "2006-01-02 15:04"
	if at.Second() != 0 {
		layout = time.DateTime
	}
	utc := at.UTC().Format(layout) + " UTC"
	if zone := f.Calendar.Zone; zone != nil && zone != time.UTC {
		return fmt.Sprintf("%s %s (%s)", at.In(zone).Format(layout), zone, utc)
	}
	return utc
}

// happening is an entry of the log that has been read.
type happening struct {
	activity.Entry
	what happened
	told outcome
}

// happened is what an entry about an attempt tells of it.
type happened int

const (
	other happened = iota
	charged
	failed
	askedFor // a person asked for a charge
	skippedBy
	ended // without a charge, by the service
	takenBack
	moved
	doubled
	repriced
	carriedAlong // a one-time product
)

// history reads the entries about the attempt.
func (f Facts) history() []happening {
	list := make([]happening, 0, len(f.Entries))
	for _, e := range f.Entries {
		h := happening{Entry: e, told: parseOutcome(e.Info)}
		switch {
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Success:
			h.what = charged
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Failure && h.told.Try > 0:
			h.what = failed
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Info:
			h.what = askedFor
		case e.Event == activity.BillingAttemptSkipped && e.Status == activity.Success:
			h.what = skippedBy
		case e.Event == activity.DunningSkipped, e.Event == activity.DunningCancelled, e.Event == activity.DunningAttemptSkipped && f.Status == SkippedDunning:
			h.what = ended
		case e.Event == activity.BillingAttemptSkipped, e.Event == activity.DuplicateBillingAttemptDetected && e.Status == activity.Skipped:
			h.what = ended
		case e.Event == activity.BillingAttemptUpdated && h.told.Reason == noLongerSkipped:
			h.what = takenBack
		case e.Event == activity.NextBillingDateChange:
			h.what = moved
		case e.Event == activity.DuplicateBillingAttemptDetected:
			h.what = doubled
		case e.Event == activity.ProductPriceChange:
			h.what = repriced
		case e.Event == activity.OneTimePurchaseProductAdded && e.Status == activity.Success, e.Event == activity.OneTimePurchaseProductUpdate, e.Event == activity.OneTimePurchaseProductRemoved:
			h.what = carriedAlong
		}
		list = append(list, h)
	}
	return list
}

func lastOf(history []happening, what happened) (happening, bool) {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].what == what {
			return history[i], true
		}
	}
	return happening{}, false
}

func count(history []happening, what happened) (n int) {
	for _, h := range history {
		if h.what == what {
			n++
		}
	}
	return n
}

// whoever names an actor.
func whoever(a activity.Actor) string {
	switch {
	case a.By != "":
		return a.By
	case a.Source == activity.SystemEvent:
		return "the service"
	case a.Source == activity.ShopifyEvent:
		return "somebody at the platform"
	case a.Source == activity.CustomerPortal:
		return "the customer"
	}
	return "somebody of the store"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
