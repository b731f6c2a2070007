package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// feedRow is a row of event_feeds.
type feedRow struct {
	bun.BaseModel `bun:"table:event_feeds,alias:f"`

	ShopID     int64 `bun:"shop_id,pk"`
	Generation int64
	Ready      bool
	Position   int64
	Floor      int64
	CloseAt    int64 `bun:",nullzero"`
}

func (r *feedRow) Columns(m *mapping, f *webhook.Feed) {
	m.shop(&r.ShopID)
	mapSame(m, &r.Generation, &f.Generation)
	mapSame(m, &r.Ready, &f.Ready)
	mapSame(m, &r.Position, &f.Position)
	mapSame(m, &r.Floor, &f.Floor)
	mapTime(m, &r.CloseAt, &f.CloseAt)
}

// sequenceRow is a row of webhook_sequences.
type sequenceRow struct {
	bun.BaseModel `bun:"table:webhook_sequences,alias:n"`

	ShopID     int64       `bun:"shop_id,pk"`
	ContractID contract.ID `bun:"contract_id,pk"`
	CustomerID int64       `bun:"customer_id,pk"`
	Last       int64
}

// subject is the contract or the customer that a message is about; the other one is 0.
type subject struct {
	contract contract.ID
	customer int64
}

func (a subject) compare(b subject) int {
	return slices.Compare([]int64{int64(a.contract), a.customer}, []int64{int64(b.contract), b.customer})
}

// numberMessages gives messages their Sequence. The row that counts is locked until the commit:
// another transaction's messages about the same follow these, whichever node it runs on. Rows are
// locked in one order.
func (tx *Tx) numberMessages(ctx context.Context, list []webhook.Addressed) error {
	of := func(m webhook.Addressed) subject { return subject{m.Contract, m.Customer} }
	counts := map[subject]int64{}
	for _, m := range list {
		if s := of(m); s != (subject{}) {
			counts[s]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	rows := make([]sequenceRow, 0, len(counts))
	for s, n := range counts {
		rows = append(rows, sequenceRow{ShopID: int64(tx.of), ContractID: s.contract, CustomerID: s.customer, Last: n})
	}
	slices.SortFunc(rows, func(a, b sequenceRow) int {
		return subject{a.ContractID, a.CustomerID}.compare(subject{b.ContractID, b.CustomerID})
	})
	var found []sequenceRow
	err := tx.q.NewInsert().Model(&rows).On("CONFLICT (shop_id, contract_id, customer_id) DO UPDATE").Set("last = n.last + EXCLUDED.last").
		Returning("contract_id, customer_id, last").Scan(ctx, &found)
	if err != nil {
		return fmt.Errorf("number %d messages: %w", len(list), err)
	}
	next := make(map[subject]int64, len(found))
	for _, r := range found {
		s := subject{r.ContractID, r.CustomerID}
		next[s] = r.Last - counts[s]
	}
	for i, m := range list {
		if s := of(m); s != (subject{}) {
			next[s]++
			list[i].Sequence = next[s]
		}
	}
	return nil
}

// Feed returns how far the shop's events are numbered.
func (tx *Tx) Feed(ctx context.Context) (webhook.Feed, error) { return tx.feed(ctx, false) }

// LockFeed does the same under lock.
func (tx *Tx) LockFeed(ctx context.Context) (webhook.Feed, error) { return tx.feed(ctx, true) }

func (tx *Tx) feed(ctx context.Context, lock bool) (webhook.Feed, error) {
	var row feedRow
	q := tx.q.NewSelect().Model(&row).Where("f.shop_id = ?", tx.of)
	if lock {
		q = tx.dialect().forUpdate(q)
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Feed{}, nil
	}
	if err != nil {
		return webhook.Feed{}, fmt.Errorf("read how far events are numbered: %w", err)
	}
	return readRow[webhook.Feed](row)
}

// PutFeed inserts or replaces how far the shop's events are numbered.
func (tx *Tx) PutFeed(ctx context.Context, f webhook.Feed) error {
	row, err := rowOf[feedRow](tx.of, f)
	if err != nil {
		return err
	}
	_, err = tx.q.NewInsert().Model(&row).On("CONFLICT (shop_id) DO UPDATE").Set("generation = EXCLUDED.generation").Set("ready = EXCLUDED.ready").
		Set("position = EXCLUDED.position").Set("floor = EXCLUDED.floor").Set("close_at = EXCLUDED.close_at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("note how far events are numbered: %w", err)
	}
	return nil
}

// mayBePlaced is the assignment that lets a message have a position once its body is there.
const mayBePlaced = "position = CASE WHEN m.place_at IS NOT NULL AND m.position = 0 THEN -1 ELSE m.position END"

// PlaceWithoutBody lets a message have a position without a body.
func (tx *Tx) PlaceWithoutBody(ctx context.Context, id webhook.MessageID) error {
	_, err := tx.q.NewUpdate().Model((*webhookRow)(nil)).Set(mayBePlaced).Where("m.shop_id = ?", tx.of).Where("m.id = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("let message %s be an event without a body: %w", id, err)
	}
	return nil
}

// PostponePlacing lets a message that waits for a position wait until an instant, or all of them
// that would be looked at before.
func (tx *Tx) PostponePlacing(ctx context.Context, id webhook.MessageID, until time.Time) error {
	q := tx.q.NewUpdate().Model((*webhookRow)(nil)).Set("place_at = ?", millis(until)).Where("m.shop_id = ?", tx.of).Where("m.place_at < ?", millis(until))
	if id != "" {
		q = q.Where("m.id = ?", id)
	} else {
		q = q.Where("m.position = -1")
	}
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("put off events: %w", err)
	}
	return nil
}

// PlaceMessages gives at most limit messages the positions after one. A message waits for those
// before it about the same, and for those before it whose body was not tried yet. Its place among
// the others is that of its transaction, or of a later one that it waits for: positions follow
// from one transaction to one that began after its commit. The numbers of messages do not, for
// each node has a block of its own; nor do those of transactions alone, for one that began
// earlier may change a contract later.
func (tx *Tx) PlaceMessages(ctx context.Context, after int64, limit int) (int, error) {
	r, err := tx.q.NewRaw(`WITH waiting AS (
			SELECT id, sequence, MAX(position) OVER before AS state, MAX(tx_id) OVER before AS tx_id, MAX(added) OVER before AS added,
				CASE WHEN position = 0 AND place_at = at THEN 1 ELSE 0 END AS untried
			FROM webhook_messages WHERE shop_id = ?0 AND place_at IS NOT NULL
			WINDOW before AS (PARTITION BY contract_id, customer_id ORDER BY sequence)
		), sorted AS (
			SELECT id, state, tx_id, added, sequence, MAX(untried) OVER (ORDER BY tx_id, added, sequence) AS untried FROM waiting
		), ready AS (
			SELECT id, ROW_NUMBER() OVER (ORDER BY tx_id, added, sequence) AS n FROM sorted WHERE state = -1 AND untried = 0 ORDER BY n LIMIT ?2
		)
		UPDATE webhook_messages SET position = ?1 + ready.n, place_at = NULL FROM ready WHERE webhook_messages.shop_id = ?0 AND webhook_messages.id = ready.id`,
		tx.of, after, limit).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("give messages their positions: %w", err)
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// EventsAfter returns at most limit events after a position and up to another one.
func (tx *Tx) EventsAfter(ctx context.Context, after, upTo int64, types []webhook.Type, limit int) ([]webhook.Message, error) {
	var rows []webhookRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.position > 0").Where("m.position > ?", after).Where("m.position <= ?", upTo)
	if len(types) > 0 {
		q = q.Where("m.type IN (?)", bun.List(types))
	}
	if err := q.Order("m.position").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return parsed(rows, tx.db.webhookMessage)
}

// EventAt returns the id of the event at a position; empty when it is not kept.
func (tx *Tx) EventAt(ctx context.Context, position int64) (webhook.MessageID, error) {
	var id webhook.MessageID
	err := tx.q.NewSelect().Model((*webhookRow)(nil)).Column("m.id").Where("m.shop_id = ?", tx.of).Where("m.position > 0").Where("m.position = ?", position).Scan(ctx, &id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the event at %d: %w", position, err)
	}
	return id, nil
}

// ForgetEvents removes events from the first on and returns the position of the last of them.
func (tx *Tx) ForgetEvents(ctx context.Context, now time.Time, floor int64, all bool, limit int) (int64, error) {
	var rows []webhookRow
	err := tx.q.NewSelect().Model(&rows).Column("m.position", "m.expires_at").Where("m.shop_id = ?", tx.of).Where("m.position > 0").Order("m.position").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return floor, fmt.Errorf("find the events that are not kept: %w", err)
	}
	kept := slices.IndexFunc(rows, func(r webhookRow) bool { return !all && r.Position > floor && r.ExpiresAt > millis(now) })
	if kept < 0 {
		kept = len(rows)
	}
	if kept == 0 {
		return floor, nil
	}
	last := rows[kept-1].Position
	gone := func(q bun.QueryBuilder) bun.QueryBuilder {
		return q.Where("m.shop_id = ?", tx.of).Where("m.position > 0").Where("m.position <= ?", last)
	}
	_, err = tx.q.NewDelete().Model((*webhookRow)(nil)).ApplyQueryBuilder(gone).
		Where("m.expires_at <= ? OR NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.shop_id = m.shop_id AND d.message_id = m.id)", millis(now)).Exec(ctx)
	if err == nil {
		_, err = tx.q.NewUpdate().Model((*webhookRow)(nil)).Set("position = 0").ApplyQueryBuilder(gone).Exec(ctx)
	}
	if err != nil {
		return floor, fmt.Errorf("remove events up to %d: %w", last, err)
	}
	return max(floor, last), nil
}

// ForgetUnplaced lets no message that waits have a position.
func (tx *Tx) ForgetUnplaced(ctx context.Context) error {
	_, err := tx.q.NewDelete().Model((*webhookRow)(nil)).Where("m.shop_id = ?", tx.of).Where("m.place_at IS NOT NULL").
		Where("NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.shop_id = m.shop_id AND d.message_id = m.id)").Exec(ctx)
	if err == nil {
		_, err = tx.q.NewUpdate().Model((*webhookRow)(nil)).Set("place_at = NULL").Set("position = 0").Where("m.shop_id = ?", tx.of).Where("m.place_at IS NOT NULL").Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("let messages be no events: %w", err)
	}
	return nil
}

// runningWriters lists the transactions of this database that have written something. The number
// of the oldest one that a snapshot has would be of any database of the cluster.
const runningWriters = `SELECT l.transactionid::text FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
	WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND a.datname = current_database()`

// AwaitWriters waits for a moment for all transactions that run now to end. On SQLite none runs
// beside the one that committed last.
func (s webhookStore) AwaitWriters(ctx context.Context) (bool, error) {
	if !s.db.engine.dialect().locks {
		return true, nil
	}
	var before []string
	for run := 1; ; run++ {
		var running []string
		if err := s.db.reader.NewRaw(runningWriters).Scan(ctx, &running); err != nil {
			return false, fmt.Errorf("ask which transactions run: %w", err)
		}
		if run == 1 {
			before = running
		}
		ended := !slices.ContainsFunc(before, func(tx string) bool { return slices.Contains(running, tx) })
		if ended || run == maxRuns || ctx.Err() != nil {
			return ended, ctx.Err()
		}
		pause(ctx, run)
	}
}
