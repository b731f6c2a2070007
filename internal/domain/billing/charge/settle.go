package charge

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/annotate"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/billing/settlement"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// settling is the unit of work of charges.
type settling struct {
	cases.Cases
	others map[contract.ID][]billing.Attempt // due or in flight, of contracts whose charges the platform never received
	made   []billing.AttemptID               // attempts whose order was made
	unsure map[billing.AttemptID]bool        // those of them whose order may have other lines
	stats  billing.ChargeStats               // charges that ended
}

func newSettling(u *settlement.Unit) *settling {
	return &settling{Cases: cases.Cases{Unit: u}, unsure: make(map[billing.AttemptID]bool)}
}

// close writes every change and what follows from it: annotations of new orders and the
// store's circuit breaker.
func (l *settling) close(ctx context.Context, tx billing.Tx) error {
	if err := l.DropSuperseded(ctx, tx); err != nil {
		return err
	}
	orders := make([]annotate.Order, len(l.made))
	for i, id := range l.made {
		a := l.Attempts[id]
		orders[i] = annotate.Order{Attempt: *a, Note: l.Contracts[a.Contract].Note, LinesUnsure: l.unsure[id]}
	}
	if err := annotate.Orders(ctx, tx, orders, l.Now); err != nil {
		return err
	}
	if err := l.updateBreaker(ctx, tx); err != nil {
		return err
	}
	return l.Close(ctx, tx)
}

// settle writes the findings about claimed attempts. It leaves out an attempt that has
// changed since the claim.
func (s *Service) settle(ctx context.Context, asked shop.Shop, findings []finding) error {
	if len(findings) == 0 {
		return nil
	}
	ids := make([]billing.AttemptID, len(findings))
	for i, f := range findings {
		ids[i] = f.ID
	}
	return settlement.Update(ctx, s.Env, asked.ID, ids, func(tx billing.Tx, u *settlement.Unit) error {
		l := newSettling(u)
		l.AskedWith = asked.Token
		if err := l.readOthers(ctx, tx, findings); err != nil {
			return err
		}
		for _, f := range findings {
			a := l.Attempts[f.ID]
			if a == nil || f.late || a.Try != f.Try || (a.Status != f.Status && f.found == nil) {
				continue
			}
			if err := l.learn(a, f); err != nil {
				return err
			}
		}
		return l.close(ctx, tx)
	})
}

// readOthers reads the other due attempts of contracts whose charges the platform never
// received.
func (l *settling) readOthers(ctx context.Context, tx billing.Tx, findings []finding) error {
	var unseen []billing.Attempt
	for _, f := range findings {
		if f.absent && f.found == nil && f.refused == nil {
			unseen = append(unseen, f.Attempt)
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	open, err := tx.OpenAttempts(ctx, billing.ContractIDs(unseen), l.Now)
	l.others = billing.ByContract(open)
	return err
}

// Settle writes the outcomes of attempts that the platform has reported, in the caller's
// transaction. It ignores attempts that are not ours.
func (s *Service) Settle(ctx context.Context, tx billing.Tx, found []platform.Attempt) error {
	keys := make([]string, 0, len(found))
	for _, p := range found {
		keys = append(keys, p.Key)
	}
	rows, err := tx.AttemptsByKey(ctx, keys)
	if err != nil {
		return err
	}
	current := make(map[string]billing.AttemptID, len(rows))
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
	u, err := settlement.Open(ctx, s.Env, tx, rows)
	if err != nil {
		return err
	}
	l := newSettling(u)
	for i := range found {
		p := &found[i]
		if id, ok := current[p.Key]; ok {
			if err := l.adopt(l.Attempts[id], p); err != nil {
				return err
			}
		} else if a, ok := earlier[p.Key]; ok {
			if err := l.adopt(l.Attempts[a.ID], p); err != nil {
				return err
			}
		}
	}
	return l.close(ctx, tx)
}

// Claim adopts a successful charge as that of an attempt, in the caller's transaction, also if
// it is not ours. An attempt that has an order keeps it.
func (s *Service) Claim(ctx context.Context, tx billing.Tx, id billing.AttemptID, p platform.Attempt) error {
	rows, err := tx.Attempts(ctx, []billing.AttemptID{id})
	if err != nil {
		return err
	}
	u, err := settlement.Open(ctx, s.Env, tx, rows)
	if err != nil {
		return err
	}
	l := newSettling(u)
	if a := l.Attempts[id]; a != nil {
		if err := l.adopt(a, &p); err != nil {
			return err
		}
	}
	return l.close(ctx, tx)
}

// earlierTries finds, by key, the attempts of successful charges that are earlier tries: a late
// success is an order too. It computes the keys, because only that of the current try is
// stored.
func (s *Service) earlierTries(ctx context.Context, tx billing.Tx, found []platform.Attempt, current map[string]billing.AttemptID) (map[string]billing.Attempt, error) {
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
	earlier := make(map[string]billing.Attempt)
	for _, a := range rows {
		for try := 1; try < max(a.Try, 2); try++ {
			if key := billing.KeyOf(shop.Domain, a.Contract, a.Cycle, try); wanted[key] {
				earlier[key] = a
			}
		}
	}
	return earlier, nil
}
