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
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		least, most := d.MinCycles, d.MaxCycles
		var c amend.Change
		for _, limit := range []struct {
			want  *int
			is    *int
			field string
		}{{want.Min, &least, "minCycles"}, {want.Max, &most, "maxCycles"}} {
			if limit.want == nil || *limit.want == *limit.is {
				continue
			}
			c.Entries = append(c.Entries, amend.Note{Event: activity.SubscriptionContractUpdated, Details: termsDetails{
				Field: limit.field, From: fmt.Sprint(*limit.is), To: fmt.Sprint(*limit.want),
			}})
			*limit.is = *limit.want
		}
		if most > 0 && most < least {
			return amend.Change{}, fault.New(fault.FailedPrecondition, "maxCycles %d is less than minCycles %d", most, least).Entity(amend.Entity).Code("cycleLimits")
		}
		if want.Max != nil && most > 0 && most < d.Orders {
			return amend.Change{}, fault.New(fault.FailedPrecondition, "subscription contract %d has had %d orders: maxCycles cannot be less", d.ID, d.Orders).
				Entity(amend.Entity).Code("cycleLimits").Field("maxCycles")
		}
		c.Edit.Billing = new(terms.PlatformPolicy(terms.FrequencyOf(d.Billing), d.Billing, least, most))
		return c, nil
	})
}
