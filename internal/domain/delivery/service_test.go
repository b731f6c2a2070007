package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

const (
	domain = "demo.myshopify.com"
	token  = "shpat_demo"
)

// world is the service between a database and a simulated platform.
type world struct {
	*delivery.Service
	t      *testing.T
	clock  *clock.Manual
	sim    *simulator.Simulator
	client *shopify.Client
	db     *store.DB
	shop   shop.ID
	place  int64
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clock.NewManual(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)), db: storetest.SQLite(t)}
	var err error
	w.sim, err = simulator.New(simulator.Options{Clock: w.clock})
	w.must(err)
	w.must(w.sim.AddShop(simulator.ShopSpec{Domain: domain, Token: token}))
	server := httptest.NewServer(w.sim.Handler())
	t.Cleanup(func() {
		server.Close()
		w.must(w.sim.Close())
	})
	w.client = shopify.New(shopify.Options{BaseURL: server.URL})
	s := shop.Shop{Domain: domain, PlatformID: 1001, Token: token, TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: w.clock.Now()}
	w.must(w.db.Shops().AddShop(t.Context(), &s))
	w.shop = s.ID
	places, err := w.sim.Locations(domain)
	w.must(err)
	w.place = places[0].ID
	w.Service = &delivery.Service{Store: w.db.Delivery(), Platform: w.client, Clock: w.clock, Log: slog.New(slog.DiscardHandler)}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func by() activity.Actor { return activity.Actor{Source: activity.MerchantExternalAPI, By: "ERP"} }

// to is places that deliver to a country.
func (w *world) to(country string) []delivery.Place {
	return []delivery.Place{{Location: w.place, Zones: []delivery.Zone{{Country: country, Rates: []delivery.Rate{
		{Name: "Standard", Price: money.Amount{Minor: 490, Currency: "USD"}},
	}}}}}
}

func (w *world) create(name string) (delivery.Profile, error) {
	return w.Create(w.t.Context(), w.shop, delivery.CreateCommand{Name: name, Places: w.to("US"), Actor: by()})
}

func (w *world) named(name string) int {
	w.t.Helper()
	list, err := w.client.Profiles(w.t.Context(), platform.Shop{Domain: domain, Token: token})
	w.must(err)
	n := 0
	for _, p := range list {
		if p.Name == name {
			n++
		}
	}
	return n
}

// kept returns our profiles, as "name platform-id-known pending".
func (w *world) kept() []string {
	w.t.Helper()
	var list []string
	w.must(w.db.Delivery().Update(w.t.Context(), w.shop, func(tx delivery.Tx) error {
		list = nil
		all, err := tx.DeliveryProfiles(w.t.Context())
		for _, p := range all {
			list = append(list, fmt.Sprintf("%s %t %t", p.Name, p.PlatformID != 0, p.Pending != nil))
		}
		return err
	}))
	return list
}

func (w *world) wantKept(want ...string) {
	w.t.Helper()
	if got := w.kept(); !slices.Equal(got, want) {
		w.t.Errorf("kept %q, want %q", got, want)
	}
}

// wantEntries asserts the exact list of entries, oldest first.
func (w *world) wantEntries(want ...string) {
	w.t.Helper()
	list, _, err := w.db.Entries(w.t.Context(), w.shop, nil, page.Request{Size: 50, Sort: []page.Sort{{Field: activity.FieldID}}})
	w.must(err)
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.EntityType, e.Event, e.Status, e.Actor.By))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (w *world) wantFault(err error, kind fault.Kind, key string) {
	w.t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind || f.ErrorKey != key {
		w.t.Errorf("got %v, want %s %s", err, kind, key)
	}
}

const (
	wasCreated = "SHIPPING_PROFILE CREATED SUCCESS ERP"
	wasUpdated = "SHIPPING_PROFILE UPDATED SUCCESS ERP"
)

// lose makes changes fail in a way, and reads too after the first few.
func (w *world) lose(kind simulator.FaultKind, reads int, call func()) {
	w.t.Helper()
	w.Platform = &mishap{to: w.client, sim: w.sim, kind: kind, reads: reads}
	call()
	w.Platform = w.client
}

// mishap is a platform to which the way is bad.
type mishap struct {
	to    platform.Profiles
	sim   *simulator.Simulator
	kind  simulator.FaultKind
	reads int // that get through
}

func (m *mishap) around(do func()) {
	if err := m.sim.SetFaults(simulator.Faults{Rate: 1, Seed: 1, Kinds: []simulator.FaultKind{m.kind}}); err != nil {
		panic(err)
	}
	do()
	if err := m.sim.ClearFaults(); err != nil {
		panic(err)
	}
}

func (m *mishap) Profiles(ctx context.Context, at platform.Shop) (list []platform.Profile, err error) {
	if m.reads--; m.reads >= 0 {
		return m.to.Profiles(ctx, at)
	}
	m.around(func() { list, err = m.to.Profiles(ctx, at) })
	return list, err
}

func (m *mishap) CreateProfile(ctx context.Context, at platform.Shop, p platform.ProfileSpec) (id int64, err error) {
	m.around(func() { id, err = m.to.CreateProfile(ctx, at, p) })
	return id, err
}

func (m *mishap) ReplaceProfile(ctx context.Context, at platform.Shop, id int64, p platform.ProfileSpec) (err error) {
	m.around(func() { err = m.to.ReplaceProfile(ctx, at, id, p) })
	return err
}

// all is more reads than there are.
const all = 100

func TestCreateProfile(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p, err := w.create("  Boxes ")
	if err != nil || p.ID == 0 || p.PlatformID == 0 || p.Name != "Boxes" || p.Pending != nil || !p.DueAt.IsZero() {
		t.Fatalf("%+v, %v", p, err)
	}
	w.wantKept("Boxes true false")
	w.wantEntries(wasCreated)
	if again, err := w.create("Boxes"); err != nil || again.PlatformID == p.PlatformID {
		t.Errorf("another of that name: %+v, %v", again, err)
	}
}

func TestLostAnswerIsFoundImmediately(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.lose(simulator.TimeoutAfter, all, func() {
		if p, err := w.create("Boxes"); err != nil || p.PlatformID == 0 {
			t.Errorf("%+v, %v", p, err)
		}
	})
	if n := w.named("Boxes"); n != 1 {
		t.Errorf("%d profiles", n)
	}
	w.wantKept("Boxes true false")
	w.wantEntries(wasCreated)
}

func TestRepeatedRequestCompletesChange(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.lose(simulator.TimeoutBefore, all, func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Unavailable, "platformUnknown")
	})
	w.wantKept("Boxes false true")
	w.wantEntries()
	_, err := w.Create(t.Context(), w.shop, delivery.CreateCommand{Name: "Boxes", Places: w.to("DE"), Actor: by()})
	w.wantFault(err, fault.Conflict, "deliveryProfilePending")
	if _, err := w.create("Boxes"); err != nil {
		t.Error(err)
	}
	if n := w.named("Boxes"); n != 1 {
		t.Errorf("%d profiles", n)
	}
	w.wantKept("Boxes true false")
	w.wantEntries(wasCreated)
}

func TestUnknownProfileIsFoundBySweep(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.lose(simulator.TimeoutAfter, 1, func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Unavailable, "platformUnknown")
	})
	w.must(w.Work(t.Context(), w.shop)) // nothing is due yet
	w.wantKept("Boxes false true")
	w.wait(time.Minute)
	w.must(w.Work(t.Context(), w.shop))
	w.wantKept("Boxes true false")
	w.wantEntries(wasCreated)
	if n := w.named("Boxes"); n != 1 {
		t.Errorf("%d profiles", n)
	}
}

func (w *world) wait(d time.Duration) { w.clock.Set(w.clock.Now().Add(d)) }

func TestProfileNeverCreatedIsDropped(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.lose(simulator.TimeoutBefore, all, func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Unavailable, "platformUnknown")
	})
	for range 9 {
		w.wait(time.Minute)
		w.must(w.Work(t.Context(), w.shop))
		w.wantKept("Boxes false true")
	}
	w.wait(time.Minute)
	w.must(w.Work(t.Context(), w.shop))
	w.wantKept()
	w.wantEntries("SHIPPING_PROFILE CREATED FAILURE ERP")
	if n := w.named("Boxes"); n != 0 {
		t.Errorf("%d profiles", n)
	}
}

func TestConcurrentCreateIsBusy(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.Platform = &meanwhile{Profiler: w.client, do: func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Conflict, "deliveryProfileBusy")
	}}
	if _, err := w.create("Boxes"); err != nil {
		t.Error(err)
	}
	if n := w.named("Boxes"); n != 1 {
		t.Errorf("%d profiles", n)
	}
}

// Profiler is platform.Profiles under a name that can be embedded.
type Profiler platform.Profiles

// meanwhile does something while a profile is made.
type meanwhile struct {
	Profiler
	do func()
}

func (m *meanwhile) CreateProfile(ctx context.Context, at platform.Shop, p platform.ProfileSpec) (int64, error) {
	m.do()
	return m.Profiler.CreateProfile(ctx, at, p)
}

func TestRefusedCreateLeavesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	places := w.to("US")
	places[0].Location = 99
	_, err := w.Create(t.Context(), w.shop, delivery.CreateCommand{Name: "Boxes", Places: places, Actor: by()})
	w.wantFault(err, fault.NotFound, "locationNotFound")
	if f, _ := errors.AsType[*fault.Error](err); f == nil || f.Param != "places.0.location" || f.Message != "The Location could not be found for this shop." {
		t.Errorf("%+v", f)
	}
	w.wantKept()
	w.wantEntries()
}

func TestThrottledRequestLeavesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.lose(simulator.Throttled, all, func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Unavailable, "platformBusy")
	})
	w.wantKept()
	w.wantEntries()
}

func TestUpdateProfile(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p, err := w.create("Boxes")
	w.must(err)
	name := "Crates"
	for _, ref := range []delivery.Ref{{Number: int64(p.ID)}, {Number: p.PlatformID}, {Number: p.PlatformID, Platform: true}} {
		got, err := w.Update(t.Context(), w.shop, delivery.UpdateCommand{Profile: ref, Name: &name, Actor: by()})
		if err != nil || got.ID != p.ID || got.Name != "Crates" || got.Pending != nil {
			t.Errorf("%+v: %+v, %v", ref, got, err)
		}
	}
	if w.named("Crates") != 1 || w.named("Boxes") != 0 {
		t.Error("the platform has not changed it")
	}
	w.wantEntries(wasCreated, wasUpdated, wasUpdated, wasUpdated)
	_, err = w.Update(t.Context(), w.shop, delivery.UpdateCommand{Profile: delivery.Ref{Number: 12345}, Name: &name, Actor: by()})
	w.wantFault(err, fault.NotFound, "deliveryProfileNotFound")
}

func TestLostChangeIsCompletedBySweep(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]simulator.FaultKind{"after it was done": simulator.TimeoutAfter, "before it was done": simulator.TimeoutBefore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			p, err := w.create("Boxes")
			w.must(err)
			crates := "Crates"
			w.lose(kind, all, func() {
				_, err := w.Update(t.Context(), w.shop, delivery.UpdateCommand{Profile: delivery.Ref{Number: int64(p.ID)}, Name: &crates, Places: w.to("FR"), Actor: by()})
				w.wantFault(err, fault.Unavailable, "platformUnknown")
			})
			w.wantKept("Boxes true true")
			w.wait(time.Minute)
			w.must(w.Work(t.Context(), w.shop))
			w.wantKept("Crates true false")
			w.wantEntries(wasCreated, wasUpdated)
			if w.named("Crates") != 1 {
				t.Error("the platform has not changed it")
			}
		})
	}
}

func TestRefusedChangeKeepsProfile(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p, err := w.create("Boxes")
	w.must(err)
	places := w.to("US")
	places[0].Location = 99
	_, err = w.Update(t.Context(), w.shop, delivery.UpdateCommand{Profile: delivery.Ref{Number: int64(p.ID)}, Places: places, Actor: by()})
	w.wantFault(err, fault.NotFound, "locationNotFound")
	w.wantKept("Boxes true false")
	w.wantEntries(wasCreated)
}

func TestProfileOfDisconnectedStore(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.must(w.sim.Uninstall(domain))
	_, err := w.create("Boxes")
	w.wantFault(err, fault.FailedPrecondition, "shopDisconnected")
	w.wantKept()
}

func TestExistingProfileOfSameNameIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, err := w.client.CreateProfile(t.Context(), platform.Shop{Domain: domain, Token: token}, platform.ProfileSpec{Name: "Boxes", Places: w.to("US")})
	w.must(err)
	w.lose(simulator.TimeoutBefore, all, func() {
		_, err := w.create("Boxes")
		w.wantFault(err, fault.Unavailable, "platformUnknown")
	})
	w.wantKept("Boxes false true")
	if _, err := w.create("Boxes"); err != nil || w.named("Boxes") != 2 {
		t.Errorf("%d of that name, %v", w.named("Boxes"), err)
	}
}
