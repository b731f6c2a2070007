// Package here is this service as one end of a move: contracts come to it, and leave it.
package here

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Directory lists contracts.
type Directory interface {
	// MatchingContracts returns at most limit contracts that pass the filter, by id, after one.
	MatchingContracts(ctx context.Context, of shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.ID, error)
	// CountMatching returns how many contracts pass the filter.
	CountMatching(ctx context.Context, of shop.ID, f contract.Filter) (int, error)
}

// Orders changes upcoming orders.
type Orders interface {
	Skip(ctx context.Context, of shop.ID, cmd command.Skip) (billing.Record, error)
	Reschedule(ctx context.Context, of shop.ID, cmd command.Reschedule) (billing.Record, error)
	SetNote(ctx context.Context, of shop.ID, cmd command.Note) (billing.Record, error)
	AddOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
}

// Statuses cancels contracts.
type Statuses interface {
	SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error)
}

// Creations creates contracts.
type Creations interface {
	CreateMoved(ctx context.Context, of shop.ID, by activity.Actor, m create.Moved) (contract.Detail, error)
	GiveUp(ctx context.Context, of shop.ID, request string) (contract.ID, error)
}

// Service is this service as an end of a move.
type Service struct {
	*amend.Editor
	Directory Directory
	Orders    Orders
	Statuses  Statuses
	Creations Creations
	// Notices records prices of swap rules that customers know already.
	Notices func(ctx context.Context, of shop.ID, list []billing.Notice) error

	// Other names the other service of a move in entries. Leaves reports that contracts leave this one.
	Other  string
	Leaves bool
}

// Of returns the service as an end of one move.
func (s *Service) Of(m moving.Move) *Service {
	of := *s
	of.Other, of.Leaves = m.Other(), m.Direction == moving.Out
	return &of
}

// fence is the attribute of a contract that is between the services.
func fence(other string) platform.Attribute {
	return platform.Attribute{Key: contract.FenceAttribute, Value: other}
}

// Create creates a contract behind a fence, with its discounts.
func (s *Service) Create(ctx context.Context, of shop.Shop, c moving.Contract, key string) (int64, error) {
	made, err := s.Creations.CreateMoved(ctx, of.ID, activity.System, newContract(c, key))
	if err != nil {
		return 0, err
	}
	add := discounts(c, made)
	if len(add) == 0 {
		return int64(made.ID), nil
	}
	_, err = s.Edit(ctx, of.ID, named(c.Line, int64(made.ID)), func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		attributes := terms.PlatformAttributes(d.Attributes)
		at := slices.Index(attributes, fence(c.ImportedID))
		if at < 0 { // it has them
			return amend.Change{}, nil
		}
		attributes[at].Value += discounted
		return amend.Change{Edit: platform.Edit{Attributes: &attributes, Discounts: add}}, nil
	})
	return int64(made.ID), err
}

// discounted ends the value of the fence of a contract that has its discounts.
const discounted = " discounted"

// newContract returns what is created of a contract that another service has.
func newContract(c moving.Contract, key string) create.Moved {
	least, most := c.Left()
	billed := terms.PlatformPolicy(terms.Frequency{Interval: c.Billing.Interval, Count: c.Billing.Count}, c.Billing, least, most)
	delivered := terms.PlatformPolicy(terms.Frequency{Interval: c.Delivery.Interval, Count: c.Delivery.Count}, c.Delivery, 0, 0)
	n := platform.NewContract{
		Customer: c.Customer.ID, Currency: c.Currency, NextBillingDate: c.Next, Status: string(contract.Active),
		Edit: platform.Edit{
			Billing: &billed, Delivery: &delivered,
			DeliveryPrice: &c.DeliveryPrice,
			Attributes:    new(append(terms.PlatformAttributes(c.Attributes), fence(c.ImportedID))),
		},
	}
	if c.Method.Kind != "" {
		n.Method = &c.Method
	}
	if c.Note != "" {
		n.Note = &c.Note
	}
	for _, l := range c.Lines {
		edit := platform.LineEdit{Variant: &l.Variant, Quantity: &l.Quantity, Price: new(l.NextPrice(c.CyclesDone)), Pricing: l.Rest(c.CyclesDone)}
		if l.Plan != 0 {
			edit.SellingPlanID = &l.Plan
		}
		if l.PlanName != "" {
			edit.SellingPlanName = &l.PlanName
		}
		if len(l.Attributes) > 0 {
			edit.Attributes = new(terms.PlatformAttributes(l.Attributes))
		}
		n.Lines = append(n.Lines, edit)
	}
	m := create.Moved{Line: c.Line, New: n, PaymentMethod: c.PaymentMethod, ImportedID: c.ImportedID, RequestKey: key, Orders: c.Orders}
	for _, p := range c.Past {
		if p.Status == moving.Paid {
			m.LastOrder, m.LastOrderAt, m.LastAmount = p.Order, p.At, p.Amount
			break
		}
	}
	return m
}

// discounts returns those that a new contract gets for its lines, for the cycles that are left of
// them. One of a code becomes one by hand: the code is not redeemed again.
func discounts(c moving.Contract, made contract.Detail) []platform.DiscountEdit {
	var edits []platform.DiscountEdit
	for _, d := range c.Discounts {
		if bundle.IsDiscount(d.Title) || d.RejectedWhy != "" || d.CycleLimit > 0 && d.UsedCycles >= d.CycleLimit || d.TargetIsOrder && !d.FreeShipping {
			continue
		}
		given := platform.Discount{Title: d.Title, Percent: d.Percent, Amount: d.Amount, EachItem: d.EachItem, FreeShipping: d.FreeShipping, AllLines: d.AllLines}
		if given.Title == "" {
			given.Title = d.Code
		}
		if d.CycleLimit > 0 {
			given.CycleLimit = d.CycleLimit - d.UsedCycles
		}
		for n, l := range c.Lines {
			if !d.AllLines && n < len(made.Lines) && slices.Contains(d.Lines, l.ID) {
				given.Lines = append(given.Lines, made.Lines[n].ID)
			}
		}
		edits = append(edits, platform.DiscountEdit{Add: &given})
	}
	return edits
}

// named returns the command that names a contract of this service.
func named(line shop.Line, id int64) amend.Command {
	return amend.Command{Line: line, Contract: contract.ID(id), Actor: activity.System}
}

// Stop puts a contract behind a fence.
func (s *Service) Stop(ctx context.Context, of shop.Shop, line shop.Line, id int64) error {
	_, err := s.Edit(ctx, of.ID, named(line, id), func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if d.Fenced() {
			return amend.Change{}, nil
		}
		return amend.Change{
			Edit:    platform.Edit{Attributes: new(append(terms.PlatformAttributes(d.Attributes), fence(fmt.Sprint(id))))},
			Entries: []amend.Note{{Event: activity.InformationalEvent, Details: moving.Note{Way: moving.Leaving, Service: s.Other, Reason: "to " + s.Other + "; it is not charged here any more"}}},
		}, nil
	})
	return err
}

// unfence takes the fence of a contract away.
func (s *Service) unfence(ctx context.Context, of shop.Shop, line shop.Line, id int64, why moving.Note) error {
	_, err := s.Edit(ctx, of.ID, named(line, id), func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if !d.Fenced() {
			return amend.Change{}, nil
		}
		rest := slices.DeleteFunc(terms.PlatformAttributes(d.Attributes), func(a platform.Attribute) bool { return a.Key == contract.FenceAttribute })
		return amend.Change{Edit: platform.Edit{Attributes: &rest}, Entries: []amend.Note{{Event: activity.InformationalEvent, Details: why}}}, nil
	})
	return err
}

// Resume takes the fence of a contract away that stays here. Its orders kept their dates.
func (s *Service) Resume(ctx context.Context, of shop.Shop, c moving.Contract) error {
	return s.unfence(ctx, of, c.Line, c.ID, moving.Note{Way: moving.Kept, Service: s.Other, Reason: "it is charged again"})
}

// Open takes the fence of a contract away that has come here, and gives it the date of its next
// order. A contract that was paused stays so. One that has no fence was opened before and may have
// been charged since: its dates are its own.
func (s *Service) Open(ctx context.Context, of shop.Shop, c moving.Contract, id int64) error {
	_, known, err := s.Load(ctx, of.ID, named(c.Line, id))
	if err != nil || !known.Fenced() {
		return err
	}
	if err := s.takeNotices(ctx, of, c, id); err != nil {
		return err
	}
	if c.Status == contract.Paused {
		if err := s.setStatus(ctx, of, c.Line, id, lifecycle.StatusChange{To: contract.Paused, Until: c.PausedTo}); err != nil {
			return err
		}
	} else if err := s.takeDates(ctx, of, c, known); err != nil {
		return err
	}
	why := moving.Note{Way: moving.Arrived, Service: s.Other, There: c.ImportedID, Reason: fmt.Sprintf("from %s, where it was contract %s", s.Other, c.ImportedID)}
	return s.unfence(ctx, of, c.Line, id, why)
}

// takeNotices records that the customer knows the prices of swap rules that the other service has announced: it named
// them for the orders to come.
func (s *Service) takeNotices(ctx context.Context, of shop.Shop, c moving.Contract, id int64) error {
	if !of.Settings.SwapRules {
		return nil
	}
	is, notices, err := s.read(ctx, of, c.Line, id)
	if err != nil {
		return err
	}
	from := c.AnnouncedFrom(is)
	if from.IsZero() {
		return nil
	}
	for i := range notices {
		notices[i].From = from
	}
	return s.Notices(ctx, of.ID, notices)
}

// Cancel ends a contract that has left, or that has not come after all.
func (s *Service) Cancel(ctx context.Context, of shop.Shop, line shop.Line, id int64) error {
	why := "could not be moved: it goes on at " + s.Other
	if s.Leaves {
		why = "moved to " + s.Other
	}
	return s.setStatus(ctx, of, line, id, lifecycle.StatusChange{To: contract.Cancelled, Note: why})
}

// Discard cancels what was created of a contract under a key, also what the platform creates late.
func (s *Service) Discard(ctx context.Context, of shop.Shop, c moving.Contract, id int64, key string) error {
	made, err := s.Creations.GiveUp(ctx, of.ID, key)
	if err != nil {
		return err
	}
	if id = cmp.Or(id, int64(made)); id == 0 {
		return nil
	}
	return s.Cancel(ctx, of, c.Line, id)
}

// setStatus sets the status of a contract behind a fence. One that has it already, or has ended, stays as it is.
func (s *Service) setStatus(ctx context.Context, of shop.Shop, line shop.Line, id int64, w lifecycle.StatusChange) error {
	_, known, err := s.Load(ctx, of.ID, named(line, id))
	if err != nil || known.Status == w.To || known.Terminated() {
		return err
	}
	w.Now, w.Moved = true, true
	_, err = s.Statuses.SetStatus(ctx, of.ID, named(line, id), w)
	return err
}
