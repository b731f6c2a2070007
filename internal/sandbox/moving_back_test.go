//go:build soak

package sandbox

import (
	"context"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// refusing creates no contract: until an instant it fails, and then it refuses.
type refusing struct {
	moves.End

	now   func() time.Time
	until time.Time
}

func (r refusing) Create(context.Context, shop.Shop, moving.Contract, string) (int64, error) {
	if r.now().Before(r.until) {
		return 0, fault.New(fault.Unavailable, "it fails")
	}
	return 0, fault.New(fault.FailedPrecondition, "it is refused").Entity("move").Code("refused")
}

// Contracts are given back after a day between the services. Each order that fell due meanwhile is late,
// and all others are charged as if nothing had happened: those that were skipped are not, and the others
// fall on their days.
func TestContractsThatAreGivenBackKeepTheirOrders(t *testing.T) {
	t.Parallel()
	stays := startInline(t, Options{MainOnly: true, Contracts: 40})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 40})
	b.direct("POST", "/settings", `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	for _, one := range []*bench{stays, b} {
		one.withoutSwaps()
		one.edit()
	}
	id := b.moveIn()
	mover := b.second.front.running().Moves
	began, own := mover.Clock.Now(), mover.Here
	mover.Here = func(m moving.Move) moves.End { return refusing{own(m), mover.Clock.Now, began.AddDate(0, 0, 2)} }
	b.advance("PT10M")
	b.wave(id, 100)
	b.advance("P4D")
	if p := b.progress(id); p.Moved > 0 || p.Between > 0 || p.Failing < 10 {
		b.describeMove(id)
		t.Fatalf("%d contracts were moved, %d are between the services, and %d were given back", p.Moved, p.Between, p.Failing)
	}
	b.advance("P40D")
	stays.advance("P44DT10M")
	b.sameChargesFrom(stays, began.AddDate(0, 0, 5))
	total := func(charges map[string]int) (sum int) {
		for _, n := range charges {
			sum += n
		}
		return sum
	}
	if all, due := total(b.charges(time.Time{})), total(stays.charges(time.Time{})); all != due {
		t.Errorf("%d charges in all, want %d", all, due)
	}
}
