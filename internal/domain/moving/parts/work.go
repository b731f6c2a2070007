package parts

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Lease runs fn on a move if this worker still has it, and writes it.
type Lease func(ctx context.Context, of shop.ID, taken moving.Move, fn func(tx moving.Tx, m *moving.Move, now time.Time) error) error

// Rest puts a move off after a failure, or notes that there was none.
type Rest func(m *moving.Move, failed error, now time.Time)

// Work takes a step with the parts of a move that a worker has; false: nothing is due, or contracts
// between the services come first, which neither charges.
func (s *Service) Work(ctx context.Context, store shop.Shop, taken moving.Move, lease Lease, rest Rest) (bool, error) {
	if !taken.Parts.Due() || taken.Paused {
		return false, nil
	}
	if between, err := s.betweenDue(ctx, store.ID, taken.ID); err != nil || between {
		return false, err
	}
	parts, failed := s.step(ctx, store, taken)
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	return true, lease(ctx, store.ID, taken, func(tx moving.Tx, m *moving.Move, now time.Time) error {
		m.DueAt = now
		rest(m, failed, now)
		if again := m.Parts != taken.Parts; failed == nil && !again { // again: reading or making was begun again meanwhile
			m.Parts = parts
			if taken.Parts.Make && !parts.Make {
				return takePlans(ctx, tx, m)
			}
		}
		return nil
	})
}

// betweenDue reports whether a step with a contract between the services is due.
func (s *Service) betweenDue(ctx context.Context, of shop.ID, id moving.ID) (due bool, err error) {
	stages := slices.DeleteFunc(slices.Clone(moving.Stages), func(g moving.Stage) bool { return !g.UnderWay() })
	err = s.Store.View(ctx, of, func(tx moving.ReadTx) error {
		items, err := tx.MoveItems(ctx, id, moving.Match{Stages: stages}, 0, mostListed)
		now := s.Clock.Now()
		due = slices.ContainsFunc(items, func(i moving.Item) bool { return !i.DueAt.IsZero() && !i.DueAt.After(now) })
		return err
	})
	return due, err
}

// takePlans takes the plans of groups that were made. What the merchant named stays. Contracts that
// were judged without them are read again.
func takePlans(ctx context.Context, tx moving.Tx, m *moving.Move) error {
	plans, err := Plans(ctx, tx, m.ID)
	if err != nil {
		return err
	}
	more := false
	for there, here := range plans {
		if _, named := m.Plans[there]; named {
			continue
		}
		if m.Plans == nil {
			m.Plans = map[int64]int64{}
		}
		m.Plans[there], more = here, true
	}
	if more && m.Status != moving.Listing {
		m.ListAgain()
	}
	return nil
}

// lists returns what is read of a service, in the order in which it is read.
func lists(p moving.Peer) []list {
	if p.Address == "" { // all comes from files
		return nil
	}
	lines := []shop.Line{shop.Subscriptions}
	if p.Memberships != "" {
		lines = append(lines, shop.Memberships)
	}
	var all []list
	for _, kind := range []moving.PartKind{moving.GroupPart, moving.RulePart, moving.BundlePart} {
		for _, line := range lines {
			all = append(all, list{kind, line})
		}
	}
	all = append(all, list{kind: moving.ProfilePart})
	if p.Loyalty != "" {
		all = append(all, list{kind: moving.MemberPart})
	}
	return all
}

// step takes the next step with the parts of a move: it reads a page or a batch, or makes a batch. It
// returns how far the move is then. A failure may be over when the step is taken again.
func (s *Service) step(ctx context.Context, of shop.Shop, m moving.Move) (moving.Parts, error) {
	j := &job{Service: s, store: of, move: m, now: s.Clock.Now()}
	p := m.Parts
	if p.BeganAt.IsZero() {
		p.BeganAt = j.now
	}
	var err error
	switch all := lists(m.Peer); {
	case p.ReadAt.IsZero() && p.Source < len(all):
		err = j.list(ctx, all[p.Source], &p)
	case p.ReadAt.IsZero():
		err = j.read(ctx, &p)
	default:
		err = j.make(ctx, &p)
	}
	return p, err
}
