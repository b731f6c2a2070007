package pages

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/home"
	"github.com/perennialhq/perennial/internal/web/dashboard/people"
)

// fill types a text into a field, without leaving the page.
func (v *visit) fill(field, text string) {
	v.t.Helper()
	browsertest.Eval[bool](v.tab, fmt.Sprintf("document.querySelector(%q).value = %q, true", field, text))
}

// signIn signs the demo user in, without opening a page, and returns the path of the main store.
func (v *visit) signIn(s *site, m sandbox.Manifest) string {
	v.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(s.Dashboard+"/admin/signin", url.Values{"email": {m.DashboardUser}, "password": {m.DashboardPassword}})
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) == 0 {
		v.t.Fatalf("signing in answers %d", answer.StatusCode)
	}
	v.tab.Cookies(s.Dashboard, answer.Cookies())
	return "/admin/stores/" + login.Handle(m.Shop)
}

// mailed waits for a link that is sent to an address after those before, and returns it.
func (s *site) mailed(t *testing.T, to string, before ...string) string {
	t.Helper()
	var mails []struct{ Links []string }
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		s.read(t, "/mail?to="+to, &mails)
		if len(mails) > len(before) && len(mails[len(before)].Links) > 0 {
			return mails[len(before)].Links[0]
		}
	}
	t.Fatalf("no link in the mails to %q: %v", to, mails)
	return ""
}

func TestEveryPageOfDashboardCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	s, browser := openAll(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	for _, row := range []struct {
		name  string
		visit func(*visit)
	}{ // one after the other: what one changes, the next shows
		{"dashboard entrance", func(v *visit) {
			v.open("sign in", s.Dashboard+"/admin", http.StatusOK)
			v.fill("#email", m.DashboardUser)
			v.submit("wrong password", "#password", "wrong", http.StatusUnprocessableEntity)
			v.submit("stores", "#password", m.DashboardPassword, http.StatusOK)
			v.open("reset", s.Dashboard+"/admin/reset", http.StatusOK)
			v.submit("reset refused", "#email", "no..body@nowhere.example", http.StatusUnprocessableEntity)
			v.open("no such page", s.Dashboard+"/admin/nothing", http.StatusNotFound)
		}},
		{"dashboard store", func(v *visit) {
			v.signIn(s, m)
			v.open("home", at, http.StatusOK)
			v.open("charging", at+"/charging", http.StatusOK)
			v.open("personal data none", at+"/personal-data", http.StatusOK)
			v.open("users alone", at+"/users", http.StatusOK)
			v.tab.Submit("#email", "jo.berg@staff.example")
			link := s.mailed(v.t, "jo.berg@staff.example")
			v.tab.Submit("#email", "support.desk.with.a.long.name@customer-care.example")
			v.look("users", v.tab.Open(at+"/users"), http.StatusOK)
			v.submit("invitation refused", "#email", m.DashboardUser, http.StatusUnprocessableEntity)
			v.click("remove", "a.dan", http.StatusOK)
			v.click("last owner", "button.dan", http.StatusUnprocessableEntity)
			v.open("not found", at+"/nothing", http.StatusNotFound)

			guest := &visit{t: v.t, tab: browser.Tab(v.t), of: "dashboard guest"}
			guest.open("invitation", link, http.StatusOK)
			guest.fill("#name", "Jo Berg")
			guest.submit("password refused", "#password", "short", http.StatusUnprocessableEntity)
			guest.submit("joined", "#password", "a few long words", http.StatusOK)
			guest.open("forbidden", at+"/users", http.StatusForbidden)
			guest.open("invitation used", link, http.StatusNotFound)
			v.open("users joined", at+"/users", http.StatusOK)

			guest.tab.Open(s.Dashboard + "/admin/reset")
			guest.submit("reset sent", "#email", "jo.berg@staff.example", http.StatusOK)
			link = s.mailed(v.t, "jo.berg@staff.example", link)
			guest.open("new password", link, http.StatusOK)
			guest.submit("new password refused", "#password", "jo.berg likes tea", http.StatusUnprocessableEntity)
			guest.submit("password set", "#password", "other long words", http.StatusOK)
			guest.open("reset used", link, http.StatusNotFound)
			guest.tab.Open(s.Dashboard + "/admin/signin")
			guest.fill("#email", "jo.berg@staff.example")
			guest.tab.Submit("#password", "other long words")
			guest.open("account", at+"/account", http.StatusOK)
			guest.fill("#current", "wrong")
			guest.submit("account refused", "#password", "many other long words", http.StatusUnprocessableEntity)
			guest.open("two-step", at+"/account/two-step", http.StatusOK)
			guest.fill("#code", "000000")
			guest.submit("two-step refused", "#current", "other long words", http.StatusUnprocessableEntity)
			code, err := totp.GenerateCode(browsertest.Eval[string](guest.tab, "document.querySelector('[name=secret]').value"), time.Now())
			if err != nil {
				v.t.Fatal(err)
			}
			guest.fill("#code", code)
			guest.submit("recovery codes", "#current", "other long words", http.StatusOK)
			recovery := browsertest.Eval[string](guest.tab, "document.querySelector('.codes code').textContent")
			guest.click("account with two-step", "main a.pri", http.StatusOK)
			guest.tab.Click("header .btn.plain")
			guest.fill("#email", "jo.berg@staff.example")
			guest.submit("code", "#password", "other long words", http.StatusOK)
			guest.submit("code refused", "#code", "000000", http.StatusUnprocessableEntity)
			guest.submit("home again", "#code", recovery, http.StatusOK)
		}},
	} {
		t.Run(row.name, func(t *testing.T) { row.visit(&visit{t: t, tab: browser.Tab(t), of: row.name}) })
	}
}

func TestDashboardWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s, browser := openAll(t), browsertest.Start(t)
	v := &visit{t: t, tab: browser.Tab(t)}
	v.tab.Scripts(false)
	v.tab.Show(390, 844, "light")
	home := "/admin/stores/" + login.Handle(s.manifest.Shop)
	v.tab.Open(s.Dashboard + "/admin")
	v.fill("#email", s.manifest.DashboardUser)
	v.tab.Submit("#password", s.manifest.DashboardPassword)
	says := func(want string) {
		t.Helper()
		if got := browsertest.Eval[string](v.tab, "document.body.innerText"); !strings.Contains(got, want) {
			t.Errorf("the page does not say %q:\n%s", want, got)
		}
	}
	says("Choose a store")
	v.tab.Click(`main a[href="` + home + `"]`)
	says("Setup guide")
	browsertest.Eval[bool](v.tab, `document.querySelector('a[href="#nav"]').click(), true`) // the menu of a phone
	v.tab.Click(`#nav a[href$="/users"]`)
	says("Invite a user")
	v.tab.Submit("#email", "jo@staff.example")
	says("The invitation was sent.")
	v.tab.Click("[name=withdraw]")
	says("The invitation was withdrawn.")
	v.tab.Click(`header a[href$="/account"]`)
	says("This browser")
	v.tab.Click("header .btn.plain")
	says("Set a new password")
}

// In the platform's admin the script of embedded pages brings a session token with every
// link and form.
func TestEmbeddedDashboardBringsTokens(t *testing.T) {
	t.Parallel()
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(`window.shopify = {idToken: () => {
			const bring = document.getElementById("bring");
			return bring ? new Promise(give => bring.addEventListener("click", () => give("demo/71"))) : Promise.resolve("demo/71");
		}};`))
	}))
	t.Cleanup(bridge.Close)
	db, now := storetest.SQLite(t), clock.System{}
	if *postgres {
		db = storetest.Postgres(t)
	}
	of := shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: now.Now()}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	service := &staff.Service{Store: db.Staff(), Clock: now, RealClock: now, PublicURL: "https://perennial.example", LightHashes: true}
	pages, err := dashboard.New(dashboard.Options{
		Frame: web.Frame{Log: slog.New(slog.DiscardHandler)}, Staff: service, Clock: now,
		Rooms: []dashboard.Room{home.New(home.Options{Setup: noSetup{}, Syncs: noSetup{}, Clock: now}), people.New(people.Options{Staff: service})},
		Embed: &dashboard.Embedding{
			ClientID: "client", Bridge: bridge.URL + "/bridge.js", Ancestors: func(string) []string { return []string{"'self'"} },
			Verify: func(token string) (domain, user string, err error) {
				if token != "demo/71" {
					return "", "", fault.New(fault.Unauthenticated, "the session token is not valid")
				}
				return of.Domain, "71", nil
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "dashboard embedded"}
	says := func(words string) {
		t.Helper()
		if got := browsertest.Eval[string](v.tab, "document.body.innerText"); !strings.Contains(got, words) {
			t.Errorf("the page does not say %q:\n%s", words, got)
		}
	}
	v.tab.Open(site.URL + "/admin?embedded=1&shop=demo.myshopify.com")
	v.click("home", "#bring", http.StatusOK) // only now the platform's script gives a token
	says("Setup guide")
	v.tab.Open(site.URL + "/admin/stores/demo/users?embedded=1")
	v.click("users", "#bring", http.StatusOK)
	v.tab.Submit("#email", "jo@staff.example")
	v.tab.Click("#bring")
	says("The invitation was sent.")
	v.tab.Click("[name=withdraw]") // a form whose button says what it is about
	v.tab.Click("#bring")
	says("The invitation was withdrawn.")
	v.tab.Click("a.dan")
	says("can no longer open the dashboard")
	if got := browsertest.Eval[string](v.tab, "location.search"); !strings.Contains(got, "id_token=demo") {
		t.Errorf("the link brings %q", got)
	}
}

// noSetup is a store that is connected and not set up.
type noSetup struct{}

// Departure returns none.
func (noSetup) Departure(context.Context, shop.ID) (intake.Departure, error) {
	return intake.Departure{}, nil
}

// State returns the state.
func (noSetup) State(context.Context, shop.Shop) (home.State, error) {
	return home.State{Connected: true}, nil
}
