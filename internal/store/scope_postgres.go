package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// scoping opens connections to PostgreSQL that send the scope of a query with it. Both go
// in one round trip and are one transaction, with which the scope ends: nothing of it
// stays on a connection that a pooler gives to others.
type scoping struct{ driver.Connector }

// Connect opens a connection.
func (s scoping) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return scopedConn{c.(*stdlib.Conn)}, nil
}

type scopedConn struct{ *stdlib.Conn }

// QueryContext runs a query, within the scope that the context has for it.
func (c scopedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, ok := ctx.Value(scopeKey{}).(scope)
	if !ok {
		return c.Conn.QueryContext(ctx, query, args)
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("a query within a scope has %d arguments beside its text", len(args))
	}
	name, value := s.setting()
	var both pgx.Batch
	both.Queue("SELECT set_config('" + name + "', '" + value + "', true)")
	both.Queue(query)
	results := c.Conn.Conn().SendBatch(ctx, &both)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // says the same
		if pgconn.SafeToRetry(err) {
			return nil, driver.ErrBadConn
		}
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return scopedRows{rows, results}, nil
}

// scopedRows are the rows of a query that was sent with its scope. Their values are texts,
// for the query was not prepared.
type scopedRows struct {
	pgx.Rows
	results pgx.BatchResults
}

// Columns returns the names of the columns.
func (r scopedRows) Columns() []string {
	fields := r.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Next reads a row, or returns io.EOF.
func (r scopedRows) Next(values []driver.Value) (err error) {
	if !r.Rows.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, raw := range r.RawValues() {
		if values[i], err = valueOf(r.FieldDescriptions()[i].DataTypeOID, raw); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns what a text of the server stands for.
func valueOf(kind uint32, raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	switch kind {
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.OIDOID:
		return strconv.ParseInt(string(raw), 10, 64)
	case pgtype.BoolOID:
		return string(raw) == "t", nil
	case pgtype.Float8OID, pgtype.Float4OID:
		return strconv.ParseFloat(string(raw), 64)
	}
	return string(raw), nil
}

// Close ends the reading.
func (r scopedRows) Close() error {
	r.Rows.Close()
	return r.results.Close()
}

func (e *postgresEngine) walled(ctx context.Context) error {
	var user string
	var passes bool
	err := e.pool.QueryRow(ctx, "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&user, &passes)
	if err != nil {
		return fmt.Errorf("ask what the database's user may do: %w", err)
	}
	if passes {
		return fault.New(fault.FailedPrecondition, "the database's user %s is a superuser or has BYPASSRLS, so row-level security keeps no stores apart: let a plain user own the database and connect as that one", user)
	}
	return nil
}
