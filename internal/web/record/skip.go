package record

import (
	"github.com/perennialhq/perennial/internal/domain/activity"
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

// Command returns the command to do so.
func (q *SkipQuery) Command(line shop.Line, by activity.Actor) (command.Skip, error) {
	of, err := web.ParseID(ContractTypename, "subscriptionContractId", q.Contract)
	return command.Skip{
		Line: line, Attempt: billing.AttemptID(q.ID), Contract: contract.ID(of), Prepaid: q.Prepaid.Ptr(), Actor: by,
	}, err
}
