package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

func TestStoreInstallsTwoAppsInABrowser(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, NotInstalled: true, MembershipsApp: true})
	ada, bo := b.weekly("ada@shopper.example", 6001), b.weekly("bo@shopper.example", demo.MembershipPlans()[0])
	once := map[int64][]int{ada.Contract: {1}, bo.Contract: {1}}
	m := &merchant{t: t, tab: browsertest.Start(t).Tab(t)}
	const second = `a.act[href$="` + membershipsClientID + `"]`
	frame := m.tab.Frame("iframe#app")

	m.tab.Open(b.admin())
	m.click(second, "Install Perennial Memberships")
	if status := m.tab.Click("form button"); status != http.StatusConflict {
		t.Errorf("the app for memberships was installed alone: %d", status)
	}
	m.tab.Open(b.admin())
	m.install()
	frame.Wait("Setup guide")
	m.tab.Open(b.admin())
	m.click(second, "Install Perennial Memberships")
	asked := browsertest.Eval[string](m.tab, "document.querySelector('main ul').innerText")
	if want := strings.Join(platform.ScopeNames(connection.Scopes(connection.Memberships)), "\n"); strings.TrimSpace(asked) != want {
		t.Errorf("the app for memberships asks for %q, want %q", asked, want)
	}
	m.click("form button", "Perennial Memberships")
	frame.Wait(demo.Main + " is connected.")

	apps := b.connections()
	one, two := apps[connection.Primary], apps[connection.Memberships]
	if one.Access == two.Access || one.Refresh == two.Refresh || one.Refresh == "" || two.Refresh == "" || len(one.Missing())+len(two.Missing()) > 0 || len(two.Scopes) >= len(one.Scopes) {
		t.Errorf("the connections are %+v and %+v", one, two)
	}
	b.refuseOtherApp(connection.Primary, membershipsClientID)
	b.refuseOtherApp(connection.Memberships, clientID)
	b.refuseOtherCallback(connection.Primary, connection.Memberships)
	b.refuseOtherCallback(connection.Memberships, connection.Primary)
	b.waitFor("the end of the first sync", func() bool { return b.sync().Finished })
	if status := b.portal("memberships", bo); status != http.StatusOK {
		t.Errorf("the portal of memberships answers %d", status)
	}

	b.waitFor("the end of the sync of the last installation", func() bool { return b.sync().Finished })
	b.direct("POST", "/consent", "", nil)
	b.direct("POST", "/settings", `{"membershipSellingPlans":[6101,6102]}`, nil) // the contracts are read again
	m.tab.Open(b.admin())
	m.click(`form[action$="`+membershipsClientID+`/uninstall"] button`, "Apps of "+demo.Main)
	if status := b.portal("memberships", bo); status != http.StatusNotFound {
		t.Errorf("the portal of memberships answers %d without its app", status)
	}
	if status := b.portal("subscriptions", ada); status != http.StatusOK {
		t.Errorf("the portal of subscriptions answers %d without the app for memberships", status)
	}
	b.advance("P2D")
	b.charged(once)

	m.tab.Open(b.admin())
	m.click(second, "Install Perennial Memberships")
	m.click("form button", "Perennial Memberships")
	m.tab.Open(b.admin())
	m.click(`form[action$="`+clientID+`/uninstall"] button`, "Apps of "+demo.Main)
	b.waitFor("the end of the connection", func() bool { return !b.store().Connected })
	if !b.sim.HasApp(demo.Main, membershipsClientID) {
		t.Error("the app for memberships went with the other")
	}
	b.advance("P8D")
	b.charged(once)
}

// weekly makes a contract on a plan whose orders fall due every week from tomorrow.
func (b *bench) weekly(email string, plan int64) simulator.Made {
	b.t.Helper()
	made, err := b.sim.Checkout(simulator.ContractSpec{
		Shop: demo.Main, Customer: simulator.CustomerSpec{Email: email}, NextBillingDate: beginning().AddDate(0, 0, 1), CreatedAt: beginning().AddDate(0, 0, -6),
		Billing: simulator.PolicySpec{Interval: "WEEK", IntervalCount: 1},
		Lines:   []simulator.LineSpec{{VariantID: 4001, Quantity: 1, CurrentPrice: "10.00", SellingPlanID: plan}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

// connections returns what the store has granted to each app.
func (b *bench) connections() map[connection.AppName]connection.Connection {
	b.t.Helper()
	list, err := b.front.running().Connections.Connections(b.t.Context(), b.store().ID)
	if err != nil {
		b.t.Fatal(err)
	}
	apps := map[connection.AppName]connection.Connection{}
	for _, c := range list {
		apps[c.App] = c
	}
	return apps
}

// entry returns the address of an app.
func (b *bench) entry(app connection.AppName) string {
	if app == connection.Primary {
		return b.urls.Subscriptions + "/auth/entry"
	}
	return b.urls.Subscriptions + "/auth/entry/" + string(app)
}

// refuseOtherApp checks that an app, and the dashboard, refuse session tokens of the other app.
func (b *bench) refuseOtherApp(app connection.AppName, other string) {
	b.t.Helper()
	token, err := b.sim.SessionTokenOf(other, demo.Main, 101)
	if err != nil {
		b.t.Fatal(err)
	}
	addresses := []string{b.entry(app) + "?id_token=" + token}
	if other == membershipsClientID {
		addresses = append(addresses, b.urls.Subscriptions+"/admin/stores/demo?embedded=1&id_token="+token)
	}
	for _, address := range addresses {
		if status, text := ask(b.t, http.MethodGet, address, "", ""); status != http.StatusUnauthorized {
			b.t.Errorf("%s answers %d to a session token of %s:\n%s", strings.SplitN(address, "?", 2)[0], status, other, text)
		}
	}
}

// refuseOtherCallback checks that the end of an installation of an app is refused at the
// address of the other app, and accepted at its own.
func (b *bench) refuseOtherCallback(app, other connection.AppName) {
	b.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(address string) (status int, to *url.URL) {
		b.t.Helper()
		answer, err := client.Get(address)
		if err != nil {
			b.t.Fatal(err)
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		to, _ = answer.Location()
		return answer.StatusCode, to
	}
	begin := func() *url.URL {
		b.t.Helper()
		_, page := get(b.urls.Subscriptions + "/auth?shop=" + demo.Main + "&app=" + string(app))
		back, err := b.sim.Consent(demo.Main, page.Query())
		if err != nil {
			b.t.Fatal(err)
		}
		u, err := url.Parse(back)
		if err != nil {
			b.t.Fatal(err)
		}
		return u
	}
	before := b.connections()
	back := begin()
	wrong := connection.Redirect(b.urls.Subscriptions, other) + "?" + back.RawQuery
	if status, _ := get(wrong); status != http.StatusUnauthorized {
		b.t.Errorf("the callback of %s answers %d at the address of %s", app, status, other)
	}
	if after := b.connections(); !slices.Equal(after[other].Scopes, before[other].Scopes) || after[other].Access != before[other].Access || after[app].Access != before[app].Access {
		b.t.Errorf("the callback of %s at the address of %s has changed a connection", app, other)
	}
	if status, _ := get(begin().String()); status != http.StatusFound {
		b.t.Errorf("the callback of %s answers %d at its own address", app, status)
	}
	if after := b.connections(); after[app].Access == before[app].Access || after[other].Access != before[other].Access {
		b.t.Errorf("the callback of %s has not changed its connection alone", app)
	}
}

// portal asks for a shopper's orders through the app proxy at the store's domain.
func (b *bench) portal(line string, of simulator.Made) int {
	b.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	in, err := browser.Post(fmt.Sprintf("%s/account/login?customer_id=%d", b.urls.Storefront, of.Customer), "", http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	in.Body.Close()
	answer, err := browser.Get(b.urls.Storefront + "/apps/" + line + "/cp/api/subscription-billing-attempts/top-orders?size=1")
	if err != nil {
		b.t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
