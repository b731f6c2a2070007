package contractedit

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// pendingDetails is the details of an entry about a pending change.
type pendingDetails struct {
	Line       string    `json:"lineId"`
	OldVariant int64     `json:"oldVariantId"`
	Variant    int64     `json:"variantId"`
	At         time.Time `json:"effectiveAt"`
	Status     string    `json:"status"` // SCHEDULED, CANCELLED
}

func pendingDetailsOf(p contract.PendingChange, status string) pendingDetails {
	return pendingDetails{Line: p.Line, OldVariant: p.OldVariant, Variant: p.Variant, At: p.At, Status: status}
}

// Scheduled is a change of a line's variant that is applied with the next order.
type Scheduled struct {
	contract.PendingChange
	Customer int64
	Line     contract.LineItem // the current line; zero when it was removed
}

// PendingChange returns the contract's pending change, or NotFound.
func (s *Service) PendingChange(ctx context.Context, of shop.ID, cmd amend.Command) (Scheduled, error) {
	_, c, err := s.Load(ctx, of, cmd)
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
	return fault.New(fault.NotFound, "no change of subscription contract %d is pending", id).Entity(amend.Entity).Code("nothingPending")
}

// CancelPendingChange cancels the contract's pending change.
func (s *Service) CancelPendingChange(ctx context.Context, of shop.ID, cmd amend.Command) error {
	pending, err := s.PendingChange(ctx, of, cmd)
	if err != nil {
		return err
	}
	return s.UpdateRow(ctx, of, &contract.Contract{ID: cmd.Contract}, func(c *contract.Contract) error {
		if c.ChangingUntil.After(s.Clock.Now()) {
			return amend.BeingChanged(c.ID) // the change may be in flight
		}
		amend.DropPending(c)
		return nil
	}, activity.Entry{
		EntityID: int64(cmd.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: activity.Success,
		Actor: cmd.Actor, At: s.Clock.Now(), Info: activity.Details(pendingDetailsOf(pending.PendingChange, "CANCELLED")),
	})
}

// schedule stores a change of a line's variant for the next order, if the change is
// valid now. Only one line can have a pending change.
func (s *Service) schedule(ctx context.Context, store shop.Shop, d contract.Detail, is contract.LineItem, edit platform.LineEdit) (amend.Change, error) {
	if d.Pending != nil && d.Pending.Line != is.ID {
		return amend.Change{}, fault.New(fault.Conflict, "a change of another line of subscription contract %d is pending: cancel it first", d.ID).
			Entity(amend.Entity).Code("changePending")
	}
	if _, err := s.CheckLines(ctx, store, d, []platform.LineEdit{edit}); err != nil {
		return amend.Change{}, err
	}
	p := contract.PendingChange{Line: is.ID, OldVariant: is.VariantID, Variant: *edit.Variant, At: d.NextBillingDate, Price: edit.Price}
	return amend.Change{
		Update: func(c *contract.Contract) {
			c.Pending = &p
			c.ResetAmendAt()
		},
		Entries: []amend.Note{{Event: activity.InformationalEvent, Details: pendingDetailsOf(p, "SCHEDULED")}},
	}, nil
}

// ApplyPendingChange makes the pending change, if the contract still has it.
func (s *Service) ApplyPendingChange(ctx context.Context, of shop.ID, c contract.Contract) error {
	p := *c.Pending
	waits := func(c contract.Contract) bool {
		return c.Pending != nil && c.Pending.Line == p.Line && c.Pending.Variant == p.Variant
	}
	_, err := s.Edit(ctx, of, amend.Command{Line: c.Line, Contract: c.ID, Actor: activity.System}, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if !waits(d.Contract) {
			return amend.Change{}, nil
		}
		made, err := s.lineChange(ctx, store, d, LineChange{Line: p.Line, Variant: &p.Variant, Reprice: true})
		made.Exclusive = true
		return made, err
	})
	if err != nil {
		return err
	}
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		if waits(*c) {
			amend.DropPending(c)
		}
		return nil
	})
}
