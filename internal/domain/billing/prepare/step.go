package prepare

import (
	"errors"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// prepared is the result of one step of a preparation.
type prepared struct {
	Order
	late    bool // the lease ran out before anything was changed
	lasts   bool // the step was the contract's, not the order's
	plan    *billing.Plan
	commit  bool // the plan must be committed before the change
	missing []swap.Rule
	lines   []contract.LineItem         // what the order holds
	off     int64                       // the discount of its box, in minor units
	since   uint64                      // the contract's revision from which on nothing older is copied for the order
	before  *platform.Contract          // as the contract was when it was changed; nil: it was not, or is found changed
	made    *platform.Contract          // as the change left it; nil: it was not made
	asked   []swap.Rule                 // whose products were read
	sold    map[int64]platform.Variant  // those of them that the store sells now
	prices  map[string]contract.Pricing // what plans say of the lines that it has then
	dropped bool                        // other cycles lost our edits
	refused *platform.Refusal           // a definite refusal
	err     error                       // unknown outcome, or no call was made
	editing bool                        // err may have changed something
}

// cycle names the order to the platform.
func (e Order) cycle() platform.CycleRef {
	return platform.CycleRef{Contract: int64(e.Contract), Index: e.Cycle}
}

// weigh takes in what a step wants and reports whether to make the change now.
func (p *prepared) weigh(m aim, planned billing.Stage) bool {
	var do doing
	do, p.plan = m.weigh(p.Prep.Stage == planned, p.Prep.Plan)
	p.commit = do == commitPlan
	return do == makeChange
}

// failed takes in a failure of the platform's.
func (p *prepared) failed(err error, editing bool) bool {
	if err == nil {
		return false
	}
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		p.refused = refusal
	} else if errors.Is(err, platform.ErrNotFound) {
		p.refused = &platform.Refusal{Code: "NOT_FOUND", Message: err.Error()}
	} else {
		p.err, p.editing = err, editing && !errors.Is(err, platform.ErrThrottled) && !errors.Is(err, platform.ErrDisconnected)
	}
	return true
}
