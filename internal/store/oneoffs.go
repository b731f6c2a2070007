package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ billing.OneOffBook = (*DB)(nil)

// oneOffRow is a row of one_offs.
type oneOffRow struct {
	bun.BaseModel `bun:"table:one_offs,alias:o"`

	ShopID        int64 `bun:"shop_id,pk"`
	ID            int64 `bun:"id,pk"`
	ContractID    int64
	Cycle         int64
	VariantID     int64
	ProductID     int64
	Handle        string
	ProductHandle string
	SKU           string `bun:"sku"`
	Title         string
	ProductTitle  string
	Image         string
	Taxable       bool
	Price         int64
	Currency      string
	Quantity      int64
	Done          bool
	CreatedAt     int64
	UpdatedAt     int64
	Version       int64
}

func (r *oneOffRow) Columns(m *mapping, o *billing.OneOff) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &o.ID)
	mapInt(m, &r.ContractID, &o.Contract)
	mapInt(m, &r.Cycle, &o.Cycle)
	mapSame(m, &r.VariantID, &o.Variant.ID)
	mapSame(m, &r.ProductID, &o.Variant.ProductID)
	mapText(m, &r.Handle, &o.Handle)
	mapText(m, &r.ProductHandle, &o.Variant.Handle)
	mapText(m, &r.SKU, &o.Variant.SKU)
	mapText(m, &r.Title, &o.Variant.Title)
	mapText(m, &r.ProductTitle, &o.Variant.ProductTitle)
	mapText(m, &r.Image, &o.Variant.Image)
	mapSame(m, &r.Taxable, &o.Variant.Taxable)
	mapText(m, &r.Currency, &o.Variant.Price.Currency)
	mapAmount(m, &r.Price, &o.Variant.Price, o.Variant.Price.Currency)
	mapInt(m, &r.Quantity, &o.Quantity)
	mapSame(m, &r.Done, &o.Done)
	mapTime(m, &r.CreatedAt, &o.CreatedAt)
	mapTime(m, &r.UpdatedAt, &o.UpdatedAt)
	mapSame(m, &r.Version, &o.Version)
	m.within(r.ID)
}

// OneOffs returns the one-time products of contracts whose orders are not made
// yet, locked, by contract, cycle and ID.
func (tx *Tx) OneOffs(ctx context.Context, contracts []contract.ID) ([]billing.OneOff, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []oneOffRow
	q := tx.q.NewSelect().Model(&rows).Where("o.shop_id = ?", tx.of).Where("o.contract_id IN (?)", bun.List(contracts)).Where("NOT o.done").
		Order("o.contract_id", "o.cycle", "o.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the one-time products of %d contracts: %w", len(contracts), err)
	}
	return readRows[billing.OneOff](rows)
}

// PutOneOffs inserts one-time products whose ID is 0, giving them one, and writes
// the others if their versions are still what was read.
func (tx *Tx) PutOneOffs(ctx context.Context, list []billing.OneOff) error {
	for _, o := range list {
		tx.prices.price(o.Contract)
	}
	return putAll[oneOffRow](ctx, tx, list,
		func(o *billing.OneOff) (*billing.OneOffID, *int64) { return &o.ID, &o.Version },
		"subscriptionContractOneOff", "The one-time product")
}

// putOne is putAll for a single value.
func putOne[R any, P mapped[R, V], V any, I ~int64](ctx context.Context, tx *Tx, v *V, keys func(*V) (*I, *int64), entity, thing string) error {
	list := []V{*v}
	if err := putAll[R, P](ctx, tx, list, keys, entity, thing); err != nil {
		return err
	}
	*v = list[0]
	return nil
}

// putAll inserts values whose number is 0, giving them one, and writes the others
// if their versions are still what was read. It raises the versions in the slice.
func putAll[R any, P mapped[R, V], V any, I ~int64](
	ctx context.Context, tx *Tx, list []V, keys func(*V) (*I, *int64), entity, thing string,
) error {
	if len(list) == 0 {
		return nil
	}
	missing := 0
	for i := range list {
		if id, _ := keys(&list[i]); *id == 0 {
			missing++
		}
	}
	next, err := tx.db.ids.take(missing)
	if err != nil {
		return err
	}
	given := next
	var added, kept []R
	for _, v := range list {
		id, version := keys(&v)
		isNew := *id == 0
		if isNew {
			*id, *version = I(given), 1
			given++
		}
		row, err := rowOf[R, V, P](tx.of, v)
		if err != nil {
			return err
		}
		if isNew {
			added = append(added, row)
		} else {
			kept = append(kept, row)
		}
	}
	if _, err := insert(ctx, tx, added, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "%s exists already", thing).Entity(entity).Code("changedMeanwhile")
		}
		return err
	}
	n, err := update(ctx, tx, kept)
	if err != nil {
		return err
	}
	if int(n) != len(kept) {
		return changed(entity, thing)
	}
	for i := range list {
		id, version := keys(&list[i])
		if *id == 0 {
			*id, *version = I(next), 0
			next++
		}
		*version++
	}
	return nil
}

// DeleteOneOffs removes one-time products.
func (tx *Tx) DeleteOneOffs(ctx context.Context, ids []billing.OneOffID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.q.NewDelete().Model((*oneOffRow)(nil)).Where("o.shop_id = ?", tx.of).Where("o.id IN (?)", bun.List(ids)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove %d one-time products: %w", len(ids), err)
	}
	return nil
}

// oneOffFields are the fields by which the list is ordered.
var oneOffFields = map[string]field{"cycle": {"cycle", whole}, "id": {"id", whole}}

// OneOffsOf returns a page of the one-time products of a contract, in the order of
// their cycles, and how many there are.
func (db *DB) OneOffsOf(ctx context.Context, of shop.ID, ask billing.OneOffQuestion, p page.Request) ([]billing.OneOffRecord, int, error) {
	known := db.in(of).NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", of).Where("c.line = ?", ask.Line).Where("c.id = ?", ask.Contract)
	if err := there(ctx, known, ask.Contract); err != nil {
		return nil, 0, err
	}
	attempts := db.in(of).NewSelect().Model((*attemptRow)(nil)).Where("a.shop_id = ?", of).Where("a.contract_id = ?", ask.Contract)
	var rows []oneOffRow
	q := db.in(of).NewSelect().Model(&rows).Where("o.shop_id = ?", of).Where("o.contract_id = ?", ask.Contract)
	if ask.Upcoming {
		q = q.Where("NOT o.done").Where("o.cycle IN (?)", attempts.Clone().Column("cycle").Where("a.status = ?", billing.Queued))
	}
	p.Sort = []page.Sort{{Field: "cycle"}, {Field: "id"}}
	total, err := fetch(ctx, q, oneOffFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("list the one-time products of contract %d: %w", ask.Contract, err)
	}
	if len(rows) == 0 {
		return nil, total, nil
	}
	cycles := make([]int64, len(rows))
	for i, r := range rows {
		cycles[i] = r.Cycle
	}
	var found []attemptRow
	if err := attempts.Column("id", "cycle").Where("a.cycle IN (?)", bun.List(cycles)).Scan(ctx, &found); err != nil {
		return nil, 0, fmt.Errorf("read the attempts of %d one-time products: %w", len(rows), err)
	}
	ordering := make(map[int64]int64, len(found))
	for _, a := range found {
		ordering[a.Cycle] = a.ID
	}
	list := make([]billing.OneOffRecord, len(rows))
	for i, r := range rows {
		o, err := readRow[billing.OneOff](r)
		if err != nil {
			return nil, 0, err
		}
		list[i] = billing.OneOffRecord{OneOff: o, Attempt: billing.AttemptID(ordering[r.Cycle])}
	}
	return list, total, nil
}

// WaitingOneOffs returns the one-time products of the upcoming orders of contracts, by
// contract, cycle and ID.
func (db *DB) WaitingOneOffs(ctx context.Context, of shop.ID, contracts []contract.ID) ([]billing.OneOff, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []oneOffRow
	upcoming := db.in(of).NewSelect().Model((*attemptRow)(nil)).ColumnExpr("1").Where("a.shop_id = ?", of).
		Where("a.contract_id = o.contract_id").Where("a.cycle = o.cycle").Where("a.status = ?", billing.Queued)
	err := db.in(of).NewSelect().Model(&rows).Where("o.shop_id = ?", of).Where("o.contract_id IN (?)", bun.List(contracts)).Where("NOT o.done").
		Where("EXISTS (?)", upcoming).Order("o.contract_id", "o.cycle", "o.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the one-time products of %d contracts: %w", len(contracts), err)
	}
	return readRows[billing.OneOff](rows)
}
