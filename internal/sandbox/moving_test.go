package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// charges returns what each customer was charged on each day from an instant on, from the platform's
// books.
func (b *bench) charges(from time.Time) map[string]int {
	b.t.Helper()
	zone, err := time.LoadLocation(b.store().TimeZone)
	if err != nil {
		b.t.Fatal(err)
	}
	all := map[string]int{}
	for _, o := range b.orders("") {
		if o.At.Before(from) {
			continue
		}
		c, err := b.sim.Contract(o.Contract)
		if err != nil {
			b.t.Fatal(err)
		}
		all[fmt.Sprintf("%s on %s: %s %s", c.Customer.Email, o.At.In(zone).Format(time.DateOnly), o.Amount, o.Currency)]++
	}
	return all
}

// secondStore returns the demo store as the second instance knows it.
func (b *bench) secondStore() shop.ID {
	b.t.Helper()
	id, err := b.second.front.running().Store.Shops().IDOf(b.t.Context(), b.Manifest().Shop)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// mover returns the instance that moves contracts, and the demo store there: the second one, unless the
// first one moves them out.
func (b *bench) mover() (*app.App, shop.ID) {
	b.t.Helper()
	if b.out {
		return b.front.running(), b.store().ID
	}
	return b.second.front.running(), b.secondStore()
}

// moveIn starts a move of the first instance's contracts to the second one, without what the store has
// beside them.
func (b *bench) moveIn() moving.ID {
	b.t.Helper()
	m := b.Manifest()
	move, err := b.second.front.running().Moves.Start(b.t.Context(), b.secondStore(), moves.New{
		Direction: moving.In, Peer: moving.Peer{Address: m.Subscriptions, Memberships: m.Memberships, Key: m.APIKey, Rate: 1000}, By: activity.Operator,
		Plans: map[int64]int64{demo.MembershipPlans()[0]: demo.MembershipPlans()[0], demo.MembershipPlans()[1]: demo.MembershipPlans()[1]},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.second.front.running().Moves.DeclineParts(b.t.Context(), b.secondStore(), move.ID, activity.Operator); err != nil {
		b.t.Fatal(err)
	}
	return move.ID
}

func (b *bench) progress(id moving.ID) moves.Progress {
	b.t.Helper()
	a, of := b.mover()
	p, err := a.Moves.Progress(b.t.Context(), of, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) wave(id moving.ID, percent int) {
	b.t.Helper()
	a, of := b.mover()
	if _, err := a.Moves.SetWave(b.t.Context(), of, id, activity.Operator, percent); err != nil {
		b.t.Fatal(err)
	}
}

// endMove ends a move.
func (b *bench) endMove(id moving.ID) {
	b.t.Helper()
	a, of := b.mover()
	if _, err := a.Moves.End(b.t.Context(), of, id, activity.Operator); err != nil {
		b.t.Fatal(err)
	}
}

// describeMove fails the test with what holds a move up.
func (b *bench) describeMove(id moving.ID) {
	b.t.Helper()
	a, of := b.mover()
	items, err := a.Moves.Items(b.t.Context(), of, id, moving.Match{}, 0, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, i := range items {
		if i.Stage != moving.Moved {
			b.t.Logf("contract %d is %s (%s), due %s: %s %s %+v", i.There, i.Stage, i.Fit, i.DueAt, i.Code, i.Reason, i.Findings)
		}
	}
}

// arrived checks that all contracts that go were moved, save those with an unpaid order, which wait.
func (b *bench) arrived(id moving.ID) {
	b.t.Helper()
	a, of := b.mover()
	p := b.progress(id)
	if goes := p.ByFit[moving.Goes] + p.ByFit[moving.Changes]; p.Moved+p.Stages[moving.Chosen] != goes || p.Moved == 0 || p.Stages[moving.Chosen] > goes/10 {
		b.describeMove(id)
		b.t.Errorf("%d contracts were moved and %d go: %v", p.Moved, goes, p.Stages)
	}
	items, err := a.Moves.Items(b.t.Context(), of, id, moving.Match{Stages: []moving.Stage{moving.Moved}}, 0, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, i := range items {
		there, err := b.sim.Contract(i.There)
		if err != nil {
			b.t.Fatal(err)
		}
		prepaid := there.Billing.Interval != there.Delivery.Interval || there.Billing.IntervalCount != there.Delivery.IntervalCount // it ends after the deliveries that are paid for
		if there.Status != "CANCELLED" && !prepaid {
			b.t.Errorf("contract %d was moved, and is still %s where it was", i.There, there.Status)
		}
	}
}

// sameCharges compares what customers were charged with what they are charged without a move.
func (b *bench) sameCharges(stays *bench) {
	b.t.Helper()
	b.sameChargesFrom(stays, time.Time{})
}

// sameChargesFrom does the same with what they were charged from an instant on.
func (b *bench) sameChargesFrom(stays *bench, from time.Time) {
	b.t.Helper()
	got, want := b.charges(from), stays.charges(from)
	for _, what := range slices.Sorted(maps.Keys(want)) {
		if got[what] != want[what] {
			b.t.Errorf("%s: %d charges, want %d", what, got[what], want[what])
		}
	}
	for _, what := range slices.Sorted(maps.Keys(got)) {
		if want[what] == 0 {
			b.t.Errorf("%s: %d charges, want none", what, got[what])
		}
	}
}

// edit makes orders to come of some contracts special: one is skipped, one is moved, and one has a
// one-time product.
func (b *bench) edit() {
	b.t.Helper()
	m := b.Manifest()
	api := m.Subscriptions + "/api/external/v2/"
	put := func(path string) {
		b.t.Helper()
		if status, text := ask(b.t, "PUT", api+path, m.APIKey, ""); status != http.StatusOK {
			b.t.Fatalf("PUT %s: %d %s", path, status, text)
		}
	}
	var rows []struct {
		ID int64 `json:"subscriptionContractId"`
	}
	_, text := ask(b.t, "GET", api+"subscription-contract-details?status=active&billingPolicyInterval=WEEK&planType=non-prepaid&size=9&sort=id,asc", m.APIKey, "")
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) < 3 {
		b.t.Fatalf("weekly contracts: %v %s", err, text)
	}
	for n, path := range []string{
		"subscription-billing-attempts/skip-order/%[1]d?subscriptionContractId=%[2]d",
		"subscription-billing-attempts/reschedule-order/%[1]d?billingDate=%[3]s",
		"subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=%[2]d&billingAttemptId=%[1]d&variantId=4001&quantity=2",
	} {
		var orders []struct {
			ID   int64
			Date time.Time `json:"billingDate"`
		}
		_, text := ask(b.t, "GET", fmt.Sprintf("%ssubscription-billing-attempts/top-orders?contractId=%d", api, rows[n].ID), m.APIKey, "")
		if err := json.Unmarshal([]byte(text), &orders); err != nil || len(orders) < 5 {
			b.t.Fatalf("orders of contract %d: %v %s", rows[n].ID, err, text)
		}
		o := orders[4]
		put(fmt.Sprintf(path, o.ID, rows[n].ID, o.Date.AddDate(0, 0, 2).Format(time.RFC3339)))
	}
}

// withoutSwaps removes the swap rule of the demo store, for stories that move contracts alone.
func (b *bench) withoutSwaps() {
	b.t.Helper()
	m := b.Manifest()
	if status, text := ask(b.t, "DELETE", fmt.Sprintf("%s/api/external/v2/product-swaps/%d", m.Subscriptions, m.Examples.SwapRule), m.APIKey, ""); status/100 != 2 {
		b.t.Fatalf("removing the swap rule answered %d %s", status, text)
	}
}

// moveOut starts a move of the second instance's contracts to the first one.
func (b *bench) moveOut() moving.ID {
	b.t.Helper()
	m := b.Manifest()
	plans := demo.MembershipPlans()
	move, err := b.second.front.running().Moves.Start(b.t.Context(), b.secondStore(), moves.New{
		Direction: moving.Out, Peer: moving.Peer{Address: m.Subscriptions, Memberships: m.Memberships, Key: m.APIKey, Rate: 1000}, By: activity.Operator,
		Plans: map[int64]int64{plans[0]: plans[0], plans[1]: plans[1]},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return move.ID
}
