package store

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
)

// AddArchiveRecords inserts records of a type. Nothing follows from them: subscribers do not see
// them.
func (tx *Tx) AddArchiveRecords(ctx context.Context, t archive.Type, list []archive.Record) error {
	table := archiveTables[t.Name]
	columns, rows := table.rows(tx, t, list)
	query := tx.dialect().insert(table.name, columns)
	if _, err := tx.many(ctx, query, batch{columns, rows}); err != nil {
		if tx.db.engine.duplicate(err) || tx.db.engine.violation(err) {
			return fault.Because(fault.Invalid, err, "a record breaks a rule of the store").Entity("archive").Code("archiveDamaged")
		}
		return fmt.Errorf("insert %d rows into %s: %w", len(list), table.name, err)
	}
	if table.added == nil {
		return nil
	}
	return table.added(tx, ctx, t, list)
}

// rows returns records as rows of the table. The columns of rest are constants of the row.
func (a archiveTable) rows(tx *Tx, t archive.Type, list []archive.Record) ([]column, reflect.Value) {
	var columns []column
	var fields []reflect.StructField
	add := func(name string, of reflect.Type, kind columnKind, null bool) {
		n := len(fields)
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", n), Type: of})
		columns = append(columns, column{name: name, kind: kind, null: null, field: []int{n}})
	}
	add("shop_id", reflect.TypeFor[int64](), whole, false)
	for _, f := range t.Fields {
		of, kind := goType(f.Kind)
		add(a.column(f.Name), of, kind, f.Kind == archive.Due || slices.Contains(a.nullable, f.Name))
	}
	rest := slices.Sorted(maps.Keys(a.rest))
	for _, name := range rest {
		of, kind := constantType(a.rest[name])
		add(name, of, kind, a.rest[name] == nil)
	}
	folded := slices.Sorted(maps.Keys(a.folded))
	for _, name := range folded {
		add(name, reflect.TypeFor[string](), text, false)
	}
	rows := reflect.MakeSlice(reflect.SliceOf(reflect.StructOf(fields)), len(list), len(list))
	for i, r := range list {
		tx.showShop(t, r)
		row := rows.Index(i)
		row.Field(0).SetInt(int64(tx.of))
		for n := range t.Fields {
			if v := columnValue(r[n]); v != nil {
				row.Field(1 + n).Set(reflect.ValueOf(v))
			}
		}
		for n, name := range rest {
			if v := a.rest[name]; v != nil {
				row.Field(1 + len(t.Fields) + n).Set(reflect.ValueOf(v))
			}
		}
		for n, name := range folded {
			at := slices.IndexFunc(t.Fields, func(f archive.Field) bool { return a.column(f.Name) == a.folded[name] })
			row.Field(1 + len(t.Fields) + len(rest) + n).SetString(fold(r[at].(string)))
		}
	}
	return columns, rows
}

// constantType returns the type of a constant of rest.
func constantType(v any) (reflect.Type, columnKind) {
	switch v.(type) {
	case bool:
		return reflect.TypeFor[bool](), flag
	case string:
		return reflect.TypeFor[string](), text
	}
	return reflect.TypeFor[int64](), whole
}

// recordIDs returns the numbers of records.
func recordIDs(list []archive.Record) []int64 {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i], _ = r[0].(int64)
	}
	return ids
}

// indexContracts reads contracts that were inserted as the service will, which fails when it could
// not, and adds all by which they are found.
func (tx *Tx) indexContracts(ctx context.Context, _ archive.Type, list []archive.Record) error {
	var rows []contractRow
	if err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.id IN (?)", bun.List(recordIDs(list))).Order("c.id").Scan(ctx); err != nil {
		return fmt.Errorf("read contracts: %w", err)
	}
	contracts, err := readRows[contract.Contract](rows)
	if err != nil {
		return fault.Because(fault.Invalid, err, "a contract cannot be read").Entity("archive").Code("archiveDamaged")
	}
	if rows, err = rowsOf[contractRow](tx.of, contracts...); err != nil {
		return err
	}
	if _, err := update(ctx, tx, rows); err != nil {
		return err
	}
	touched := make(map[string]bool)
	if err := tx.putFacets(ctx, contracts, nil, touched); err != nil {
		return err
	}
	if err := tx.putLines(ctx, contracts, nil, touched); err != nil {
		return err
	}
	if err := tx.putTerms(ctx, contracts, nil); err != nil {
		return err
	}
	return tx.raiseVersions(ctx, touched)
}

// indexAttempts reads attempts that were inserted as the service will, and adds the names of their
// orders, by which contracts are found. What those cost that are to come is computed afterwards.
func (tx *Tx) indexAttempts(ctx context.Context, _ archive.Type, list []archive.Record) error {
	var rows []attemptRow
	if err := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(recordIDs(list))).Order("a.id").Scan(ctx); err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	attempts, err := readRows[billing.Attempt](rows)
	if err != nil {
		return fault.Because(fault.Invalid, err, "an attempt cannot be read").Entity("archive").Code("archiveDamaged")
	}
	var terms []termRow
	for _, a := range attempts {
		if a.Status == billing.Success && a.OrderName != "" {
			terms = append(terms, termOf(tx.of, a.Contract, termOrder, a.OrderName))
		}
	}
	if err := tx.addTerms(ctx, terms); err != nil {
		return err
	}
	return tx.unpriced(ctx)
}

// continueHistory has the figures of the shop go on after the versions that were inserted.
func (tx *Tx) continueHistory(ctx context.Context, t archive.Type, list []archive.Record) error {
	ledger, err := tx.LockLedger(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		number, _ := r[0].(int64)
		day, _ := r[2].(int64)
		ledger.LastNumber, ledger.LastDay = max(ledger.LastNumber, number), max(ledger.LastDay, analytics.Day(day))
	}
	return tx.PutLedger(ctx, ledger)
}
