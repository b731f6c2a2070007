package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Answer is what a customer says to the question why.
type Answer struct {
	Named
	Reason  string // key
	Comment string
}

// Answer takes the reason and makes the first offer of it that is possible, or goes on to the
// confirmation when none is. A customer who is held back gets none.
func (s *Service) Answer(ctx context.Context, of shop.ID, cmd Answer) (View, error) {
	cmd.Comment = strings.TrimSpace(cmd.Comment)
	if err := checkComment(cmd.Comment); err != nil {
		return View{}, err
	}
	ctx = platform.Interactive(ctx)
	known, err := s.known(ctx, of, cmd.Named, cmd.Reason)
	if err != nil {
		return View{}, err
	}
	var v View
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		now := clock.Trim(s.Clock.Now())
		is, c, err := find(ctx, tx, cmd.Named)
		if err != nil {
			return err
		}
		f, err := flow.At(ctx, tx, is.Flow)
		if err != nil {
			return err
		}
		x, err := readFacts(ctx, tx, c, f, cmd.Actor, now)
		if err != nil {
			return err
		}
		x.catalogue = known.catalogue
		if err := is.answer(x, f, cmd, now); err != nil {
			return err
		}
		if v, err = s.view(ctx, tx, is, c, cmd.Actor); err != nil {
			return err
		}
		return tx.PutCancelSession(ctx, &v.Session)
	})
	return v, err
}

func checkComment(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxComment {
		return fault.New(fault.Invalid, "the comment has %d characters: at most %d are allowed", n, MaxComment).Entity(entity).Code("commentLength").Field("comment")
	}
	return nil
}

// answer takes the reason and chooses the offer. A customer who goes back and gives another
// reason gets no second offer once one was shown.
func (s *Session) answer(x facts, f flow.Flow, cmd Answer, now time.Time) error {
	reasons := f.ReasonsFor(groupIDs(x.groups))
	at := slices.IndexFunc(reasons, func(r flow.Reason) bool { return r.Key == cmd.Reason })
	if at < 0 {
		return fault.New(fault.Invalid, "%.60q is not a reason of the flow", cmd.Reason).Entity(entity).Code("reasonUnknown").Field("reason")
	}
	r := reasons[at]
	if r.Comment && cmd.Comment == "" {
		return fault.New(fault.Invalid, "say more about this reason").Entity(entity).Code("commentRequired").Field("comment")
	}
	if s.Step != Asking && s.Step != Offering && s.Step != Confirming {
		return s.wrongStep()
	}
	if s.Step == Offering && s.Reason == r.Key && s.Comment == cmd.Comment {
		return nil // it was said before, and the offer stands
	}
	s.Reason, s.Comment = r.Key, cmd.Comment
	if !s.OfferedAt.IsZero() || s.Arm == HeldBack {
		return s.move(Confirming, r.Key, now)
	}
	if s.Offer = choose(x, f, r, now); s.Offer == nil {
		return s.move(Confirming, r.Key, now)
	}
	held := f.HoldsBack(x.shop.ID, s.Customer)
	if f.HoldBack > 0 && firstOf(x.recent, *s) {
		s.Arm = Treated
		if held {
			s.Arm = HeldBack
		}
	}
	if held {
		return s.move(Confirming, r.Key, now)
	}
	s.OfferedAt = now
	return s.move(Offering, r.Key, now)
}

// firstOf reports whether no other session of the customer is in the comparison of this
// version of the flow.
func firstOf(recent []Session, is Session) bool {
	return !slices.ContainsFunc(recent, func(s Session) bool { return s.ID != is.ID && s.Flow == is.Flow && s.Arm != None })
}

// known is what a step reads before its transaction.
type known struct {
	contract  contract.Contract
	flow      flow.Flow
	catalogue catalogue
}

// known reads what the offers of a reason, or with none the session's offer, need of the
// platform. A platform that does not answer leaves offers out and holds up no customer.
func (s *Service) known(ctx context.Context, of shop.ID, cmd Named, reason string) (known, error) {
	var k known
	var store shop.Shop
	var x facts
	var offers []flow.Offer
	err := s.Store.View(ctx, of, func(tx Reader) error {
		is, found, err := find(ctx, tx, cmd)
		if err != nil {
			return err
		}
		k.contract = found
		if store, err = tx.Shop(ctx); err != nil {
			return err
		}
		if k.flow, err = flow.At(ctx, tx, is.Flow); err != nil {
			return err
		}
		r, _ := k.flow.Reason(reason)
		if offers = r.Offers; reason == "" && is.Offer != nil {
			offers = []flow.Offer{is.Offer.Offer}
		}
		x.groups, err = groupsOf(ctx, tx, found)
		return err
	})
	if err != nil {
		return k, err
	}
	k.catalogue, err = s.catalogueOf(ctx, store, k.contract, offers, x)
	return k, err
}

// catalogueOf reads what offers need of the platform.
func (s *Service) catalogueOf(ctx context.Context, store shop.Shop, c contract.Contract, offers []flow.Offer, x facts) (catalogue, error) {
	var known catalogue
	var ids []contract.LineItem
	frequencies := false
	for _, o := range offers {
		switch o.Kind {
		case flow.Swap, flow.Sample:
			for _, v := range o.Variants {
				ids = append(ids, contract.LineItem{VariantID: v})
			}
		case flow.Frequency:
			frequencies = true
			ids = append(ids, c.Lines...)
		}
	}
	if len(ids) == 0 {
		return known, nil
	}
	sold, err := s.Prices.VariantsOfLines(ctx, store, ids)
	if err != nil {
		s.Log.WarnContext(ctx, "offers are left out: the platform could not be asked for products", "contract", c.ID, "error", err)
		return known, nil
	}
	known.sold = sold
	if len(c.Lines) == 0 {
		return known, nil
	}
	known.prices = make(map[int64]money.Amount, len(sold))
	quote, err := s.Prices.QuoteOf(ctx, store.ID, c, c.Lines[0].SellingPlanID)
	if err != nil {
		return known, fmt.Errorf("price an offer: %w", err)
	}
	for id, v := range sold {
		known.prices[id], _ = quote(v)
	}
	if frequencies && len(x.groups) == 1 {
		known.totals, err = s.totals(ctx, store, c, sold, x)
	}
	return known, err
}

// totals returns what a contract's next order costs on each option of its group. An option on
// which one of its lines has no price is left out.
func (s *Service) totals(ctx context.Context, store shop.Shop, c contract.Contract, sold map[int64]platform.Variant, x facts) (map[int64]money.Amount, error) {
	totals := make(map[int64]money.Amount)
	for _, o := range x.groups[0].Options {
		if !selectable(c, o) {
			continue
		}
		quote, err := s.Prices.QuoteOf(ctx, store.ID, c, o.ID)
		if err != nil {
			return nil, fmt.Errorf("price an offer: %w", err)
		}
		on, whole := c, true
		for _, l := range c.Lines {
			v, ok := sold[l.VariantID]
			if whole = whole && ok && v.Price.Currency == c.Currency; !whole {
				break
			}
			price, _ := quote(v)
			on = on.Repriced(l.ID, price)
		}
		if whole {
			totals[o.ID] = x.nextCost(on)
		}
	}
	return totals, nil
}

// Decline goes on to the confirmation: past the instructions, the question or the offer.
func (s *Service) Decline(ctx context.Context, of shop.ID, cmd Named) (View, error) {
	return s.step(ctx, of, cmd, func(_ Tx, is *Session, _ contract.Contract, now time.Time) error {
		if is.Step == Confirming {
			return nil
		}
		return is.move(Confirming, "decline", now)
	})
}

// Back returns to the question, so that another reason can be given.
func (s *Service) Back(ctx context.Context, of shop.ID, cmd Named) (View, error) {
	return s.step(ctx, of, cmd, func(_ Tx, is *Session, _ contract.Contract, now time.Time) error {
		if is.Step == Asking {
			return nil
		}
		return is.move(Asking, "back", now)
	})
}

// Keep ends the session: the customer keeps the contract.
func (s *Service) Keep(ctx context.Context, of shop.ID, cmd Named) (View, error) {
	return s.step(ctx, of, cmd, func(tx Tx, is *Session, _ contract.Contract, now time.Time) error {
		if is.Step == Ended && is.Outcome == Kept {
			return nil
		}
		if is.Step == Accepting || is.Step == Cancelling {
			return is.wrongStep()
		}
		return conclude(ctx, tx, is, Kept, retention.Kept, "keep", cmd.Actor, now)
	})
}

// Comment keeps what the customer has to say after a session has ended, for a day.
func (s *Service) Comment(ctx context.Context, of shop.ID, cmd Answer) (View, error) {
	cmd.Comment = strings.TrimSpace(cmd.Comment)
	if err := checkComment(cmd.Comment); err != nil {
		return View{}, err
	}
	return s.step(ctx, of, cmd.Named, func(_ Tx, is *Session, _ contract.Contract, now time.Time) error {
		if is.Step != Ended {
			return is.wrongStep()
		}
		if is.EndedAt.Add(timeout).Before(now) {
			return fault.New(fault.FailedPrecondition, "the session ended more than a day ago").Entity(entity).Code("cancelSessionEnded")
		}
		is.Comment = cmd.Comment
		return nil
	})
}

// step changes a session in one transaction.
func (s *Service) step(ctx context.Context, of shop.ID, cmd Named, do func(tx Tx, is *Session, c contract.Contract, now time.Time) error) (View, error) {
	var v View
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		is, c, err := find(ctx, tx, cmd)
		if err != nil {
			return err
		}
		was := is.Version
		if err := do(tx, &is, c, clock.Trim(s.Clock.Now())); err != nil {
			return err
		}
		if is.Version == was { // it was not written on the way
			if err := tx.PutCancelSession(ctx, &is); err != nil {
				return err
			}
		}
		v, err = s.view(ctx, tx, is, c, cmd.Actor)
		return err
	})
	return v, err
}
