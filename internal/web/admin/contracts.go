package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// contractList is what the search allows to be asked for.
var contractList = web.List{Default: contract.DefaultPage, Max: contract.MaxPage, Fields: contract.SortFields}

// searchHandlers find contracts.
type searchHandlers struct{ contractSearch }

func (h searchHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "searchContracts", Method: http.MethodGet, Path: base + "/subscription-contract-details", Tag: "Contracts",
		Summary: "Search contracts", Description: "Contracts that pass every filter, oldest first. At most 2000 in a page.",
		Scope: access.ContractsRead, List: &contractList,
	}, h.searchContracts)
}

func (h searchHandlers) searchContracts(ctx context.Context, in *contractQuery) (*contractPage, error) {
	p, err := in.Request(contractList)
	if err != nil {
		return nil, err
	}
	cal, err := web.CallerOf(ctx).Shop.Calendar()
	if err != nil {
		return nil, err
	}
	f, err := in.filter(cal.Zone)
	if err != nil {
		return nil, err
	}
	return h.find(ctx, f, p)
}
