//go:build soak

package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/pgtest"
)

func TestTwoInstancesAreRestoredOnPostgreSQL(t *testing.T) {
	t.Parallel()
	testSnapshotOfTwo(t, Options{Second: true, Contracts: 12, Database: pgtest.Empty(t), SecondDatabase: pgtest.Empty(t)})
}

func TestSnapshotOfManyOnPostgreSQL(t *testing.T) {
	t.Parallel()
	testSnapshot(t, Options{Database: pgtest.Empty(t), Contracts: 40})
}

func TestTwoInstancesContinueAfterKill(t *testing.T) {
	t.Parallel()
	testKills(t, []string{childSecond + "=1"})
}
