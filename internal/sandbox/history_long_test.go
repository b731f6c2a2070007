//go:build soak

package sandbox

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// A year of history gives the figures something to show: renewals, orders that were declined and then paid,
// and customers who left.
func TestYearOfHistoryFillsFigures(t *testing.T) {
	t.Parallel()
	b := start(t, Options{MainOnly: true, Contracts: 30, Kinds: true, History: "P1Y"})
	checkHistory(t, b, 12)
	checkFigures(t, b)
	running := b.front.running()
	of, err := running.Store.Shops().ShopByDomain(t.Context(), demo.Main)
	if err != nil {
		t.Fatal(err)
	}
	now := analytics.DayOf(b.clock.Now(), time.UTC)
	year := analytics.Period{From: now - 365, To: now}
	recovery, err := running.Analytics.Recovery(t.Context(), of.ID, year, analytics.Filter{Currency: "USD"})
	if err != nil || recovery.Total.Recovered < 5 {
		t.Errorf("these orders were recovered: %+v, %v", recovery.Total, err)
	}
	churn, err := running.Analytics.Churn(t.Context(), of.ID, year)
	left := int64(0)
	for _, c := range churn {
		left += c.Voluntary
	}
	if err != nil || left < 10 {
		t.Errorf("%d customers left, %v: %+v", left, err, churn)
	}
}
