package shopify

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

// missing lists the codes with which the platform says that there is no such
// cycle, in addition to answering null.
var missing = map[string]bool{
	"NOT_FOUND": true, "CONTRACT_NOT_FOUND": true, "CYCLE_NOT_FOUND": true, "CYCLE_INDEX_OUT_OF_RANGE": true,
	"INVALID_CYCLE_INDEX": true, "UPCOMING_CYCLE_LIMIT_EXCEEDED": true,
}

// CycleStates asks all questions in one document.
func (c *Client) CycleStates(ctx context.Context, shop platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	if len(of) > platform.MaxCharges {
		return nil, fmt.Errorf("ask for %d cycles at once: at most %d", len(of), platform.MaxCharges)
	}
	if len(of) == 0 {
		return nil, nil
	}
	var vars variables
	for i, ref := range of {
		vars.add("contract", i, gid.Of(typeContract, ref.Contract))
		vars.add("cycle", i, cycleInput(ref.Contract, ref.Index))
	}
	encoded, err := vars.object()
	if err != nil {
		return nil, err
	}
	// A contract's answer has billing attempts only and is read as a cycle too.
	data := make(map[string]*admin.CycleFields, 2*len(of))
	s := c.session(shop)
	errs, err := s.ask(ctx, c.questions[len(of)], encoded, &data)
	if err != nil {
		return nil, fmt.Errorf("ask for %d cycles: %w", len(of), err)
	}
	for _, e := range errs {
		if !missing[e.Extensions.Code] && !errors.Is(e.err(), platform.ErrNotFound) {
			return nil, fmt.Errorf("ask for %d cycles: %w", len(of), e.err())
		}
	}
	states := make([]platform.CycleState, len(of))
	for i, ref := range of {
		number := strconv.Itoa(i)
		cycle, answered := data["cycle"+number]
		if !answered {
			return nil, fmt.Errorf("%w: an answer without cycle %d of contract %d", platform.ErrUnknown, ref.Index, ref.Contract)
		}
		states[i], err = s.newCycleState(ctx, ref, cycle, data["contract"+number])
		if err != nil {
			return nil, fmt.Errorf("ask for cycle %d of contract %d: %w", ref.Index, ref.Contract, err)
		}
	}
	return states, nil
}

// newCycleState combines the answers about a cycle and its contract. Either may be
// nil.
func (s session) newCycleState(ctx context.Context, ref platform.CycleRef, cycle, contract *admin.CycleFields) (platform.CycleState, error) {
	state := platform.CycleState{CycleRef: ref, Missing: cycle == nil}
	var attempts []admin.AttemptFields
	if cycle != nil {
		state.Cycle = newCycle(admin.CycleNode{
			CycleIndex: cycle.CycleIndex, CycleStartAt: cycle.CycleStartAt, CycleEndAt: cycle.CycleEndAt,
			BillingAttemptExpectedDate: cycle.BillingAttemptExpectedDate,
			Status:                     cycle.Status, Skipped: cycle.Skipped, Edited: cycle.Edited,
		})
		attempts = cycle.BillingAttempts.Nodes
		older, err := s.olderAttempts(ctx, ref, cycle.BillingAttempts.PageInfo)
		if err != nil {
			return platform.CycleState{}, err
		}
		attempts = append(attempts, older...)
	}
	var err error
	if state.Attempts, err = newAttempts(attempts, ref.Contract); err != nil {
		return platform.CycleState{}, err
	}
	if contract != nil {
		state.Recent, err = newAttempts(contract.BillingAttempts.Nodes, ref.Contract)
	}
	return state, err
}

func newAttempts(fields []admin.AttemptFields, contract int64) ([]platform.Attempt, error) {
	attempts := make([]platform.Attempt, len(fields))
	for i := range fields {
		var err error
		if attempts[i], err = newAttempt(&fields[i], contract); err != nil {
			return nil, err
		}
	}
	return attempts, nil
}

// olderAttempts returns the billing attempts of a cycle behind a page.
func (s session) olderAttempts(ctx context.Context, ref platform.CycleRef, page admin.PageInfo) ([]admin.AttemptFields, error) {
	var attempts []admin.AttemptFields
	for page.HasNextPage {
		got, err := admin.CycleAttempts(ctx, s, cycleInput(ref.Contract, ref.Index), page.EndCursor)
		if err != nil {
			return nil, err
		}
		if got.SubscriptionBillingCycle == nil {
			return nil, fmt.Errorf("%w: the cycle went away while it was read", platform.ErrUnknown)
		}
		attempts = append(attempts, got.SubscriptionBillingCycle.BillingAttempts.Nodes...)
		page = got.SubscriptionBillingCycle.BillingAttempts.PageInfo
	}
	return attempts, nil
}
