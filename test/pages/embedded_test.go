package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
)

// install installs the app in a store and returns the frame that shows it in the platform's
// admin. That merchant is the owner.
func (v *visit) install(s *site) *browsertest.Frame {
	v.t.Helper()
	v.tab.Open(s.Platform + "/store/" + s.manifest.Shop + "/admin")
	v.tab.Click("a.act")
	v.tab.Click("form button")
	app := v.tab.Frame("#app")
	app.Wait("Setup guide")
	return app
}

// enter opens a page of a store in the frame, where a script brings the merchant's token.
func (v *visit) enter(app *browsertest.Frame, path string) {
	v.t.Helper()
	browsertest.EvalFrame[bool](app, `location.assign("`+path+`?embedded=1"), true`)
	app.Until(`location.pathname === "` + path + `" && document.readyState === "complete" && document.querySelector("main h1") && !document.getElementById("bring")`)
}

// asksForAccess has an application of a partner ask a store for access.
func (s *site) asksForAccess(t *testing.T) {
	t.Helper()
	partner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Nonce string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"nonce": asked.Nonce, "ok": true}) //nolint:errcheck // the service hung up
	}))
	t.Cleanup(partner.Close)
	var secrets struct{ Secret string }
	s.make(t, "/partners", map[string]any{"id": "reports", "name": "Reports & more", "baseUrl": partner.URL, "scopes": []string{"contracts:read"}}, &secrets)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Subscriptions+"/api/partner/reports/connect",
		strings.NewReader(`{"shop_domain": "`+s.manifest.Shop+`", "callback_nonce": "0123456789abcdef", "scopes": ["contracts:read"], "state": "mine"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("reports", secrets.Secret)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("asking for access is answered %d", answer.StatusCode)
	}
}

// Every room opens in the frame of the platform's admin, and is light there whatever the
// merchant's machine prefers.
func TestEveryRoomOpensInPlatformsAdmin(t *testing.T) {
	t.Parallel()
	box := run(t, sandbox.Options{Empty: true, NotInstalled: true})
	s := &site{URLs: box.URLs(), manifest: box.Manifest()}
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "embedded"}
	v.tab.Show(1280, 800, "dark")
	app := v.install(s)
	s.asksForAccess(t)
	at := "/admin/stores/" + login.Handle(s.manifest.Shop)

	// The sections are in the admin's navigation, their pages in tabs.
	rooms := []string{at}
	sections := browsertest.Eval[[]string](v.tab, `[...document.querySelectorAll("#nav button")].map(b => b.textContent)`)
	if want := []string{"Home", "Subscriptions", "Plans", "Analytics", "Settings", "Developers"}; !slices.Equal(sections, want) {
		t.Fatalf("the admin's navigation has %q, want %q", sections, want)
	}
	for _, name := range sections[1:] {
		browsertest.Eval[bool](v.tab, `[...document.querySelectorAll("#nav button")].find(b => b.textContent === "`+name+`").click(), true`)
		tabs := "nav.tabs[aria-label='" + name + "']"
		app.Until(`document.querySelector("` + tabs + `")`)
		for _, path := range browsertest.EvalFrame[[]string](app, `[...document.querySelectorAll("`+tabs+` a")].map(a => a.pathname)`) {
			if !slices.Contains(rooms, path) {
				rooms = append(rooms, path)
			}
		}
	}
	if len(rooms) < 20 {
		t.Errorf("only %d rooms were found: %v", len(rooms), rooms)
	}
	for _, path := range rooms {
		v.enter(app, path)
		if got := app.Text(); strings.Contains(got, "Not found") || strings.Contains(got, "You may not do that") || strings.Contains(got, "on our side") {
			t.Errorf("%s shows in the frame:\n%s", path, got)
		}
		const darkest = `Math.min(...getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number))`
		if got := browsertest.EvalFrame[int](app, darkest); got < 200 {
			t.Errorf("%s is dark: its background has a channel of %d", path, got)
		}
		v.report(path, app.Sideways())
	}
	v.enter(app, at+"/partners")
	app.Wait("Reports & more")
	v.lookInFrame("partners", app, "Read contracts")

	for _, path := range append(rooms, at+"/nothing") {
		answer, err := http.Get(s.Subscriptions + path + "?embedded=1&shop=" + s.manifest.Shop) //nolint:gosec // an address of the sandbox
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		policy := answer.Header.Get("Content-Security-Policy")
		_, ancestors, _ := strings.Cut(policy, "frame-ancestors ")
		if ancestors != s.Platform || answer.Header.Get("X-Frame-Options") != "" {
			t.Errorf("%s may be in frames of %q", path, ancestors)
		}
	}
}
