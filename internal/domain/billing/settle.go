package billing

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// settle writes what was learned of taken-up attempts. An attempt that somebody
// else has moved on meanwhile is left to them.
func (s *Service) settle(ctx context.Context, asked shop.Shop, findings []finding) error {
	if len(findings) == 0 {
		return nil
	}
	ids := make([]AttemptID, len(findings))
	for i, f := range findings {
		ids[i] = f.ID
	}
	return s.inLedger(ctx, asked.ID, ids, func(tx Tx, l *settlement) error {
		l.asked = asked.Token
		if err := l.readOthers(ctx, tx, findings); err != nil {
			return err
		}
		for _, f := range findings {
			a := l.attempts[f.ID]
			if a == nil || f.late || a.Try != f.Try || (a.Status != f.Status && f.found == nil) {
				continue
			}
			if err := l.learn(a, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// readOthers reads what else is due of the contracts of charges that the platform
// never saw.
func (l *settlement) readOthers(ctx context.Context, tx Tx, findings []finding) error {
	var unseen []Attempt
	for _, f := range findings {
		if f.absent && f.found == nil && f.refused == nil {
			unseen = append(unseen, f.Attempt)
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	open, err := tx.OpenAttempts(ctx, contractsOf(unseen), l.now)
	l.others = ByContract(open)
	return err
}

// Settle writes the ends of attempts that the platform told of by itself. It
// runs inside the caller's transaction. Attempts that are not ours are ignored.
func (s *Service) Settle(ctx context.Context, tx Tx, found []platform.Attempt) error {
	keys := make([]string, 0, len(found))
	for _, p := range found {
		keys = append(keys, p.Key)
	}
	rows, err := tx.AttemptsByKey(ctx, keys)
	if err != nil {
		return err
	}
	current := make(map[string]AttemptID, len(rows))
	for _, a := range rows {
		current[a.Key] = a.ID
	}
	earlier, err := s.earlierTries(ctx, tx, found, current)
	if err != nil {
		return err
	}
	for _, p := range found {
		if a, ok := earlier[p.Key]; ok {
			rows = append(rows, a)
		}
	}
	l, err := s.openLedger(ctx, tx, rows)
	if err != nil {
		return err
	}
	for i := range found {
		p := &found[i]
		if id, ok := current[p.Key]; ok {
			if err := l.adopt(l.attempts[id], p); err != nil {
				return err
			}
		} else if a, ok := earlier[p.Key]; ok {
			if err := l.adopt(l.attempts[a.ID], p); err != nil {
				return err
			}
		}
	}
	return l.close(ctx, tx)
}

// Claim takes a successful charge over as that of an attempt, whoever made it. It
// runs inside the caller's transaction. An attempt that has an order keeps it.
func (s *Service) Claim(ctx context.Context, tx Tx, id AttemptID, p platform.Attempt) error {
	rows, err := tx.Attempts(ctx, []AttemptID{id})
	if err != nil {
		return err
	}
	l, err := s.openLedger(ctx, tx, rows)
	if err != nil {
		return err
	}
	if a := l.attempts[id]; a != nil {
		if err := l.adopt(a, &p); err != nil {
			return err
		}
	}
	return l.close(ctx, tx)
}

// earlierTries finds, by key, the attempts of which a successful charge is an
// earlier try: a late success is an order all the same. Keys are computed anew,
// since only the current try's is stored.
func (s *Service) earlierTries(ctx context.Context, tx Tx, found []platform.Attempt, current map[string]AttemptID) (map[string]Attempt, error) {
	var of []contract.ID
	wanted := make(map[string]bool)
	for _, p := range found {
		if _, ok := current[p.Key]; !ok && p.State == platform.Succeeded {
			of = append(of, contract.ID(p.Contract))
			wanted[p.Key] = true
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	shop, err := tx.Shop(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.AttemptsOf(ctx, of)
	if err != nil {
		return nil, err
	}
	earlier := make(map[string]Attempt)
	for _, a := range rows {
		for try := 1; try < max(a.Try, 2); try++ {
			if key := KeyOf(shop.Domain, a.Contract, a.Cycle, try); wanted[key] {
				earlier[key] = a
			}
		}
	}
	return earlier, nil
}

// settlement collects the changes of one settling transaction, so that they are
// written together.
type settlement struct {
	now       time.Time
	policy    Policy
	shop      shop.Shop
	attempts  map[AttemptID]*Attempt
	contracts map[contract.ID]*contract.Contract
	others    map[contract.ID][]Attempt // of contracts of charges that the platform never saw: in flight, or QUEUED and due
	changed   []AttemptID
	advanced  []contract.ID
	entries   []activity.Entry
	restarted []contract.ID  // whose series begins anew
	returned  []contract.ID  // of which an attempt is back in the queue
	ordered   []AttemptID    // whose order was made
	unsure    []AttemptID    // of these, whose order may have other lines than are noted
	asked     platform.Token // with which the platform was asked
	gone      bool           // that token opens the store no more
	run       ChargeStats    // what ended
	guarded   bool           // the store's guard has changed

	superseded []AttemptID // unpaid orders of which a later one was paid
	tries      []CardTry
	mails      []notify.Message
	log        *slog.Logger
}

// inLedger runs do on the attempts as they are now and writes its changes, in
// one transaction.
func (s *Service) inLedger(ctx context.Context, of shop.ID, ids []AttemptID, do func(Tx, *settlement) error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		rows, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		l, err := s.openLedger(ctx, tx, rows)
		if err != nil {
			return err
		}
		if err := do(tx, l); err != nil {
			return err
		}
		return l.close(ctx, tx)
	})
}

func (s *Service) openLedger(ctx context.Context, tx Tx, rows []Attempt) (*settlement, error) {
	l := &settlement{now: s.Clock.Now(), policy: s.Policy, log: s.Log, attempts: make(map[AttemptID]*Attempt, len(rows))}
	for i := range rows {
		l.attempts[rows[i].ID] = &rows[i]
	}
	var err error
	if l.shop, err = tx.Shop(ctx); err != nil {
		return nil, err
	}
	l.contracts, err = byID(tx.Contracts(ctx, contractsOf(rows)))
	return l, err
}

// close writes everything.
func (l *settlement) close(ctx context.Context, tx Tx) error {
	if err := l.dropSuperseded(ctx, tx); err != nil {
		return err
	}
	written := make([]Attempt, 0, len(l.changed))
	seen := make(map[AttemptID]bool, len(l.changed))
	for _, id := range l.changed {
		if !seen[id] {
			seen[id] = true
			a := l.attempts[id]
			a.UpdatedAt = l.now
			written = append(written, *a)
		}
	}
	if err := tx.PutAttempts(ctx, written); err != nil {
		return err
	}
	if err := l.redate(ctx, tx); err != nil {
		return err
	}
	var still []*contract.Contract // of which nothing waits
	for _, id := range l.returned {
		if c := l.contracts[id]; c.Status != contract.Active && !slices.Contains(still, c) {
			still = append(still, c)
		}
	}
	if err := Replan(ctx, tx, l.shop, still, l.now); err != nil {
		return err
	}
	if err := Refill(ctx, tx, l.shop, chosen(l.contracts, l.advanced), l.now); err != nil {
		return err
	}
	if err := l.markOrders(ctx, tx); err != nil {
		return err
	}
	if err := tx.AddCardTries(ctx, l.tries); err != nil {
		return err
	}
	if err := notify.Queue(ctx, tx, l.shop.ID, l.mails...); err != nil {
		return err
	}
	if err := l.hear(ctx, tx); err != nil {
		return err
	}
	gone := l.gone && l.shop.Connected && l.shop.Token == l.asked // otherwise the store was connected anew meanwhile
	if gone || l.guarded {
		if gone {
			l.shop.Connected = false
			l.entries = append(l.entries, activity.ConnectionGone(int64(l.shop.ID), l.now))
		}
		if err := tx.PutShop(ctx, l.shop); err != nil {
			return err
		}
	}
	return tx.Record(ctx, l.entries...)
}
