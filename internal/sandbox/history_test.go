package sandbox

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// checkHistory checks what a history has left: orders in the platform's books, contracts that were cancelled,
// and customers who subscribed since.
func checkHistory(t *testing.T, b *bench, months int) {
	t.Helper()
	if now, want := b.clock.Now(), beginning().AddDate(0, months, 0); !now.Equal(want) {
		t.Errorf("it is %s, want %s", now, want)
	}
	cancelled := b.found(b.urls.Subscriptions, b.Manifest().APIKey, "status=cancelled")
	if len(cancelled) < months { // one contract was cancelled before
		t.Errorf("these contracts are cancelled: %v", cancelled)
	}
	younger := 0
	for _, id := range b.found(b.urls.Subscriptions, b.Manifest().APIKey, "") {
		if b.platformContract(id).CreatedAt.After(beginning().Add(time.Hour)) {
			younger++
		}
	}
	if want := 2 * months; younger != want {
		t.Errorf("%d contracts were made meanwhile, want %d", younger, want)
	}
}

// A sandbox with a history is ready when that has passed, and a reset goes back to that instant. Its second
// start adds nothing.
func TestHistoryHasPassedWhenSandboxIsReady(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: t.TempDir(), MainOnly: true, Contracts: 24, History: "P2M", Inline: true}
	b := start(t, o)
	checkHistory(t, b, 2)
	orders := len(b.sim.Orders(simulator.OrderFilter{}))
	if orders < 20 {
		t.Errorf("only %d orders were made", orders)
	}
	b.direct("POST", "/reset", "", nil)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, o)
	checkHistory(t, b, 2)
	if again := len(b.sim.Orders(simulator.OrderFilter{})); again != orders {
		t.Errorf("%d orders after the second start, want %d", again, orders)
	}
}

func TestHistoryNeedsSubscribersAndMovableClock(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no duration":         {History: "a year"},
		"no subscribers":      {History: "P1Y", Empty: true},
		"the machine's clock": {History: "P1Y", WallClock: true},
	} {
		o.DataDir = t.TempDir()
		if _, err := Start(t.Context(), o); err == nil {
			t.Errorf("%s: it starts", name)
		}
	}
}
