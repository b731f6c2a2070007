package parts

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// job is one step with the parts of a move.
type job struct {
	*Service
	store  shop.Shop
	move   moving.Move
	now    time.Time
	people map[int64]bool         // customers that were asked for; false: the store does not have them
	known  []moving.Move          // of the store; nil: not read yet
	others map[list][]moving.Part // what the other service was asked for
}

// list is a list of a service.
type list struct {
	kind moving.PartKind
	line shop.Line
}

// changedThere is the code of what was changed there after it was made here.
const changedThere = "changedThere"

// mostListed is how many plan groups or rules of a store are looked at: no store has more.
const mostListed = 5000

// put writes a part.
func (j *job) put(ctx context.Context, part moving.Part) error {
	return j.Store.Update(ctx, j.store.ID, func(tx moving.Tx) error { return tx.PutMoveParts(ctx, []moving.Part{part}) })
}

// made returns the parts of a kind that are made.
func (j *job) made(ctx context.Context, kind moving.PartKind) (list []moving.Part, err error) {
	err = j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) error {
		list, err = tx.MoveParts(ctx, j.move.ID, moving.PartMatch{Kind: kind, Stages: []moving.PartStage{moving.PartMade}}, moving.PartKey{}, mostListed)
		return err
	})
	return list, err
}

// plans returns the selling plans here by those there: of groups that are made, and what the merchant
// named.
func (j *job) plans(ctx context.Context) (plans moving.PlanMap, err error) {
	err = j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) error {
		plans, err = Plans(ctx, tx, j.move.ID)
		return err
	})
	maps.Copy(plans, j.move.Plans)
	return plans, err
}

// plansOfBundle returns the selling plans that take the place of a bundle's. Of one that none takes the place of the part
// has a finding.
func (j *job) plansOfBundle(ctx context.Context, p *moving.Part) (list []int64, err error) {
	plans, err := j.plans(ctx)
	if err != nil {
		return nil, err
	}
	f := (*moving.Findings)(&p.Findings)
	_, come := j.move.Places()
	for _, left := range p.Data.Bundle.Plans {
		if takes, known := plans[left]; known {
			list = append(list, takes)
		} else if !p.Has("bundlePlanUnknown") {
			f.Add(moving.Changes, "bundlePlanUnknown", "sellingPlanIds", "The bundle has selling plan %d, which is not known %s: it is left out.", left, come)
		}
	}
	return list, nil
}

// Plans returns the selling plans here by those there, of all groups that are made.
func Plans(ctx context.Context, tx moving.ReadTx, of moving.ID) (moving.PlanMap, error) {
	made, err := tx.MoveParts(ctx, of, moving.PartMatch{Kind: moving.GroupPart, Stages: []moving.PartStage{moving.PartMade}}, moving.PartKey{}, mostListed)
	plans := moving.PlanMap{}
	for _, p := range made {
		maps.Copy(plans, p.Plans)
	}
	return plans, err
}

// checkCustomer finds whether the store has a customer.
func (j *job) checkCustomer(ctx context.Context, f *moving.Findings, customer int64) (bool, error) {
	if customer == 0 {
		f.Add(moving.Stays, "customerMissing", "customerId", "No customer with this e-mail address has a contract or points here: add the platform's number of the customer, or the file again once contracts have moved.")
		return false, nil
	}
	if _, asked := j.people[customer]; !asked {
		if err := j.ask(ctx, []int64{customer}); err != nil {
			return false, err
		}
	}
	if !j.people[customer] {
		f.Add(moving.Stays, "customerUnknown", "customerId", "The store has no customer %d.", customer)
	}
	return j.people[customer], nil
}

// know asks the platform for the customers of parts, many at once.
func (j *job) know(ctx context.Context, parts []moving.Part) error {
	var ids []int64
	for _, p := range parts {
		if p.Customer != 0 {
			ids = append(ids, p.Customer)
		}
	}
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		if err := j.ask(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) ask(ctx context.Context, ids []int64) error {
	has, err := j.Platform.Customers(ctx, j.store.At(), ids)
	if err != nil {
		return unavailable(err)
	}
	if j.people == nil {
		j.people = map[int64]bool{}
	}
	for _, id := range ids {
		j.people[id] = slices.ContainsFunc(has, func(c platform.Customer) bool { return c.ID == id })
	}
	return nil
}

// passing reports whether a failure may be over when the step is taken again.
func passing(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.RateLimited) || fault.Is(err, fault.Internal) || fault.Is(err, fault.Conflict) || errors.Is(err, context.DeadlineExceeded)
}

// unavailable is the failure of asking the platform.
func unavailable(err error) error {
	return fault.Because(fault.Unavailable, err, "the platform could not be asked what the store has")
}

// refusal returns the message and the code of a failure that is not passing.
func refusal(err error) (text, code string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message, f.ErrorKey
	}
	return err.Error(), ""
}

// line is the line of a part; parts of no line are of subscriptions.
func line(p moving.Part) shop.Line {
	if p.Line == "" {
		return shop.Subscriptions
	}
	return p.Line
}
