package billing

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// announce notes which contracts are about to be changed, for as long as they are
// leased, so that an event which is quicker than the answer is not taken for the word
// that somebody else has changed them.
func (b *batch) announce(ctx context.Context, tx Tx, contracts map[contract.ID]*contract.Contract) error {
	var changing []contract.ID
	for i := range b.preparing {
		e := &b.preparing[i]
		if e.Prep.Stage != ContractPlanned {
			continue
		}
		c := contracts[e.Contract]
		e.announced = contract.InFlightEdit{From: c.Revision, Until: e.DueAt}
		c.BeginEdit(e.announced, e.UpdatedAt)
		changing = append(changing, c.ID)
	}
	rows := chosen(contracts, changing)
	if err := tx.PutProgress(ctx, rows); err != nil {
		return err
	}
	for _, c := range rows {
		contracts[c.ID].Version = c.Version
	}
	return nil
}

// answered ends the announcement of a change and takes over the contract as the
// change left it, in the commit that tells of the change: the event of it finds
// nothing left to do. While nobody knows whether the change was made it stays
// announced: the next step finds out, or the announcement ends by itself.
func (l *settlement) answered(ctx context.Context, tx Tx, p prepared) error {
	if p.announced == (contract.InFlightEdit{}) || p.err != nil && p.editing {
		return nil
	}
	c := l.contracts[p.Contract]
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
	if c.Status != contract.Active || SamePlans(was.Lines, c.Lines) {
		return nil
	}
	return AnnotateCustomers(ctx, tx, []contract.Contract{was, *c}, l.now)
}

// takeOver makes a contract what a change of ours left, and reports whether it did.
// Where somebody else's doing may show as well, all is left to a reading, which tells
// of it.
func (l *settlement) takeOver(c *contract.Contract, p prepared) (bool, error) {
	before, made := p.before, p.made
	if made == nil || made.Revision < c.Revision {
		return false, nil
	}
	if before != nil {
		if _, theirs, err := contract.Read(c, *before, l.shop.Settings, l.now); err != nil || theirs.Logged() {
			return false, err
		}
	}
	after, change, err := contract.Read(c, *made, l.shop.Settings, l.now)
	if err != nil || change.Replans() || change.Delivery || change.Limits || after.PaymentMethod != c.PaymentMethod {
		return false, err
	}
	after.SetPlanPricing(p.prices)
	after.UpdatedAt = l.now
	*c = after
	return true, nil
}
