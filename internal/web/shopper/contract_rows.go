package shopper

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

var ownContracts = web.List{Default: 20, Max: contract.MaxPage, Fields: contract.SortFields}

type contractsQuery struct{ web.Paging }

func (o Options) listContracts(ctx context.Context, in *contractsQuery) (*contractPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(ownContracts)
	if err != nil {
		return nil, err
	}
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "id", Desc: true}}
	}
	return o.rows(ctx, p, caller.Actor.Customer)
}

type contractPage struct {
	web.ListHeaders
	Body []record.ContractRow
}

// rows answers a page of a customer's contracts.
func (o Options) rows(ctx context.Context, p page.Request, customer int64) (*contractPage, error) {
	caller := web.CallerOf(ctx)
	contracts, total, err := o.Book.Search(ctx, caller.Shop.ID, contract.Filter{Line: o.Line, CustomerID: customer}, p)
	if err != nil {
		return nil, err
	}
	rows, err := record.Rows{Line: o.Line, Sold: o.Sold, OneOffs: o.OneOffBook, Mails: o.Mails}.Write(ctx, caller.Shop, contracts)
	return &contractPage{ListHeaders: web.Paged(ctx, p, total), Body: rows}, err
}
