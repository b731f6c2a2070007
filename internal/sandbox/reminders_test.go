package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// noticeDays is how many days before an order its customer is reminded, as the documentation has it.
func noticeDays(c contract.Contract) []int {
	every := c.Billing
	switch {
	case every.Interval == cadence.Year || every.Interval == cadence.Month && every.Count >= 12:
		return []int{21, 7}
	case c.Line == shop.Memberships && every.Interval == cadence.Month:
		return []int{7}
	case every.Interval == cadence.Week && every.Count == 1 || every.Interval == cadence.Day && every.Count <= 7:
		return []int{1}
	}
	return []int{3}
}

// inDaytime returns when a message is sent that is due at an instant: not before 8 and not after 20.
func inDaytime(at time.Time) time.Time {
	morning := time.Date(at.Year(), at.Month(), at.Day(), 8, 0, 0, 0, at.Location())
	switch {
	case at.Hour() < 8:
		return morning
	case at.Hour() >= 20:
		return morning.AddDate(0, 0, 1)
	}
	return at
}

// Through failures of the platform, lost webhooks and a restart every order of a contract that runs is
// announced once, on its day, and nothing else is.
func TestEveryOrderIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: t.TempDir(), Contracts: 20, Inline: true, CheckEvery: reconcileEvery}
	b := start(t, o)
	began := b.clock.Now()
	b.direct("POST", "/platform/faults", `{"rate":0.2,"kinds":["timeout_before","timeout_after","http_500","webhook_lost"],"seed":7,"for":"P40D"}`, nil)
	b.advance("P25D")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, o)
	b.advance("P35D")

	type notice struct {
		to string
		at time.Time
	}
	want, orders := map[notice][]contract.ID{}, 0
	calm := map[string]bool{} // links of the contracts that are looked at
	stores, err := b.front.running().Store.Shops().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []contract.ID
	for _, id := range b.secrets.Cast.Others {
		ids = append(ids, contract.ID(id))
	}
	for _, c := range b.secrets.Cast.Customers {
		for _, id := range c.Contracts {
			ids = append(ids, contract.ID(id))
		}
	}
	for _, s := range stores {
		zone, err := time.LoadLocation(s.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		err = b.front.running().Store.Update(t.Context(), s.ID, func(tx *store.Tx) error {
			list, err := tx.Contracts(t.Context(), ids)
			if err != nil {
				return err
			}
			for _, c := range list {
				attempts, err := tx.AttemptsOf(t.Context(), []contract.ID{c.ID})
				if err != nil {
					return err
				}
				odd := func(a billing.Attempt) bool { return a.Status != billing.Success && a.Status != billing.Queued }
				if c.Status != contract.Active || !c.PaymentUsable || slices.ContainsFunc(attempts, odd) {
					continue // its orders were declined, skipped or ended: other tests tell
				}
				calm[fmt.Sprintf("/s/%d", c.ID)] = true
				for _, a := range attempts {
					for i, days := range noticeDays(c) {
						on := a.BillingDate.In(zone)
						at := on.Add(-time.Duration(days) * 24 * time.Hour)
						if late := !at.After(began); late && (!on.After(began) || i == 0 && len(noticeDays(c)) > 1 && !on.Add(-7*24*time.Hour).After(began)) {
							continue // it was paid before, or the second reminder is late as well
						} else if late {
							at = began.In(zone)
						}
						if at = inDaytime(at).UTC(); !at.After(b.clock.Now()) {
							key := notice{c.Customer.Email, at}
							want[key] = append(want[key], c.ID)
							orders++
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, seen := map[notice]int{}, map[string]bool{}
	for _, m := range b.mails.find("", "upcoming_order") {
		if seen[m.ID] {
			t.Errorf("the letter %s to %s came twice", m.ID, m.To)
		}
		seen[m.ID] = true
		about := slices.ContainsFunc(m.Links, func(link string) bool {
			_, path, _ := strings.Cut(link, "/s/")
			number, _, _ := strings.Cut(path, "/")
			return calm["/s/"+number]
		})
		if about {
			got[notice{m.To, time.Time(*m.At)}]++
		}
	}
	for key, contracts := range want {
		if got[key] != 1 {
			t.Errorf("%d letters to %s at %s about the next orders of %v", got[key], key.to, key.at, contracts)
		}
	}
	for key, n := range got {
		if len(want[key]) == 0 {
			t.Errorf("%d letters to %s at %s about no order", n, key.to, key.at)
		}
	}
	if orders < 25 || len(want) < 20 {
		t.Errorf("only %d orders were announced, on %v", orders, slices.Collect(maps.Keys(want)))
	}
}
