package roomtest_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/preferences"
)

const preferencesPath = "/preferences"

// always and never are stores with and without a loyalty programme that runs.
func always(context.Context, shop.Shop) (bool, error) { return true, nil }
func never(context.Context, shop.Shop) (bool, error)  { return false, nil }

func TestEmailsAboutPointsAreNoChoiceWithoutProgramme(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), preferences.New(preferences.Options{Preferences: s.Portal, Consents: s.Consents, Languages: []string{"en"}, Rewards: never})}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)})
	s.SignIn(portaltest.Maya)
	who := do.Caller{Shop: s.First, Actor: login.Principal{Customer: portaltest.Maya}.Actor("")}
	if _, err := s.Portal.SetPreferences(context.WithoutCancel(t.Context()), who, do.Preferences{Off: []notify.Kind{notify.TierReached, notify.Address}}); err != nil {
		t.Fatal(err)
	}
	p := s.Get(portaltest.At + preferencesPath)
	s.Want(p, http.StatusOK, `value="order_skipped" checked`)
	if strings.Contains(p.Text, `value="tier_reached"`) {
		t.Error("an e-mail about points is offered")
	}
	s.Want(s.Send(p, preferencesPath, "mail", "address", "mail", "points_expiring"), http.StatusOK, "Your choice is saved.")
	is, err := s.Portal.Preferences(t.Context(), who)
	if err != nil || !slices.Contains(is.Off, notify.TierReached) || slices.Contains(is.Off, notify.PointsExpiring) || slices.Contains(is.Off, notify.Address) {
		t.Errorf("the preferences are %+v, %v", is, err)
	}
}

func TestSubscriberChoosesEmails(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), preferences.New(preferences.Options{Preferences: s.Portal, Consents: s.Consents, Languages: []string{"en", "de", "ja"}, Rewards: always})}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)})
	s.SignIn(portaltest.Maya)
	who := do.Caller{Shop: s.First, Actor: login.Principal{Customer: portaltest.Maya}.Actor("")}
	if _, err := s.Portal.SetPreferences(context.WithoutCancel(t.Context()), who, do.Preferences{Language: "en-AU", Off: []notify.Kind{notify.Address}}); err != nil {
		t.Fatal(err)
	}
	p := s.Get(portaltest.At + preferencesPath)
	s.Want(p, http.StatusOK, `value="order_skipped" checked`, `value="address">`, "A payment is declined", `<a href="/p/first/preferences" aria-current="true">`)
	if strings.Contains(p.Text, ">mail.") {
		t.Errorf("a kind of e-mail has no name:\n%s", p.Text)
	}
	if strings.Contains(p.Text, `value="transaction_failed"`) {
		t.Error("an e-mail about a declined payment can be switched off")
	}
	s.Want(s.Send(p, preferencesPath, "mail", "order_skipped", "mail", "address", "mail", "transaction_failed"), http.StatusOK, "Your choice is saved.", `value="address" checked`, `value="next_date">`)
	is, err := s.Portal.Preferences(t.Context(), who)
	if err != nil || is.Language != "en-AU" || len(is.Off) != len(notify.OptionalKinds)-2 || slices.Contains(is.Off, notify.Address) {
		t.Errorf("the preferences are %+v, %v", is, err)
	}
	s.Want(s.Send(p, preferencesPath, "mail", "address"), http.StatusConflict, `value="order_skipped" checked`) // the page is of before
}

func TestSubscriberReadsInTheChosenLanguage(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), preferences.New(preferences.Options{Preferences: s.Portal, Consents: s.Consents, Languages: []string{"en", "de"}, Rewards: always})}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)})
	s.SignIn(portaltest.Maya)
	p := s.Get(portaltest.At + preferencesPath + "?locale=en")
	s.Want(p, http.StatusOK, `<option value="">That of my browser</option><option value="en">English</option><option value="de">Deutsch</option>`)
	s.Want(s.Send(p, preferencesPath+"?locale=en", "language", "xx-"), http.StatusUnprocessableEntity, `<html lang="en"`)
	p = s.Send(p, preferencesPath+"?locale=en", "language", "de")
	s.Want(p, http.StatusOK, `<html lang="de"`, "Ihre Auswahl ist gespeichert.", `<option value="de" selected>`)

	for _, p := range []portaltest.Page{s.Get(portaltest.At), s.Through(portaltest.Maya, "", nil)} {
		s.Want(p, http.StatusOK, `<html lang="de"`)
	}
	for _, p := range []portaltest.Page{
		s.Get(portaltest.At + "?locale=fr"), s.Through(portaltest.Maya, "", url.Values{"locale": {"fr"}}), // the address comes first
	} {
		s.Want(p, http.StatusOK, `<html lang="fr"`)
	}
	s.Want(s.Through(portaltest.Noah, "", nil), http.StatusOK, `<html lang="en"`)
}
