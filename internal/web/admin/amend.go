package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// contractEntity is what failures about a contract are about, in the
// interface's words.
const contractEntity = "subscriptionContract"

// contractHandlers have what the operations on one contract need.
type contractHandlers struct {
	line  shop.Line
	edits *contractedit.Service
}

// Tags of the operations that change contracts.
const (
	contractLines     = "Contract lines"
	contractDiscounts = "Contract discounts"
	contractDelivery  = "Contract delivery and payment"
	contractTerms     = "Contract terms"
	contractLifecycle = "Contract lifecycle"
)

// amendment describes an operation that changes a contract.
func amendment(tag, id, path, summary, description string) web.Operation {
	return web.Operation{
		ID: id, Method: http.MethodPut, Path: base + path, Summary: summary, Description: description, Tag: tag,
		Scope: access.ContractsWrite, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// once is an operation that does more when it is done again.
func once(op web.Operation) web.Operation {
	op.Once = true
	return op
}

// withBody is an amendment with a JSON body.
func withBody(body any, op web.Operation) web.Operation {
	op.Body = body
	return op
}

// OfContract is the contract that an operation is about.
type OfContract struct {
	Contract string `query:"contractId" required:"true" format:"id" example:"9001" doc:"The contract: number or graph id."`
}

// command names the contract to be changed and who changes it.
func (h contractHandlers) command(ctx context.Context, id string) (amend.Command, error) {
	caller := web.CallerOf(ctx)
	n, err := web.ParseID(record.ContractTypename, "contractId", id)
	return amend.Command{Line: h.line, Contract: contract.ID(n), Actor: caller.Actor}, err
}

// contractOut answers with a contract.
type contractOut struct {
	Body record.ContractObject
}

func newContractOut(d contract.Detail, err error) (*contractOut, error) {
	if err != nil {
		return nil, err
	}
	return &contractOut{record.NewContractObject(d)}, nil
}

// price reads an amount in the contract's currency; nil when it was not given.
func (h contractHandlers) price(ctx context.Context, of amend.Command, param string, value web.Opt[web.Decimal]) (*money.Amount, error) {
	if !value.Set || value.Value == "" {
		return nil, nil
	}
	currency, err := h.edits.Currency(ctx, web.CallerOf(ctx).Shop.ID, of)
	if err != nil {
		return nil, err
	}
	return amountIn(currency, param, string(value.Value))
}

// amountIn reads an amount in a currency.
func amountIn(currency money.Currency, param, value string) (*money.Amount, error) {
	a, err := money.ParseExact(value, currency)
	if err != nil {
		return nil, fault.Because(fault.Invalid, err, "'%s' is no amount of %s: give a number with at most %d decimals", value, currency, currency.Exponent()).Field(param)
	}
	return &a, nil
}
