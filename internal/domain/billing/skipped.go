package billing

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// EndWithoutCharge ends an attempt without a charge and records what its order would have
// cost. was is the order before.
func (a *Attempt) EndWithoutCharge(as Status, was Record) error {
	if err := a.ChangeStatus(as); err != nil {
		return err
	}
	a.RecordSkippedAmount(was)
	return nil
}

// RecordSkippedAmount records the lines and the cost of an order that is not charged, as
// they were before. They stay when the contract changes. Lines that were sent are kept for
// a success that arrives late.
func (a *Attempt) RecordSkippedAmount(was Record) {
	lines := was.LinesOf()
	if !was.FirstSentAt.IsZero() && len(was.Lines) > 0 {
		lines = was.Lines
	} else if !was.Settled() {
		a.ResetPreparation()
	}
	bill, _ := was.Rules.Bill(was.Of, lines, was.Ahead())
	a.Lines, a.Amount = lines, bill.Total
}

// clearSkippedAmount removes what RecordSkippedAmount recorded.
func (a *Attempt) clearSkippedAmount() {
	if a.Status == Success || a.Amount == (money.Amount{}) {
		return
	}
	a.Amount = money.Amount{}
	if a.FirstSentAt.IsZero() && a.Prep.Stage != Ready {
		a.Lines = nil
	}
}

// PublishOneOffs marks the order's one-time products as changed: the order is prepared from
// the beginning, and the platform gets the new ones.
func (a *Attempt) PublishOneOffs(now time.Time) {
	a.ResetPreparation()
	a.Prep.Edited = true
	a.PublishAt = now
}

// ResetPreparation starts the preparation of the order again. The lines of a failed try
// and of a skipped order stay.
func (a *Attempt) ResetPreparation() {
	a.Prep = a.Prep.At(Fresh, a.Prep.Edited, a.Prep.Revision)
	if a.Status != Failure && a.Status != Skipped {
		a.Lines = nil
	}
}
