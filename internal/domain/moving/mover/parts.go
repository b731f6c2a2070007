package mover

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MakeParts has what the store has beside contracts read again, and makes what goes. What is made
// already is not changed.
func (s *Service) MakeParts(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error) {
	return s.change(ctx, of, id, by, "what the store has beside contracts is made", func(_ moving.Tx, m *moving.Move) error {
		m.Parts.ReadAgain()
		m.Parts.Make, m.Parts.Declined = true, false
		return nil
	})
}

// DeclineParts lets contracts be moved without what is not made.
func (s *Service) DeclineParts(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error) {
	return s.change(ctx, of, id, by, "contracts are moved without what the store has beside them", func(_ moving.Tx, m *moving.Move) error {
		m.Parts.Declined = true
		return nil
	})
}

// partsFirst refuses a first wave while parts that go are not made: swap rules change amounts, and
// contracts name the plans of plan groups.
func partsFirst(ctx context.Context, tx moving.ReadTx, m moving.Move) error {
	if m.File != nil || m.Wave > 0 || m.Parts.Declined {
		return nil
	}
	if m.Parts.Due() {
		return fault.New(fault.FailedPrecondition, "what the store has beside contracts is being read or made: wait until that is done, or decide that contracts move without it").Entity("move").Code("partsNotMade")
	}
	counts, err := tx.MovePartCounts(ctx, m.ID)
	if err != nil {
		return err
	}
	ready := 0
	for _, c := range counts {
		if c.Stage == moving.PartReady {
			ready += c.N
		}
	}
	if ready > 0 {
		return fault.New(fault.FailedPrecondition, "%d plan groups, swap rules, bundles or members go and are not made: make them, or decide that contracts move without them", ready).Entity("move").Code("partsNotMade")
	}
	return nil
}

// PartsOf returns at most limit parts of a move by their keys, after one, that match.
func (s *Service) PartsOf(ctx context.Context, of shop.ID, id moving.ID, match moving.PartMatch, after moving.PartKey, limit int) ([]moving.Part, error) {
	var list []moving.Part
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		if _, err = tx.Move(ctx, id); err != nil {
			return err
		}
		list, err = tx.MoveParts(ctx, id, match, after, limit)
		return err
	})
	return list, err
}
