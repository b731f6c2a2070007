package record

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// SkipQuery names an order to skip or to unskip.
type SkipQuery struct {
	ID       int64         `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
	Contract string        `query:"subscriptionContractId" doc:"The attempt's contract: number or graph id. When given it must match."`
	Prepaid  web.Opt[bool] `query:"isPrepaid" doc:"Whether the contract is prepaid. When given it must fit."`
}

// Do gives the caller's command to skip the order, or to take its skip back, to a service.
func (q *SkipQuery) Do(ctx context.Context, line shop.Line, do func(context.Context, shop.ID, command.Skip) (billing.Record, error)) (*AttemptOut, error) {
	of, err := web.ParseID(ContractTypename, "subscriptionContractId", q.Contract)
	if err != nil {
		return nil, err
	}
	caller := web.CallerOf(ctx)
	r, err := do(ctx, caller.Shop.ID, command.Skip{
		Line: line, Attempt: billing.AttemptID(q.ID), Contract: contract.ID(of), Prepaid: q.Prepaid.Ptr(), Actor: caller.Actor,
	})
	return NewAttemptOut(caller, r, err)
}
