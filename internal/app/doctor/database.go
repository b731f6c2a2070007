package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/perennialhq/perennial/internal/store"
)

// unopened is the finding of a database that could not be opened.
func unopened(err error) Finding {
	return failed("check PERENNIAL_DATABASE and PERENNIAL_SECRET_KEY; a new database is created by perennial migrate", "%v", err)
}

// reachable checks that the database answers.
func reachable(ctx context.Context, c *checkup) Finding {
	if err := c.db.Ping(ctx); err != nil {
		return failed("start the database, and check its address, its user and the network between", "%v", err)
	}
	return ok("answers")
}

// migrated checks that the schema is that of this version.
func migrated(ctx context.Context, c *checkup) Finding {
	switch missing, err := pending(ctx, c.db); {
	case err != nil:
		return failed("check that this is the service's own database, and what its user may do", "%v", err)
	case missing > 0:
		return failed("run perennial migrate", "%d migrations of this version are missing", missing)
	}
	return ok("up to date")
}

// pending returns how many migrations a database lacks.
func pending(ctx context.Context, db *store.DB) (int, error) {
	steps, err := db.Migrations(ctx)
	missing := 0
	for _, s := range steps {
		if !s.Applied {
			missing++
		}
	}
	return missing, err
}

// writable checks that the database takes a row.
func writable(ctx context.Context, c *checkup) Finding {
	if err := c.db.Writable(ctx, c.Clock.Now()); err != nil {
		return failed("make room on the disk, let the service's user write the files, or leave read-only mode", "%v", err)
	}
	return ok("takes a row")
}

// intact has the database check its own files.
func intact(ctx context.Context, c *checkup) Finding {
	err := c.db.CheckIntegrity(ctx)
	switch {
	case errors.Is(err, store.ErrNotChecked):
		return notChecked("%s", strings.TrimPrefix(err.Error(), store.ErrNotChecked.Error()+": "))
	case err != nil:
		return failed("stop every perennial serve, keep a copy of the files, and restore the last backup", "%v", err)
	}
	return ok("intact")
}

// separated checks that the database keeps stores apart.
func separated(ctx context.Context, c *checkup) Finding {
	if _, sqlite, err := store.SQLitePath(c.Settings.Database.Data.Database); err == nil && sqlite {
		return ok("SQLite has no roles: the service's statements keep stores apart")
	}
	if err := c.db.CheckRowSecurity(ctx); err != nil {
		return failed("connect as a role that owns the tables and is nothing more: docs/operating.md, \"Role in PostgreSQL\"", "%v", err)
	}
	return ok("a role cannot read past the store of its transaction")
}
