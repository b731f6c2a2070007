package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Acceptance is a customer's yes to the offer.
type Acceptance struct {
	Named
	Choice string // key of what was chosen, where the offer has choices
}

// Accept carries out the offer, by the service that the API calls, and ends the session in
// the commit that changes the contract. What the customer is to get is committed before
// anything is changed. An offer that has become impossible is refused, and the session goes
// on to the confirmation. Accepting again what was accepted changes nothing.
func (s *Service) Accept(ctx context.Context, of shop.ID, cmd Acceptance) (View, error) {
	ctx = platform.Interactive(ctx)
	v, again, err := s.take(ctx, of, cmd)
	if err != nil || v.Step == Ended {
		return v, err
	}
	p, failed := s.carryOut(ctx, v, again, cmd.Actor)
	return s.settle(context.WithoutCancel(ctx), of, cmd, p, failed)
}

// take marks an offer as being carried out. It reports whether it was before.
func (s *Service) take(ctx context.Context, of shop.ID, cmd Acceptance) (v View, again bool, err error) {
	known, err := s.known(ctx, of, cmd.Named, "")
	if err != nil {
		return v, false, err
	}
	var gone error
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		gone, again = nil, false
		now := clock.Trim(s.Clock.Now())
		is, c, err := find(ctx, tx, cmd.Named)
		if err != nil {
			return err
		}
		switch {
		case is.Step == Ended && is.Outcome == Accepted:
			v, err = s.view(ctx, tx, is, c, cmd.Actor)
			return err
		case is.Step != Offering && is.Step != Accepting:
			return is.wrongStep()
		}
		if _, ok := is.Offer.choice(cmd.Choice); !ok {
			return fault.New(fault.Invalid, "%.60q is not a choice of the offer", cmd.Choice).Entity(entity).Code("choiceUnknown").Field("choice")
		}
		known.contract = c
		if again = is.Step == Accepting; !again {
			if err := cmd.check(c); err != nil {
				return err
			}
			if gone, err = is.stillPossible(ctx, tx, known, cmd, now); err != nil {
				return err
			}
		}
		if gone == nil && !again {
			is.Offer.Chosen, is.AcceptedAt = cmd.Choice, now
			if err := is.move(Accepting, cmd.Choice, now); err != nil {
				return err
			}
		}
		if err := tx.PutCancelSession(ctx, &is); err != nil {
			return err
		}
		v, err = s.view(ctx, tx, is, c, cmd.Actor)
		return err
	})
	if err == nil {
		err = gone
	}
	return v, again, err
}

// stillPossible computes the offer as it is now. When it cannot be made any more, it is why,
// and the session goes on to the confirmation.
func (s *Session) stillPossible(ctx context.Context, tx Tx, known known, cmd Acceptance, now time.Time) (gone, err error) {
	x, err := readFacts(ctx, tx, known.contract, known.flow, cmd.Actor, now)
	if err != nil {
		return nil, err
	}
	x.catalogue = known.catalogue
	fresh, err := propose(x, known.flow, s.Offer.Offer, now)
	if err == nil {
		if _, ok := fresh.choice(cmd.Choice); !ok {
			err = impossible("offerGone", "this choice cannot be had any more")
		}
	}
	if err != nil {
		return err, s.move(Confirming, "gone", now) //nolint:revive // the failure is an answer here
	}
	s.Offer = &fresh
	return nil, nil
}

// carryOut changes the contract, and returns the offer as it was carried out.
func (s *Service) carryOut(ctx context.Context, v View, again bool, by activity.Actor) (Proposal, error) {
	of, p := v.Of, *v.Offer
	by.CancelSession = int64(v.ID)
	cmd := amend.Command{Line: v.Line, Contract: v.Session.Contract, Actor: by}
	choice, _ := p.choice(p.Chosen)
	var err error
	switch p.Kind {
	case flow.Skip:
		return s.skip(ctx, v, again, by)
	case flow.Pause:
		change := p.pause()
		change.Reason = "instead of a cancellation"
		_, err = s.Statuses.SetStatus(ctx, of.ID, cmd, change)
	case flow.Discount:
		_, err = s.Edits.AddDiscount(ctx, of.ID, cmd, p.discount())
	case flow.Swap:
		_, err = s.Edits.ChangeLine(ctx, of.ID, cmd, contractedit.LineChange{Line: choice.Line, Variant: &choice.Variant, Reprice: true})
	case flow.Frequency:
		_, err = s.Edits.SetSellingPlan(ctx, of.ID, cmd, choice.Plan)
	case flow.Quantity:
		_, err = s.Edits.ChangeLine(ctx, of.ID, cmd, contractedit.LineChange{Line: choice.Line, Quantity: &choice.Quantity})
	case flow.Reschedule:
		_, err = s.Orders.Reschedule(ctx, of.ID, command.Reschedule{Line: v.Line, Attempt: billing.AttemptID(p.Order), BillingDate: p.Next, Actor: by})
	case flow.Sample:
		err = s.Orders.AddOneOff(ctx, of, command.OneOff{
			Line: v.Line, Contract: cmd.Contract, Attempt: billing.AttemptID(p.Order), Variant: choice.Variant, Quantity: 1, Price: &money.Amount{Currency: v.Contract.Currency}, Actor: by,
		})
	case flow.PaymentLink:
		err = s.Edits.SendPaymentUpdate(ctx, of.ID, cmd)
	case flow.Support:
	}
	if err != nil && again && slices.Contains(alreadySo[p.Kind], codeOf(err)) {
		err = nil
	}
	return p, err
}

// skip skips orders, one after the other. Once one is skipped, one that cannot be ends the
// offer with those that were.
func (s *Service) skip(ctx context.Context, v View, again bool, by activity.Actor) (Proposal, error) {
	p := *v.Offer
	for n, o := range p.Skips {
		_, err := s.Orders.Skip(ctx, v.Of.ID, command.Skip{Line: v.Line, Attempt: o.Attempt, Contract: v.Session.Contract, Actor: by})
		switch {
		case err == nil, again && slices.Contains(alreadySo[flow.Skip], codeOf(err)):
		case n > 0 && !passing(err):
			p.Skips = p.Skips[:n]
			return p, nil
		default:
			return p, err
		}
	}
	return p, nil
}

// discount is the discount of an offer, as it is added to the contract.
func (p Proposal) discount() contractedit.Discount {
	d := contractedit.Discount{Title: p.title(), Percent: p.Percent, CycleLimit: p.Orders, Once: true}
	if p.Percent == 0 {
		d.Amount = &p.Amount
	}
	return d
}

// alreadySo are the codes with which a service refuses to do again what was done for an earlier
// try, whose answer was lost.
var alreadySo = map[flow.Kind][]string{
	flow.Skip:      {"billingAttemptStatus"},
	flow.Pause:     {"sameStatus"},
	flow.Discount:  {"discountApplied"},
	flow.Swap:      {"lineNotFound"},
	flow.Frequency: {"sameInterval"},
}

func codeOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.ErrorKey
	}
	return ""
}

// passing reports whether a failure may pass, so that the same can be asked for again.
func passing(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Unavailable, fault.RateLimited, fault.Internal:
		return true
	}
	return false
}

// settle ends the session, unless the commit that changed the contract has, or takes it back
// to the offer when the offer was refused.
func (s *Service) settle(ctx context.Context, of shop.ID, cmd Acceptance, p Proposal, failed error) (View, error) {
	v, err := s.step(ctx, of, cmd.Named, func(tx Tx, is *Session, _ contract.Contract, now time.Time) error {
		switch {
		case is.Step != Accepting:
			return nil
		case failed == nil:
			is.Offer = &p
			return conclude(ctx, tx, is, Accepted, actions[p.Kind], p.Chosen, cmd.Actor, now)
		case passing(failed):
			return nil
		}
		is.AcceptedAt = time.Time{}
		return is.move(Offering, "refused", now)
	})
	if v.Outcome == Accepted {
		return v, err
	}
	return v, errors.Join(failed, err)
}
