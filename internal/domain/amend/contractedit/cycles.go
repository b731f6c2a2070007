package contractedit

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SetCycles changes the minimum and maximum number of cycles.
func (s *Service) SetCycles(ctx context.Context, of shop.ID, cmd amend.Command, want terms.Cycles) (contract.Detail, error) {
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		limits, err := LimitsAfter(d.Contract, want)
		if err != nil {
			return amend.Change{}, err
		}
		var c amend.Change
		for _, limit := range []struct {
			is, to int
			field  string
		}{{d.MinCycles, limits.MinCycles, "minCycles"}, {d.MaxCycles, limits.MaxCycles, "maxCycles"}} {
			if limit.is != limit.to {
				c.Entries = append(c.Entries, amend.Note{Event: activity.SubscriptionContractUpdated, Details: termsDetails{
					Field: limit.field, From: fmt.Sprint(limit.is), To: fmt.Sprint(limit.to),
				}})
			}
		}
		c.Edit.Billing = new(terms.PlatformPolicy(terms.FrequencyOf(d.Billing), d.Billing, limits.MinCycles, limits.MaxCycles))
		return c, nil
	})
}

// LimitsAfter returns a contract with other limits of its cycles, and refuses those that it
// cannot have.
func LimitsAfter(c contract.Contract, want terms.Cycles) (contract.Contract, error) {
	if err := amend.CheckEditable(c); err != nil {
		return c, err
	}
	if want.Min != nil {
		c.MinCycles = *want.Min
	}
	if want.Max != nil {
		c.MaxCycles = *want.Max
	}
	if c.MaxCycles > 0 && c.MaxCycles < c.MinCycles {
		return c, fault.New(fault.FailedPrecondition, "maxCycles %d is less than minCycles %d", c.MaxCycles, c.MinCycles).Entity(amend.Entity).Code("cycleLimits")
	}
	if want.Max != nil && c.MaxCycles > 0 && c.MaxCycles < c.Orders {
		return c, fault.New(fault.FailedPrecondition, "subscription contract %d has had %d orders: maxCycles cannot be less", c.ID, c.Orders).
			Entity(amend.Entity).Code("cycleLimits").Field("maxCycles")
	}
	return c, nil
}
