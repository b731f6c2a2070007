package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// maxAdoptions is how often the result of a change is taken over anew because the
// contract was written meanwhile.
const maxAdoptions = 20

// Adopt takes over what the platform answered, with the entries that are owed. A
// Change that was announced is so no more, whatever comes of it.
func (ed *Editor) Adopt(ctx context.Context, store shop.Shop, cmd Command, after platform.Detail, c Change) (contract.Detail, error) {
	now := ed.Clock.Now()
	by := intake.Authored{Also: c.Update, Moved: c.StatusChange}
	if c.InFlight != nil {
		by.Also = func(is *contract.Contract) {
			if c.Update != nil {
				c.Update(is)
			}
			is.Answered(c.InFlight.edit)
		}
	}
	for _, n := range c.Entries {
		by.Entries = append(by.Entries, activity.Entry{
			EntityID: after.ID, EntityType: activity.EntitySubscriptionContractDetails, Event: n.Event, Status: activity.Success,
			Actor: cmd.Actor, At: now, Info: activity.Details(n.Details),
		})
	}
	// The platform has made the change: whoever is in the way here is waited for.
	for try := 1; ; try++ {
		adopted, err := ed.Adopter.Adopt(ctx, store, after.Contract, by)
		if err == nil {
			return contract.DetailOf(adopted, after), nil
		}
		if !fault.Is(err, fault.Conflict) || try == maxAdoptions {
			if c.InFlight != nil {
				ed.withdraw(ctx, store.ID, c.InFlight)
			}
			return contract.Detail{}, err
		}
	}
}
