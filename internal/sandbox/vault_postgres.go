package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// postgresVault copies every table of the schema in the server's own binary
// form.
type postgresVault struct{ url string }

// inventory is what a copy consists of.
type inventory struct {
	Tables    []tableCopy      `json:"tables"` // a table comes after those that it refers to
	Sequences map[string]int64 `json:"sequences"`
}

type tableCopy struct {
	Name    string `json:"name"`    // quoted
	Columns string `json:"columns"` // quoted, as a list
	File    string `json:"file"`
}

const inventoryFile = "inventory.json"

func (v postgresVault) within(ctx context.Context, level pgx.TxIsoLevel, fn func(pgx.Tx) error) error {
	conn, err := pgx.Connect(ctx, v.url)
	if err != nil {
		return err
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: level}, fn)
	return errors.Join(err, conn.Close(ctx))
}

func (v postgresVault) forgetRunning(ctx context.Context) error {
	return v.within(ctx, pgx.ReadCommitted, func(tx pgx.Tx) error {
		for _, statement := range []string{forgetRunning, "SET LOCAL perennial.scope = 'all'", forgetLeases} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v postgresVault) save(ctx context.Context, dir string) error {
	return v.within(ctx, pgx.RepeatableRead, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL perennial.scope = 'all'"); err != nil { // a copy is of every store
			return err
		}
		list, err := take(ctx, tx)
		if err != nil {
			return err
		}
		for _, t := range list.Tables {
			f, err := os.Create(filepath.Join(dir, t.File))
			if err != nil {
				return err
			}
			_, err = tx.Conn().PgConn().CopyTo(ctx, f, fmt.Sprintf("COPY %s (%s) TO STDOUT (FORMAT binary)", t.Name, t.Columns))
			if err := errors.Join(err, f.Close()); err != nil {
				return fmt.Errorf("copy %s: %w", t.Name, err)
			}
		}
		return (home{dir}).write(inventoryFile, list)
	})
}

func (v postgresVault) load(ctx context.Context, dir string) error {
	var list inventory
	if _, err := (home{dir}).read(inventoryFile, &list); err != nil {
		return err
	}
	return v.within(ctx, pgx.ReadCommitted, func(tx pgx.Tx) error {
		now, err := take(ctx, tx)
		if err != nil {
			return err
		}
		for _, t := range now.Tables {
			if _, err := tx.Exec(ctx, "TRUNCATE "+t.Name+" CASCADE"); err != nil {
				return fmt.Errorf("empty %s: %w", t.Name, err)
			}
		}
		for _, t := range list.Tables {
			if err := copyIn(ctx, tx, t, dir); err != nil {
				return fmt.Errorf("fill %s: %w", t.Name, err)
			}
		}
		for name, at := range list.Sequences {
			if _, err := tx.Exec(ctx, "SELECT setval($1::regclass, $2)", name, at); err != nil {
				return fmt.Errorf("set %s: %w", name, err)
			}
		}
		return nil
	})
}

func copyIn(ctx context.Context, tx pgx.Tx, t tableCopy, dir string) error {
	f, err := os.Open(filepath.Join(dir, t.File))
	if err != nil {
		return err
	}
	defer f.Close()
	walled := false
	if err := tx.QueryRow(ctx, "SELECT relforcerowsecurity FROM pg_class WHERE oid = $1::regclass", t.Name).Scan(&walled); err != nil {
		return err
	}
	force := func(how string) error { // COPY fills no table that has a policy for its owner
		if !walled {
			return nil
		}
		_, err := tx.Exec(ctx, "ALTER TABLE "+t.Name+" "+how+" ROW LEVEL SECURITY")
		return err
	}
	if err := force("NO FORCE"); err != nil {
		return err
	}
	if _, err = tx.Conn().PgConn().CopyFrom(ctx, f, fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", t.Name, t.Columns)); err != nil {
		return err
	}
	return force("FORCE")
}

// take lists the tables of the current schema, those that are referred to first,
// and its sequences.
func take(ctx context.Context, tx pgx.Tx) (inventory, error) {
	list := inventory{Sequences: map[string]int64{}}
	rows, err := tx.Query(ctx, `
		WITH RECURSIVE tables AS (
			SELECT c.oid FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		), depth AS (
			SELECT oid, 0 AS level FROM tables
			UNION
			SELECT f.conrelid, d.level + 1 FROM depth d JOIN pg_constraint f ON f.confrelid = d.oid AND f.contype = 'f' AND f.conrelid <> f.confrelid
		)
		SELECT t.oid::regclass::text,
			(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
				WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
		FROM tables t ORDER BY (SELECT max(level) FROM depth d WHERE d.oid = t.oid), 1`)
	if err != nil {
		return list, err
	}
	list.Tables, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t tableCopy, err error) {
		return t, row.Scan(&t.Name, &t.Columns)
	})
	if err != nil {
		return list, err
	}
	for i := range list.Tables {
		list.Tables[i].File = fmt.Sprintf("table-%02d.bin", i)
	}
	rows, err = tx.Query(ctx, `SELECT quote_ident(sequencename), last_value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL`)
	if err != nil {
		return list, err
	}
	var name string
	var at int64
	_, err = pgx.ForEachRow(rows, []any{&name, &at}, func() error { list.Sequences[name] = at; return nil })
	return list, err
}
