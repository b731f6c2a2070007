package charge

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// keepLines keeps the lines of a try that is sent for the first time: those that its order was
// prepared with, or the contract's. The contract may change before the try ends.
func keepLines(a *billing.Attempt, c contract.Contract) {
	sent := a.Status != billing.Failure && !a.FirstSentAt.IsZero()
	prepared := len(a.Lines) > 0 && a.Prep.Stage == billing.Ready && c.Revision <= a.Prep.Revision
	if !sent && !prepared {
		a.Lines = c.Lines
	}
}

// linesKnown reports whether an order of the attempt has the lines that are kept. The platform
// makes it from the contract when the charge ends, which may be days after it was sent. A
// prepared copy stays as it is; one whose preparation was given up may exist or not.
func linesKnown(a billing.Attempt, c contract.Contract) bool {
	if a.Prep.Edited {
		return len(a.Lines) > 0 && a.Prep.Stage == billing.Ready && a.Prep.Contract != ""
	}
	return len(a.Lines) > 0 && billing.FingerprintOf(a.Lines) == billing.FingerprintOf(c.Lines)
}

// withdraw requeues an attempt without a charge that may still succeed.
func withdraw(a *billing.Attempt) error {
	if err := a.ChangeStatus(billing.Queued); err != nil {
		return err
	}
	a.FirstSentAt, a.SentAt, a.AttemptedAt = time.Time{}, time.Time{}, time.Time{}
	a.Failures, a.Manual = 0, false
	a.ResetPreparation()
	a.DueAt = a.BillingDate
	return nil
}
