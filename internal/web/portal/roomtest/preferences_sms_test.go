package roomtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/preferences"
)

func TestSubscriberAgreesToSMS(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), preferences.New(preferences.Options{Preferences: s.Portal, Consents: s.Consents, Languages: []string{"en"}, Rewards: always})}
	})
	s.DB.SendsSMS()
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)})
	s.SignIn(portaltest.Maya)
	const form = "/p/first/preferences/sms"
	if p := s.Get(portaltest.At + preferencesPath); strings.Contains(p.Text, form) {
		t.Error("a store that sends no SMS asks for a consent")
	}
	s.First.Settings.EnabledSMS = []shop.MailKind{notify.TransactionFailed}
	s.PutShop()
	p := s.Get(portaltest.At + preferencesPath)
	s.Want(p, http.StatusOK, form, "Reply STOP", "may charge", "I agree to get SMS at this number when: A payment is declined", `name="agreed" value="yes">`)

	s.Want(s.Send(p, preferencesPath+"/sms", "agreed", "yes", "phone", "0151 234"), http.StatusUnprocessableEntity, `value="0151 234"`, "Enter a phone number with its country code", `name="agreed" value="yes" checked`)
	consent := func() optin.Consent {
		t.Helper()
		c, err := s.Consents.Consent(t.Context(), s.First.ID, portaltest.Maya)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := consent(); c.Holds() {
		t.Errorf("a number that is none was kept: %+v", c)
	}
	s.Want(s.Send(p, preferencesPath+"/sms", "phone", "+49 151 23456789"), http.StatusOK) // the box is not ticked
	if c := consent(); c.Holds() {
		t.Errorf("a consent without the box: %+v", c)
	}
	p = s.Send(s.Get(portaltest.At+preferencesPath), preferencesPath+"/sms", "agreed", "yes", "phone", "+49 151 23456789")
	s.Want(p, http.StatusOK, "Your choice is saved.", `value="&#43;4915123456789"`, `name="agreed" value="yes" checked`)
	if c := consent(); !c.Holds() || c.Phone != "+4915123456789" || c.Source != optin.Portal || !c.GivenAt.Equal(s.Clock.Now()) {
		t.Errorf("the consent is %+v", c)
	}

	if _, err := s.Consents.Answered(t.Context(), "+4915123456789", optin.Stop); err != nil {
		t.Fatal(err)
	}
	p = s.Get(portaltest.At + preferencesPath)
	s.Want(p, http.StatusOK, "You ended SMS with STOP", `name="agreed" value="yes">`)
	if other := s.Get(strings.Replace(portaltest.At, "first", "second", 1) + preferencesPath); strings.Contains(other.Text, "4915123456789") {
		t.Error("another store shows the number")
	}
	by := activity.Actor{Source: activity.MerchantPortal, By: "eve@staff.example", Customer: portaltest.Maya}
	if _, err := s.Consents.Set(t.Context(), s.First.ID, optin.Wish{Phone: "+4915123456789", Agreed: true, Actor: by}); !fault.Is(err, fault.Forbidden) || consent().Holds() {
		t.Errorf("a user of the dashboard agrees in a customer's place: %v", err)
	}
}
