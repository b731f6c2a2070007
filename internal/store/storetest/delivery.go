package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// pendingProfile is a profile with every field set.
func pendingProfile(name string, due time.Time) delivery.Profile {
	low := money.Amount{Minor: 1000, Currency: "EUR"}
	return delivery.Profile{
		Name: name, Groups: []int64{7, 8}, BusyUntil: day.Add(time.Minute), DueAt: due, CreatedAt: day, UpdatedAt: day.Add(time.Second),
		Pending: &delivery.Change{
			Name: name + " again", Groups: []int64{9}, Newest: 8001, SentAt: day, Tries: 2, Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "key", ClientIP: "192.0.2.1"},
			Places: []delivery.Place{{Location: 5, Zones: []delivery.Zone{{Country: "DE", Rates: []delivery.Rate{{
				Name: "Paket", Price: low, Carrier: 3, Conditions: []delivery.Condition{{Operator: delivery.Operators[0], Price: &low}, {Operator: delivery.Operators[1], Weight: &delivery.Weight{Value: 0.5, Unit: delivery.Units[1]}}},
			}}}}}},
		},
	}
}

func (w world) putProfile(of shop.ID, p delivery.Profile) delivery.Profile {
	w.Helper()
	var put delivery.Profile
	w.inShop(of, func(tx *store.Tx) error {
		put = p
		return tx.PutDeliveryProfile(w.Context(), &put)
	})
	return put
}

func (w world) profiles(of shop.ID) []delivery.Profile {
	w.Helper()
	var list []delivery.Profile
	w.inShop(of, func(tx *store.Tx) (err error) {
		list, err = tx.DeliveryProfiles(w.Context())
		return err
	})
	return list
}

func (w world) profile(of shop.ID, ref delivery.Ref) (delivery.Profile, error) {
	w.Helper()
	var p delivery.Profile
	err := w.db.Update(w.Context(), of, func(tx *store.Tx) (err error) {
		p, err = tx.DeliveryProfile(w.Context(), ref)
		return err
	})
	return p, err
}

func testDelivery(t *testing.T, open opener) {
	t.Run("a profile is read as it was written", func(t *testing.T) {
		w := begin(t, open)
		put := w.putProfile(w.shop.ID, pendingProfile("A", day))
		if put.ID == 0 || put.Version != 1 {
			t.Fatalf("%+v", put)
		}
		got, err := w.profile(w.shop.ID, delivery.Ref{Number: int64(put.ID)})
		if diff := cmp.Diff(put, got); diff != "" || err != nil {
			t.Errorf("%v (-put +got):\n%s", err, diff)
		}
		put.PlatformID, put.Pending, put.DueAt, put.BusyUntil, put.Groups = 8002, nil, time.Time{}, time.Time{}, nil
		put = w.putProfile(w.shop.ID, put)
		got, err = w.profile(w.shop.ID, delivery.Ref{Number: 8002, Platform: true})
		if diff := cmp.Diff(put, got); diff != "" || err != nil || got.Version != 2 {
			t.Errorf("%v (-put +got):\n%s", err, diff)
		}
	})
	t.Run("a number is ours before it is the platform's", func(t *testing.T) {
		w := begin(t, open)
		a := w.putProfile(w.shop.ID, delivery.Profile{Name: "A", PlatformID: 5000})
		b := w.putProfile(w.shop.ID, delivery.Profile{Name: "B", PlatformID: int64(a.ID)})
		for _, test := range []struct {
			ref  delivery.Ref
			want delivery.ID
		}{
			{delivery.Ref{Number: int64(a.ID)}, a.ID}, {delivery.Ref{Number: int64(a.ID), Platform: true}, b.ID}, {delivery.Ref{Number: 5000, Platform: true}, a.ID},
		} {
			if got, err := w.profile(w.shop.ID, test.ref); err != nil || got.ID != test.want {
				t.Errorf("%+v is profile %d, %v; want %d", test.ref, got.ID, err, test.want)
			}
		}
		_, err := w.profile(w.shop.ID, delivery.Ref{Number: int64(b.ID), Platform: true})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a profile of another shop is not found", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		theirs := w.putProfile(other.ID, delivery.Profile{Name: "A", PlatformID: 5})
		w.putProfile(w.shop.ID, delivery.Profile{Name: "B", PlatformID: 5})
		_, err := w.profile(w.shop.ID, delivery.Ref{Number: int64(theirs.ID)})
		w.wantKind(err, fault.NotFound)
		if list := w.profiles(w.shop.ID); len(list) != 1 || list[0].Name != "B" {
			t.Errorf("%+v", list)
		}
	})
	t.Run("what was read earlier does not overwrite and is not removed", func(t *testing.T) {
		w := begin(t, open)
		p := w.putProfile(w.shop.ID, pendingProfile("A", day))
		w.putProfile(w.shop.ID, p)
		for _, late := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return tx.PutDeliveryProfile(w.Context(), new(p)) },
			func(tx *store.Tx) error { return tx.DeleteDeliveryProfile(w.Context(), p) },
		} {
			w.wantKind(w.db.Update(w.Context(), w.shop.ID, late), fault.Conflict)
		}
		p.Version = 2
		w.in(func(tx *store.Tx) error { return tx.DeleteDeliveryProfile(w.Context(), p) })
		if list := w.profiles(w.shop.ID); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
	t.Run("two profiles may be in the making, but none is the platform's twice", func(t *testing.T) {
		w := begin(t, open)
		w.putProfile(w.shop.ID, delivery.Profile{Name: "A"})
		w.putProfile(w.shop.ID, delivery.Profile{Name: "B"})
		w.putProfile(w.shop.ID, delivery.Profile{Name: "C", PlatformID: 9})
		err := w.db.Update(w.Context(), w.shop.ID, func(tx *store.Tx) error {
			return tx.PutDeliveryProfile(w.Context(), &delivery.Profile{Name: "D", PlatformID: 9})
		})
		if err == nil {
			t.Error("the platform's profile is kept twice")
		}
	})
	t.Run("shops with profiles to look after are found", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		w.putProfile(w.shop.ID, pendingProfile("A", day.Add(time.Hour)))
		w.putProfile(other.ID, pendingProfile("B", day))
		w.putProfile(other.ID, delivery.Profile{Name: "C", PlatformID: 1})
		for _, test := range []struct {
			now  time.Time
			want []shop.ID
		}{{day.Add(-time.Second), nil}, {day, []shop.ID{other.ID}}, {day.Add(time.Hour), []shop.ID{other.ID, w.shop.ID}}} {
			got, err := w.across(w.db.Shops().DueProfileShops, test.now, 10)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
	})
}
