package storetest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testPortal(t *testing.T, open opener) {
	t.Run("settings are the default ones until they are set, in their shop only, and are not overwritten unread", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		read := func(in shop.ID) (s portal.Settings) {
			t.Helper()
			err := w.db.Portal().View(t.Context(), in, func(tx portal.ReadTx) (err error) {
				s, err = tx.PortalSettings(t.Context())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if diff := cmp.Diff(portal.Settings{}, read(w.shop.ID)); diff != "" {
			t.Error(diff)
		}
		put := func(s *portal.Settings) error {
			return w.db.Portal().Update(t.Context(), w.shop.ID, func(tx portal.Tx) error {
				again := *s
				if err := tx.PutPortalSettings(t.Context(), &again); err != nil {
					return err
				}
				*s = again
				return nil
			})
		}
		set := portal.Settings{
			Off: []portal.Toggle{portal.AllowPause}, SkipMax: 2, PauseMaxDays: 90, RescheduleMin: 1, RescheduleMax: 60, Upcoming: 4, SwapWhenFrozen: true, CutoffDays: 3,
			ReasonRequired: true, Support: portal.Support{Email: "help@demo.example", Phone: "+1 555 0100", URL: "https://demo.example/help"}, UpdatedAt: day,
		}
		stale := set
		if err := put(&set); err != nil || set.Version != 1 {
			t.Fatalf("version %d, %v", set.Version, err)
		}
		if diff := cmp.Diff(set, read(w.shop.ID)); diff != "" {
			t.Error(diff)
		}
		w.wantKind(put(&stale), fault.Conflict)
		set.CutoffDays = 0
		if err := put(&set); err != nil || read(w.shop.ID).CutoffDays != 0 || set.Version != 2 {
			t.Errorf("version %d, %+v, %v", set.Version, read(w.shop.ID), err)
		}
		if diff := cmp.Diff(portal.Settings{}, read(other.ID)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("preferences are those of one customer of one shop, and are not overwritten unread", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		read := func(in shop.ID, customer int64) (p portal.Preferences) {
			t.Helper()
			err := w.db.Portal().View(t.Context(), in, func(tx portal.ReadTx) (err error) {
				p, err = tx.PortalPreferences(t.Context(), customer)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		want := portal.Preferences{Customer: 901, Language: "pt-BR", Off: []notify.Kind{notify.OrderSkipped, notify.UpcomingOrder}, UpdatedAt: day}
		stale := want
		w.in(func(tx *store.Tx) error {
			want.Version = 0
			return tx.PutPortalPreferences(t.Context(), &want)
		})
		if diff := cmp.Diff(want, read(w.shop.ID, 901)); diff != "" || want.Version != 1 {
			t.Error(diff)
		}
		for _, p := range []portal.Preferences{read(w.shop.ID, 902), read(other.ID, 901)} {
			if p.Version != 0 || p.Language != "" || len(p.Off) > 0 {
				t.Errorf("got %+v", p)
			}
		}
		w.in(func(tx *store.Tx) error {
			mine, theirs := monthly(71), monthly(72)
			mine.Customer.ID, theirs.Customer.ID = 901, 902
			if err := tx.PutContracts(t.Context(), []contract.Contract{mine, theirs}); err != nil {
				return err
			}
			refused, err := tx.RefusedKinds(t.Context(), []contract.ID{71, 72, 73})
			if want := map[contract.ID][]notify.Kind{71: want.Off}; !reflect.DeepEqual(refused, want) {
				t.Errorf("refused are %v, want %v", refused, want)
			}
			if err != nil {
				return err
			}
			byCustomer, err := tx.KindsRefusedBy(t.Context(), []int64{901, 902, 903})
			if want := map[int64][]notify.Kind{901: want.Off}; !reflect.DeepEqual(byCustomer, want) {
				t.Errorf("customers refuse %v, want %v", byCustomer, want)
			}
			return err
		})
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutPortalPreferences(t.Context(), &stale) })
		w.wantKind(err, fault.Conflict)
		w.in(func(tx *store.Tx) error { return tx.MergeCustomer(t.Context(), 901, 902) })
		if moved := read(w.shop.ID, 902); moved.Language != "pt-BR" || read(w.shop.ID, 901).Version != 0 {
			t.Errorf("after the merge: %+v", moved)
		}
		w.in(func(tx *store.Tx) error { return tx.Redact(t.Context(), 902, nil) })
		if left := read(w.shop.ID, 902); left.Version != 0 {
			t.Errorf("after the erasure: %+v", left)
		}
	})
	t.Run("a member has an active contract of the membership line", func(t *testing.T) {
		w := begin(t, open)
		member, former, subscriber := monthly(1), monthly(2), monthly(3)
		member.Line, member.Customer.ID = shop.Memberships, 901
		former.Line, former.Customer.ID, former.Status = shop.Memberships, 902, "CANCELLED"
		subscriber.Customer.ID = 903
		w.put(member, former, subscriber)
		for customer, want := range map[int64]bool{901: true, 902: false, 903: false, 904: false} {
			if is, err := w.db.IsMember(t.Context(), w.shop.ID, customer); is != want || err != nil {
				t.Errorf("customer %d: %t, %v", customer, is, err)
			}
		}
	})
}
