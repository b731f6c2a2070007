package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// VariantPrice is a variant and what one of it costs.
type VariantPrice struct {
	platform.Variant
	Unit money.Amount
}

// VariantPrice returns a variant at the price that it would have in the contract's next
// order, on the selling plan of the contract's first line; without a contract, at
// the store's own price. A price in another currency than the contract's is refused.
func (s *Service) VariantPrice(ctx context.Context, of shop.ID, cmd Command, variant int64) (VariantPrice, error) {
	ctx = platform.Interactive(ctx)
	store, c, err := s.buyer(ctx, of, cmd)
	if err != nil {
		return VariantPrice{}, err
	}
	sold, err := s.variants(ctx, store, []int64{variant})
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
	unit, _, err := s.unitPrice(ctx, of, c, v, plan)
	if err == nil && unit.Currency != c.Currency {
		err = foreignCurrency(v, c)
	}
	return VariantPrice{v, unit}, err
}

// buyer reads the store and the contract that the command names, if it names one.
func (s *Service) buyer(ctx context.Context, of shop.ID, cmd Command) (shop.Shop, contract.Contract, error) {
	if cmd.Contract != 0 {
		return s.known(ctx, of, cmd)
	}
	store, err := s.store(ctx, of)
	return store, contract.Contract{}, err
}

// PaymentMethods returns the payment methods that the platform has of a customer,
// those included that were revoked; none when it does not know the customer.
func (s *Service) PaymentMethods(ctx context.Context, of shop.ID, customer int64) ([]contract.PaymentMethod, error) {
	store, err := s.store(ctx, of)
	if err != nil {
		return nil, err
	}
	methods, err := s.Platform.PaymentMethods(platform.Interactive(ctx), store.At(), customer)
	if errors.Is(err, platform.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unanswered(err)
	}
	return methods, nil
}
