package store

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// scope is whose rows a statement may find and write. On PostgreSQL it goes to the server
// with the statement or its transaction, and a policy of every tenant table compares it
// with the row's shop: the second wall, behind the condition that every query has. The
// zero scope finds no row of any shop.
type scope struct {
	shop shop.ID
	all  bool // the rows of every shop: only acrossShops and updateAcrossShops say so
}

// setting returns the name and the value that tell the server the scope.
func (s scope) setting() (name, value string) {
	if s.all {
		return "perennial.scope", "all"
	}
	if s.shop == 0 {
		return "perennial.shop", ""
	}
	return "perennial.shop", strconv.FormatInt(int64(s.shop), 10)
}

// scopeKey is under what a context has the scope of a statement.
type scopeKey struct{}

// scoped reads within a scope. Queries that are parts of others need none of their own.
type scoped struct {
	*bun.DB
	scope scope
}

// in returns what reads a shop's rows.
func (db *DB) in(of shop.ID) scoped { return scoped{db.reader, scope{shop: of}} }

// acrossShops returns what reads rows of every shop. A test lists the functions that do.
func (db *DB) acrossShops() scoped { return scoped{db.reader, scope{all: true}} }

// NewSelect begins a query.
func (s scoped) NewSelect() *bun.SelectQuery { return s.DB.NewSelect().Conn(s) }

// NewRaw begins a query that is written out.
func (s scoped) NewRaw(query string, args ...any) *bun.RawQuery {
	return s.DB.NewRaw(query, args...).Conn(s)
}

// QueryContext runs a query that bun has written.
func (s scoped) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.DB.DB.QueryContext(s.of(ctx), query, args...)
}

// QueryRowContext does the same with a query of one row.
func (s scoped) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return s.DB.DB.QueryRowContext(s.of(ctx), query, args...)
}

func (s scoped) of(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, s.scope)
}
