package bulk

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Prices knows what products cost that an action brings to contracts.
type Prices interface {
	ConnectedShop(ctx context.Context, of shop.ID) (shop.Shop, error)
	// Variants reads variants by id. One that the store does not have is NotFound.
	Variants(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error)
	// UnitPrice returns a variant's unit price in the contract's next order on a selling plan.
	UnitPrice(ctx context.Context, of shop.ID, c contract.Contract, v platform.Variant, sellingPlan int64) (money.Amount, *platform.Pricing, error)
}

// sold reads the product that an action brings to contracts; nil: it brings none. One that the
// store does not have is Invalid, at its field.
func (s *Service) sold(ctx context.Context, of shop.ID, a Action) (*platform.Variant, error) {
	id, field := a.NewVariant, "newVariant"
	switch a.Kind {
	case SwapVariant:
	case AddOneOff:
		id, field = a.Variant, "variant"
	default:
		return nil, nil //nolint:nilnil // most actions bring no product
	}
	store, err := s.Prices.ConnectedShop(ctx, of)
	if err != nil {
		return nil, err
	}
	found, err := s.Prices.Variants(platform.Interactive(ctx), store, []int64{id})
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.NotFound {
		return nil, fault.Because(fault.Invalid, err, "the store has no variant %d", id).Entity(entity).Code("variantNotFound").Field(field)
	}
	if err != nil {
		return nil, err
	}
	v := found[id]
	return &v, nil
}

// swapped returns what the next order of a contract costs once a line has another product.
func (s *Service) swapped(ctx context.Context, f facts, a Action) (money.Amount, error) {
	at, err := contractedit.FindLine(f.contract, a.line())
	if err != nil {
		return money.Amount{}, err
	}
	c := &f.contract
	line := c.Lines[at]
	line.VariantID = a.NewVariant
	if line.Price, _, err = s.Prices.UnitPrice(ctx, f.shop.ID, *c, *f.sold, line.SellingPlanID); err != nil {
		return money.Amount{}, err
	}
	c.Lines = slices.Clone(c.Lines)
	c.Lines[at] = line
	c.Pricing, c.PlanPricing = maps.Clone(c.Pricing), maps.Clone(c.PlanPricing)
	delete(c.Pricing, line.ID) // they are those of the product before it
	delete(c.PlanPricing, line.ID)
	return f.state().Amount, nil
}
