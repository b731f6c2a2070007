package loyalty

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ImportCommand brings a member from another programme.
type ImportCommand struct {
	Who    Person
	Born   string // YYYY-MM-DD; empty: not known
	Points Points // 0: none
	// Key names the points: repeated under the same key, they are posted once.
	Key   string
	Note  string
	Actor activity.Actor
}

// Brought returns the points that were brought under a key.
func (s *Service) Brought(ctx context.Context, of shop.ID, key string) (brought Points, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		posted, err := tx.Posted(ctx, []Source{{Import, key}})
		brought = sum(posted)
		return err
	})
	return brought, err
}

// sum returns the points that entries made available.
func sum(posted []Entry) (points Points) {
	for _, e := range posted {
		points += e.Available
	}
	return points
}

// Import enrols a customer with the points of another programme, and returns the points that were
// posted under the key, now or before. The customer needs no contract yet, is given nothing for
// becoming a member, and no notice is sent. An existing member gets the points.
func (s *Service) Import(ctx context.Context, of shop.ID, cmd ImportCommand) (m Member, brought Points, err error) {
	m, err = s.act(ctx, of, request{who: CustomerRef{Customer: cmd.Who.Customer}, actor: cmd.Actor}, func(d *memberTx) error {
		source := Source{Import, cmd.Key}
		posted, err := d.tx.Posted(ctx, []Source{source})
		if err != nil {
			return err
		}
		if brought = sum(posted); len(posted) > 0 {
			return nil
		}
		brought = cmd.Points
		d.quiet = true
		a, err := d.find(ctx)
		switch {
		case fault.Is(err, fault.NotFound):
			a, err = d.add(ctx, cmd.Who, cmd.Born)
		case err == nil && cmd.Points == 0:
			return nil
		}
		if err != nil {
			return err
		}
		if a.Status == Excluded {
			return fault.New(fault.FailedPrecondition, "the customer is excluded from the programme").Entity(entity).Code("customerExcluded")
		}
		l, err := d.openAll(ctx, a)
		if err != nil {
			return err
		}
		if cmd.Points > 0 {
			if err := l.Adjust(Posting{Source: source, Points: cmd.Points, Note: cmd.Note, Actor: cmd.Actor.By, Description: "Brought from another programme"}); err != nil {
				return err
			}
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "brought from another programme", Points: cmd.Points.Float()})
	})
	return m, brought, err
}
