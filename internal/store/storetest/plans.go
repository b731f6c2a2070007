package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

func testPlans(t *testing.T, open opener) {
	t.Run("a group comes back as it was put, and only in its shop and line", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		g := w.plan(coffee(51, 52), plan.Items{Products: titles(3, 1), Variants: titles(7)})
		got, err := w.db.PlanGroup(t.Context(), w.shop.ID, shop.Subscriptions, g.ID)
		want := g
		want.Products, want.Variants = titles(1, 3), titles(7)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		w.in(func(tx *store.Tx) error {
			same, err := tx.PlanGroup(t.Context(), g.ID)
			if diff := cmp.Diff(want, same); diff != "" {
				t.Error(diff)
			}
			return err
		})
		_, err = w.db.PlanGroup(t.Context(), w.shop.ID, shop.Memberships, g.ID)
		w.wantKind(err, fault.NotFound)
		_, err = w.db.PlanGroup(t.Context(), second.ID, shop.Subscriptions, g.ID)
		w.wantKind(err, fault.NotFound)
		err = w.db.Update(t.Context(), second.ID, func(tx *store.Tx) error { _, err := tx.PlanGroup(t.Context(), g.ID); return err })
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a group is found by its number, and by the platform's", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		g := w.plan(coffee(51, 52), plan.Items{})
		for _, row := range []struct {
			of         shop.ID
			line       shop.Line
			number     int64
			atPlatform bool
			found      bool
		}{
			{w.shop.ID, shop.Subscriptions, int64(g.ID), false, true},
			{w.shop.ID, shop.Subscriptions, g.PlatformID, false, true},
			{w.shop.ID, shop.Subscriptions, g.PlatformID, true, true},
			{w.shop.ID, shop.Subscriptions, int64(g.ID), true, g.PlatformID == int64(g.ID)},
			{w.shop.ID, shop.Memberships, g.PlatformID, false, false},
			{second.ID, shop.Subscriptions, g.PlatformID, false, false},
			{w.shop.ID, shop.Subscriptions, 0, false, false},
		} {
			id, err := w.db.PlanGroupID(t.Context(), row.of, row.line, row.number, row.atPlatform)
			if row.found && (err != nil || id != g.ID) {
				t.Errorf("%+v: found %d, %v, want %d", row, id, err, g.ID)
			}
			if !row.found {
				w.wantKind(err, fault.NotFound)
			}
		}
	})
	t.Run("options that are removed are known as they were last", func(t *testing.T) {
		w := begin(t, open)
		g := w.plan(coffee(51, 52), plan.Items{})
		removed := func(of shop.ID) (options map[int64]plan.Option) {
			w.inShop(of, func(tx *store.Tx) (err error) {
				options, err = tx.RemovedOptions(t.Context(), []int64{51, 52, 53})
				return err
			})
			return options
		}
		if got := removed(w.shop.ID); len(got) != 0 {
			t.Errorf("nothing is removed, and got %v", got)
		}
		was := g.Options
		w.in(func(tx *store.Tx) error {
			kept, err := tx.PlanGroup(t.Context(), g.ID)
			kept.Options = kept.Options[1:]
			return errors.Join(err, tx.PutPlanGroup(t.Context(), &kept))
		})
		if diff := cmp.Diff(map[int64]plan.Option{51: was[0]}, removed(w.shop.ID)); diff != "" {
			t.Errorf("after one was removed:\n%s", diff)
		}
		w.in(func(tx *store.Tx) error { return tx.DeletePlanGroup(t.Context(), g.ID) })
		if diff := cmp.Diff(map[int64]plan.Option{51: was[0], 52: was[1]}, removed(w.shop.ID)); diff != "" {
			t.Errorf("after the group was removed:\n%s", diff)
		}
		if got := removed(w.addShop("second.myshopify.com").ID); len(got) != 0 {
			t.Errorf("another shop has %v", got)
		}
	})
	t.Run("what is pending comes back, and a group that is being made is in no list", func(t *testing.T) {
		w := begin(t, open)
		g := coffee()
		g.State, g.DueAt = plan.Creating, day.Add(time.Minute)
		g.Pending = &plan.Change{
			Terms: g.Terms, Options: []plan.Option{option(0)}, Add: plan.Items{Products: titles(1)}, Remove: platform.Assigned{Variants: []int64{9}},
			Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "ERP", ClientIP: "10.0.0.1"}, Undo: true,
		}
		g = w.plan(g, plan.Items{})
		w.in(func(tx *store.Tx) error {
			got, err := tx.PlanGroup(t.Context(), g.ID)
			if diff := cmp.Diff(g, got); diff != "" {
				t.Error(diff)
			}
			return err
		})
		_, err := w.db.PlanGroup(t.Context(), w.shop.ID, shop.Subscriptions, g.ID)
		w.wantKind(err, fault.NotFound)
		list, total, err := w.db.PlanGroups(t.Context(), w.shop.ID, shop.Subscriptions, anyPage)
		if err != nil || total != 0 || len(list) != 0 {
			t.Errorf("%d of %d, %v", len(list), total, err)
		}
	})
	t.Run("it is known when the last of those that are made or changed is looked at", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		late := func(n time.Duration, as plan.State) {
			g := coffee()
			g.State, g.DueAt, g.Pending = as, day.Add(n*time.Minute), &plan.Change{Terms: g.Terms}
			w.plan(g, plan.Items{})
		}
		at := func(of shop.ID) (by time.Time) {
			err := w.db.Update(t.Context(), of, func(tx *store.Tx) (err error) { by, err = tx.PlansReadyAt(t.Context()); return err })
			if err != nil {
				t.Fatal(err)
			}
			return by
		}
		late(9, plan.Deleting)
		if by := at(w.shop.ID); !by.IsZero() {
			t.Errorf("none is made: %s", by)
		}
		late(2, plan.Updating)
		late(1, plan.Creating)
		if by := at(w.shop.ID); !by.Equal(day.Add(2*time.Minute)) || !at(second.ID).IsZero() {
			t.Errorf("looked at %s", by)
		}
	})
	t.Run("a group that changed meanwhile is not overwritten", func(t *testing.T) {
		w := begin(t, open)
		g := w.plan(coffee(51), plan.Items{})
		stale := g
		w.in(func(tx *store.Tx) error { again := g; return tx.PutPlanGroup(t.Context(), &again) })
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &stale) })
		w.wantKind(err, fault.Conflict)
		if stale.Version != g.Version {
			t.Errorf("version %d", stale.Version)
		}
	})
	t.Run("options and items are replaced and removed with their group", func(t *testing.T) {
		w := begin(t, open)
		g := w.plan(coffee(51, 52), plan.Items{Products: titles(1, 2)})
		kept := w.plan(coffee(61), plan.Items{Products: titles(1)})
		w.in(func(tx *store.Tx) error {
			changed := g
			changed.Options = []plan.Option{option(53), option(51)}
			if err := tx.PutPlanGroup(t.Context(), &changed); err != nil {
				return err
			}
			return tx.PutPlanItems(t.Context(), g.ID, plan.Items{Products: titles(2, 4)}, platform.Assigned{Products: []int64{1, 99}})
		})
		got, err := w.db.PlanGroup(t.Context(), w.shop.ID, shop.Subscriptions, g.ID)
		if err != nil || len(got.Options) != 2 || got.Options[0].ID != 53 || !slices.Equal(got.Products, titles(2, 4)) {
			t.Errorf("got %+v, %v", got, err)
		}
		w.in(func(tx *store.Tx) error { return tx.DeletePlanGroup(t.Context(), g.ID) })
		offers, total, err := w.db.PlanOptions(t.Context(), w.shop.ID, shop.Subscriptions, nil, anyPage)
		if err != nil || total != 1 || offers[0].Option.ID != 61 || offers[0].Group != kept.ID || offers[0].GroupName != kept.Name {
			t.Errorf("got %+v of %d, %v", offers, total, err)
		}
	})
	t.Run("groups are sorted and paged, options stay with their groups", func(t *testing.T) {
		w := begin(t, open)
		first, second := coffee(51, 52), coffee(61)
		first.Name, second.Name = "Tea", "Coffee"
		first, second = w.plan(first, plan.Items{}), w.plan(second, plan.Items{})
		member := coffee(71)
		member.Line = shop.Memberships
		w.plan(member, plan.Items{})
		p := page.Request{Page: 1, Size: 1, Sort: []page.Sort{{Field: plan.FieldName}}}
		list, total, err := w.db.PlanGroups(t.Context(), w.shop.ID, shop.Subscriptions, p)
		if err != nil || total != 2 || len(list) != 1 || list[0].ID != first.ID || len(list[0].Options) != 2 {
			t.Errorf("got %+v of %d, %v", list, total, err)
		}
		offers, total, err := w.db.PlanOptions(t.Context(), w.shop.ID, shop.Subscriptions, []int64{61, 52, 71, 999}, page.Request{Page: 1, Size: 1})
		if err != nil || total != 2 || len(offers) != 1 || offers[0].Option.ID != 61 || offers[0].Group != second.ID {
			t.Errorf("got %+v of %d, %v", offers, total, err)
		}
		offers, err = w.db.OffersOf(t.Context(), w.shop.ID, shop.Subscriptions, []int64{61, 52, 71, 999})
		if err != nil || len(offers) != 2 || offers[0].Option.ID != 52 || offers[1].GroupName != second.Name {
			t.Errorf("got %+v, %v", offers, err)
		}
	})
	t.Run("the groups of selling plans are found, without what is sold", func(t *testing.T) {
		w := begin(t, open)
		g := w.plan(coffee(51, 52), plan.Items{Products: titles(1)})
		w.in(func(tx *store.Tx) error {
			got, err := tx.PlanGroups(t.Context(), []int64{52, 999})
			if len(got) != 1 || got[52].ID != g.ID || len(got[52].Options) != 2 || got[52].CustomerTag != "subscriber" || got[52].Products != nil {
				t.Errorf("got %+v", got)
			}
			if none, err := tx.PlanGroups(t.Context(), nil); err != nil || len(none) != 0 {
				t.Errorf("got %+v, %v", none, err)
			}
			return err
		})
	})
	t.Run("groups that sell something are found by product and by variant", func(t *testing.T) {
		w := begin(t, open)
		tea, cup := w.plan(coffee(51), plan.Items{Products: titles(1, 2)}), w.plan(coffee(61), plan.Items{Variants: titles(1)})
		w.plan(coffee(71), plan.Items{})
		for name, test := range map[string]struct {
			of   platform.Assigned
			want []plan.ID
		}{
			"a product": {platform.Assigned{Products: []int64{1, 9}}, []plan.ID{tea.ID}},
			"a variant": {platform.Assigned{Variants: []int64{1}}, []plan.ID{cup.ID}},
			"either":    {platform.Assigned{Products: []int64{2}, Variants: []int64{1}}, []plan.ID{tea.ID, cup.ID}},
			"anything":  {platform.Assigned{}, []plan.ID{tea.ID, cup.ID}},
		} {
			w.in(func(tx *store.Tx) error {
				got, err := tx.PlanGroupsSelling(t.Context(), shop.Subscriptions, test.of)
				if !slices.Equal(got, test.want) {
					t.Errorf("%s: %v, want %v", name, got, test.want)
				}
				return err
			})
		}
	})
	t.Run("groups that wait fall due, earliest first", func(t *testing.T) {
		w := begin(t, open)
		late, early, never := coffee(51), coffee(61), coffee(71)
		late.DueAt, early.DueAt = day.Add(2*time.Minute), day.Add(time.Minute)
		late, early = w.plan(late, plan.Items{}), w.plan(early, plan.Items{})
		w.plan(never, plan.Items{})
		w.in(func(tx *store.Tx) error {
			got, err := tx.WaitingPlanGroups(t.Context(), day.Add(2*time.Minute), 10)
			if !slices.Equal(got, []plan.ID{early.ID, late.ID}) {
				t.Errorf("got %v", got)
			}
			return err
		})
		for at, want := range map[time.Time]int{day: 0, day.Add(time.Minute): 1} {
			shops, err := w.db.Shops().DuePlanShops(t.Context(), at, 10)
			if err != nil || len(shops) != want {
				t.Errorf("at %v: %v, %v", at, shops, err)
			}
		}
	})
}

// plan inserts a group of the first shop and returns it with its number.
func (w world) plan(g plan.Group, items plan.Items) plan.Group {
	w.Helper()
	var put plan.Group
	w.in(func(tx *store.Tx) error {
		put = g
		if err := tx.PutPlanGroup(w.Context(), &put); err != nil {
			return err
		}
		return tx.PutPlanItems(w.Context(), put.ID, items, platform.Assigned{})
	})
	return put
}

// coffee returns a group with options of the given numbers.
func coffee(plans ...int64) plan.Group {
	g := plan.Group{
		PlatformID: 8001, Line: shop.Subscriptions, State: plan.Synced, CreatedAt: day, UpdatedAt: day,
		Terms: plan.Terms{
			Name: "Coffee", CustomerTag: "subscriber", OrderTag: "first", MemberOrderTag: "renewal", ProductID: "1", AccessoryProductIDs: "2",
			Translations: "{}", RulesJSON: "[]", FormFieldsJSON: "[1]",
		},
	}
	for _, id := range plans {
		g.Options = append(g.Options, option(id))
	}
	return g
}

// option returns an option that uses every field.
func option(id int64) plan.Option {
	return plan.Option{
		ID: id, Name: "Every month", Description: "The 15th", Kind: plan.Prepaid, Billing: plan.Frequency{Interval: cadence.Month, Count: 3},
		Delivery: plan.Frequency{Interval: cadence.Month, Count: 1}, Specific: true, Day: 15, Month: 2, Cutoff: 3, Behavior: plan.Next, MinCycles: 2, MaxCycles: 12,
		First: plan.Discount{Enabled: true, Offer: 12.5, Kind: plan.Percentage, Masked: true}, Second: plan.Discount{Enabled: true, Offer: 3, Kind: plan.Fixed, After: 2},
		Trial: plan.Trial{Enabled: true, Interval: cadence.Day, Count: 7, KeepDate: true}, MemberOnly: true, NonMemberOnly: true, InclusiveTags: "a,b", ExclusiveTags: "c",
		Lifetime: true, Exchange: true, RulesJSON: "{}", Sequence: 4,
	}
}

func titles(ids ...int64) []platform.Titled {
	list := make([]platform.Titled, len(ids))
	for i, id := range ids {
		list[i] = platform.Titled{ID: id, Title: "Item"}
	}
	return list
}
