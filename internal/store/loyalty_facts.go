package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// factRow is a row of loyalty_facts. Its source is an attempt of a renewal, or a
// contract: for its first order and for its start.
type factRow struct {
	bun.BaseModel `bun:"table:loyalty_facts,alias:f"`

	ShopID     int64  `bun:"shop_id,pk"`
	SourceType string `bun:"source_type,pk"`
	SourceID   int64  `bun:"source_id,pk"`
	OccurredAt int64
	DueAt      int64 `bun:",nullzero"`
}

// ProgramActive reports whether the shop's programme is active, and keeps it from being
// started until the transaction ends.
func (tx *Tx) ProgramActive(ctx context.Context) (bool, error) {
	if err := tx.lockStart(ctx, "pg_advisory_xact_lock_shared"); err != nil {
		return false, err
	}
	active, err := tx.q.NewSelect().Model((*programRow)(nil)).Where("p.shop_id = ?", tx.of).Where("p.id = 1").Where("p.active").Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look for a loyalty programme: %w", err)
	}
	return active, nil
}

// lockStart locks the start of the shop's programme until the transaction ends.
// Transactions that note orders share the lock, and the one that starts the programme
// holds it alone, so that every order is either noted or found as a past one.
func (tx *Tx) lockStart(ctx context.Context, lock string) error {
	if !tx.dialect().locks {
		return nil
	}
	if _, err := tx.q.NewRaw("SELECT "+lock+"(hashtextextended(?, 0))", fmt.Sprintf("loyalty programme of shop %d", tx.of)).Exec(ctx); err != nil {
		return fmt.Errorf("wait for the start of a loyalty programme: %w", err)
	}
	return nil
}

// factSources holds the rows that facts come from, and when each happened.
var factSources = []struct {
	of         loyalty.SourceType
	at, source string
}{
	{loyalty.Start, "created_at", "contracts WHERE shop_id = ?"},
	{loyalty.Purchase, "created_at", "contracts WHERE shop_id = ? AND origin_order_id <> 0"},
	{loyalty.Renewal, "updated_at", "attempts WHERE shop_id = ? AND status = 'SUCCESS' AND order_id <> 0"},
}

// AddFacts adds the facts of attempts and contracts that have none, and enqueues the task
// that works them.
func (tx *Tx) AddFacts(ctx context.Context, attempts, contracts []int64) error {
	added := int64(0)
	for _, s := range factSources {
		ids := contracts
		if s.of == loyalty.Renewal {
			ids = attempts
		}
		if len(ids) == 0 {
			continue
		}
		res, err := tx.q.NewRaw("INSERT INTO loyalty_facts (shop_id, source_type, source_id, occurred_at, due_at) SELECT shop_id, ?, id, "+s.at+", "+s.at+
			" FROM "+s.source+" AND id IN (?) ON CONFLICT DO NOTHING", string(s.of), int64(tx.of), bun.List(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note what was ordered: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		added += n
	}
	if added == 0 {
		return nil
	}
	return tx.Enqueue(ctx, loyalty.Work{Shop: tx.of})
}

// AddPastFacts adds the first orders and renewals since an instant that have no fact. It
// waits for the transactions that are noting some.
func (tx *Tx) AddPastFacts(ctx context.Context, since, now time.Time) error {
	if err := tx.lockStart(ctx, "pg_advisory_xact_lock"); err != nil {
		return err
	}
	for _, s := range factSources {
		_, err := tx.q.NewRaw("INSERT INTO loyalty_facts (shop_id, source_type, source_id, occurred_at, due_at) SELECT shop_id, ?, id, "+s.at+", ? FROM "+s.source+
			" AND "+s.at+" >= ? ON CONFLICT DO NOTHING", string(s.of), millis(now), int64(tx.of), millis(since)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note what was ordered before: %w", err)
		}
	}
	return nil
}

// Facts returns at most limit facts that wait to be worked, oldest first, passing
// over those that another transaction holds.
func (tx *Tx) Facts(ctx context.Context, now time.Time, limit int) ([]loyalty.Fact, error) {
	var rows []factRow
	q := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", tx.of).Where("f.due_at <= ?", millis(now)).
		Order("f.occurred_at", "f.source_id", "f.source_type").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read what may earn points: %w", err)
	}
	var attempts, contracts []int64
	for _, r := range rows {
		if r.SourceType == string(loyalty.Renewal) {
			attempts = append(attempts, r.SourceID)
		} else {
			contracts = append(contracts, r.SourceID)
		}
	}
	charged := make(map[int64]attemptRow, len(attempts))
	if len(attempts) > 0 {
		var found []attemptRow
		if err := tx.q.NewSelect().Model(&found).Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(attempts)).Scan(ctx); err != nil {
			return nil, fmt.Errorf("read the orders that may earn points: %w", err)
		}
		for _, a := range found {
			charged[a.ID] = a
			contracts = append(contracts, a.ContractID)
		}
	}
	begun := make(map[int64]contract.Contract, len(contracts))
	if len(contracts) > 0 {
		var found []contractRow
		if err := tx.q.NewSelect().Model(&found).Where("c.shop_id = ?", tx.of).Where("c.id IN (?)", bun.List(contracts)).Scan(ctx); err != nil {
			return nil, fmt.Errorf("read the contracts that may earn points: %w", err)
		}
		list, err := readRows[contract.Contract](found)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			begun[int64(c.ID)] = c
		}
	}
	facts := make([]loyalty.Fact, len(rows))
	for i, r := range rows {
		facts[i] = r.fact(charged, begun)
	}
	return facts, tx.addParts(ctx, facts)
}

// addParts adds to the first orders of contracts what else was ordered with them.
func (tx *Tx) addParts(ctx context.Context, facts []loyalty.Fact) error {
	var customers, orders []int64
	for _, f := range facts {
		if f.Type == loyalty.Purchase && f.Order != 0 {
			customers, orders = append(customers, f.Customer.Customer), append(orders, f.Order)
		}
	}
	if len(orders) == 0 {
		return nil
	}
	var rows []contractRow
	err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.customer_id IN (?)", bun.List(customers)).
		Where("c.origin_order_id IN (?)", bun.List(orders)).Where("c.split_from = 0").Order("c.id").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read what was ordered together: %w", err)
	}
	list, err := readRows[contract.Contract](rows)
	if err != nil {
		return err
	}
	for i := range facts {
		f := &facts[i]
		for _, c := range list {
			part := loyalty.Part{Source: loyalty.Source{Type: loyalty.Purchase, ID: strconv.FormatInt(int64(c.ID), 10)}, Amount: c.FirstOrderAmount()}
			if f.Type == loyalty.Purchase && c.OriginOrderID == f.Order && c.Customer.ID == f.Customer.Customer && part.Source != f.Source {
				f.With = append(f.With, part)
			}
		}
	}
	return nil
}

// fact returns the fact of a row. It names no customer when the attempt or the contract is
// gone, or when the contract was split off and so continues an earlier one.
func (r factRow) fact(charged map[int64]attemptRow, begun map[int64]contract.Contract) loyalty.Fact {
	f := loyalty.Fact{Source: loyalty.Source{Type: loyalty.SourceType(r.SourceType), ID: strconv.FormatInt(r.SourceID, 10)}, At: instant(r.OccurredAt)}
	id := r.SourceID
	if a, ok := charged[r.SourceID]; ok && r.SourceType == string(loyalty.Renewal) {
		id, f.Order, f.OrderName, f.Cycle = a.ContractID, a.OrderID, a.OrderName, int(a.Cycle)
		f.Amount = money.Amount{Minor: a.Amount, Currency: money.Currency(a.Currency)}
	}
	c, ok := begun[id]
	begins := f.Type == loyalty.Purchase || f.Type == loyalty.Start
	if !ok || begins && c.SplitOff() {
		return f
	}
	f.Customer = loyalty.Person{Customer: c.Customer.ID, Email: c.Customer.Email, FirstName: c.Customer.FirstName, LastName: c.Customer.LastName}
	if begins {
		f.Order, f.OrderName, f.Amount = c.OriginOrderID, c.OriginOrderName, c.FirstOrderAmount()
	}
	return f
}

// FinishFacts marks facts as worked.
func (tx *Tx) FinishFacts(ctx context.Context, facts []loyalty.Fact) error {
	return eachOccasion(facts, func(of string, ids []int64) error {
		_, err := tx.q.NewUpdate().Model((*factRow)(nil)).Set("due_at = NULL").
			Where("f.shop_id = ?", tx.of).Where("f.source_type = ?", of).Where("f.source_id IN (?)", bun.List(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("finish %d facts: %w", len(ids), err)
		}
		return nil
	})
}

// DeleteFacts forgets facts.
func (tx *Tx) DeleteFacts(ctx context.Context, facts []loyalty.Fact) error {
	return eachOccasion(facts, func(of string, ids []int64) error {
		_, err := tx.q.NewDelete().Model((*factRow)(nil)).
			Where("f.shop_id = ?", tx.of).Where("f.source_type = ?", of).Where("f.source_id IN (?)", bun.List(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("forget %d facts: %w", len(ids), err)
		}
		return nil
	})
}

// eachOccasion runs do for what each occasion of the facts was about.
func eachOccasion(facts []loyalty.Fact, do func(of string, ids []int64) error) error {
	byType := make(map[string][]int64)
	for _, f := range facts {
		id, err := strconv.ParseInt(f.ID, 10, 64)
		if err != nil {
			return fmt.Errorf("read the number of a fact: %w", err)
		}
		byType[string(f.Type)] = append(byType[string(f.Type)], id)
	}
	for _, of := range sortedKeys(byType) {
		if err := do(of, byType[of]); err != nil {
			return err
		}
	}
	return nil
}

// LoyaltyShops returns at most limit shops, each once, in which members, orders
// or rewards wait for their instant.
func (s Shops) LoyaltyShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	var all []shop.ID
	seen := make(map[shop.ID]bool)
	for _, w := range []waiting{dueFacts, dueMembers, dueRewards} {
		ids, err := s.waitingFor(ctx, w, now, limit)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !seen[id] && len(all) < limit {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// What of loyalty waits.
var (
	dueFacts   = waiting{"loyalty_facts", "due_at"}
	dueMembers = waiting{"loyalty_accounts", "due_at"}
	dueRewards = waiting{"loyalty_rewards", "due_at"}
)
