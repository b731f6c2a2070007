package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// pendingNote is the information of an entry about a change that waits.
type pendingNote struct {
	Line       string    `json:"lineId"`
	OldVariant int64     `json:"oldVariantId"`
	Variant    int64     `json:"variantId"`
	At         time.Time `json:"effectiveAt"`
	Status     string    `json:"status"` // SCHEDULED, CANCELLED
}

func noteOf(p contract.PendingChange, status string) pendingNote {
	return pendingNote{Line: p.Line, OldVariant: p.OldVariant, Variant: p.Variant, At: p.At, Status: status}
}

// Scheduled is a change of a line's variant that waits for the contract's next order.
type Scheduled struct {
	contract.PendingChange
	Customer int64
	Line     contract.Line // as it is now; zero when it is gone
}

// PendingChange returns the change of a line's variant that waits for the contract's
// next order, or NotFound.
func (s *Service) PendingChange(ctx context.Context, of shop.ID, cmd Command) (Scheduled, error) {
	_, c, err := s.known(ctx, of, cmd)
	if err != nil {
		return Scheduled{}, err
	}
	if c.Pending == nil {
		return Scheduled{}, nothingPending(c.ID)
	}
	waits := Scheduled{PendingChange: *c.Pending, Customer: c.Customer.ID}
	for _, l := range c.Lines {
		if l.ID == c.Pending.Line {
			waits.Line = l
		}
	}
	return waits, nil
}

func nothingPending(id contract.ID) error {
	return fault.New(fault.NotFound, "no change of subscription contract %d is pending", id).Entity(entity).Code("nothingPending")
}

// CancelPendingChange takes a change back that waits for the contract's next order.
func (s *Service) CancelPendingChange(ctx context.Context, of shop.ID, cmd Command) error {
	pending, err := s.PendingChange(ctx, of, cmd)
	if err != nil {
		return err
	}
	return s.keep(ctx, of, &contract.Contract{ID: cmd.Contract}, func(c *contract.Contract) error {
		if c.ChangingUntil.After(s.Clock.Now()) {
			return beingChanged(c.ID) // the change may be on its way
		}
		dropPending(c)
		return nil
	}, activity.Entry{
		EntityID: int64(cmd.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: activity.Success,
		Actor: cmd.Actor, At: s.Clock.Now(), Info: activity.Details(noteOf(pending.PendingChange, "CANCELLED")),
	})
}

// dropPending forgets the change that waits.
func dropPending(c *contract.Contract) {
	c.Pending = nil
	c.ResetAmendAt()
}

// wait puts a change of a line's variant off until the next order, if it could be
// made now. Another change that waits must be taken back first.
func (s *Service) wait(ctx context.Context, store shop.Shop, d contract.Detail, is contract.Line, edit platform.LineEdit) (change, error) {
	if d.Pending != nil && d.Pending.Line != is.ID {
		return change{}, fault.New(fault.Conflict, "a change of another line of subscription contract %d is pending: take it back first", d.ID).
			Entity(entity).Code("changePending")
	}
	if _, err := s.checkLines(ctx, store, d, []platform.LineEdit{edit}); err != nil {
		return change{}, err
	}
	p := contract.PendingChange{Line: is.ID, OldVariant: is.VariantID, Variant: *edit.Variant, At: d.NextBillingDate, Price: edit.Price}
	return change{
		also: func(c *contract.Contract) {
			c.Pending = &p
			c.ResetAmendAt()
		},
		entries: []note{{activity.InformationalEvent, noteOf(p, "SCHEDULED")}},
	}, nil
}

// downgrade makes a change whose day has come, if it still waits.
func (s *Service) downgrade(ctx context.Context, of shop.ID, c contract.Contract) error {
	p := *c.Pending
	waits := func(c contract.Contract) bool {
		return c.Pending != nil && c.Pending.Line == p.Line && c.Pending.Variant == p.Variant
	}
	_, err := s.amend(ctx, of, Command{Line: c.Line, Contract: c.ID, Actor: activity.System}, func(store shop.Shop, d contract.Detail) (change, error) {
		if !waits(d.Contract) {
			return change{}, nil
		}
		made, err := s.lineChange(ctx, store, d, LineChange{Line: p.Line, Variant: &p.Variant, Reprice: true})
		made.alone = true
		return made, err
	})
	if err != nil {
		return err
	}
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		if waits(*c) {
			dropPending(c)
		}
		return nil
	})
}
