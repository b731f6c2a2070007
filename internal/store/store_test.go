package store_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.SharedSQLite, storetest.SQLite)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.SharedPostgres, storetest.Postgres)
}
