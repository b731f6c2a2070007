// Package prepare changes orders before they are charged: swapped products, one-time products,
// notes, and prices that begin with the order.
package prepare

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Work takes one step for each order and writes what it led to.
func (s *Service) Work(ctx context.Context, of shop.Shop, orders []Order) error {
	list := make([]prepared, len(orders))
	s.Each(ctx, len(list), func(i int) { list[i] = s.step(ctx, of, orders[i]) })
	return s.settle(ctx, of, list)
}

func (s *Service) step(ctx context.Context, of shop.Shop, e Order) prepared {
	p := prepared{Order: e, since: e.Prep.Revision}
	switch stage := e.Prep.Stage; {
	case !s.Clock.Now().Before(e.DueAt):
		p.late = true
	case stage == billing.ContractPlanned, stage == billing.Fresh && (e.Of.Priced || e.lasts() || e.boxChanges()):
		p.lasts = true
		s.prepareContract(ctx, of, &p)
	default:
		s.prepareOrder(ctx, of, &p)
	}
	return p
}

// prepareContract lets prices that begin with the order, the rules that last, and the price of its
// box change the contract.
func (s *Service) prepareContract(ctx context.Context, of shop.Shop, p *prepared) {
	id := int64(p.Of.ID)
	is, err := s.Platform.Detail(ctx, of.At(), id)
	if p.failed(err, false) {
		return
	}
	m := aim{is: orderLines(is.Lines, is.LineDetails)}
	lines := plain(m.is)
	if p.Of.Priced {
		c := p.Of.WithReading(is.Contract)
		if p.failed(s.KnowPrices(ctx, of, &c, p.Of), false) {
			return
		}
		lines, m.prices = priced(lines, c, p.Cycle)
	}
	lines, m.prices = p.raised(lines, m.prices)
	if m.rules, err = s.applied(ctx, of, p, p.rules.Lasting, lines); p.failed(err, false) {
		return
	}
	m.wanted = billing.OrderLines(m.rules.Lines)
	m.setBox(*p, is.Discounts)
	p.missing = m.rules.Missing
	if !p.weigh(m, billing.ContractPlanned) {
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
	left := p.Of.WithReading(made.Contract)
	if err := s.KnowPrices(ctx, of, &left, p.Of); err != nil {
		s.Log.WarnContext(ctx, "the prices of a contract's plans are unknown: the contract is read again", "shop", of.Domain, "contract", id, "error", err)
		return
	}
	p.before, p.made, p.prices = &is.Contract, &made.Contract, left.PlanPricing
}

// prepareOrder changes the order at the platform.
func (s *Service) prepareOrder(ctx context.Context, of shop.Shop, p *prepared) {
	is, ok := s.currentOrder(ctx, of, p)
	if !ok {
		return
	}
	m := aim{read: &is, is: orderLines(is.Lines, is.LineDetails), was: is.Note}
	var err error
	if m.rules, err = s.applied(ctx, of, p, p.rules.Single, plain(is.lines())); p.failed(err, false) {
		return
	}
	m.wanted = wantedLines(m.is, p.OneOffs, m.rules.Lines)
	m.setBox(*p, is.Discounts)
	if note := p.note(); p.Note != "" || p.Prep.Edited && note != is.Note {
		m.note = &note
	}
	p.missing = m.rules.Missing
	p.lines, p.off = linesOf(m.is), order.BoxDiscount(is.Discounts)
	if !p.weigh(m, billing.OrderPlanned) {
		return
	}
	made, err := s.Platform.EditCycle(ctx, of.At(), p.cycle(), m.edit())
	if p.failed(err, true) {
		return
	}
	if is.source != nil {
		p.since = is.Revision
	}
	p.lines, p.off = linesOf(orderLines(made.Lines, made.LineDetails)), m.off
}
