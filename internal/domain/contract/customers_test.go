package contract

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestStandings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		statuses []Status // oldest first
		want     CustomerStatus
	}{
		{"no contract", nil, "NEVER_SUBSCRIBED"},
		{"one active contract is enough", []Status{Cancelled, Active, Paused, Failed}, "ACTIVE"},
		{"a paused one counts when none is active", []Status{Paused, Cancelled, Failed}, "PAUSED"},
		{"otherwise the newest speaks", []Status{Cancelled, Failed, Expired}, "EXPIRED"},
		{"also when it was cancelled", []Status{Expired, Cancelled}, "CANCELLED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var contracts []Contract
			for _, s := range row.statuses {
				contracts = append(contracts, Contract{Status: s})
			}
			if got := CustomerStatusOf(contracts); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestPaidThrough(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC) }
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	for _, row := range []struct {
		name string
		c    Contract
		want time.Time
	}{
		{"nothing was ordered", Contract{Status: Active, CreatedAt: at(1, 31)}, time.Time{}},
		{"the first order begins a term", Contract{OriginOrderID: 1, CreatedAt: at(1, 31), NextBillingDate: at(2, 28)}, at(2, 28)},
		{"the latest order begins another", Contract{OriginOrderID: 1, CreatedAt: at(1, 1), LastOrderAt: at(3, 31), NextBillingDate: at(4, 30)}, at(4, 30)},
		{"an order that is skipped pays for nothing", Contract{LastOrderAt: at(3, 10), NextBillingDate: at(5, 10)}, at(4, 10)},
		{"a late order does not move the term", Contract{LastOrderAt: at(3, 13), NextBillingDate: at(4, 10)}, at(4, 10)},
		{"a cancelled contract is paid until its term ends", Contract{Status: Cancelled, LastOrderAt: at(3, 10)}, at(4, 10)},
		{"and no longer than until the order that it took away", Contract{Status: Cancelled, LastOrderAt: at(3, 13), CancelledOrderDate: at(4, 10)}, at(4, 10)},
		{"unless a charge that was under way paid for more", Contract{Status: Cancelled, LastOrderAt: at(4, 11), CancelledOrderDate: at(4, 10)}, at(5, 11)},
		{"a term that a short month begins", Contract{Series: Series{Cycle: 1, Start: at(1, 31)}, LastOrderAt: at(2, 28).Add(2 * time.Second), NextBillingDate: at(3, 31)}, at(3, 31)},
		{"and of which the next order was put off", Contract{Series: Series{Cycle: 1, Start: at(1, 31)}, LastOrderAt: at(2, 28).Add(2 * time.Second), NextBillingDate: at(4, 30)}, at(3, 31)},
		{"an order that is overdue shortens nothing", Contract{LastOrderAt: at(3, 10), NextBillingDate: at(3, 9)}, at(4, 10)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.c.Billing = Policy{Interval: cadence.Month, Count: 1}
			if got := row.c.PaidThrough(cal); !got.Equal(row.want) {
				t.Errorf("got %s, want %s", got, row.want)
			}
			later := Contract{Billing: row.c.Billing, LastOrderAt: at(9, 1)}
			if got := PaidThrough([]Contract{row.c, later, row.c}, cal); !got.Equal(at(10, 1)) {
				t.Errorf("with a later one: %s", got)
			}
		})
	}
	if got := PaidThrough(nil, cal); !got.IsZero() {
		t.Errorf("without a contract: %s", got)
	}
}
