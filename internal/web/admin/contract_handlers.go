package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
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

// commandWith names the contract to be changed and reads the body of the change.
func (h contractHandlers) commandWith(ctx context.Context, id string, in *web.JSONBody, body any) (amend.Command, error) {
	cmd, err := h.command(ctx, id)
	if err != nil {
		return cmd, err
	}
	return cmd, in.Into(body)
}

// currency returns the contract's currency.
func (h contractHandlers) currency(ctx context.Context, of amend.Command) (money.Currency, error) {
	return h.edits.Currency(ctx, web.CallerOf(ctx).Shop.ID, of)
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
	currency, err := h.currency(ctx, of)
	if err != nil {
		return nil, err
	}
	return amountIn(currency, param, string(value.Value))
}

type contractPath struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
}

// contractQueryOnly asks for nothing but the contract.
type contractQueryOnly struct{ OfContract }

// messageOut says in words what was done.
type messageOut struct {
	Body messageBody
}

// messageBody is a sentence.
type messageBody struct {
	Message string `json:"message" doc:"What was done, in words." example:"Attributes updated successfully"`
}
