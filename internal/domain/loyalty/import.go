package loyalty

import (
	"context"
	"fmt"

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
	Key string
	// Follow posts the difference where other points were posted under the key before: Points are all that the
	// programme has given by now.
	Follow bool
	Note   string
	Actor  activity.Actor
}

// Brought returns the points that were brought under a key.
func (s *Service) Brought(ctx context.Context, of shop.ID, key string) (brought Points, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		posted, err := broughtUnder(ctx, tx, key)
		brought = sum(posted)
		return err
	})
	return brought, err
}

// differencesAtOnce is the number of differences that one query looks for.
const differencesAtOnce = 8

// broughtUnder returns the entries of points that were brought under a key, with the differences after the first of them.
func broughtUnder(ctx context.Context, tx ReadTx, key string) (posted []Entry, err error) {
	for n := 0; n == len(posted); n += differencesAtOnce {
		var sources []Source
		for i := range differencesAtOnce {
			sources = append(sources, broughtSource(key, n+i))
		}
		more, err := tx.Posted(ctx, sources)
		if err != nil {
			return nil, err
		}
		posted = append(posted, more...)
	}
	return posted, nil
}

// broughtSource names the points of a key, or one of the differences after them, counted from 1.
func broughtSource(key string, difference int) Source {
	if difference == 0 {
		return Source{Import, key}
	}
	return Source{Import, fmt.Sprintf("%s|%d", key, difference)}
}

// sum returns the points that entries made available.
func sum(posted []Entry) (points Points) {
	for _, e := range posted {
		points += e.Available
	}
	return points
}

// Import enrols a customer with the points of another programme, and returns the points that were
// posted under the key, now and before. The customer needs no contract yet, is given nothing for
// becoming a member, and no notice is sent. An existing member gets the points. Points that were
// spent here cannot be taken back: fewer are taken then.
func (s *Service) Import(ctx context.Context, of shop.ID, cmd ImportCommand) (m Member, brought Points, err error) {
	m, err = s.act(ctx, of, request{who: CustomerRef{Customer: cmd.Who.Customer}, actor: cmd.Actor}, func(d *memberTx) error {
		posted, err := broughtUnder(ctx, d.tx, cmd.Key)
		if err != nil {
			return err
		}
		brought = sum(posted)
		by := cmd.Points - brought
		if len(posted) > 0 && (by == 0 || !cmd.Follow) {
			return nil
		}
		d.quiet = true
		a, err := d.find(ctx)
		switch {
		case fault.Is(err, fault.NotFound):
			a, err = d.add(ctx, cmd.Who, cmd.Born)
		case err == nil && by == 0:
			return nil
		}
		if err != nil {
			return err
		}
		if a.Status == Excluded {
			return fault.New(fault.FailedPrecondition, "the customer is excluded from the programme").Entity(entity).Code("customerExcluded")
		}
		by = max(by, -max(a.Sums.Available, 0))
		brought += by
		return d.bring(ctx, a, cmd, Posting{Source: broughtSource(cmd.Key, len(posted)), Points: by})
	})
	return m, brought, err
}

// bring posts points of another programme.
func (d *memberTx) bring(ctx context.Context, a Account, cmd ImportCommand, p Posting) error {
	l, err := d.openAll(ctx, a)
	if err != nil {
		return err
	}
	if p.Points != 0 {
		p.Note, p.Actor, p.Description = cmd.Note, cmd.Actor.By, "Brought from another programme"
		if err := l.Adjust(p); err != nil {
			return err
		}
	}
	if err := d.save(ctx, l); err != nil {
		return err
	}
	return d.record(ctx, cmd.Actor, l.Account, note{What: "brought from another programme", Points: p.Points.Float()})
}
