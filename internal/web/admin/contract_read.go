package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web"
)

// readHandlers show one contract.
type readHandlers struct{ contractHandlers }

func (h readHandlers) register(api *web.API) {
	read := web.Operation{
		Method: http.MethodGet, Tag: "Contracts", Scope: access.ContractsRead, Errors: []int{http.StatusNotFound},
		Summary: "One contract", Description: "The contract as the platform has it now.",
	}
	read.ID, read.Path = "getContract", base+"/subscription-contracts/{contractId}"
	web.Register(api, read, h.contractByPath)
	read.ID, read.Path = "getContractExternal", base+"/subscription-contracts/contract-external/{contractId}"
	web.Register(api, read, h.contractByPath)
	read.ID, read.Path = "getContractRaw", base+"/contract-raw-response"
	web.Register(api, read, h.contractByQuery)
	cycle := read
	cycle.ID, cycle.Path, cycle.Summary = "getCurrentCycle", base+"/subscription-contract-details/current-cycle/{contractId}", "Number of the next cycle"
	cycle.Description = "The number, from 1, of the cycle that comes next: that of the next order, or of an order that could not be charged and has not been given up. Of a contract with no order to come it is the one after the last."
	web.Register(api, cycle, h.currentCycle)
}

func (h readHandlers) contractByPath(ctx context.Context, in *contractPath) (*contractOut, error) {
	return h.readContract(ctx, in.Contract)
}

func (h readHandlers) contractByQuery(ctx context.Context, in *contractQueryOnly) (*contractOut, error) {
	return h.readContract(ctx, in.Contract)
}

func (h readHandlers) readContract(ctx context.Context, id string) (*contractOut, error) {
	cmd, err := h.command(ctx, id)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.Detail(ctx, web.CallerOf(ctx).Shop.ID, cmd.Line, cmd.Contract))
}

type cycleOut struct {
	Body int32 `doc:"Number of the cycle." example:"4"`
}

func (h readHandlers) currentCycle(ctx context.Context, in *contractPath) (*cycleOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	cycle, err := h.edits.NextCycle(ctx, web.CallerOf(ctx).Shop.ID, cmd)
	return &cycleOut{int32(cycle)}, err
}
