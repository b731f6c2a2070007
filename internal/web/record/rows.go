package record

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rows writes contracts of a line as rows, with what bundles and plan groups say of
// them.
type Rows struct {
	Line  shop.Line
	Shelf Shelf
	Plans plan.Offers
}

// Shelf reads the bundles of a line.
type Shelf interface {
	Bundles(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]bundle.Settings, int, error)
}

// Write returns the rows, in the order of the contracts.
func (r Rows) Write(ctx context.Context, of shop.Shop, contracts []contract.Contract) ([]ContractRow, error) {
	rows := make([]ContractRow, len(contracts))
	if len(contracts) == 0 {
		return rows, nil
	}
	bundles, _, err := r.Shelf.Bundles(ctx, of.ID, r.Line, page.Request{})
	if err != nil {
		return nil, err
	}
	offers, err := r.offers(ctx, of.ID, contracts)
	if err != nil {
		return nil, err
	}
	for i, c := range contracts {
		if rows[i], err = newContractRow(of, c, bundles, offers); err != nil {
			return nil, fault.Because(fault.Internal, err, "contract %s cannot be shown", gid.Of(ContractTypename, int64(c.ID)))
		}
	}
	return rows, nil
}

// offers returns the options of our plan groups that lines of contracts are on, by
// their selling plans.
func (r Rows) offers(ctx context.Context, of shop.ID, contracts []contract.Contract) (map[int64]plan.Offer, error) {
	var sold []int64
	for _, c := range contracts {
		for _, l := range c.Lines {
			if l.SellingPlanID != 0 && !slices.Contains(sold, l.SellingPlanID) {
				sold = append(sold, l.SellingPlanID)
			}
		}
	}
	offers := make(map[int64]plan.Offer, len(sold))
	if len(sold) == 0 {
		return offers, nil
	}
	found, err := r.Plans.OffersOf(ctx, of, r.Line, sold)
	for _, offer := range found {
		offers[offer.ID] = offer
	}
	return offers, err
}
