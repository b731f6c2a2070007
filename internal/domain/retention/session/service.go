package session

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Statuses pauses and cancels contracts.
type Statuses interface {
	SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error)
}

// Edits changes contracts.
type Edits interface {
	AddDiscount(ctx context.Context, of shop.ID, cmd amend.Command, want contractedit.Discount) (contract.Detail, error)
	ChangeLine(ctx context.Context, of shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error)
	SetSellingPlan(ctx context.Context, of shop.ID, cmd amend.Command, sellingPlan int64) (contract.Detail, error)
	SendPaymentUpdate(ctx context.Context, of shop.ID, cmd amend.Command) error
}

// Orders changes upcoming orders.
type Orders interface {
	Skip(ctx context.Context, of shop.ID, cmd command.Skip) (billing.Record, error)
	Reschedule(ctx context.Context, of shop.ID, cmd command.Reschedule) (billing.Record, error)
	AddOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
}

// Prices knows what the products of offers cost.
type Prices interface {
	// VariantsOfLines reads the variants of lines. Those that the store no longer sells are
	// left out.
	VariantsOfLines(ctx context.Context, store shop.Shop, lines []contract.LineItem) (map[int64]platform.Variant, error)
	// QuoteOf returns the prices of variants in the contract's next order on a selling plan.
	QuoteOf(ctx context.Context, of shop.ID, c contract.Contract, sellingPlan int64) (terms.Quote, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	Reader
	NoteTx
}

// Store runs transactions. View is for what only reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(Reader) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service takes customers through the flow.
type Service struct {
	Store    Store
	Statuses Statuses
	Edits    Edits
	Orders   Orders
	Prices   Prices
	Clock    clock.Clock
	Log      *slog.Logger
}

// Command names the contract and the customer who thinks of cancelling it.
type Command struct {
	Line     shop.Line // of the contract; empty: either
	Contract contract.ID
	Actor    activity.Actor
}

// Named is a command on a session.
type Named struct {
	Line    shop.Line // of the contract; empty: either
	Session ID
	Version int64 // fingerprint of the contract, as the customer has seen it; 0: it is not compared
	Actor   activity.Actor
}

// check refuses a change of a contract that has changed since the customer saw it.
func (n Named) check(c contract.Contract) error {
	if n.Version != 0 && n.Version != c.Fingerprint() {
		return fault.New(fault.Conflict, "subscription contract %d has changed since it was shown", c.ID).Entity("subscriptionContract").Code("changedMeanwhile")
	}
	return nil
}

// Effect is what a confirmation does to the contract.
type Effect struct {
	EndsAt time.Time          // when the contract is cancelled; zero: at once
	Waits  contract.EndReason // for what; empty: for nothing
	Left   int                // deliveries that are paid for and still to come
	Rest   billing.Rest       // what is still charged and delivered before the contract ends
	Next   time.Time          // of the next order, which is not made when EndsAt is zero; zero: there is none
	Pays   money.Amount       // for it, before taxes
	Orders int                // that were completed
	Paid   money.Amount       // for these orders, before refunds
	Exact  bool               // Paid has all that the order of the checkout cost; see contract.Contract.PaidSoFar
}

// View is a session as its customer sees it.
type View struct {
	Session
	Of       shop.Shop
	Line     shop.Line
	Flow     flow.Flow
	Reasons  []flow.Reason // that the contract is asked about
	Effect   Effect
	Contract contract.Contract // hides the number of it that the session has
}

// Reference is what the customer quotes about a cancellation.
func (v View) Reference() string { return reference(v.Session) }

// Shown returns the flow that a contract's customer would go through, with the session that is
// open; its ID is 0 when none is. Nothing is written.
func (s *Service) Shown(ctx context.Context, of shop.ID, cmd Command) (View, error) {
	var v View
	err := s.Store.View(ctx, of, func(tx Reader) error {
		c, err := contractOf(ctx, tx, cmd.Line, cmd.Contract, cmd.Actor)
		if err != nil {
			return err
		}
		open, _, err := tx.OpenCancelSession(ctx, c.ID)
		if err != nil {
			return err
		}
		if open.ID == 0 {
			f, err := flow.Current(ctx, tx)
			if err != nil {
				return err
			}
			open.Flow = f.Version
		}
		v, err = s.view(ctx, tx, open, c, cmd.Actor)
		return err
	})
	return v, err
}

// Session returns a session with its flow and what a confirmation would do.
func (s *Service) Session(ctx context.Context, of shop.ID, cmd Named) (View, error) {
	var v View
	err := s.Store.View(ctx, of, func(tx Reader) error {
		is, c, err := find(ctx, tx, cmd)
		if err != nil {
			return err
		}
		v, err = s.view(ctx, tx, is, c, cmd.Actor)
		return err
	})
	return v, err
}

// Start begins a session of a contract, or returns the one that is open.
func (s *Service) Start(ctx context.Context, of shop.ID, cmd Command) (View, error) {
	var v View
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := clock.Trim(s.Clock.Now())
		c, err := contractOf(ctx, tx, cmd.Line, cmd.Contract, cmd.Actor)
		if err != nil {
			return err
		}
		is, open, err := tx.OpenCancelSession(ctx, c.ID)
		if err != nil {
			return err
		}
		if !open {
			f, err := flow.Current(ctx, tx)
			if err != nil {
				return err
			}
			groups, err := groupsOf(ctx, tx, c)
			if err != nil {
				return err
			}
			is = Session{
				Contract: c.ID, Customer: c.Customer.ID, Flow: f.Version, Step: firstStep[f.Mode], Orders: c.Completed(), StartedAt: now, DueAt: now.Add(timeout),
			}
			if len(groups) > 0 {
				is.PlanGroup = int64(groups[0].ID)
			}
		}
		if v, err = s.view(ctx, tx, is, c, cmd.Actor); err != nil || open {
			return err
		}
		return tx.PutCancelSession(ctx, &v.Session)
	})
	return v, err
}

// firstStep is where sessions begin.
var firstStep = map[flow.Mode]Step{flow.Immediate: Confirming, flow.Instructions: Reading, flow.Retention: Asking}

// view adds to a session what its customer sees. It fails when the contract cannot be
// cancelled: what is not possible is not asked about.
func (s *Service) view(ctx context.Context, tx Reader, is Session, c contract.Contract, by activity.Actor) (View, error) {
	v := View{Session: is, Line: c.Line, Contract: c}
	var err error
	if v.Of, err = tx.Shop(ctx); err != nil {
		return v, err
	}
	if v.Flow, err = flow.At(ctx, tx, is.Flow); err != nil {
		return v, err
	}
	groups, err := groupsOf(ctx, tx, c)
	if err != nil {
		return v, err
	}
	v.Reasons = v.Flow.ReasonsFor(groupIDs(groups))
	v.Effect, err = s.effect(ctx, tx, c, by, is.Step == Ended || is.Step == Cancelling || c.Moving != nil)
	return v, err
}

// effect says what a confirmation would do, by the rule that carries it out, or what one that was
// given does.
func (s *Service) effect(ctx context.Context, tx Reader, c contract.Contract, by activity.Actor, confirmed bool) (Effect, error) {
	now := s.Clock.Now()
	e := Effect{Orders: c.Completed()}
	e.Paid, e.Exact = c.PaidSoFar()
	x, err := readFacts(ctx, tx, c, flow.Flow{}, by, now)
	if err != nil {
		return e, err
	}
	after := c
	if !confirmed {
		if after, err = lifecycle.Preview(x.shop, c, x.attempts, by, lifecycle.StatusChange{To: contract.Cancelled, CutoffDays: x.portal.CutoffDays}, now); err != nil {
			return e, err
		}
		if c.Prepaid() {
			e.Left = c.Term(x.calendar).Left(now)
		}
		if r, ok := x.next(); ok {
			e.Next, e.Pays = r.BillingDate, r.Cost()
		}
	}
	if after.Ending != nil && (confirmed || after.Moving == nil) {
		e.EndsAt, e.Waits = after.Ending.At, after.Ending.Why
	}
	if confirmed && !after.Terminated() && after.Ending == nil && after.Moving == nil {
		return e, nil // the contract goes on
	}
	e.Rest = billing.RestOf(after, x.inputs, x.attempts, x.calendar, now)
	return e, nil
}

// contractOf reads a contract of the line, or NotFound. Another customer's is NotFound too.
func contractOf(ctx context.Context, tx Reader, line shop.Line, id contract.ID, by activity.Actor) (contract.Contract, error) {
	rows, err := tx.Contracts(ctx, []contract.ID{id})
	if err != nil {
		return contract.Contract{}, err
	}
	if len(rows) == 0 || line != "" && rows[0].Line != line || rows[0].HiddenFrom(by) {
		return contract.Contract{}, fault.New(fault.NotFound, "contract %d does not exist", id).Entity("subscriptionContract").Code("contractNotFound").Field("contractId")
	}
	return rows[0], nil
}

// find reads a session and its contract, or NotFound. The contract is locked first, as it is
// by the changes that end sessions.
func find(ctx context.Context, tx Reader, cmd Named) (Session, contract.Contract, error) {
	id, err := tx.CancelSessionContract(ctx, cmd.Session)
	if err != nil {
		return Session{}, contract.Contract{}, err
	}
	c, err := contractOf(ctx, tx, cmd.Line, id, cmd.Actor)
	if fault.Is(err, fault.NotFound) {
		err = NotFound(cmd.Session)
	}
	if err != nil {
		return Session{}, c, err
	}
	is, err := tx.CancelSession(ctx, cmd.Session)
	return is, c, err
}
