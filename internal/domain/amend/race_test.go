package amend_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// client is all that the services need of the platform.
type client interface {
	amend.Platform
	intake.Platform
}

// between is a platform on which something happens around a change of a contract.
type between struct {
	client
	edit func(carryOut func() (platform.Detail, error)) (platform.Detail, error) // nil: nothing does
}

func (p *between) EditContract(ctx context.Context, of platform.Shop, id int64, e platform.Edit) (platform.Detail, error) {
	carryOut := func() (platform.Detail, error) { return p.client.EditContract(ctx, of, id, e) }
	if meanwhile := p.edit; meanwhile != nil {
		p.edit = nil // once
		return meanwhile(carryOut)
	}
	return carryOut()
}

// world is a store with two contracts, whose platform tells of changes when the
// test says so.
type world struct {
	t      *testing.T
	at     *clock.Manual
	of     shop.Shop
	db     *store.DB
	way    *between
	intake *intake.Service
	amend  *amend.Service
	ours   contract.ID // the one that is changed
	other  contract.ID
	events int
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, at: clock.NewManual(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)), db: storetest.SQLite(t)}
	sim, err := simulator.New(simulator.Options{Clock: w.at})
	w.must(err)
	w.of = shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Currency: "USD", Connected: true}
	w.must(sim.AddShop(simulator.ShopSpec{Domain: w.of.Domain, Token: string(w.of.Token)}))
	sold, err := sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "5.00"}}})
	w.must(err)
	for _, id := range []*contract.ID{&w.ours, &w.other} {
		made, err := sim.Checkout(simulator.ContractSpec{
			Customer: simulator.CustomerSpec{Email: "ana@shopper.example"}, NextBillingDate: w.at.Now().AddDate(0, 0, 9),
			Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: sold[0].ID, Quantity: 1, CurrentPrice: "5.00"}},
		})
		w.must(err)
		*id = contract.ID(made.Contract)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		server.Close()
		w.must(sim.Close())
	})
	w.way = &between{client: shopify.New(shopify.Options{BaseURL: server.URL})}
	w.must(w.db.Shops().AddShop(t.Context(), &w.of))
	log := slog.New(slog.DiscardHandler)
	w.intake = &intake.Service{Store: w.db.Intake(), Inbox: w.db.Inbox(), Platform: w.way, Clock: w.at, Log: log, Policy: intake.DefaultPolicy()}
	w.amend = &amend.Service{Store: w.db.Intake(), Platform: w.way, Adopter: w.intake, Plans: w.db, Chores: w.db, Bundles: w.db, Trail: w.db, Customers: w.db, Clock: w.at, Log: log}
	w.must(w.intake.Reconcile(t.Context(), w.of.ID))
	w.at.Set(w.at.Now().Add(time.Second))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// tell lets the platform tell of contracts, and intake work what is due.
func (w *world) tell(ids ...contract.ID) {
	w.t.Helper()
	for _, id := range ids {
		w.events++
		w.must(w.db.Inbox().Add(w.t.Context(), w.of.ID, platform.Event{ID: fmt.Sprint(w.events), Topic: platform.ContractUpdated, Shop: w.of.Domain, Contract: int64(id)}, w.at.Now()))
	}
	w.must(w.intake.Work(w.t.Context(), w.of.ID))
}

// change has somebody change the interval of our contract by the interface.
func (w *world) change(weeks int) error {
	_, err := w.amend.SetBillingInterval(w.t.Context(), w.of.ID, w.command(), amend.Rhythm{Interval: cadence.Week, Count: weeks})
	return err
}

func (w *world) command() amend.Command {
	return amend.Command{Line: shop.Subscriptions, Contract: w.ours, Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "erp"}}
}

// elsewhere changes the note of a contract at the platform.
func (w *world) elsewhere(id contract.ID, note string) {
	w.t.Helper()
	_, err := w.way.client.EditContract(w.t.Context(), w.of.At(), int64(id), platform.Edit{Note: &note})
	w.must(err)
}

func (w *world) contract(id contract.ID) contract.Contract {
	w.t.Helper()
	var c contract.Contract
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) error {
		rows, err := tx.Contracts(w.t.Context(), []contract.ID{id})
		c = rows[0]
		return err
	}))
	return c
}

// wantEntries compares what the log says of a contract since it was made.
func (w *world) wantEntries(when string, id contract.ID, want ...string) {
	w.t.Helper()
	list, _, err := w.db.Entries(w.t.Context(), w.of.ID, nil, page.Request{Size: 100})
	w.must(err)
	var got []string
	for _, e := range list {
		if e.EntityID == int64(id) && e.Event != activity.ContractCreated {
			got = append(got, fmt.Sprintf("%s %s", e.Actor.Source, e.Event))
		}
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		w.t.Errorf("%s the log of the contract says %v, want %v", when, got, want)
	}
}

const (
	interval = "MERCHANT_EXTERNAL_API BILLING_INTERVAL_CHANGE"
	delivery = "MERCHANT_EXTERNAL_API DELIVERY_INTERVAL_CHANGE"
	noted    = "MERCHANT_EXTERNAL_API SUBSCRIPTION_CONTRACT_UPDATED"
	updated  = "SHOPIFY_EVENT SUBSCRIPTION_CONTRACT_UPDATED"
)

// theirs is what the log says of our change when nobody is known to have made it.
var theirs = []string{"SHOPIFY_EVENT BILLING_INTERVAL_CHANGE", "SHOPIFY_EVENT DELIVERY_INTERVAL_CHANGE"}

func TestAnEventIsNotTakenForSomebodysChangeWhileOursIsAnswered(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.elsewhere(w.other, "ring twice")
		w.tell(w.ours, w.other)
		w.wantEntries("before the answer", w.ours)
		w.wantEntries("before the answer", w.other, updated)
		return d, err
	}
	w.must(w.change(2))
	w.wantEntries("after the answer", w.ours, interval, delivery)
	if c := w.contract(w.ours); len(c.Amending) > 0 || c.Billing.Count != 2 {
		t.Errorf("the contract is billed every %d weeks and waits for %+v", c.Billing.Count, c.Amending)
	}
	w.at.Set(w.at.Now().Add(contract.Leash))
	w.tell()
	w.wantEntries("when the event is worked", w.ours, interval, delivery)
	w.elsewhere(w.ours, "ring twice")
	w.tell(w.ours)
	w.wantEntries("after somebody's change", w.ours, interval, delivery, updated)
}

func TestAnEventWaitsForAChangeOfWhichTheAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		_, err := carryOut()
		w.must(err)
		w.tell(w.ours)
		return platform.Detail{}, platform.ErrUnknown
	}
	w.must(w.change(2))
	w.at.Set(w.at.Now().Add(contract.Leash))
	w.tell()
	w.wantEntries("in the end", w.ours, interval, delivery)
}

func TestTwoChangesAtATimeAreBothMadeAndToldOf(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"the other one is quicker": false, "the other one comes before the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.way.edit = func(carryOut func() (platform.Detail, error)) (d platform.Detail, err error) {
				if after {
					d, err = carryOut()
				}
				_, failed := w.amend.SetNote(t.Context(), w.of.ID, w.command(), "ring twice")
				w.must(failed)
				if !after {
					d, err = carryOut()
				}
				w.tell(w.ours)
				return d, err
			}
			w.must(w.change(2))
			w.at.Set(w.at.Now().Add(contract.Leash))
			w.tell()
			w.wantEntries("in the end", w.ours, interval, delivery, noted)
			if c := w.contract(w.ours); len(c.Amending) > 0 || c.Billing.Count != 2 || c.Note != "ring twice" {
				t.Errorf("the contract is billed every %d weeks with the note %q and waits for %+v", c.Billing.Count, c.Note, c.Amending)
			}
		})
	}
}

func TestARefusedChangeLetsEventsBeWorkedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(func() (platform.Detail, error)) (platform.Detail, error) {
		return platform.Detail{}, &platform.Refusal{Code: "INVALID", Message: "not so"}
	}
	if err := w.change(2); err == nil {
		t.Fatal("the change was not refused")
	}
	if c := w.contract(w.ours); len(c.Amending) > 0 {
		t.Errorf("the contract waits for %+v", c.Amending)
	}
	w.elsewhere(w.ours, "ring twice")
	w.tell(w.ours)
	w.wantEntries("after somebody's change", w.ours, updated)
}

// died is a change whose process did not live to see the answer.
func (w *world) died() {
	w.t.Helper()
	was := w.contract(w.ours)
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) error {
		was.Amending = []contract.Amending{{From: was.Revision, Until: w.at.Now().Add(contract.Leash)}}
		return tx.PutContracts(w.t.Context(), []contract.Contract{was})
	}))
	weekly := platform.Policy{Interval: "WEEK", Count: 2}
	_, err := w.way.client.EditContract(w.t.Context(), w.of.At(), int64(w.ours), platform.Edit{Billing: &weekly, Delivery: &weekly})
	w.must(err)
}

func TestAChangeWhoseProcessDiedIsTakenOverAfterAWhile(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.died()
	w.tell(w.ours)
	w.wantEntries("at first", w.ours)
	for range 5 { // each time the event waits for a little longer
		w.at.Set(w.at.Now().Add(contract.Leash / 4))
		w.tell()
	}
	w.wantEntries("in the end", w.ours, theirs...)
}

func TestAReconciliationWaitsForNobody(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.died()
	w.must(w.intake.Reconcile(t.Context(), w.of.ID))
	w.wantEntries("after a reconciliation", w.ours, theirs...)
}

func TestAReadingOfBeforeAChangeDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.elsewhere(w.ours, "ring twice")
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		w.tell(w.ours)
		w.wantEntries("before the change", w.ours, updated)
		return carryOut()
	}
	w.must(w.change(2))
	w.wantEntries("after the change", w.ours, updated, interval, delivery)
}

func TestAnEventOfAPaymentMethodWaitsForAChangeOfItsContract(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.events++
		w.must(w.db.Inbox().Add(t.Context(), w.of.ID, platform.Event{ID: fmt.Sprint(w.events), Topic: platform.PaymentUpdated, Shop: w.of.Domain, PaymentMethod: w.contract(w.ours).PaymentMethod}, w.at.Now()))
		w.tell()
		return d, err
	}
	w.must(w.change(2))
	w.wantEntries("after the answer", w.ours, interval, delivery)
	w.at.Set(w.at.Now().Add(contract.Leash))
	w.tell()
	w.wantEntries("when the event is worked", w.ours, interval, delivery)
}
