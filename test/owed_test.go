package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// contracts returns the ids of the contracts in sandbox.json.
func contracts(t *testing.T, dir string) []int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Customers []struct{ Contracts []int64 }
		OtherShop struct{ Contracts []int64 }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	ids := manifest.OtherShop.Contracts
	for _, c := range manifest.Customers {
		ids = append(ids, c.Contracts...)
	}
	return ids
}

// due is what a contract is owed from the day it is looked at.
type due struct {
	platformContract
	zone         *time.Location
	hour, minute int
	first        int // cycle of the first renewal
}

// look reads every contract before time passes.
func (s *store) look(ids []int64) []due {
	s.t.Helper()
	var list []due
	for _, id := range ids {
		d := due{platformContract: s.contract(id)}
		place, ok := demo.StoreByDomain(d.Shop)
		if !ok {
			s.t.Fatalf("contract %d belongs to the unknown store %s", id, d.Shop)
		}
		zone, err := time.LoadLocation(place.TimeZone)
		if err != nil {
			s.t.Fatal(err)
		}
		d.zone, d.hour, d.minute = zone, place.Hour, place.Minute
		var cycles []struct {
			Index           int
			Expected        time.Time
			Billed, Skipped bool
		}
		s.call("GET", "/platform/cycles?contractId="+itoa(id), nil, &cycles)
		for _, c := range cycles {
			if !c.Billed && d.NextBillingDate != nil && !c.Expected.Before(d.NextBillingDate.Add(-12*time.Hour)) {
				d.first = c.Index
				break
			}
		}
		list = append(list, d)
	}
	return list
}

// owes returns the instants of the cycles that must be charged until an
// instant, by cycle.
func (d due) owes(until time.Time) map[int]time.Time {
	cycles := make(map[int]time.Time)
	if d.Status != "ACTIVE" || d.NextBillingDate == nil {
		return cycles
	}
	for i, at := range oracle.Owed(d.Billing, *d.NextBillingDate, until, oracle.Calendar{Zone: d.zone, Hour: d.hour, Minute: d.minute}) {
		if cycle := d.first + i; d.Billing.MaxCycles == 0 || cycle <= d.Billing.MaxCycles {
			cycles[cycle] = at
		}
	}
	return cycles
}

// compare holds the platform's books against what every contract was owed until
// an instant. Orders may be late by at most the given time; cycles that fell due
// since the instant may have theirs already.
func (s *store) compare(contracts []due, until time.Time, late time.Duration) {
	s.t.Helper()
	type charge struct {
		contract int64
		cycle    int
	}
	made := make(map[charge][]order)
	for _, o := range s.orders() {
		c := charge{o.Contract, o.Cycle}
		made[c] = append(made[c], o)
	}
	total, missed, doubled, strange := 0, 0, 0, 0
	now := s.now()
	for _, d := range contracts {
		owes := d.owes(until)
		for cycle := range d.owes(now) {
			if c := (charge{d.ID, cycle}); owes[cycle].IsZero() && len(made[c]) == 1 {
				delete(made, c)
			}
		}
		if d.PaymentMethodStatus != "valid" {
			s.compareUnpaid(d, owes)
			owes = nil
		}
		for cycle, at := range owes {
			total++
			orders := made[charge{d.ID, cycle}]
			delete(made, charge{d.ID, cycle})
			switch {
			case len(orders) == 0:
				missed++
				s.t.Errorf("contract %d was never charged for cycle %d of %s", d.ID, cycle, at)
			case len(orders) > 1:
				doubled++
				s.t.Errorf("contract %d was charged %d times for cycle %d: %+v", d.ID, len(orders), cycle, orders)
			default:
				if lag := orders[0].At.Sub(at); lag < 0 || lag > late {
					s.t.Errorf("contract %d was charged for cycle %d at %s, due %s", d.ID, cycle, orders[0].At, at)
				}
			}
		}
		for c, orders := range made {
			if c.contract == d.ID {
				strange++
				s.t.Errorf("contract %d has orders that were not owed: %+v", d.ID, orders)
				delete(made, c)
			}
		}
	}
	if total == 0 {
		s.t.Error("nothing was owed at all: the comparison means nothing")
	}
	s.t.Logf("%d renewals owed by %d contracts: %d missed, %d doubled, %d not owed", total, len(contracts), missed, doubled, strange)
}

// compareUnpaid holds what became of a contract whose card fails against the rules:
// the first cycle was tried once, for such a card is not tried again automatically, and
// fourteen days later the contract was paused, or would have been.
func (s *store) compareUnpaid(d due, owes map[int]time.Time) {
	s.t.Helper()
	is := s.contract(d.ID)
	if len(owes) == 0 {
		return
	}
	if len(is.Attempts) != 1 || is.Attempts[0].Cycle != d.first {
		s.t.Errorf("contract %d has a card that fails, and was tried for %+v", d.ID, is.Attempts)
	}
	if end := owes[d.first].AddDate(0, 0, 15); is.Status != "PAUSED" && end.Before(s.now()) {
		s.t.Errorf("contract %d has a card that fails, and is %s on %s", d.ID, is.Status, s.now())
	}
}
