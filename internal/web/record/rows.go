package record

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rows writes contracts of a line as rows, with what bundles and plan groups say of
// them.
type Rows struct {
	Line shop.Line
	Sold Catalogues
}

// Catalogues reads what a line sells by.
type Catalogues interface {
	// Catalogue returns the line's bundles, oldest first, and the options of its
	// plan groups by their selling plans. They must not be changed.
	Catalogue(ctx context.Context, of shop.Shop, line shop.Line) ([]bundle.Settings, map[int64]plan.Offer, error)
}

// Write returns the rows, in the order of the contracts.
func (r Rows) Write(ctx context.Context, of shop.Shop, contracts []contract.Contract) ([]ContractRow, error) {
	rows := make([]ContractRow, len(contracts))
	if len(contracts) == 0 {
		return rows, nil
	}
	bundles, offers, err := r.Sold.Catalogue(ctx, of, r.Line)
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
