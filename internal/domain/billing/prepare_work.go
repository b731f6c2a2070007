package billing

import (
	"context"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// prepared is what one step of a preparation came to.
type prepared struct {
	preparing
	late    bool // the lease ran out before anything was changed
	lasts   bool // the step was the contract's, not the order's
	plan    *Plan
	commit  bool // the plan is to be committed before it is carried out
	missing []swap.Rule
	lines   []contract.Line             // what the order holds
	since   uint64                      // the contract's revision from which on nothing older is copied for the order
	before  *platform.Contract          // as the contract was when it was changed; nil: it was not, or is found changed
	made    *platform.Contract          // as the change left it; nil: it was not made
	prices  map[string]contract.Pricing // what plans say of the lines that it has then
	dropped bool                        // other cycles lost what they held of ours
	refused *platform.Refusal           // a definite no
	err     error                       // nobody knows, or nobody was asked
	editing bool                        // err may have changed something
}

// prepareAll takes one step for each order that has to be prepared.
func (s *Service) prepareAll(ctx context.Context, b batch) []prepared {
	list := make([]prepared, len(b.preparing))
	s.fan(ctx, len(list), func(i int) { list[i] = s.prepare(ctx, b.shop, b.preparing[i]) })
	return list
}

func (s *Service) prepare(ctx context.Context, of shop.Shop, e preparing) prepared {
	p := prepared{preparing: e, since: e.Prep.Revision}
	switch stage := e.Prep.Stage; {
	case !s.Clock.Now().Before(e.DueAt):
		p.late = true
	case stage == ContractPlanned, stage == Fresh && (e.contract.Priced || concerns(e.lasting, e.order(swap.Lines(e.contract.Lines)))):
		p.lasts = true
		s.prepareContract(ctx, of, &p)
	default:
		s.prepareOrder(ctx, of, &p)
	}
	return p
}

// prepareContract lets prices that begin with the order, and the rules that last,
// change the contract.
func (s *Service) prepareContract(ctx context.Context, of shop.Shop, p *prepared) {
	id := int64(p.contract.ID)
	is, err := s.Platform.Detail(ctx, of.At(), id)
	if p.failed(err, false) {
		return
	}
	m := aim{is: placedOf(is.Lines, is.LineDetails)}
	lines := plain(m.is)
	if p.contract.Priced {
		c := p.contract.WithReading(is.Contract)
		if p.failed(s.knowPrices(ctx, of, &c, p.contract), false) {
			return
		}
		lines, m.prices = priced(lines, c, p.Cycle, c.NextOrder())
	}
	if m.rules, err = s.applied(ctx, of, p.lasting, p.order(lines), placeOf(p.contract, p.Cycle)); p.failed(err, false) {
		return
	}
	m.wanted = placedLines(m.rules.Lines)
	p.missing = m.rules.Missing
	if !p.weigh(m, ContractPlanned) {
		if !p.commit && p.plan == p.Prep.Plan { // made before, and the answer was lost
			p.made = &is.Contract
		}
		return
	}
	made, err := s.Platform.EditContract(ctx, of.At(), id, m.edit())
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok && refusal.Code == platform.CodeFutureEdits {
		for _, cycle := range p.edited {
			if err := s.Platform.DropCycleEdit(ctx, of.At(), platform.CycleRef{Contract: id, Index: cycle}); p.failed(err, true) {
				return
			}
			p.dropped = true
		}
		made, err = s.Platform.EditContract(ctx, of.At(), id, m.edit())
	}
	if p.failed(err, true) {
		return
	}
	left := p.contract.WithReading(made.Contract)
	if err := s.knowPrices(ctx, of, &left, p.contract); err != nil {
		s.Log.WarnContext(ctx, "the prices of a contract's plans are not known: it is read anew", "shop", of.Domain, "contract", id, "error", err)
		return
	}
	p.before, p.made, p.prices = &is.Contract, &made.Contract, left.PlanPricing
}

// prepareOrder makes the order what it should be.
func (s *Service) prepareOrder(ctx context.Context, of shop.Shop, p *prepared) {
	is, ok := s.currentOrder(ctx, of, p)
	if !ok {
		return
	}
	m := aim{read: &is, is: placedOf(is.Lines, is.LineDetails), was: is.Note}
	var err error
	if m.rules, err = s.applied(ctx, of, p.single, p.order(plain(is.lines())), placeOf(p.contract, p.Cycle)); p.failed(err, false) {
		return
	}
	m.wanted = wantedLines(m.is, p.oneOffs, m.rules.Lines)
	if note := p.note(); p.Note != "" || p.Prep.Edited && note != is.Note {
		m.note = &note
	}
	p.missing = m.rules.Missing
	p.lines = linesOf(m.is)
	if !p.weigh(m, OrderPlanned) {
		return
	}
	made, err := s.Platform.EditCycle(ctx, of.At(), p.cycle(), m.edit())
	if p.failed(err, true) {
		return
	}
	if is.source != nil {
		p.since = is.Revision
	}
	p.lines = linesOf(placedOf(made.Lines, made.LineDetails))
}

// cycle names the order to the platform.
func (e preparing) cycle() platform.CycleRef {
	return platform.CycleRef{Contract: int64(e.Contract), Index: e.Cycle}
}

// weigh takes in what a step wants and reports whether to make the change now.
func (p *prepared) weigh(m aim, planned Stage) bool {
	var do doing
	do, p.plan = m.weigh(p.Prep.Stage == planned, p.Prep.Plan)
	p.commit = do == commitPlan
	return do == makeChange
}

// failed takes in a failure of the platform's.
func (p *prepared) failed(err error, editing bool) bool {
	if err == nil {
		return false
	}
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		p.refused = refusal
	} else if errors.Is(err, platform.ErrNotFound) {
		p.refused = &platform.Refusal{Code: "NOT_FOUND", Message: err.Error()}
	} else {
		p.err, p.editing = err, editing && !errors.Is(err, platform.ErrThrottled) && !errors.Is(err, platform.ErrDisconnected)
	}
	return true
}

// applied applies rules to an order, with what the store sells. Nobody is asked
// when no rule concerns the order.
func (s *Service) applied(ctx context.Context, of shop.Shop, rules []swap.Rule, o swap.Order, place place) (swap.Result, error) {
	if !concerns(rules, o) {
		return swap.Result{Lines: o.Lines}, nil
	}
	c, err := s.catalogue(ctx, of, rules, place)
	if err != nil {
		return swap.Result{}, err
	}
	return swap.Apply(rules, o, c), nil
}

// place is where in a contract's life an order stands.
type place struct {
	plan.Place
	line shop.Line
}

func placeOf(c contract.Contract, cycle int) place {
	return place{plan.Place{Order: c.NextOrder(), Cycle: cycle, Deliveries: c.Deliveries()}, c.Line}
}

// catalogue returns what rules need to know of the products that they name. Prices
// are for the deliveries that one payment covers.
func (s *Service) catalogue(ctx context.Context, of shop.Shop, rules []swap.Rule, place place) (swap.Catalogue, error) {
	sold, err := s.sold(ctx, of, swap.Variants(rules))
	if err != nil {
		return swap.Catalogue{}, err
	}
	return s.catalogueOf(ctx, of, sold, place), nil
}

// catalogueOf is the catalogue of what the store is known to sell.
func (s *Service) catalogueOf(ctx context.Context, of shop.Shop, sold map[int64]platform.Variant, place place) swap.Catalogue {
	c := swap.Catalogue{Variants: swap.PriceForDeliveries(sold, place.Deliveries)}
	if s.Plans == nil {
		return c
	}
	c.PlanPrice = func(l contract.Line, v platform.Variant) (money.Amount, *platform.Pricing, bool) {
		if l.SellingPlanID == 0 {
			return money.Amount{}, nil, false
		}
		v = sold[v.ID] // a plan knows itself what it asks for several deliveries
		offer, ok, err := s.sellingPlan(ctx, of.ID, place, l.SellingPlanID, v)
		if err != nil {
			s.Log.WarnContext(ctx, "a plan's price is not known", "shop", of.Domain, "plan", l.SellingPlanID, "error", err)
		}
		if !ok || err != nil {
			return money.Amount{}, nil, false
		}
		price, pricing := offer.Sells(v.Price, place.Place)
		return price, pricing, true
	}
	return c
}

// sold returns what the store knows of variants, by their numbers. Those that it
// does not sell are left out.
func (s *Service) sold(ctx context.Context, of shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	variants := make(map[int64]platform.Variant, len(ids))
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		found, err := s.Platform.Variants(ctx, of.At(), chunk)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			variants[v.ID] = v
		}
	}
	return variants, nil
}

// sellingPlan returns the option that is a selling plan; false when it is not one of
// ours or does not sell the variant.
func (s *Service) sellingPlan(ctx context.Context, of shop.ID, place place, id int64, v platform.Variant) (plan.Offer, bool, error) {
	offers, err := s.Plans.OffersOf(ctx, of, place.line, []int64{id})
	if err != nil || len(offers) == 0 {
		return plan.Offer{}, false, err
	}
	group, err := s.Plans.PlanGroup(ctx, of, place.line, offers[0].Group)
	if err != nil {
		return plan.Offer{}, false, err
	}
	sold := group.Assigned()
	return offers[0], slices.Contains(sold.Products, v.ProductID) || slices.Contains(sold.Variants, v.ID), nil
}
