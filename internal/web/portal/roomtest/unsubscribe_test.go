package roomtest_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

func TestUnsubscribingNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(*portaltest.Site) []portal.Room { return nil })
	off := func(of shop.Shop, customer int64) []notify.Kind {
		p, err := s.Portal.Preferences(t.Context(), do.Caller{Shop: of, Actor: activity.Actor{Customer: customer}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Off
	}
	at := func(of shop.Shop, u do.Unsubscription) string {
		return s.Own.URL + "/p/" + strings.TrimSuffix(of.Domain, ".myshopify.com") + portal.UnsubscribePath + s.Portal.UnsubscribeToken(of.ID, u)
	}
	reminders := do.Unsubscription{Customer: portaltest.Maya, Kind: notify.UpcomingOrder}
	link := at(s.First, reminders)
	answer := func(r *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck // read
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	status, page := answer(http.Get(link))
	if status != http.StatusOK || !strings.Contains(page, "Stop these e-mails?") || !strings.Contains(page, "An order is about to be made") || len(off(s.First, portaltest.Maya)) != 0 {
		t.Errorf("the link answers %d: %s", status, page)
	}
	for range 2 { // mail programs may repeat the request of RFC 8058
		status, page = answer(http.PostForm(link, url.Values{"List-Unsubscribe": {"One-Click"}}))
		if got := off(s.First, portaltest.Maya); status != http.StatusOK || !slices.Equal(got, []notify.Kind{notify.UpcomingOrder}) {
			t.Errorf("one click answers %d, and off are %v", status, got)
		}
	}
	if !strings.Contains(page, "You won’t get these e-mails any more") {
		t.Error(page)
	}
	if got := off(s.Second, portaltest.Maya); len(got) != 0 {
		t.Errorf("in the other store off are %v", got)
	}
	answer(http.PostForm(at(s.First, do.Unsubscription{Customer: portaltest.Maya, Kind: notify.Paused}), nil))
	if status, _ = answer(http.PostForm(link, url.Values{"again": {"1"}})); status != http.StatusOK || !slices.Equal(off(s.First, portaltest.Maya), []notify.Kind{notify.Paused}) {
		t.Errorf("taken back: %d, and off are %v", status, off(s.First, portaltest.Maya))
	}
	for name, bad := range map[string]string{
		"another store's":         strings.Replace(at(s.Second, reminders), "/p/second/", "/p/first/", 1),
		"of a kind always sent":   at(s.First, do.Unsubscription{Customer: portaltest.Maya, Kind: notify.TransactionFailed}),
		"a changed one":           link[:len(link)-2] + "zz",
		"one that is cut off":     link[:len(link)-12],
		"one that is no token":    s.Own.URL + "/p/first/u/!",
		"one without any secret":  s.Own.URL + "/p/first/u/",
		"one of no store we know": strings.Replace(link, "/p/first/", "/p/third/", 1),
	} {
		if status, page := answer(http.PostForm(bad, nil)); status != http.StatusNotFound || strings.Contains(page, "You won’t get") {
			t.Errorf("%s answers %d", name, status)
		}
	}
	if got := off(s.First, portaltest.Maya); !slices.Equal(got, []notify.Kind{notify.Paused}) {
		t.Errorf("off are %v after bad links", got)
	}
	if secret := link[strings.LastIndexByte(link, '/')+1:]; strings.Contains(s.Log.String(), secret) {
		t.Error("the log has the link")
	}
}
