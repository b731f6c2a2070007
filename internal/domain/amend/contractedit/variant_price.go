package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// VariantPrice is a variant and its unit price.
type VariantPrice struct {
	platform.Variant
	Unit money.Amount
}

// VariantPrice returns a variant's price in the contract's next order, on the selling
// plan of the contract's first line; without a contract, the catalogue price. It refuses
// another currency than the contract's.
func (s *Service) VariantPrice(ctx context.Context, of shop.ID, cmd amend.Command, variant int64) (VariantPrice, error) {
	ctx = platform.Interactive(ctx)
	store, c, err := s.buyer(ctx, of, cmd)
	if err != nil {
		return VariantPrice{}, err
	}
	sold, err := s.Variants(ctx, store, []int64{variant})
	if err != nil {
		return VariantPrice{}, err
	}
	v := sold[variant]
	if c.ID == 0 {
		return VariantPrice{v, v.Price}, nil
	}
	var plan int64
	if len(c.Lines) > 0 {
		plan = c.Lines[0].SellingPlanID
	}
	unit, _, err := s.UnitPrice(ctx, of, c, v, plan)
	if err == nil && unit.Currency != c.Currency {
		err = terms.CurrencyMismatch(v, c)
	}
	return VariantPrice{v, unit}, err
}

// buyer reads the store and, if the command names one, the contract.
func (s *Service) buyer(ctx context.Context, of shop.ID, cmd amend.Command) (shop.Shop, contract.Contract, error) {
	if cmd.Contract != 0 {
		return s.Load(ctx, of, cmd)
	}
	store, err := s.ConnectedShop(ctx, of)
	return store, contract.Contract{}, err
}

// Currency returns the currency of a contract. For a contract that does not exist it
// returns the one with the most decimals, so that an invalid request is reported first;
// changing the contract then fails with NotFound.
func (s *Service) Currency(ctx context.Context, of shop.ID, cmd amend.Command) (money.Currency, error) {
	_, c, err := s.Load(ctx, of, cmd)
	if fault.Is(err, fault.NotFound) {
		return money.Finest, nil
	}
	return c.Currency, err
}
