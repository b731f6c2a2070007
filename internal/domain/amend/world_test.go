package amend_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// client is all that the services need of the platform.
type client interface {
	amend.Platform
	billing.Platform
	intake.Platform
}

// between is a platform on which something happens around a change of a contract.
type between struct {
	client
	edit   func(carryOut func() (platform.Detail, error)) (platform.Detail, error) // nil: nothing does
	status func(to string) (platform.Detail, error)                                // in place of a change of status; nil: it is made
	detail func()                                                                  // before a contract is read; nil: nothing does
	create func(carryOut func() (platform.Detail, error)) (platform.Detail, error) // nil: nothing does
}

func (p *between) CreateContract(ctx context.Context, of platform.Shop, n platform.NewContract) (platform.Detail, error) {
	carryOut := func() (platform.Detail, error) { return p.client.CreateContract(ctx, of, n) }
	if meanwhile := p.create; meanwhile != nil {
		p.create = nil // once
		return meanwhile(carryOut)
	}
	return carryOut()
}

func (p *between) Detail(ctx context.Context, of platform.Shop, id int64) (platform.Detail, error) {
	if meanwhile := p.detail; meanwhile != nil {
		p.detail = nil // once
		meanwhile()
	}
	return p.client.Detail(ctx, of, id)
}

func (p *between) SetStatus(ctx context.Context, of platform.Shop, id int64, to string) (platform.Detail, error) {
	if p.status != nil {
		return p.status(to)
	}
	return p.client.SetStatus(ctx, of, id, to)
}

func (p *between) EditContract(ctx context.Context, of platform.Shop, id int64, e platform.Edit) (platform.Detail, error) {
	carryOut := func() (platform.Detail, error) { return p.client.EditContract(ctx, of, id, e) }
	if meanwhile := p.edit; meanwhile != nil {
		p.edit = nil // once
		return meanwhile(carryOut)
	}
	return carryOut()
}

// world is a store with two contracts, whose platform reports changes when the
// test says so.
type world struct {
	t         *testing.T
	at        *clock.Manual
	of        shop.Shop
	db        *store.DB
	way       *between
	tea       *teashop.Shop
	intake    *intake.Service
	edits     *contractedit.Service
	creations *create.Service
	splits    *split.Service
	lifecycle *lifecycle.Service
	bills     *charge.Service
	sold      []int64     // variants: the contracts' and another
	ours      contract.ID // the one that is changed
	other     contract.ID
	events    int
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, at: clock.NewManual(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)), db: storetest.SQLite(t)}
	tea := teashop.Open(t, w.at)
	w.sold = []int64{tea.Green, tea.Black}
	w.of = shop.Shop{Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Currency: "USD", Connected: true}
	for _, id := range []*contract.ID{&w.ours, &w.other} {
		*id = contract.ID(tea.Subscribe(w.at.Now().AddDate(0, 0, 9)))
	}
	w.way, w.tea = &between{client: tea.Client}, tea
	w.must(w.db.Shops().AddShop(t.Context(), &w.of))
	log := slog.New(slog.DiscardHandler)
	w.bills = charge.New(&billing.Env{Store: w.db.Billing(), Platform: w.way, Clock: w.at, Log: log, Policy: billing.DefaultPolicy()})
	w.intake = &intake.Service{Store: w.db.Intake(), Inbox: w.db.Inbox(), Platform: w.way, Billing: w.bills, Prices: w.bills.Prepare, Clock: w.at, Log: log, Policy: intake.DefaultPolicy()}
	editor := &amend.Editor{Store: w.db.Intake(), Platform: w.way, Adopter: w.intake, Bundles: w.db, Trail: w.db, Clock: w.at, Log: log}
	pricer := &terms.Pricer{Editor: editor, Plans: w.db}
	w.edits = &contractedit.Service{Pricer: pricer}
	w.creations = &create.Service{Pricer: pricer, Creations: w.db}
	w.splits = &split.Service{Pricer: pricer}
	w.lifecycle = &lifecycle.Service{Editor: editor, Splits: w.splits, Pending: w.edits, Creations: w.creations, Due: w.db}
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

// tell lets the platform report contracts, and intake process what is due.
func (w *world) tell(ids ...contract.ID) {
	w.t.Helper()
	for _, id := range ids {
		w.events++
		w.must(w.db.Inbox().Add(w.t.Context(), w.of.ID, platform.Event{ID: fmt.Sprint(w.events), Topic: platform.ContractUpdated, Shop: w.of.Domain, Contract: int64(id)}, w.at.Now()))
	}
	w.must(w.intake.ProcessEvents(w.t.Context(), w.of.ID))
}

// change changes the interval of our contract through the interface.
func (w *world) change(weeks int) error {
	_, err := w.edits.SetBillingInterval(w.t.Context(), w.of.ID, w.command(), terms.Frequency{Interval: cadence.Week, Count: weeks})
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
