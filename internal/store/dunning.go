package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// cardTryRow is a row of card_tries.
type cardTryRow struct {
	bun.BaseModel `bun:"table:card_tries,alias:y"`

	ShopID        int64 `bun:"shop_id,pk"`
	ID            int64 `bun:"id,pk"`
	PaymentMethod string
	TriedAt       int64
}

// CardTries returns, unlocked and by payment method, the tries since an instant
// that count against it.
func (tx *Tx) CardTries(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error) {
	tries := make(map[string][]time.Time, len(methods))
	if len(methods) == 0 {
		return tries, nil
	}
	var rows []cardTryRow
	err := tx.q.NewSelect().Model(&rows).Where("y.shop_id = ?", tx.of).Where("y.payment_method IN (?)", bun.List(methods)).
		Where("y.tried_at >= ?", millis(since)).Order("y.tried_at", "y.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tries of %d payment methods: %w", len(methods), err)
	}
	for _, r := range rows {
		tries[r.PaymentMethod] = append(tries[r.PaymentMethod], instant(r.TriedAt))
	}
	return tries, nil
}

// ChargesByCard returns, unlocked and by payment method, when charges of contracts that
// have it were sent last.
func (tx *Tx) ChargesByCard(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error) {
	sent := make(map[string][]time.Time, len(methods))
	if len(methods) == 0 {
		return sent, nil
	}
	var rows []struct {
		PaymentMethod string
		SentAt        int64
	}
	err := tx.q.NewSelect().TableExpr("contracts AS c").Join("JOIN attempts AS a ON a.shop_id = c.shop_id AND a.contract_id = c.id").
		ColumnExpr("c.payment_method, a.sent_at").Where("c.shop_id = ?", tx.of).Where("c.payment_method IN (?)", bun.List(methods)).
		Where("c.payment_method <> ''").Where("a.sent_at >= ?", max(millis(since), 1)).Order("c.id", "a.cycle").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read when %d payment methods were tried: %w", len(methods), err)
	}
	for _, r := range rows {
		sent[r.PaymentMethod] = append(sent[r.PaymentMethod], instant(r.SentAt))
	}
	return sent, nil
}

// AddCardTries notes tries. Older ones of the same payment methods, which do not
// count any more, are forgotten.
func (tx *Tx) AddCardTries(ctx context.Context, tries []billing.CardTry) error {
	if len(tries) == 0 {
		return nil
	}
	next, err := tx.db.ids.take(len(tries))
	if err != nil {
		return err
	}
	rows := make([]cardTryRow, len(tries))
	methods := make([]string, len(tries))
	newest := tries[0].At
	for i, t := range tries {
		rows[i] = cardTryRow{ShopID: int64(tx.of), ID: next + int64(i), PaymentMethod: clean(t.PaymentMethod), TriedAt: millis(t.At)}
		methods[i] = rows[i].PaymentMethod
		if t.At.After(newest) {
			newest = t.At
		}
	}
	_, err = tx.q.NewDelete().Model((*cardTryRow)(nil)).Where("y.shop_id = ?", tx.of).Where("y.payment_method IN (?)", bun.List(methods)).
		Where("y.tried_at < ?", millis(newest.Add(-2*dunning.TryWindow))).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget old tries: %w", err)
	}
	_, err = insert(ctx, tx, rows, "")
	return err
}

// ContractsInDunning returns the contracts with an open case, locked.
func (tx *Tx) ContractsInDunning(ctx context.Context) ([]contract.Contract, error) {
	var rows []contractRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.dunning <> ''").Order("c.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts in dunning: %w", err)
	}
	return readRows[contract.Contract](rows)
}

// ActiveContractsInDunning returns at most limit ACTIVE contracts with an open case, by id, after one.
func (tx *Tx) ActiveContractsInDunning(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.dunning <> ''").Where("c.id > ?", after).Where("c.status = ?", contract.Active).
		Order("c.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the contracts that are not paid: %w", err)
	}
	return readRows[contract.Contract](rows)
}

// addMails adds to records what became of the last messages about them.
func (db *DB) addMails(ctx context.Context, of shop.ID, records []billing.Record) error {
	var keys []string
	for _, r := range records {
		keys = append(keys, r.MessageKeys()...)
	}
	status, err := mailsUnder(ctx, db.in(of), of, keys)
	if err != nil {
		return err
	}
	for i := range records {
		records[i].Mailed(status)
	}
	return nil
}

// MailsByKey says, without locking, what became of messages, by the keys under which
// they are kept.
func (tx *Tx) MailsByKey(ctx context.Context, keys []string) (map[string]notify.Result, error) {
	return mailsUnder(ctx, tx.q, tx.of, keys)
}

// CreatedMails returns what became of the messages that confirm new contracts, by contract.
func (db *DB) CreatedMails(ctx context.Context, of shop.ID, contracts []contract.ID) (map[contract.ID]notify.Results, error) {
	keys := make([]string, 0, 2*len(contracts))
	for _, c := range contracts {
		keys = append(keys, notify.CreatedKey(c), notify.SMSKey(notify.CreatedKey(c)))
	}
	results, err := mailsUnder(ctx, db.in(of), of, keys)
	created := make(map[contract.ID]notify.Results, len(results))
	for _, c := range contracts {
		if is := notify.ResultsUnder(results, notify.CreatedKey(c)); is != (notify.Results{}) {
			created[c] = is
		}
	}
	return created, err
}

func mailsUnder(ctx context.Context, q bun.IDB, of shop.ID, keys []string) (map[string]notify.Result, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var rows []messageRow
	err := q.NewSelect().Model(&rows).Column("dedupe_key", "status", "last_error", "delivery", "delivery_error").Where("m.shop_id = ?", of).Where("m.dedupe_key IN (?)", bun.List(keys)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %d e-mails: %w", len(keys), err)
	}
	status := make(map[string]notify.Result, len(rows))
	for _, r := range rows {
		is := notify.Message{Status: notify.Status(r.Status), LastError: r.LastError, Delivery: notify.Delivery(r.Delivery), DeliveryError: r.DeliveryError}
		status[r.DedupeKey] = is.Result()
	}
	return status, nil
}

// mostCases is how many cases are read at once.
const mostCases = 5000

// CasesSince returns the cases of a store's declined orders that were opened since an instant,
// at most 5000 of those that changed last.
func (db *DB) CasesSince(ctx context.Context, of shop.ID, since time.Time) ([]dunning.Case, error) {
	var texts []string
	err := db.in(of).NewSelect().Model((*attemptRow)(nil)).Column("dunning").Where("a.shop_id = ?", of).Where("a.dunning <> ''").Where("a.updated_at >= ?", millis(since)).
		Order("a.updated_at DESC", "a.id DESC").Limit(mostCases).Scan(ctx, &texts)
	if err != nil {
		return nil, fmt.Errorf("read the cases of shop %d since %s: %w", of, since, err)
	}
	var list []dunning.Case
	for _, text := range texts {
		var c dunning.Case
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return nil, fmt.Errorf("read a case of shop %d: %w", of, err)
		}
		if !c.OpenedAt.Before(since) {
			list = append(list, c)
		}
	}
	return list, nil
}

// CaseCounts returns how many orders of a shop are unpaid and not given up, by the class of
// their last decline.
func (db *DB) CaseCounts(ctx context.Context, of shop.ID) (map[dunning.Class]int, error) {
	var rows []struct {
		DunningClass string
		Orders       int
	}
	err := db.in(of).NewSelect().Model((*contractRow)(nil)).Column("dunning_class").ColumnExpr("COUNT(*) AS orders").Where("c.shop_id = ?", of).
		Where("c.dunning <> ''").Group("dunning_class").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count the unpaid orders of shop %d: %w", of, err)
	}
	counts := make(map[dunning.Class]int, len(rows))
	for _, r := range rows {
		counts[dunning.Class(r.DunningClass)] = r.Orders
	}
	return counts, nil
}

// OpenCases returns at most limit unpaid orders whose last decline was of one of the classes,
// or of any when none is named, by the ids of their contracts, which follow one.
func (db *DB) OpenCases(ctx context.Context, of shop.ID, classes []dunning.Class, after contract.ID, limit int) ([]billing.Record, error) {
	found := db.in(of).NewSelect().TableExpr("contracts AS k").ColumnExpr("k.id").Where("k.shop_id = ?", of).Where("k.dunning <> ''").Where("k.id > ?", after)
	if len(classes) > 0 {
		found = found.Where("k.dunning_class IN (?)", bun.List(classes))
	}
	var rows []contractRow
	err := db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.id IN (?)", found.OrderExpr("k.id").Limit(int64(limit))).Order("c.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the unpaid orders of shop %d: %w", of, err)
	}
	contracts, err := readRows[contract.Contract](rows)
	if err != nil || len(contracts) == 0 {
		return nil, err
	}
	ids := make([]int64, len(contracts))
	for i, c := range contracts {
		ids[i] = c.Dunning.Attempt
	}
	var list []attemptRow
	if err := db.in(of).NewSelect().Model(&list).Where("a.shop_id = ?", of).Where("a.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d attempts of shop %d: %w", len(ids), of, err)
	}
	attempts, err := readRows[billing.Attempt](list)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]billing.Attempt, len(attempts))
	for _, a := range attempts {
		byID[int64(a.ID)] = a
	}
	records := make([]billing.Record, 0, len(contracts))
	for _, c := range contracts {
		if a, ok := byID[c.Dunning.Attempt]; ok {
			records = append(records, billing.Record{Attempt: a, Of: c})
		}
	}
	if err := db.addOrders(ctx, of, records); err != nil {
		return nil, err
	}
	return records, db.addMails(ctx, of, records)
}
