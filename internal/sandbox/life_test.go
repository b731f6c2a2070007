package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// A store's whole life in a browser: installed, read, confirmed, charged, uninstalled,
// installed again and charged again.
func TestStoreIsInstalledChargedUninstalledAndInstalledAgainInABrowser(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, database func(testing.TB) string) { liveInABrowser(t, database(t)) })
}

// file is the address of a SQLite file of the sandbox's own.
func file(testing.TB) string { return "" }

// onBoth runs a test on each database. Each call of database returns the address of an empty one.
func onBoth(t *testing.T, test func(t *testing.T, database func(testing.TB) string)) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": file, "PostgreSQL": pgtest.Empty} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database)
		})
	}
}

// others are the contracts of the store that are not due while the test runs. With the two
// that are, they take a second page of the platform's list.
const others = 256

func liveInABrowser(t *testing.T, database string) {
	b := start(t, Options{Empty: true, NotInstalled: true, Database: database, CheckEvery: reconcileEvery})
	weekly := b.subscribed("ada@shopper.example", "WEEK", beginning().AddDate(0, 0, 2))
	monthly := b.subscribed("bo@shopper.example", "MONTH", beginning().AddDate(0, 0, 1))
	for i := range others {
		b.subscribed(fmt.Sprintf("no%d@shopper.example", i), "YEAR", beginning().AddDate(0, 6, 0))
	}
	hold := b.holdSecondPage()

	merchant := &merchant{t: t, tab: browsertest.Start(t).Tab(t)}
	app := merchant.tab.Frame("iframe#app")
	merchant.tab.Open(b.urls.Platform + "/store")
	merchant.click(`a[href$="/`+demo.Main+`/admin"]`, "Apps of "+demo.Main)
	merchant.install()

	app.Wait("Setup guide")
	app.Wait("Nothing is charged before you have seen what will be.")
	b.waitFor("the first page of contracts", func() bool { return b.sync().Done > 0 })
	app.Click(`a[href*="/charging"]`)
	app.Wait(fmt.Sprintf("250 of %d", others+2))
	app.Wait("You can confirm when all contracts are read.")
	close(hold)
	b.waitFor("the end of the first sync", func() bool { return b.sync().Finished })
	b.advance("P1DT3H")
	b.charged(map[int64][]int{}) // one order was due, and the merchant has not confirmed

	app.Click(`section a[href*="/charging"]`) // Look again
	app.Wait("2 orders are charged until 9 Nov 2026")
	app.Wait("1 of them is overdue")
	app.Click("form button.pri")
	app.Wait("Orders are charged from now on.")
	b.advance("P3D")
	b.charged(map[int64][]int{weekly: {1}, monthly: {1}})
	b.attempts(weekly, "1 SUCCESS")

	b.advance("P4D")
	b.operatorAdds("ana@staff.example")
	desk := b.signIn(t, "ana@staff.example")
	desk.says("/charging", "The next 7 days", "1 order, ")
	merchant.tab.Open(b.admin())
	merchant.click("form[action$=uninstall] button", "Apps of "+demo.Main)
	b.waitFor("the end of the connection", func() bool { return !b.store().Connected })
	b.advance("P1D") // another order falls due
	b.charged(map[int64][]int{weekly: {1}, monthly: {1}})
	b.attempts(weekly, "2 SOCIAL_CONNECTION_NULL", "1 SUCCESS")
	for _, page := range []string{"", "/charging"} {
		desk.says(page, "The app was uninstalled on 9 Nov 2026", "nothing is charged since", fmt.Sprintf("On 11 Nov 2026, 10:00 EST the platform cancels %d contracts.", others+2))
	}

	merchant.tab.Open(b.admin())
	merchant.install()
	app.Wait("Setup guide: ") // folded: the store is connected, and its charges are confirmed
	b.waitFor("the end of the second sync", func() bool { return b.sync().Finished })
	b.advance("P8D") // past the instant at which the platform would have cancelled the contracts
	b.charged(map[int64][]int{weekly: {1, 3}, monthly: {1}})
	b.attempts(weekly, "3 SUCCESS", "2 SOCIAL_CONNECTION_NULL", "1 SUCCESS")
	for _, page := range []string{"", "/charging"} {
		if text := desk.open(page); strings.Contains(text, "The app was uninstalled on") || strings.Contains(text, "Nothing is charged yet") {
			t.Errorf("after the second installation the page %q says:\n%s", page, text)
		}
	}
}

// subscribed makes a contract at the platform and returns its id.
func (b *bench) subscribed(email, interval string, next time.Time) int64 {
	b.t.Helper()
	made, err := b.sim.Checkout(simulator.ContractSpec{
		Shop: demo.Main, Customer: simulator.CustomerSpec{Email: email}, NextBillingDate: next, CreatedAt: beginning().AddDate(0, -1, 0),
		Billing: simulator.PolicySpec{Interval: interval, IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: 4001, Quantity: 1, CurrentPrice: "10.00"}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Contract
}

// holdSecondPage has the platform answer none of the service's calls while the first page
// of contracts is stored and the second is not, until the channel is closed.
func (b *bench) holdSecondPage() chan struct{} {
	hold := make(chan struct{})
	server := b.servers[platformPort]
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/graphql.json") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if y := b.sync(); bytes.Contains(body, []byte("query Contracts (")) && y.Done > 0 && !y.Finished {
				select {
				case <-hold:
				case <-b.t.Context().Done():
				}
			}
		}
		next.ServeHTTP(w, r)
	})
	return hold
}

func (b *bench) store() shop.Shop {
	b.t.Helper()
	of, err := b.front.running().Store.Shops().ShopByDomain(b.t.Context(), demo.Main)
	if err != nil {
		b.t.Fatal(err)
	}
	return of
}

// sync returns how far the first sync has come. A store that is not installed has none.
func (b *bench) sync() syncView {
	a := b.front.running()
	of, err := a.Store.Shops().IDOf(b.t.Context(), demo.Main)
	if err != nil {
		return syncView{}
	}
	y, _, err := a.Intake.Progress(b.t.Context(), of)
	if err != nil {
		return syncView{}
	}
	return syncView{y.Stage, y.Done, y.Total, !y.FinishedAt.IsZero(), y.Failure}
}

func (b *bench) waitFor(what string, done func() bool) {
	b.t.Helper()
	until(b.t, what, done)
}

// admin returns the address of the store's admin.
func (b *bench) admin() string { return b.urls.Platform + "/store/" + demo.Main + "/admin" }

// charged compares the platform's books with the cycles, by contract, that must be in them.
func (b *bench) charged(want map[int64][]int) {
	b.t.Helper()
	made := map[int64][]int{}
	for _, o := range b.orders("?shop=" + demo.Main) {
		made[o.Contract] = append(made[o.Contract], o.Cycle)
	}
	if len(made) != len(want) {
		b.t.Fatalf("the platform has orders of the cycles %v, want %v", made, want)
	}
	for id, cycles := range want {
		if !slices.Equal(made[id], cycles) {
			b.t.Fatalf("the platform has orders of the cycles %v, want %v", made, want)
		}
	}
}

// attempts compares the past attempts of a contract, newest first.
func (b *bench) attempts(of int64, want ...string) {
	b.t.Helper()
	list, _, err := b.front.running().Store.AttemptsWhere(b.t.Context(), b.store().ID,
		billing.Question{Line: shop.Subscriptions, Contract: contract.ID(of)}, page.Request{Size: 20})
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, one := range list {
		got = append(got, fmt.Sprintf("%d %s", one.Cycle, one.Status))
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("the attempts of contract %d are %v, want %v", of, got, want)
	}
}

// password is that of the users that a test adds.
const password = "correct horse battery"

// operatorAdds adds an owner of the store, as perennial users add does.
func (b *bench) operatorAdds(email string) {
	b.t.Helper()
	if err := b.front.running().Staff.Add(b.t.Context(), b.store().ID, email, "Ana", staff.Owner, password); err != nil {
		b.t.Fatal(err)
	}
}

// merchant is a merchant in the platform's admin.
type merchant struct {
	t   *testing.T
	tab *browsertest.Tab
}

func (m *merchant) click(selector, title string) {
	m.t.Helper()
	if status := m.tab.Click(selector); status != http.StatusOK {
		m.t.Fatalf("%s leads to %d", selector, status)
	}
	if got := browsertest.Eval[string](m.tab, "document.title"); !strings.HasPrefix(got, title) {
		m.t.Fatalf("%s leads to %q, want %q", selector, got, title)
	}
}

// install installs the app from the list of the store's apps.
func (m *merchant) install() {
	m.t.Helper()
	m.click("a.act", "Install Perennial")
	m.click("form button", "Perennial ")
}

// desk is the dashboard of the store outside the platform's admin.
type desk struct {
	t   *testing.T
	tab *browsertest.Tab
	at  string
}

// signIn opens the dashboard with a password.
func (b *bench) signIn(t *testing.T, email string) *desk {
	t.Helper()
	d := &desk{t, browsertest.Start(t).Tab(t), b.urls.Dashboard + "/admin/stores/" + login.Handle(demo.Main)}
	d.tab.Open(b.urls.Dashboard + "/admin")
	browsertest.Eval[bool](d.tab, fmt.Sprintf(`document.querySelector("#email").value = %q, true`, email))
	if status := d.tab.Submit("#password", password); status != http.StatusOK {
		t.Fatalf("signing in answers %d", status)
	}
	return d
}

// open opens a page of the store and returns what it says.
func (d *desk) open(path string) string {
	d.t.Helper()
	if status := d.tab.Open(d.at + path); status != http.StatusOK {
		d.t.Fatalf("the page %q answers %d", path, status)
	}
	return browsertest.Eval[string](d.tab, "document.body.innerText")
}

// says opens a page and checks that it says some texts.
func (d *desk) says(path string, words ...string) {
	d.t.Helper()
	text := d.open(path)
	for _, one := range words {
		if !strings.Contains(text, one) {
			d.t.Errorf("the page %q does not say %q:\n%s", path, one, text)
		}
	}
}
