package plan_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// wire is the way to the platform. It can die before a change is sent or after.
type wire struct {
	platform.Plans
	dieBefore, dieAfter bool
}

func (w *wire) CreatePlanGroup(ctx context.Context, at platform.Shop, g platform.PlanGroupTerms, plans []platform.SellingPlan, of platform.Assigned) (platform.PlanGroup, error) {
	if w.dieBefore {
		panic("the process dies before the call")
	}
	made, err := w.Plans.CreatePlanGroup(ctx, at, g, plans, of)
	if w.dieAfter {
		panic("the process dies after the call")
	}
	return made, err
}

func (w *wire) UpdatePlanGroup(ctx context.Context, at platform.Shop, group int64, c platform.PlanGroupChange) (platform.PlanGroup, error) {
	if w.dieBefore {
		panic("the process dies before the call")
	}
	changed, err := w.Plans.UpdatePlanGroup(ctx, at, group, c)
	if w.dieAfter {
		panic("the process dies after the call")
	}
	return changed, err
}

// world is the feature between a real database and a simulated platform.
type world struct {
	*testing.T
	clock *clock.Manual
	sim   *simulator.Simulator
	wire  *wire
	db    *store.DB
	shop  shop.Shop
	*plan.Service
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: clock.NewManual(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)), db: storetest.SQLite(t)}
	var err error
	if w.sim, err = simulator.New(simulator.Options{Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	w.shop = shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: w.clock.Now()}
	if err := w.sim.AddShop(simulator.ShopSpec{Domain: w.shop.Domain, Token: string(w.shop.Token)}); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Tea", "Coffee", "Cocoa"} { // products 3001 to 3003
		if _, err := w.sim.AddProduct(simulator.ProductSpec{Title: title, Collections: []string{"All"}, Variants: []simulator.VariantSpec{{Price: "10"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.db.Shops().AddShop(t.Context(), &w.shop); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.sim.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := w.sim.Close(); err != nil {
			t.Error(err)
		}
	})
	w.wire = &wire{Plans: shopify.New(shopify.Options{BaseURL: server.URL})}
	w.Service = &plan.Service{Store: w.db.Plans(), Platform: w.wire, Clock: w.clock, Log: slog.New(slog.DiscardHandler)}
	return w
}

var by = activity.Actor{Source: activity.MerchantExternalAPI, By: "ERP"}

func draft(names ...string) plan.Draft {
	d := plan.Draft{Terms: plan.Terms{Name: "Club"}}
	for i, name := range names {
		d.Options = append(d.Options, plan.Option{Name: name, Delivery: plan.Frequency{Interval: cadence.Month, Count: i + 1}, Sequence: i + 1})
	}
	return d
}

func (w *world) create(line shop.Line, names ...string) plan.Group {
	w.Helper()
	g, err := w.Create(w.Context(), w.shop.ID, plan.CreateCommand{Line: line, Draft: draft(names...), Sold: platform.Assigned{Products: []int64{3001}}, Actor: by})
	if err != nil {
		w.Fatal(err)
	}
	return g
}

// list returns the names of the line's groups and of their options.
func (w *world) list() []string {
	w.Helper()
	groups, _, err := w.db.PlanGroups(w.Context(), w.shop.ID, shop.Subscriptions, page.Request{Size: 100})
	if err != nil {
		w.Fatal(err)
	}
	var names []string
	for _, g := range groups {
		if g.State != plan.Synced || g.Pending != nil {
			w.Errorf("group %d is %s", g.ID, g.State)
		}
		names = append(names, g.Name)
		for _, o := range g.Options {
			names = append(names, o.Name)
		}
	}
	return names
}

// there returns the names of the plans of the platform's only group, or nothing.
func (w *world) there(group int64) []string {
	w.Helper()
	got, err := w.wire.PlanGroup(w.Context(), w.shop.At(), group)
	if err != nil {
		return nil
	}
	names := []string{got.Name}
	for _, p := range got.Plans {
		names = append(names, p.Name)
	}
	return names
}

// dying runs fn, which dies.
func (w *world) dying(fn func()) {
	w.Helper()
	defer func() {
		if recover() == nil {
			w.Fatal("nothing died")
		}
		w.wire.dieBefore, w.wire.dieAfter = false, false
	}()
	fn()
}

// later advances the clock past the lease of a caller that died.
func (w *world) later() {
	w.Helper()
	w.clock.Set(w.clock.Now().Add(10 * time.Minute))
	if err := w.Repair(w.Context(), w.shop.ID); err != nil {
		w.Error(err)
	}
	if left, err := w.db.Shops().DuePlanShops(w.Context(), w.clock.Now().AddDate(1, 0, 0), 10); err != nil || len(left) != 0 {
		w.Errorf("something is still pending in %v, %v", left, err)
	}
}

const firstGroup = 8001 // of the simulator

func TestCrashLeavesNoPartialGroup(t *testing.T) {
	t.Parallel()
	t.Run("before the platform hears of a new group", func(t *testing.T) {
		t.Parallel()
		w := begin(t)
		w.wire.dieBefore = true
		w.dying(func() { w.create(shop.Subscriptions, "Monthly") })
		w.later()
		if here, there := w.list(), w.there(firstGroup); len(here) != 0 || there != nil {
			t.Errorf("here %v, there %v", here, there)
		}
	})
	t.Run("after the platform made a group", func(t *testing.T) {
		t.Parallel()
		w := begin(t)
		w.wire.dieAfter = true
		w.dying(func() { w.create(shop.Subscriptions, "Monthly") })
		if here := w.list(); len(here) != 0 {
			t.Errorf("a group that is not settled shows: %v", here)
		}
		w.later()
		if here, there := w.list(), w.there(firstGroup); !slices.Equal(here, []string{"Club", "Monthly"}) || !slices.Equal(here, there) || w.there(firstGroup+1) != nil {
			t.Errorf("here %v, there %v", here, there)
		}
	})
	for name, before := range map[string]bool{"before a change is sent": true, "after a change was made": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			g := w.create(shop.Subscriptions, "Monthly", "Slowly")
			d := g.Draft()
			d.Name, d.Options[0].Name = "Society", "Each month"
			d.Options[1] = plan.Option{Name: "Yearly", Delivery: plan.Frequency{Interval: cadence.Year, Count: 1}, Sequence: 2}
			w.wire.dieBefore, w.wire.dieAfter = before, !before
			command := plan.UpdateCommand{Line: shop.Subscriptions, ID: g.ID, Draft: &d, Actor: by, Assign: plan.Assignment{Products: &[]int64{3002}}}
			w.dying(func() { _, _ = w.Update(t.Context(), w.shop.ID, command) })
			if _, err := w.Update(t.Context(), w.shop.ID, command); !fault.Is(err, fault.Conflict) {
				t.Errorf("while it is under way: %v", err)
			}
			w.later()
			want := []string{"Society", "Each month", "Yearly"}
			if here, there := w.list(), w.there(firstGroup); !slices.Equal(here, want) || !slices.Equal(there, want) {
				t.Errorf("here %v, there %v", here, there)
			}
			is, err := w.db.PlanGroup(t.Context(), w.shop.ID, shop.Subscriptions, g.ID)
			if err != nil || len(is.Products) != 1 || is.Products[0] != (platform.Titled{ID: 3002, Title: "Coffee"}) || is.Options[0].ID != g.Options[0].ID {
				t.Errorf("%+v, %v", is, err)
			}
		})
	}
}

func TestRefusedCreateLeavesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	g := w.create(shop.Subscriptions, "Monthly")
	// Another client adds a plan that the service does not know.
	other := platform.SellingPlan{
		Name: "Theirs", Option: "Theirs", Position: 9, Billing: platform.Policy{Interval: "DAY", Count: 1}, Delivery: platform.Policy{Interval: "DAY", Count: 1},
	}
	if _, err := w.wire.UpdatePlanGroup(t.Context(), w.shop.At(), g.PlatformID, platform.PlanGroupChange{Create: []platform.SellingPlan{other}}); err != nil {
		t.Fatal(err)
	}
	d := g.Draft()
	d.Name = "Society"
	d.Options = append(d.Options, plan.Option{Name: "Theirs", Delivery: plan.Frequency{Interval: cadence.Year, Count: 1}, Sequence: 2})
	_, err := w.Update(t.Context(), w.shop.ID, plan.UpdateCommand{Line: shop.Subscriptions, ID: g.ID, Draft: &d, Actor: by, Assign: plan.Assignment{Products: &[]int64{3002}}})
	if !fault.Is(err, fault.FailedPrecondition) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if here, there := w.list(), w.there(firstGroup); !slices.Equal(here, []string{"Club", "Monthly"}) || !slices.Equal(there, []string{"Club", "Monthly", "Theirs"}) {
		t.Errorf("here %v, there %v", here, there)
	}
	// The products are at the platform what they were: the one that was added can
	// be added, and the one that was removed is a member.
	is, err := w.db.PlanGroup(t.Context(), w.shop.ID, shop.Subscriptions, g.ID)
	if err != nil || len(is.Products) != 1 || is.Products[0].ID != 3001 {
		t.Errorf("%+v, %v", is, err)
	}
	entries, _, err := w.db.Entries(t.Context(), w.shop.ID, nil, page.Request{Size: 10})
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestMembershipPlansAreListedInSettings(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.create(shop.Subscriptions, "Monthly")
	g := w.create(shop.Memberships, "Gold", "Silver")
	if err := w.Delete(t.Context(), w.shop.ID, plan.DeleteCommand{Line: shop.Memberships, ID: g.ID, Actor: by}); err != nil {
		t.Fatal(err)
	}
	got, err := w.db.Shops().Shop(t.Context(), w.shop.ID)
	want := []int64{g.Options[0].ID, g.Options[1].ID} // still: contracts outlive their plan
	if err != nil || !slices.Equal(got.Settings.Memberships, want) {
		t.Errorf("got %v, %v, want %v", got.Settings.Memberships, err, want)
	}
}

func TestDisconnectedStoreChangesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	g := w.create(shop.Subscriptions, "Monthly")
	if err := w.sim.Uninstall(""); err != nil {
		t.Fatal(err)
	}
	d := g.Draft()
	d.Name = "Society"
	if _, err := w.Update(t.Context(), w.shop.ID, plan.UpdateCommand{Line: shop.Subscriptions, ID: g.ID, Draft: &d, Actor: by}); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("got %v", err)
	}
	if here := w.list(); !slices.Equal(here, []string{"Club", "Monthly"}) {
		t.Errorf("here %v", here)
	}
}

func TestRemoveEverywhereRemovesProducts(t *testing.T) {
	t.Parallel()
	w := begin(t)
	first, second := w.create(shop.Subscriptions, "A"), w.create(shop.Subscriptions, "B")
	w.create(shop.Memberships, "C")
	if _, err := w.Update(t.Context(), w.shop.ID, plan.UpdateCommand{Line: shop.Subscriptions, ID: second.ID, Collection: 2001, Actor: by}); err != nil {
		t.Fatal(err)
	}
	groups, err := w.RemoveEverywhere(t.Context(), w.shop.ID, plan.RemoveCommand{Line: shop.Subscriptions, Remove: platform.Assigned{Products: []int64{3001, 99}}, Actor: by})
	if err != nil || len(groups) != 2 || groups[0].ID != first.ID || len(groups[0].Products) != 0 || len(groups[1].Products) != 2 {
		t.Errorf("got %+v, %v", groups, err)
	}
	groups, err = w.RemoveEverywhere(t.Context(), w.shop.ID, plan.RemoveCommand{Line: shop.Subscriptions, All: true, Actor: by})
	if err != nil || len(groups) != 1 || groups[0].ID != second.ID || len(groups[0].Products) != 0 {
		t.Errorf("got %+v, %v", groups, err)
	}
}
