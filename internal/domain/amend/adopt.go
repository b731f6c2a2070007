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

// maxAdoptions is how often Adopt tries to store a result while other writers change the
// contract.
const maxAdoptions = 20

// Adopt stores a contract as the platform returned it, with the entries of the change.
// It also ends the edit in flight, whether or not storing succeeds.
func (ed *Editor) Adopt(ctx context.Context, store shop.Shop, cmd Command, after platform.Detail, c Change) (contract.Detail, error) {
	now := ed.Clock.Now()
	by := intake.AuthoredChange{Update: c.Update, StatusChange: c.StatusChange}
	if c.InFlight != nil {
		by.Update = func(is *contract.Contract) {
			if c.Update != nil {
				c.Update(is)
			}
			is.EndEdit(c.InFlight.edit)
		}
	}
	for _, n := range c.Entries {
		by.Entries = append(by.Entries, activity.Entry{
			EntityID: after.ID, EntityType: activity.EntitySubscriptionContractDetails, Event: n.Event, Status: activity.Success,
			Actor: cmd.Actor, At: now, Info: activity.Details(n.Details),
		})
	}
	// The platform has made the change, so a conflict is not an error: try again.
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
