//go:build soak

package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/pgtest"
)

func TestStoreMovesInWavesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesInWaves(t, pgtest.Empty)
}

func TestStoreMovesUnderFaultsAndBackOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesUnderFaultsAndBack(t, pgtest.Empty)
}

func TestMoveGoesOnAfterKillAtEachStageOnPostgreSQL(t *testing.T) {
	t.Parallel()
	goesOnAfterKills(t, pgtest.Empty)
}
