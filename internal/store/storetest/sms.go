package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testSMS(t *testing.T, open opener) {
	const phone, other = "+15550001234", "+15550005678"
	service := func(w world) (*optin.Service, *clock.Manual) {
		c := clock.NewManual(day)
		return &optin.Service{Store: w.db.SMSConsents(), Phones: w.db.Shops(), Clock: c}, c
	}
	of := func(w world, in shop.ID, customer int64) optin.Consent {
		w.Helper()
		s, _ := service(w)
		c, err := s.Consent(w.Context(), in, customer)
		if err != nil {
			w.Fatal(err)
		}
		return c
	}
	by := func(customer int64) activity.Actor {
		return activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "192.0.2.1", Customer: customer}
	}
	t.Run("a consent holds for one customer of one shop until it is ended, and is kept", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		s, at := service(w)
		set := func(phone string, agreed bool) {
			t.Helper()
			if _, err := s.Set(t.Context(), w.shop.ID, optin.Wish{Phone: phone, Agreed: agreed, Actor: by(901)}); err != nil {
				t.Fatal(err)
			}
		}
		set(phone, true)
		given := of(w, w.shop.ID, 901)
		want := optin.Consent{ID: given.ID, Customer: 901, Phone: phone, Source: optin.Portal, ClientIP: "192.0.2.1", GivenAt: day}
		if diff := cmp.Diff(want, given); diff != "" || !given.Holds() || given.ID == 0 {
			t.Error(diff)
		}
		if of(w, w.shop.ID, 902).Phone != "" || of(w, second.ID, 901).Phone != "" {
			t.Error("others have agreed, too")
		}
		at.Set(day.Add(time.Hour))
		set(phone, true)
		if again := of(w, w.shop.ID, 901); again != given {
			t.Errorf("agreeing again makes it %+v", again)
		}
		set(other, true)
		if now := of(w, w.shop.ID, 901); now.Phone != other || !now.GivenAt.Equal(day.Add(time.Hour)) {
			t.Errorf("for another number it is %+v", now)
		}
		set("", false)
		if now := of(w, w.shop.ID, 901); now.Holds() || now.Phone != other || now.EndedBy != optin.ByPortal || !now.EndedAt.Equal(day.Add(time.Hour)) {
			t.Errorf("taken back it is %+v", now)
		}
		set("", false)
		w.in(func(tx *store.Tx) error {
			list, err := tx.ConsentsOfPhone(t.Context(), phone)
			if err == nil && (len(list) != 1 || list[0].EndedBy != optin.ByReplacement) {
				t.Errorf("of the first number are left %+v", list)
			}
			return err
		})
	})
	t.Run("an answer is carried out in every shop with the number, and START restores what STOP ended", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		s, _ := service(w)
		agree := func(in shop.ID, customer int64, phone string) {
			t.Helper()
			if _, err := s.Set(t.Context(), in, optin.Wish{Phone: phone, Agreed: true, Actor: by(customer)}); err != nil {
				t.Fatal(err)
			}
		}
		answer := func(word optin.Word, want ...optin.Owner) {
			t.Helper()
			got, err := s.Answered(t.Context(), phone, word)
			slices.SortFunc(got, func(a, b optin.Owner) int { return int(a.Customer - b.Customer) })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s concerns %v, %v; want %v", word, got, err, want)
			}
		}
		answer(optin.Stop)
		agree(w.shop.ID, 901, phone)
		agree(w.shop.ID, 902, other)
		agree(second.ID, 903, phone)
		agree(second.ID, 904, phone)
		if _, err := s.Set(t.Context(), second.ID, optin.Wish{Actor: by(904)}); err != nil { // in the portal
			t.Fatal(err)
		}
		three := []optin.Owner{{Shop: w.shop.ID, Customer: 901}, {Shop: second.ID, Customer: 903}, {Shop: second.ID, Customer: 904}}
		answer(optin.Help, three...)
		if !of(w, w.shop.ID, 901).Holds() {
			t.Error("HELP ended a consent")
		}
		answer(optin.Stop, three...)
		for _, o := range three[:2] {
			if c := of(w, o.Shop, o.Customer); c.Holds() || c.EndedBy != optin.ByAnswer {
				t.Errorf("after STOP %+v", c)
			}
		}
		if !of(w, w.shop.ID, 902).Holds() {
			t.Error("STOP ended the consent for another number")
		}
		answer(optin.Start, three...)
		answer(optin.Start, three...)
		for customer, holds := range map[int64]bool{903: true, 904: false} {
			if c := of(w, second.ID, customer); c.Holds() != holds || holds && c.Source != optin.Answer {
				t.Errorf("after START customer %d has %+v", customer, c)
			}
		}
	})
	t.Run("a merged customer has the consents of both, one holds, and the erasure leaves none", func(t *testing.T) {
		w := begin(t, open)
		s, at := service(w)
		for customer, phone := range map[int64]string{901: phone, 902: other} {
			at.Set(day.Add(time.Duration(customer) * time.Second))
			if _, err := s.Set(t.Context(), w.shop.ID, optin.Wish{Phone: phone, Agreed: true, Actor: by(customer)}); err != nil {
				t.Fatal(err)
			}
		}
		w.in(func(tx *store.Tx) error { return tx.MergeCustomer(t.Context(), 901, 902) })
		if c := of(w, w.shop.ID, 902); !c.Holds() || c.Phone != other || of(w, w.shop.ID, 901).Phone != "" {
			t.Errorf("after the merge: %+v", c)
		}
		w.in(func(tx *store.Tx) error {
			list, err := tx.ConsentsOfPhone(t.Context(), phone)
			if err == nil && (len(list) != 1 || list[0].Customer != 902 || list[0].EndedBy != optin.ByReplacement || !list[0].EndedAt.Equal(day.Add(902*time.Second))) {
				t.Errorf("of the other number are left %+v", list)
			}
			return err
		})
		w.in(func(tx *store.Tx) error { return tx.Redact(t.Context(), 902, nil) })
		if c := of(w, w.shop.ID, 902); c.Phone != "" {
			t.Errorf("after the erasure: %+v", c)
		}
	})
	t.Run("what a provider reports is kept beside the version that a worker has read", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		m := notify.Message{
			Kind: notify.UpcomingOrder, Channel: notify.BySMS, To: phone, Contract: contract.ID(42), Customer: 901, DedupeKey: notify.SMSKey("a"), Status: notify.Sending,
			DueAt: day, CreatedAt: day, ProviderID: "SM1",
		}
		list := []notify.Message{m}
		w.in(func(tx *store.Tx) error { return tx.PutMessages(t.Context(), list) })
		report := list[0]
		report.Delivery, report.DeliveryError = notify.Undelivered, "error 30003"
		w.inShop(second.ID, func(tx *store.Tx) error { return tx.PutDelivery(t.Context(), report) })
		read := func() (got notify.Message) {
			w.in(func(tx *store.Tx) error {
				found, err := tx.Messages(t.Context(), []notify.MessageID{report.ID})
				got = found[0]
				return err
			})
			return got
		}
		if got := read(); got.Delivery != "" {
			t.Errorf("another shop reports %+v", got)
		}
		w.in(func(tx *store.Tx) error { return tx.PutDelivery(t.Context(), report) })
		if diff := cmp.Diff(report, read()); diff != "" {
			t.Error(diff)
		}
		w.in(func(tx *store.Tx) error { // the worker settles what it read
			got, err := tx.Messages(t.Context(), []notify.MessageID{report.ID})
			if err != nil {
				return err
			}
			got[0].Status, got[0].DueAt, got[0].SentAt = notify.Sent, time.Time{}, day
			return tx.PutMessages(t.Context(), got)
		})
		w.in(func(tx *store.Tx) error {
			results, err := tx.MailsByKey(t.Context(), []string{notify.SMSKey("a")})
			if is := results[notify.SMSKey("a")]; is != (notify.Result{Status: notify.Failed, Reason: "error 30003"}) {
				t.Errorf("the result is %+v", is)
			}
			return err
		})
	})
}
