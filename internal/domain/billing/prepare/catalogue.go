package prepare

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// applied applies rules to an order, with what the store sells now. It makes no call if no rule
// concerns the order.
func (s *Service) applied(ctx context.Context, of shop.Shop, p *prepared, rules []swap.Rule, lines []swap.LineItem) (swap.Result, error) {
	o := p.swapOrder(lines)
	if !swap.Concern(rules, o) {
		return swap.Result{Lines: lines}, nil
	}
	sold, err := swap.Sold(ctx, s.Platform, of, swap.Variants(rules))
	if err != nil {
		return swap.Result{}, err
	}
	p.asked, p.sold = rules, sold
	sells := order.Catalogue{Variants: sold, Plans: p.rules.Plans}
	return swap.Apply(rules, o, sells.Sells(p.Of, p.Cycle, 0)), nil
}
