package loyalty

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// CreditCommand adds store credit.
type CreditCommand struct {
	Who    CustomerRef
	Amount int64 // minor units of the store's currency, more than 0
	Note   string
	Actor  activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// AddCredit adds store credit to a member.
func (s *Service) AddCredit(ctx context.Context, of shop.ID, cmd CreditCommand) (Member, error) {
	return s.act(ctx, of, request{cmd.Who, cmd.IdempotencyKey, cmd.Actor}, func(d *memberTx) error {
		l, err := d.openOrEnrol(ctx)
		if err != nil {
			return err
		}
		n, err := d.tx.Number(ctx)
		if err != nil {
			return err
		}
		c := Credit{Source: Source{Manual, fmt.Sprint(n)}, Note: cmd.Note, Actor: cmd.Actor.By}
		c.Amount.Minor, c.Amount.Currency = cmd.Amount, d.shop.Currency
		if err := d.addCredit(ctx, l, c); err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "store credit added", Amount: c.Amount.String(), Note: cmd.Note})
	})
}

// addCredit adds store credit to a member's ledger.
func (d *memberTx) addCredit(ctx context.Context, l *Ledger, c Credit) error {
	if l.Account.Credit.Minor > maxCredit-c.Amount.Minor {
		return fault.New(fault.FailedPrecondition, "the customer would have too much store credit").Entity(entity).Code("creditTooHigh").Field("amount")
	}
	c.Account, c.At = l.Account.ID, d.now
	l.Account.Credit = l.Account.Credit.Plus(c.Amount)
	if err := d.tx.AddCredit(ctx, &c); err != nil {
		return err
	}
	d.credited = append(d.credited, Event{CreditsEarned, l.Account.Person.Customer, int64(c.ID), d.now, d.actor})
	return nil
}

// maxCredit is the most store credit that a member can have, in minor units.
const maxCredit = 1_000_000_000_00
