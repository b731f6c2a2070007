package portal_test

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestStoreChoosesMailsOfItsCustomers(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	mine, theirs := shop.Shop{Domain: "demo.myshopify.com", CreatedAt: noon}, shop.Shop{Domain: "second.myshopify.com", CreatedAt: noon}
	for of, customer := range map[*shop.Shop]int64{&mine: 7001, &theirs: 7002} {
		if err := db.Shops().AddShop(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		month := contract.Policy{Interval: cadence.Month, Count: 1}
		c := contract.Contract{ID: contract.ID(customer), Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: month, Delivery: month, Customer: contract.Customer{ID: customer}, CreatedAt: noon}
		if err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{c}) }); err != nil {
			t.Fatal(err)
		}
	}
	s := &portal.Service{Store: db.Portal(), Clock: clock.NewManual(noon)}
	ada := portal.CustomerRef{Line: shop.Subscriptions, Customer: 7001}
	who := portal.Caller{Shop: mine}
	who.Actor.Customer = ada.Customer
	if _, err := s.SetPreferences(t.Context(), who, portal.Preferences{Language: "de", Off: []notify.Kind{notify.Paused, notify.Resumed}}); err != nil {
		t.Fatal(err)
	}
	choose := func(version int64, wanted map[notify.Kind]bool) (portal.Preferences, error) {
		return s.ChooseMails(t.Context(), mine.ID, portal.MailChoice{CustomerRef: ada, Wanted: wanted, Version: version})
	}
	set, err := choose(1, map[notify.Kind]bool{notify.Paused: true, notify.UpcomingOrder: false})
	if err != nil || set.Version != 2 || set.Language != "de" || !slices.Equal(set.Off, []notify.Kind{notify.Resumed, notify.UpcomingOrder}) {
		t.Fatalf("chosen is %+v, %v", set, err)
	}
	if is, err := s.PreferencesOf(t.Context(), mine.ID, ada); err != nil || !slices.Equal(is.Off, set.Off) || is.Version != 2 || !is.UpdatedAt.Equal(noon) {
		t.Errorf("kept is %+v, %v", is, err)
	}
	for name, test := range map[string]struct {
		of      shop.ID
		choice  portal.MailChoice
		failure fault.Kind
	}{
		"a kind that is always sent":    {mine.ID, portal.MailChoice{CustomerRef: ada, Wanted: map[notify.Kind]bool{notify.TransactionFailed: false}}, fault.Invalid},
		"one that is wanted":            {mine.ID, portal.MailChoice{CustomerRef: ada, Wanted: map[notify.Kind]bool{notify.TransactionFailed: true}}, fault.Invalid},
		"no kind":                       {mine.ID, portal.MailChoice{CustomerRef: ada, Wanted: map[notify.Kind]bool{"newsletter": false}}, fault.Invalid},
		"a version of before":           {mine.ID, portal.MailChoice{CustomerRef: ada, Wanted: map[notify.Kind]bool{notify.Paused: false}, Version: 1}, fault.Conflict},
		"a customer of another store":   {mine.ID, portal.MailChoice{CustomerRef: portal.CustomerRef{Line: shop.Subscriptions, Customer: 7002}, Wanted: map[notify.Kind]bool{notify.Paused: false}}, fault.NotFound},
		"a customer of the other line":  {mine.ID, portal.MailChoice{CustomerRef: portal.CustomerRef{Line: shop.Memberships, Customer: 7001}, Wanted: map[notify.Kind]bool{notify.Paused: false}}, fault.NotFound},
		"the customer, at another shop": {theirs.ID, portal.MailChoice{CustomerRef: ada, Wanted: map[notify.Kind]bool{notify.Paused: false}}, fault.NotFound},
	} {
		if _, err := s.ChooseMails(t.Context(), test.of, test.choice); !fault.Is(err, test.failure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.PreferencesOf(t.Context(), theirs.ID, ada); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another store's customer: %v", err)
	}
	if is, err := s.PreferencesOf(t.Context(), mine.ID, ada); err != nil || is.Version != 2 {
		t.Errorf("refusals have left %+v, %v", is, err)
	}
}
