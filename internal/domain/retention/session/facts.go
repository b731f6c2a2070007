package session

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// SessionReader reads sessions.
type SessionReader interface {
	// CancelSession returns a session, or NotFound. A Tx locks it.
	CancelSession(ctx context.Context, id ID) (Session, error)
	// CancelSessionContract returns the contract of a session, or NotFound, without locking.
	CancelSessionContract(ctx context.Context, id ID) (contract.ID, error)
	// DueCancelSessions returns at most limit sessions whose DueAt is at or before now, the
	// longest due first, without locking.
	DueCancelSessions(ctx context.Context, now time.Time, limit int) ([]ID, error)
	// OpenCancelSession returns the contract's session that has not ended; false: it has none.
	// A Tx locks it.
	OpenCancelSession(ctx context.Context, c contract.ID) (Session, bool, error)
	// CancelSessionsOf returns a customer's sessions that began at or after an instant,
	// newest first, without locking.
	CancelSessionsOf(ctx context.Context, customer int64, since time.Time) ([]Session, error)
	// DiscountsSince returns what discounts that were accepted at or after an instant cost, in
	// minor units, without locking.
	DiscountsSince(ctx context.Context, since time.Time, in money.Currency) (int64, error)
}

// Reader reads what a session depends on.
type Reader interface {
	flow.Reader
	SessionReader
	billing.InputReader
	billing.PlanReader
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// AttemptsOf returns the contracts' attempts in any of the statuses, by contract and cycle.
	AttemptsOf(ctx context.Context, contracts []contract.ID, in ...billing.Status) ([]billing.Attempt, error)
	// PortalSettings returns the shop's settings of the portal.
	PortalSettings(ctx context.Context) (portal.Settings, error)
}

// facts are what an offer to a customer depends on.
type facts struct {
	shop     shop.Shop
	calendar cadence.Calendar
	contract contract.Contract
	attempts []billing.Attempt // of the contract, that are not over for good
	inputs   billing.Inputs    // of the contract's orders
	groups   []plan.Group      // of its lines' selling plans
	recent   []Session         // of the customer, within a year, with this one
	spent    int64             // on discounts, within the period of the budget
	actor    activity.Actor

	portal portal.Settings

	// Of the platform, read outside of transactions.
	catalogue catalogue
}

// catalogue is what the platform says of the products of offers.
type catalogue struct {
	sold   map[int64]platform.Variant
	prices map[int64]money.Amount // by variant: a unit of it in the contract's next order
	totals map[int64]money.Amount // by selling plan: the lines of the contract
}

// once is how long a customer who had a discount gets no other one, and how far back the
// customer's sessions are read.
const once = 365 * 24 * time.Hour

// budgetPeriod is the period of the budget.
const budgetPeriod = 30 * 24 * time.Hour

// readFacts reads what an offer depends on.
func readFacts(ctx context.Context, tx Reader, c contract.Contract, f flow.Flow, by activity.Actor, now time.Time) (facts, error) {
	x := facts{contract: c, actor: by}
	var err error
	if x.shop, err = tx.Shop(ctx); err != nil {
		return x, err
	}
	if x.calendar, err = x.shop.Calendar(); err != nil {
		return x, err
	}
	if x.portal, err = tx.PortalSettings(ctx); err != nil {
		return x, err
	}
	if x.attempts, err = tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Unfinished...); err != nil {
		return x, err
	}
	inputs, err := billing.ReadInputs(ctx, tx, x.shop, map[contract.ID]*contract.Contract{c.ID: &c})
	if err != nil {
		return x, err
	}
	x.inputs = inputs[c.ID]
	if x.groups, err = groupsOf(ctx, tx, c); err != nil {
		return x, err
	}
	if x.recent, err = tx.CancelSessionsOf(ctx, c.Customer.ID, now.Add(-once)); err != nil {
		return x, err
	}
	if f.Budget > 0 {
		x.spent, err = tx.DiscountsSince(ctx, now.Add(-budgetPeriod), f.Currency)
	}
	return x, err
}

// groupsOf returns the plan groups of a contract's lines, each once.
func groupsOf(ctx context.Context, tx Reader, c contract.Contract) ([]plan.Group, error) {
	plans := billing.SellingPlans(c.Lines)
	if len(plans) == 0 {
		return nil, nil
	}
	found, err := tx.PlanGroups(ctx, plans)
	if err != nil {
		return nil, err
	}
	var list []plan.Group
	for _, p := range plans {
		g, known := found[p]
		if known && !slices.ContainsFunc(list, func(x plan.Group) bool { return x.ID == g.ID }) {
			list = append(list, g)
		}
	}
	return list, nil
}

// groupIDs returns the numbers of groups.
func groupIDs(groups []plan.Group) []int64 {
	ids := make([]int64, len(groups))
	for i, g := range groups {
		ids[i] = int64(g.ID)
	}
	return ids
}

// queued returns the upcoming orders, the next one first.
func (x facts) queued() []billing.Attempt {
	list := billing.OnlyQueued(x.attempts)
	slices.SortStableFunc(list, func(a, b billing.Attempt) int { return a.BillingDate.Compare(b.BillingDate) })
	return list
}

// record returns an upcoming order with what it would cost, given the queue.
func (x facts) record(a billing.Attempt, queue []billing.Attempt) billing.Record {
	return billing.RecordOf(a, x.contract, x.inputs, queue)
}

// next returns the contract's next order; false: it has none.
func (x facts) next() (billing.Record, bool) {
	queue := x.queued()
	first, ok := billing.Earliest(queue)
	if !ok {
		return billing.Record{}, false
	}
	return x.record(first, queue), true
}
