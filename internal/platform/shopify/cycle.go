package shopify

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// statusBilled is the status of a cycle that was paid for.
const statusBilled = "BILLED"

// Cycles returns the cycles that the platform knows of those asked for.
func (c *Client) Cycles(ctx context.Context, shop platform.Shop, contract int64, from, to int) ([]platform.Cycle, error) {
	var cycles []platform.Cycle
	if to < from {
		return nil, nil
	}
	for cursor, more := "", true; more; {
		got, err := admin.Cycles(ctx, c.session(shop), gid.Of(typeContract, contract), from, to, cursor)
		if err != nil {
			return nil, fmt.Errorf("read cycles %d to %d of contract %d: %w", from, to, contract, err)
		}
		page := got.SubscriptionBillingCycles
		for _, n := range page.Nodes {
			cycles = append(cycles, newCycle(n))
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return cycles, nil
}

func newCycle(n admin.CycleNode) platform.Cycle {
	return platform.Cycle{
		Index:    n.CycleIndex,
		Start:    n.CycleStartAt,
		End:      n.CycleEndAt,
		Expected: n.BillingAttemptExpectedDate,
		Billed:   n.Status == statusBilled,
		Skipped:  n.Skipped,
		Edited:   n.Edited,
	}
}

// SkipCycle skips a cycle. That it is skipped already is no error.
func (c *Client) SkipCycle(ctx context.Context, shop platform.Shop, contract int64, cycle int) error {
	s := c.session(shop)
	got, err := admin.SkipCycle(ctx, s, cycleInput(contract, cycle))
	if err == nil {
		if p := got.SubscriptionBillingCycleSkip; p == nil {
			err = errNoPayload()
		} else if err = answered(p.UserErrors); err != nil && s.cycleHas(ctx, contract, cycle, skipped) {
			err = nil
		}
	}
	return about(err, "skip cycle %d of contract %d", cycle, contract)
}

// UnskipCycle takes back a skip. That the cycle is not skipped is no error.
func (c *Client) UnskipCycle(ctx context.Context, shop platform.Shop, contract int64, cycle int) error {
	s := c.session(shop)
	got, err := admin.UnskipCycle(ctx, s, cycleInput(contract, cycle))
	if err == nil {
		if p := got.SubscriptionBillingCycleUnskip; p == nil {
			err = errNoPayload()
		} else if err = answered(p.UserErrors); err != nil && s.cycleHas(ctx, contract, cycle, notSkipped) {
			err = nil
		}
	}
	return about(err, "unskip cycle %d of contract %d", cycle, contract)
}

// MoveCycle moves a cycle. That it is expected at that time already is no error.
func (c *Client) MoveCycle(ctx context.Context, shop platform.Shop, contract int64, cycle int, at time.Time) error {
	s := c.session(shop)
	got, err := admin.MoveCycle(ctx, s, cycleInput(contract, cycle), admin.SubscriptionBillingCycleScheduleEditInput{
		BillingDate: at.UTC(),
		Reason:      admin.SubscriptionBillingCycleScheduleEditInputScheduleEditReasonDevInitiated,
	})
	if err == nil {
		if p := got.SubscriptionBillingCycleScheduleEdit; p == nil {
			err = errNoPayload()
		} else if err = answered(p.UserErrors); err != nil && s.cycleHas(ctx, contract, cycle, expectedAt(at)) {
			err = nil
		}
	}
	return about(err, "move cycle %d of contract %d", cycle, contract)
}

// SetNextBillingDate writes the date that the platform shows.
func (c *Client) SetNextBillingDate(ctx context.Context, shop platform.Shop, contract int64, at time.Time) error {
	got, err := admin.SetNextBillingDate(ctx, c.session(shop), gid.Of(typeContract, contract), at.UTC())
	if err == nil {
		if p := got.SubscriptionContractSetNextBillingDate; p == nil {
			err = errNoPayload()
		} else {
			err = answered(p.UserErrors)
		}
	}
	return about(err, "set the next billing date of contract %d", contract)
}

// cycleHas reads a cycle after the platform refused to change it and reports
// whether it already is as requested. The platform does not document its answer to a
// change that was made before.
func (s session) cycleHas(ctx context.Context, contract int64, cycle int, wanted func(platform.Cycle) bool) bool {
	cycles, err := s.client.Cycles(ctx, s.shop, contract, cycle, cycle)
	return err == nil && len(cycles) == 1 && cycles[0].Index == cycle && wanted(cycles[0])
}

func skipped(c platform.Cycle) bool    { return c.Skipped }
func notSkipped(c platform.Cycle) bool { return !c.Skipped }

// expectedAt compares whole seconds: the platform writes no more.
func expectedAt(at time.Time) func(platform.Cycle) bool {
	return func(c platform.Cycle) bool { return !c.Skipped && c.Expected.Unix() == at.Unix() }
}

// cycleInput names a cycle by its index: never by date, which may fall into
// another cycle than was meant.
func cycleInput(contract int64, index int) admin.SubscriptionBillingCycleInput {
	return admin.SubscriptionBillingCycleInput{
		ContractId: gid.Of(typeContract, contract),
		Selector:   admin.SubscriptionBillingCycleSelector{Index: index},
	}
}

// answered returns the refusal among a mutation's errors, if there is one.
func answered(errs []wire.UserError) error {
	if r, ok := refused(errs); ok {
		return r
	}
	return nil
}

// errNoPayload says that a mutation was answered with nothing at all.
func errNoPayload() error {
	return fmt.Errorf("%w: an answer without a payload", platform.ErrUnknown)
}

// about wraps an error with what was being tried.
func about(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
