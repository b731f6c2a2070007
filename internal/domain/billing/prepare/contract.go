package prepare

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/annotate"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Announce records, until the lease ends, which contracts the next steps change, so that an event
// that arrives before the answer is not taken for an edit by a person.
func Announce(ctx context.Context, tx billing.Tx, preparing []Order, contracts map[contract.ID]*contract.Contract) error {
	var changing []contract.ID
	for i := range preparing {
		e := &preparing[i]
		if e.Prep.Stage != billing.ContractPlanned {
			continue
		}
		c := contracts[e.Contract]
		e.announced = contract.InFlightEdit{From: c.Revision, Until: e.DueAt}
		c.BeginEdit(e.announced, e.UpdatedAt)
		changing = append(changing, c.ID)
	}
	rows := billing.PickContracts(contracts, changing)
	if err := tx.PutProgress(ctx, rows); err != nil {
		return err
	}
	for _, c := range rows {
		contracts[c.ID].Version = c.Version
	}
	return nil
}

// answered ends the announcement of a change and takes over the contract as the change left it,
// in the same commit: its event finds nothing left to do. If the outcome is unknown, the
// announcement stays until the next step finds out, or until it expires.
func (l *settling) answered(ctx context.Context, tx billing.Tx, p prepared) error {
	if p.announced == (contract.InFlightEdit{}) || p.err != nil && p.editing {
		return nil
	}
	c := l.Contracts[p.Contract]
	announced := c.EndEdit(p.announced)
	was := *c
	ours, err := l.takeOver(c, p)
	if err != nil || !ours && !announced {
		return err
	}
	rows := []contract.Contract{*c}
	if !ours {
		err = tx.PutProgress(ctx, rows)
		*c = rows[0]
		return err
	}
	if err := tx.PutContracts(ctx, rows); err != nil {
		return err
	}
	*c = rows[0]
	if c.Status != contract.Active || annotate.SamePlans(was.Lines, c.Lines) {
		return nil
	}
	return annotate.Customers(ctx, tx, []contract.Contract{was, *c}, l.Now)
}

// takeOver makes a contract what our change left, and reports whether it did. If another edit may
// be part of it, intake reads the contract instead, and records that edit.
func (l *settling) takeOver(c *contract.Contract, p prepared) (bool, error) {
	before, made := p.before, p.made
	if made == nil || made.Revision < c.Revision {
		return false, nil
	}
	if before != nil {
		if _, theirs, err := contract.Read(c, *before, l.Shop.Settings, l.Now); err != nil || theirs.Logged() {
			return false, err
		}
	}
	after, change, err := contract.Read(c, *made, l.Shop.Settings, l.Now)
	if err != nil || change.Replans() || change.Delivery || change.Limits || after.PaymentMethod != c.PaymentMethod {
		return false, err
	}
	after.SetPlanPricing(p.prices)
	after.UpdatedAt = l.Now
	*c = after
	return true, nil
}

// FindEdited finds the other cycles of the contracts that may hold an edit of ours. While one
// does, the platform does not let the contract be changed.
func FindEdited(ctx context.Context, tx billing.Tx, preparing []Order) error {
	var of []contract.ID
	for _, e := range preparing {
		if len(e.rules.Lasting)+len(e.rules.Notices) > 0 || e.Of.Priced || e.boxChanges() {
			of = append(of, e.Contract)
		}
	}
	if len(of) == 0 {
		return nil
	}
	rows, err := tx.AttemptsOf(ctx, of, billing.Queued, billing.Requesting, billing.Failure)
	if err != nil {
		return err
	}
	for _, a := range rows {
		for i := range preparing {
			if e := &preparing[i]; e.Contract == a.Contract && a.Prep.Edited {
				e.edited = append(e.edited, a.Cycle)
			}
		}
	}
	return nil
}
