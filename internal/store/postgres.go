package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/job"
)

// postgresEngine has one pool of connections for everything.
type postgresEngine struct {
	pool  *pgxpool.Pool
	db    *bun.DB
	queue *job.Queue[pgx.Tx]
}

const (
	postgresConns = 20
	// rollbackWithin is how long a rollback may take; a connection that takes
	// longer is given up.
	rollbackWithin = 5 * time.Second
)

// ownSettings are the server's settings for connections, where the address does not say otherwise.
var ownSettings = map[string]string{
	// How long a transaction may wait for its client. A node that stands still, or is cut off, in the
	// middle of a transaction keeps its locks; the server ends it before that is felt for longer than
	// a lease.
	"idle_in_transaction_session_timeout": "1min",
	// Statements read few rows by an index: to compile one takes longer than to run it, and the server
	// compiles by an estimate that is too high where a table has no statistics yet.
	"jit": "off",
}

func openPostgres(ctx context.Context, o Options) (engine, *bun.DB, error) {
	return openPostgresWith(ctx, o, patience(answerWithin))
}

func openPostgresWith(ctx context.Context, o Options, p patience) (engine, *bun.DB, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, nil, fault.Because(fault.Invalid, err, "the address of the database cannot be read")
	}
	// Values are written into the statements that bun makes: prepared ones would
	// never be used twice, and the text must mean the same on every server.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.RuntimeParams["standard_conforming_strings"] = "on"
	// Not when the connection begins: poolers refuse settings that they do not know.
	var set strings.Builder
	for name, value := range ownSettings {
		if config.ConnConfig.RuntimeParams[name] == "" {
			fmt.Fprintf(&set, "SET %s = '%s';", name, value)
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return conn.PgConn().Exec(ctx, set.String()).Close() // in one round trip
	}
	p.setOn(config)
	if config.MaxConns = int32(o.MaxConns); o.MaxConns == 0 {
		config.MaxConns = postgresConns
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("open the database: %w", err)
	}
	e := &postgresEngine{pool: pool, db: bun.NewDB(overPool(pool), pgdialect.New())}
	if e.queue, err = job.OnPostgres(pool); err != nil {
		return nil, nil, errors.Join(err, e.close())
	}
	return e, e.db, nil
}

// overPool returns what shares a pool of connections with pgx.
func overPool(pool *pgxpool.Pool) *sql.DB {
	db := sql.OpenDB(scoping{stdlib.GetPoolConnector(pool)})
	db.SetMaxIdleConns(0) // the pool keeps them
	return db
}

func (e *postgresEngine) dialect() dialect { return postgresDialect }

// begin starts a transaction on a connection that bun, pgx and the queue share.
func (e *postgresEngine) begin(ctx context.Context, s scope, mode txMode) (transaction, error) {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return transaction{}, err
	}
	tx, err := beginOn(ctx, conn.Conn, s, mode)
	if err != nil {
		return transaction{}, errors.Join(err, conn.Close())
	}
	return transaction{
		q: conn,
		many: func(ctx context.Context, query string, b batch) (int64, error) {
			args := make([]any, len(b.columns))
			for i, c := range b.columns {
				args[i] = b.array(c)
			}
			tag, err := tx.Exec(ctx, query, args...)
			return tag.RowsAffected(), err
		},
		enqueue: func(ctx context.Context, tasks ...task.Task) error { return e.queue.Add(ctx, tx, tasks...) },
		commit:  tx.Commit,
		rollback: func() {
			// The caller's context may have ended; after a commit this does nothing.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
			defer cancel()
			_ = tx.Rollback(ctx)
			_ = conn.Close()
		},
	}, nil
}

// beginOn begins a transaction within a scope, in one round trip.
func beginOn(ctx context.Context, conn *sql.Conn, s scope, mode txMode) (tx pgx.Tx, err error) {
	name, value := s.setting()
	begin := "BEGIN"
	if mode == readOnly {
		begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	}
	o := pgx.TxOptions{BeginQuery: begin + "; SET LOCAL " + name + " = '" + value + "'"}
	rawErr := conn.Raw(func(driver any) error {
		tx, err = driver.(scopedConn).Conn.Conn().BeginTx(ctx, o)
		return err
	})
	return tx, rawErr
}

// Error codes of PostgreSQL.
const (
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	readOnlyTransaction  = "25006"
	// integrityViolation begins the codes of rows that break a rule of the schema.
	integrityViolation = "23"
)

func codeOf(err error) string {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failed.Code
	}
	return ""
}

func (e *postgresEngine) retryable(err error) bool {
	code := codeOf(err)
	return code == serializationFailure || code == deadlockDetected
}

func (e *postgresEngine) readOnly(err error) bool { return codeOf(err) == readOnlyTransaction }

func (e *postgresEngine) duplicate(err error) bool { return codeOf(err) == uniqueViolation }

func (e *postgresEngine) violation(err error) bool {
	return strings.HasPrefix(codeOf(err), integrityViolation) && !e.duplicate(err)
}

func (e *postgresEngine) analyze(ctx context.Context) error {
	_, err := e.pool.Exec(withoutHurry(ctx), "ANALYZE contracts, contract_facets, customer_counts, amount_counts, contract_lines, search_terms, attempts, activity, inbox")
	return err
}

func (e *postgresEngine) run(ctx context.Context, h *job.Handlers, o job.Options) (*job.Runner, error) {
	return e.queue.Run(ctx, h, o)
}

func (e *postgresEngine) idle(ctx context.Context) (bool, error) { return e.queue.Idle(ctx) }

func (e *postgresEngine) waitIdle(ctx context.Context, most time.Duration) error {
	return e.queue.WaitIdle(ctx, most)
}

func (e *postgresEngine) close() error {
	err := e.db.Close()
	e.pool.Close()
	return err
}

// place is the number of the cluster, which copies of its files keep and dumps that
// are read elsewhere do not, and that of the database in it.
func (e *postgresEngine) place(ctx context.Context) (string, error) {
	var cluster, database int64
	err := e.pool.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_control_system()), oid::bigint FROM pg_database WHERE datname = current_database()`).Scan(&cluster, &database)
	if err != nil {
		return "", fmt.Errorf("ask which database this is: %w", err)
	}
	return fmt.Sprintf("postgres cluster %d, database %d", cluster, database), nil
}
