package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// underway is a change of a contract that the contract's row says is on its way to
// the platform, so that an event which is quicker than the answer is not taken for
// the word that somebody else has made it. It keeps nobody from changing the same
// contract.
type underway struct {
	contract contract.ID
	as       contract.InFlightEdit
}

// carry has a change of a contract made at the platform, and announces it first, by
// the revision that is changed. What the platform answers must be adopted with the
// announcement, which ends by that. One of a change that was not made is recalled;
// while nobody knows whether it was, it stays, and ends by itself.
func (s *Service) carry(ctx context.Context, of shop.ID, id contract.ID, from uint64, change func() (platform.Detail, error)) (after platform.Detail, told *underway, err error) {
	if told, err = s.announce(ctx, of, id, from); err != nil {
		return platform.Detail{}, nil, err
	}
	if after, err = change(); err == nil {
		return after, told, nil
	}
	if !errors.Is(err, platform.ErrUnknown) {
		s.recall(ctx, of, told)
		told = nil
	}
	return platform.Detail{}, told, unanswered(err)
}

func (s *Service) announce(ctx context.Context, of shop.ID, id contract.ID, from uint64) (*underway, error) {
	next := underway{id, contract.InFlightEdit{From: from, Until: s.Clock.Now().Add(PendingChangeTimeout)}}
	return &next, s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{id})
		if err != nil || len(rows) == 0 {
			return err
		}
		rows[0].BeginEdit(next.as, s.Clock.Now())
		return tx.PutContracts(ctx, rows)
	})
}

// recall takes back what was announced and not adopted. What cannot be taken back
// ends by itself.
func (s *Service) recall(ctx context.Context, of shop.ID, mine *underway) {
	err := s.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].EndEdit(mine.as) {
			return err
		}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		s.Log.WarnContext(ctx, "events of a contract wait until its change ends", "contract", mine.contract, "error", err)
	}
}
