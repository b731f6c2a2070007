package loyalty

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// EnrolCommand enrols a customer.
type EnrolCommand struct {
	Who                 CustomerRef
	FirstName, LastName string // empty: from the customer's contracts
	Born                string // YYYY-MM-DD; empty: not known
	Actor               activity.Actor
}

// Enrol enrols a customer. An existing member stays one, and takes part again after having
// left.
func (s *Service) Enrol(ctx context.Context, of shop.ID, cmd EnrolCommand) (Member, error) {
	return s.act(ctx, of, request{who: cmd.Who, actor: cmd.Actor}, func(d *memberTx) error {
		a, err := d.find(ctx)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if a.Status == Excluded {
				return fault.New(fault.FailedPrecondition, "the customer is excluded from the programme").Entity(entity).Code("customerExcluded")
			}
			a.Status = Active
			if cmd.Born != "" {
				a.Born = cmd.Born
			}
			l, err := d.openAll(ctx, a)
			if err != nil {
				return err
			}
			return d.save(ctx, l)
		}
		who, err := d.customer(ctx)
		if err != nil {
			return err
		}
		who.FirstName, who.LastName = or(cmd.FirstName, who.FirstName), or(cmd.LastName, who.LastName)
		l, err := d.enrol(ctx, who, cmd.Born)
		if err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "enrolled"})
	})
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
