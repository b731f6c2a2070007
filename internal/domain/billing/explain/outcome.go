package explain

import (
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/billing"
)

// Outcome is what became of an attempt so far.
type Outcome struct {
	Final bool // nothing changes it any more but a person, or the platform's word that an order exists after all
	Words string
}

// standing says of each status how an order stands that has it.
var standing = map[billing.Status]string{
	billing.Success:            "has been made",
	billing.Failure:            "has not been paid",
	billing.Requesting:         "is being charged",
	billing.Progress:           "is being paid at the platform",
	billing.Queued:             "waits for its date",
	billing.Skipped:            "is left out",
	billing.ConnectionGone:     "was not charged",
	billing.ContractCancelled:  "was not charged",
	billing.ContractEnded:      "was not charged",
	billing.ContractPaused:     "was not charged",
	billing.AutoChargeDisabled: "was not charged",
	billing.SkippedDunning:     "was given up",
	billing.Challenge:          "waits for the customer to confirm the payment",
	billing.PlatformException:  "has been charged without a known end",
}

// explainOutcome says what became of the attempt so far.
func (f Facts) explainOutcome(history []happening) Outcome {
	switch f.Status {
	case billing.Success:
		words := fmt.Sprintf("Order %s (number %d) was made for %s.", f.OrderName, f.OrderID, spoken(f.Amount))
		if at, ok := lastOf(history, charged); ok {
			words = fmt.Sprintf("Order %s (number %d) was made for %s, which was learned at %s.", f.OrderName, f.OrderID, spoken(f.Amount), f.moment(at.At))
		}
		if f.FirstSentAt.IsZero() {
			words += " The service did not send the charge: it found the order at the platform."
		}
		if n := count(history, doubled); n > 0 {
			words += fmt.Sprintf(" The platform has reported %s another order for this cycle: the service cannot take it back, and a person must look at it.", times(n))
		}
		return Outcome{Final: true, Words: words}
	case billing.Failure:
		return Outcome{Words: "The last charge ended without a payment: " + f.answer() + "."}
	case billing.Skipped, billing.ConnectionGone, billing.ContractCancelled, billing.ContractEnded, billing.ContractPaused, billing.AutoChargeDisabled, billing.SkippedDunning:
		return f.explainEnd(history)
	case billing.Challenge:
		return Outcome{Words: "There is no order yet: the bank of the customer asks for a confirmation of the payment."}
	}
	return Outcome{Words: "There is no order yet."}
}

// explainEnd says why an attempt ended without a charge.
func (f Facts) explainEnd(history []happening) Outcome {
	if f.Status == billing.Skipped && f.ErrorMessage == "" {
		words := "It was skipped."
		if skip, ok := lastOf(history, skippedBy); ok {
			words = fmt.Sprintf("%s skipped it at %s.", capital(actorName(skip.Actor)), f.moment(skip.At))
		}
		return Outcome{Final: !f.BillingDate.After(f.Now), Words: words}
	}
	words := "It ended without a charge"
	if f.ErrorMessage != "" {
		words += ": " + f.answer()
	}
	end, ok := lastOf(history, ended)
	if f.Status == billing.SkippedDunning && ok && end.told.Reason != "" && end.told.Reason != f.ErrorMessage {
		words += ". It was given up, because " + end.told.Reason
	}
	if ok {
		words += fmt.Sprintf(" (decided at %s)", f.moment(end.At))
	}
	return Outcome{Final: true, Words: words + "."}
}
