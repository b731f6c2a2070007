package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// contractSearch finds contracts of its line and writes them as rows.
type contractSearch struct {
	search contract.Directory
	rows   record.Rows
}

// contractPage answers with a page of rows.
type contractPage struct {
	web.ListHeaders
	Body []record.ContractRow
}

func (s contractSearch) find(ctx context.Context, f contract.Filter, p page.Request) (*contractPage, error) {
	caller := web.CallerOf(ctx)
	f.Line = s.rows.Line
	contracts, total, err := s.search.Search(ctx, caller.Shop.ID, f, p)
	if err != nil {
		return nil, err
	}
	rows, err := s.rows.Write(ctx, caller.Shop, contracts)
	return &contractPage{ListHeaders: web.Paged(ctx, p, total), Body: rows}, err
}
