package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// underway is a change of a contract that the contract's row says is on its way to
// the platform, so that an event which is quicker than the answer is not taken for
// the word that somebody else has made it. It keeps nobody from changing the same
// contract.
type underway struct {
	contract contract.ID // 0: none
	as       contract.Amending
}

// announce notes that a change of a revision is about to be carried to the platform.
// What was announced before is replaced.
func (s *Service) announce(ctx context.Context, of shop.ID, id contract.ID, from uint64, mine *underway) error {
	next := underway{id, contract.Amending{From: from, Until: s.Clock.Now().Add(Leash)}}
	err := s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{id})
		if err != nil || len(rows) == 0 {
			return err
		}
		if mine.contract != 0 {
			rows[0].Answered(mine.as)
		}
		rows[0].Begin(next.as, s.Clock.Now())
		return tx.PutContracts(ctx, rows)
	})
	if err == nil {
		*mine = next
	}
	return err
}

// recall takes back what was announced and not adopted. What cannot be taken back
// ends by itself.
func (s *Service) recall(ctx context.Context, of shop.ID, mine *underway) {
	if mine.contract == 0 {
		return
	}
	err := s.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].Answered(mine.as) {
			return err
		}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		s.Log.WarnContext(ctx, "events of a contract wait until its change ends", "contract", mine.contract, "error", err)
	}
}
