package store

import (
	"context"
	"database/sql/driver"
	"errors"
)

// keeping opens connections to SQLite that cache prepared statements: parsing one mostly
// takes longer than running it.
type keeping struct{ driver.Connector }

// Connect opens a connection.
func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &keeper{sqliteConn: c.(sqliteConn), fresh: make(map[string]sqliteStmt)}, nil
}

// sqliteConn and sqliteStmt are what connections and statements of the driver can do.
type (
	sqliteConn interface {
		driver.Conn
		driver.ConnBeginTx
		driver.ConnPrepareContext
		driver.Pinger
		driver.SessionResetter
		driver.Validator
	}
	sqliteStmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
)

// keptTexts is how many texts a connection remembers: those that were used last, and
// at most as many before them.
const keptTexts = 200

// keeper is a connection that caches the statements that ran more than once. Of the others
// it remembers the texts: most contain their values and never run again. Like every
// connection it is used by one goroutine at a time.
type keeper struct {
	sqliteConn
	fresh, stale map[string]sqliteStmt // by text; nil: it came once
}

// PrepareContext returns a statement for the caller's use until it is closed.
func (k *keeper) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return k.take(ctx, query)
}

func (k *keeper) take(ctx context.Context, query string) (*keptStmt, error) {
	s, came := k.fresh[query]
	if !came {
		s, came = k.stale[query]
	}
	delete(k.fresh, query)
	delete(k.stale, query)
	if s == nil {
		prepared, err := k.sqliteConn.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		s = prepared.(sqliteStmt)
	}
	return &keptStmt{sqliteStmt: s, of: k, query: query, again: came}, nil
}

// bind returns the statement that a query is, and its arguments.
func (k *keeper) bind(ctx context.Context, query string, args []driver.NamedValue) (*keptStmt, []driver.NamedValue, error) {
	query, args, err := unbind(query, args)
	if err != nil {
		return nil, nil, err
	}
	s, err := k.take(ctx, query)
	return s, args, err
}

// ExecContext runs a statement.
func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, args, err := k.bind(ctx, query, args)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	return result, errors.Join(err, s.Close())
}

// QueryContext runs a statement that has rows, and has it until they are closed.
func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, args, err := k.bind(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return keptRows{rows, s}, nil
}

// Close closes the connection with all its statements.
func (k *keeper) Close() error {
	return errors.Join(closeAll(k.fresh), closeAll(k.stale), k.sqliteConn.Close())
}

func closeAll(statements map[string]sqliteStmt) (err error) {
	for _, s := range statements {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// keptStmt is a statement that is in use.
type keptStmt struct {
	sqliteStmt
	of    *keeper
	query string
	again bool // it came before
}

// Close gives the statement back.
func (s *keptStmt) Close() (err error) {
	k, kept := s.of, s.sqliteStmt
	if k.fresh[s.query] != nil || k.stale[s.query] != nil { // two were in use at once
		return kept.Close()
	}
	if !s.again {
		err, kept = kept.Close(), nil
	}
	if k.fresh[s.query] = kept; len(k.fresh) >= keptTexts {
		err = errors.Join(err, closeAll(k.stale))
		k.fresh, k.stale = make(map[string]sqliteStmt, keptTexts), k.fresh
	}
	return err
}

// keptRows are the rows of a statement that is kept.
type keptRows struct {
	driver.Rows
	of *keptStmt
}

// Close gives the statement back.
func (r keptRows) Close() error { return errors.Join(r.Rows.Close(), r.of.Close()) }
