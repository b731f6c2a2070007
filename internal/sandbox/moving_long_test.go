//go:build soak

package sandbox

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/pgtest"
)

// A store moves from one service to another in waves. Each customer is charged the same amounts on the
// same days as without the move.
func TestStoreMovesInWaves(t *testing.T) {
	t.Parallel()
	movesInWaves(t, file)
}

func movesInWaves(t *testing.T, database func(testing.TB) string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 40})
	b := start(t, Options{Second: true, MainOnly: true, Contracts: 40, Database: database(t), SecondDatabase: database(t)})
	b.direct("POST", "/settings", `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	for _, one := range []*bench{stays, b} {
		one.withoutSwaps()
		one.edit()
	}
	id := b.moveIn()
	b.advance("PT10M")
	p := b.progress(id)
	if p.Move.Status != moving.Ready || p.Read != p.Total || p.Total != 40 {
		b.describeMove(id)
		t.Fatalf("after ten minutes the move is %s with %d of %d contracts read (%s)", p.Move.Status, p.Read, p.Total, p.Move.Failure)
	}
	for _, sum := range p.Sums {
		if sum.Here != sum.There || sum.HereOrders != sum.ThereOrders || sum.Here == 0 {
			t.Errorf("the next orders here and there are %+v", sum)
		}
	}
	b.advance("P10D")
	if compared, differ, unexplained := b.progress(id).Differences(); compared == 0 || unexplained > 0 {
		t.Errorf("of %d orders that were compared %d differ, %d of them unexplained: %+v", compared, differ, unexplained, b.progress(id).Tallies)
	}
	for _, percent := range moving.Waves {
		b.wave(id, percent)
		b.advance("P1D")
	}
	b.advance("P30D")
	b.arrived(id)
	var mails []message
	b.direct("GET", "/mail", "", &mails)
	for _, m := range mails {
		if m.Instance == secondName && slices.Contains([]string{"subscription_created", "order_skipped", "next_date", "product_added"}, m.Kind) {
			t.Errorf("%s was written to about the move: %s", m.To, m.Kind)
		}
	}
	stays.advance("P43DT10M")
	b.sameCharges(stays)
}

func TestStoreMovesInWavesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesInWaves(t, pgtest.Empty)
}

func TestStoreMovesUnderFaultsAndBackOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesUnderFaultsAndBack(t, pgtest.Empty)
}

func TestPartsMoveBeforeContractsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesWithParts(t, pgtest.Empty(t))
}

func TestPartsMoveOutBeforeContractsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	movesOutWithParts(t, pgtest.Empty)
}

func TestMoveGoesOnAfterKillAtEachStageOnPostgreSQL(t *testing.T) {
	t.Parallel()
	goesOnAfterKills(t, pgtest.Empty)
}

// While the platform and the other service fail, and both are restarted, a store moves to a service and
// back. Each customer is charged the same amounts on the same days as without any of it.
func TestStoreMovesUnderFaultsAndBack(t *testing.T) {
	t.Parallel()
	movesUnderFaultsAndBack(t, file)
}

func movesUnderFaultsAndBack(t *testing.T, database func(testing.TB) string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 20})
	o := Options{DataDir: t.TempDir(), Second: true, MainOnly: true, Contracts: 20, Database: database(t), SecondDatabase: database(t)}
	b := start(t, o)
	b.unlimit()
	fail := func() {
		b.direct("POST", "/platform/faults", `{"rate":0.1,"kinds":["timeout_before","timeout_after","http_500","webhook_lost"],"seed":7,"for":"P90D"}`, nil)
		b.direct("POST", "/instances/faults", `{"instance":"first","rate":0.1,"kinds":["timeout_before","timeout_after","http_500","connection_reset"],"seed":5,"for":"P90D"}`, nil)
	}
	restart := func() {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b = start(t, o)
		fail()
	}
	stays.withoutSwaps()
	b.withoutSwaps()
	fail()
	id := b.moveIn()
	b.advance("P1D")
	b.wave(id, 100)
	b.advance("PT1M")
	restart()
	b.advance("P14D")
	b.arrived(id)
	b.endMove(id)
	back := b.moveOut()
	b.advance("P1D")
	b.wave(back, 100)
	restart()
	b.advance("P24D")
	b.arrived(back)
	stays.advance("P40DT1M")
	b.sameCharges(stays)
}
