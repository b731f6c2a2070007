package store

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Raw returns the pool through which a database is read.
func (db *DB) Raw() *bun.DB { return db.reader }

// In returns what reads a shop's rows, as the store does.
func (db *DB) In(of shop.ID) bun.IDB { return db.in(of) }

// Everywhere returns what reads rows of every shop, as the store does.
func (db *DB) Everywhere() bun.IDB { return db.acrossShops() }

// UpdateEverywhere runs fn in a transaction on rows of every shop, as the store does.
func (db *DB) UpdateEverywhere(ctx context.Context, fn func(*Tx) error) error {
	return db.updateAcrossShops(ctx, fn)
}

// UpdateShared runs fn in a transaction on what belongs to no shop.
func (db *DB) UpdateShared(ctx context.Context, fn func(*Tx) error) error {
	return db.updateShared(ctx, fn)
}

// Exec runs a statement in the transaction and returns how many rows it wrote.
func (tx *Tx) Exec(ctx context.Context, query string) (int64, error) {
	result, err := tx.q.NewRaw(query).Exec(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// OpenPostgresWithin opens a database on PostgreSQL whose statements may take so long.
func OpenPostgresWithin(ctx context.Context, o Options, answer time.Duration) (*DB, error) {
	e, reader, err := openPostgresWith(ctx, o, patience(answer))
	if err != nil {
		return nil, err
	}
	return on(e, reader, sealer{}), nil
}

// SearchQueries returns the queries that a search makes: that of the count, when
// it has to be counted, and that of the page.
func (db *DB) SearchQueries(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) (map[string]*bun.SelectQuery, error) {
	order, err := orderOf(p.Sort)
	if err != nil {
		return nil, err
	}
	n, err := db.tally(ctx, of, f)
	if err != nil {
		return nil, err
	}
	var rows []contractRow
	queries := map[string]*bun.SelectQuery{"page": db.hits(of, f, order, p, n, &rows)}
	if fewValues(f) != f {
		queries["count"] = db.counting(of, f)
	}
	return queries, nil
}

// Watch has a hook see every statement on SQLite, and what is read outside of
// transactions on PostgreSQL.
func (db *DB) Watch(h bun.QueryHook) {
	db.reader = db.reader.WithQueryHook(h)
	if e, ok := db.engine.(*sqliteEngine); ok {
		e.writer, e.reader = e.writer.WithQueryHook(h), e.reader.WithQueryHook(h)
	}
}

// Looked returns how many rows of a table this transaction has looked at so far, on
// PostgreSQL.
func (tx *Tx) Looked(ctx context.Context, table string) (rows int, err error) {
	err = tx.q.NewSelect().TableExpr("pg_stat_xact_user_tables").ColumnExpr("seq_tup_read + COALESCE(idx_tup_fetch, 0)").
		Where("relname = ?", table).Where("schemaname = current_schema()").Scan(ctx, &rows)
	return rows, err
}

// SealedColumns returns the tables and columns that Reseal knows.
func SealedColumns() (list [][2]string) {
	for _, c := range sealedColumns() {
		list = append(list, [2]string{c.table, c.column})
	}
	return list
}

// PersonalTable is a table of the export: its columns of text, each with how it is read, and
// the condition of a customer's rows, whose number is ?1 and whose shop ?0.
type PersonalTable struct {
	Name, Rows string
	Columns    map[string]string
}

// PersonalTables returns the tables of the export.
func PersonalTables() []PersonalTable {
	list := make([]PersonalTable, len(personalTables))
	for i, p := range personalTables {
		list[i] = PersonalTable{p.name, p.rows, map[string]string{}}
		for _, c := range p.columns {
			name, how, _ := strings.Cut(c, ":")
			list[i].Columns[name] = how
		}
	}
	return list
}

// TextColumns lists the columns of text on SQLite.
const TextColumns = textColumns

// OnPostgres reports whether the database is PostgreSQL.
func (db *DB) OnPostgres() bool {
	_, is := db.engine.(*postgresEngine)
	return is
}
