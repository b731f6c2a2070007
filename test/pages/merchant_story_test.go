//go:build soak

package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
)

// merchant is a merchant at a browser, and the store.
type merchant struct {
	*visit
	browser  *browsertest.Browser
	s        *site
	at       string // address of the store's pages
	contract string // number of the first contract
}

// A new merchant installs the app, sells on a plan, sees the first renewal paid, a declined card
// recovered, gives the warehouse a key, replays a webhook, changes the plan, and moves many
// contracts by a day. Each step is done on the page where a merchant does it, and what
// is checked is what the merchant reads.
func TestNewMerchantRunsStoreFromInstallToManyContracts(t *testing.T) {
	t.Parallel()
	box := run(t, sandbox.Options{Empty: true, NotInstalled: true})
	s := &site{URLs: box.URLs(), manifest: box.Manifest()}
	browser := browsertest.Start(t)
	m := &merchant{
		visit: &visit{t: t, tab: browser.Tab(t), of: "merchant"}, browser: browser, s: s, at: s.Dashboard + "/admin/stores/" + login.Handle(box.Manifest().Shop),
	}
	m.tab.Show(1280, 800, "light")
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"install", m.install}, {"make a plan", m.makePlan}, {"a shopper subscribes", m.sell}, {"confirm that orders are charged", m.confirm},
		{"the first renewal", m.renew}, {"a declined card and its recovery", m.recover}, {"a key for the warehouse", m.makeKey},
		{"a webhook is replayed", m.replay}, {"change the plan", m.changePlan}, {"move many contracts", m.moveMany},
	} {
		t.Log(step.name)
		step.do()
		m.picture("merchant " + step.name)
		if t.Failed() {
			t.FailNow() // the steps that follow build on this one
		}
	}
}

// install installs the app in the platform's admin, where the merchant becomes the owner, and
// gives the merchant an account at the service's own address.
func (m *merchant) install() {
	m.t.Helper()
	const email = "mina.holt@staff.example"
	app := m.visit.install(m.s)
	browsertest.Eval[bool](m.tab, `[...document.querySelectorAll("#nav button")].find(b => b.textContent === "Settings").click(), true`)
	app.Click(`nav.tabs a[href*="/users"]`)
	app.Wait("Invite a user")
	app.Fill("#role", "OWNER")
	app.Submit("#email", email)
	app.Wait("The invitation was sent.")
	m.tab.Open(m.s.mailed(m.t, email))
	m.says("You join as Owner")
	m.fill("#name", "Mina Holt")
	m.tab.Submit("#password", "a few long words")
	m.tab.Open(m.at)
	m.says("Setup guide")
	if got := m.text("header .who"); got != email {
		m.t.Errorf("the page names the user %q", got)
	}
}

// products returns the numbers of two products.
func (m *merchant) products() (list []string) {
	m.t.Helper()
	var variants []struct {
		ProductID int64 `json:"productId"`
	}
	m.s.read(m.t, "/platform/variants", &variants)
	for _, v := range variants {
		if id := fmt.Sprint(v.ProductID); len(list) < 2 && (len(list) == 0 || list[0] != id) {
			list = append(list, id)
		}
	}
	return list
}

func (m *merchant) makePlan() {
	m.t.Helper()
	m.tab.Open(m.at + "/plans")
	m.tab.Open(m.at + "/plans/new")
	m.fill("#f-name", "Coffee club")
	m.fill("#f-products", strings.Join(m.products(), ", "))
	m.fill("#f-option", "Every week")
	m.fill("#f-count", "1")
	m.fill("#f-interval", "WEEK")
	browsertest.Eval[bool](m.tab, `document.querySelector("#f-first").checked = true`)
	m.fill("#f-first-offer", "15")
	m.tab.Click("button[value=save]")
	m.says("The plan group was made, here and at the platform.")
	m.says("Every week")
	m.tab.Open(m.at)
	if got := m.text("main"); !strings.Contains(got, "Create a plan: done") {
		m.t.Errorf("the setup guide says:\n%s", got)
	}
}

// sell has a shopper subscribe on the merchant's plan, and finds the contract.
func (m *merchant) sell() {
	m.t.Helper()
	shopper := &visit{t: m.t, tab: m.browser.Tab(m.t)}
	shopper.tab.Open(m.s.Storefront + "/products/house-blend-coffee")
	shopper.says("Every week")
	shopper.tab.Press("[name=selling_plan]:not([value=''])")
	shopper.tab.Click(".buy button")
	shopper.tab.Click("main a.button")
	shopper.tab.Submit("main [name=email]", "ada.okafor@shopper.example")
	shopper.says("Your subscription has the number")
	m.contract = shopper.text(".note strong:last-of-type")
	m.tab.Open(m.at + "/contracts")
	m.says("ada.okafor@shopper.example")
	m.says("1–1 of 1")
}

// confirm has the service charge, once the page has said what that comes to.
func (m *merchant) confirm() {
	m.t.Helper()
	m.pass("day") // an order is due within a week from now
	m.tab.Open(m.at + "/charging")
	m.says("Nothing is charged yet")
	m.says("1 order is charged until")
	m.says(usd(1360))
	m.tab.Click("form button.pri")
	m.says("Orders are charged from now on.")
}

// usd is an amount of US dollars as pages show it.
func usd(cents int) string { return fmt.Sprintf("%d.%02d USD", cents/100, cents%100) }

// pass moves the time of the sandbox, on its page: by an "hour", a "day" or a "week".
func (m *merchant) pass(step string) {
	m.t.Helper()
	m.tab.Open(m.at + "/time")
	m.tab.Click("button[value=" + step + "]")
	for end := time.Now().Add(time.Minute); strings.Contains(m.text("#time-results"), "Time is moving"); m.tab.Open(m.at + "/time") {
		if time.Now().After(end) {
			m.t.Fatal("time does not arrive")
		}
	}
}

func (m *merchant) renew() {
	m.t.Helper()
	m.pass("week")
	m.says("1 paid, 0 declined")
	m.tab.Open(m.at)
	m.says("An order was charged")
	m.tab.Open(m.at + "/contracts/" + m.contract)
	m.arrives("An order was charged") // the timeline is loaded after the page
	if got := m.text("[aria-labelledby=timeline] .tl"); !strings.Contains(got, "An order was charged") {
		m.t.Errorf("the timeline says:\n%s", got)
	}
	if got := m.text("[aria-labelledby=past] tbody"); !strings.Contains(got, "Paid") || !strings.Contains(got, usd(1360)) {
		m.t.Errorf("the past orders say:\n%s", got)
	}
}

// recover has the next charge declined, and charges it again on the page of failed payments.
func (m *merchant) recover() {
	m.t.Helper()
	m.tab.Open(m.at + "/time")
	m.fill("#f-code", "INSUFFICIENT_FUNDS")
	m.tab.Submit("#f-contract", m.contract)
	m.says("The next charge of the contract ends like this.")
	m.pass("week")
	m.says("0 paid, 1 declined")
	m.tab.Open(m.at)
	m.says("1 order was declined")
	m.tab.Click(`main a[href$="/failed-payments"]`)
	m.says("Not enough money")
	m.says(usd(1360))
	m.tab.Open(browsertest.Eval[string](m.tab, `document.querySelector('main tbody a[href$="/retry"]').href`))
	m.says("The present payment method is charged now, as try 2.")
	m.tab.Click("main button.pri")
	m.says("The order is being charged again.")
	m.pass("hour")
	m.tab.Open(m.at + "/failed-payments")
	m.says("No payment is open")
	m.says("100.0 % of the failed amount was recovered")
	m.tab.Open(m.at + "/contracts/" + m.contract)
	m.arrives("An order was charged") // the timeline is loaded after the page
	if got := m.text("[aria-labelledby=timeline] .tl"); !strings.Contains(got, "An order was charged") || !strings.Contains(got, "dashboard") {
		m.t.Errorf("the timeline says:\n%s", got)
	}
}

// makeKey makes a key for the warehouse, which reads contracts with it.
func (m *merchant) makeKey() {
	m.t.Helper()
	if status := m.tab.Open(m.at + "/keys/new"); status != http.StatusOK {
		m.t.Fatalf("the form of a key answered %d: %s", status, m.text("body"))
	}
	m.fill("#f-access", "chosen")
	m.tick("[name=scope][value='contracts:read']")
	m.tab.Submit("#f-name", "Warehouse")
	m.says("Store it now.")
	value := m.text("output")
	m.tick("[name=stored]")
	m.tab.Click("form[action$='/stored'] button")
	m.says("The key works from now on. It is not shown again.")
	if page := browsertest.Eval[string](m.tab, "document.documentElement.outerHTML"); value == "" || strings.Contains(page, value) {
		m.t.Errorf("the key %q is shown again", value)
	}
	for path, want := range map[string]int{"subscription-contract-details": http.StatusOK, "webhook-endpoints": http.StatusForbidden} {
		if got := ask(m.t, http.MethodGet, m.s.Subscriptions+"/api/external/v2/"+path, value); got != want {
			m.t.Errorf("%s answers the warehouse %d, want %d", path, got, want)
		}
	}
	for end := time.Now().Add(time.Minute); ; {
		m.tab.Open(m.at + "/api-log")
		if log := m.text("main table"); strings.Contains(log, "/api/external/v2/subscription-contract-details") && strings.Contains(log, "Warehouse") && strings.Contains(log, "403") {
			break
		} else if time.Now().After(end) {
			m.t.Fatalf("the API log does not have the requests: %s", log)
		}
	}
	m.tab.Open(m.at + "/keys")
	m.says("Warehouse")
}

// replay has a webhook fail at its receiver, and replays it.
func (m *merchant) replay() {
	m.t.Helper()
	sink := struct{ URL string }{}
	m.s.post(m.t, "/webhook-sink", &sink)
	m.deliver(sink.URL+"/answers", []int{http.StatusInternalServerError})
	m.tab.Open(m.at + "/webhooks/new")
	m.tick("[name=type][value='subscription.paused']")
	m.tab.Submit("#f-url", sink.URL)
	m.says("The endpoint was added. It receives events from now on.")

	m.tab.Open(m.at + "/contracts/" + m.contract + "/do/pause")
	m.tab.Click("main button.pri")
	m.says("Paused")
	m.s.rest(m.t)
	m.tab.Open(m.at + "/webhook-deliveries")
	m.says("A contract was paused")
	m.tab.Click("main tbody a")
	if got := m.text("[aria-labelledby=answer]"); !strings.Contains(got, "500") {
		m.t.Errorf("the answer is shown as:\n%s", got)
	}
	m.tab.Click("form[action$='/replay'] button")
	m.says("The message is sent again.")
	m.s.rest(m.t)
	m.tab.Open(browsertest.Eval[string](m.tab, "location.href.split('?')[0]"))
	if got := m.text("main .badge"); got != "Delivered" {
		m.t.Errorf("the delivery is shown as %q", got)
	}
	var arrived []struct{ Body string }
	m.s.read(m.t, strings.TrimPrefix(sink.URL, m.s.Control), &arrived)
	if len(arrived) != 2 || arrived[0].Body != arrived[1].Body || !strings.Contains(arrived[1].Body, m.contract) {
		m.t.Errorf("the receiver got %v", arrived)
	}
	m.tab.Open(m.at + "/contracts/" + m.contract + "/do/resume")
	m.tab.Click("main button.pri")
	m.says("Active")
}

// deliver sends JSON to an address of the control interface.
func (m *merchant) deliver(address string, body any) {
	m.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	answer, err := http.Post(address, "application/json", bytes.NewReader(text)) //nolint:gosec // an address of the sandbox
	if err != nil {
		m.t.Error(err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		m.t.Errorf("%s answered %d", address, answer.StatusCode)
	}
}

// changePlan changes what later subscribers pay.
func (m *merchant) changePlan() {
	m.t.Helper()
	m.tab.Open(m.at + "/plans")
	m.tab.Click("main tbody a")
	m.tab.Click(`main ul.list a[href*="/options/"]`)
	m.fill("#f-first-offer", "20")
	m.tab.Click("button[value=save]")
	m.says("The change was saved, here and at the platform.")
	m.says("20 %")
	m.tab.Open(m.at + "/contracts/" + m.contract)
	m.says(usd(1360)) // contracts keep their price
}

// moveMany moves the next orders of many contracts by a day.
func (m *merchant) moveMany() {
	m.t.Helper()
	m.subscribeMany(many - 1)
	m.tab.Open(m.at + "/contracts")
	m.says(fmt.Sprintf("of %d", many))
	browsertest.Eval[bool](m.tab, `document.querySelector("tbody [name=id]").click(), true`)
	m.tick("[name=all]")
	m.tab.Click(`button[value="MOVE_NEXT"]`)
	m.tab.Submit("#f-days", "1")
	preview := m.text("main")
	m.says("Nothing is changed yet.")
	if !strings.Contains(preview, fmt.Sprintf("Selected%dPossible%[1]dNot possible0", many)) {
		m.t.Errorf("the preview says:\n%s", preview)
	}
	m.tab.Click("main button.btn.pri")
	job := browsertest.Eval[string](m.tab, "location.href.split('?')[0]")
	m.says("The bulk action was started.")
	for end := time.Now().Add(5 * time.Minute); m.text("#bulk-job .badge") != "Done"; m.tab.Open(job) {
		if time.Now().After(end) {
			m.t.Fatalf("the job does not end: %s", m.text("#bulk-job"))
		}
		m.s.rest(m.t)
	}
	m.says(fmt.Sprintf("%d of %[1]d done", many))
	m.tab.Open(m.at + "/contracts/" + m.contract)
	m.arrives("An order was charged") // the timeline is loaded after the page
	if got := m.text("[aria-labelledby=timeline] .tl"); !strings.Contains(got, "The date of an order was changed") || !strings.Contains(got, "action on many contracts") {
		m.t.Errorf("the timeline says:\n%s", got)
	}

	// What changes prices is confirmed by typing how many contracts it is for.
	m.tab.Open(m.at + "/contracts?q=ada.okafor")
	m.says("1–1 of 1")
	browsertest.Eval[bool](m.tab, `document.querySelector("tbody [name=id]").click(), true`)
	m.tab.Click(`button[value="CANCEL"]`)
	m.tab.Click("main button.btn.pri")
	m.says("Type 1, the number of selected contracts, to confirm")
	m.tab.Submit("#f-typed", "2")
	m.says("Type 1, the number of selected contracts, to confirm")
	m.tab.Submit("#f-typed", "1")
	m.s.rest(m.t)
	m.tab.Open(browsertest.Eval[string](m.tab, "location.href.split('?')[0]"))
	m.says("1 of 1 done")
}

// subscribeMany makes contracts of as many customers, at the platform.
func (m *merchant) subscribeMany(n int) {
	m.t.Helper()
	var now struct{ Now time.Time }
	m.s.read(m.t, "/clock", &now)
	numbers := make(chan int)
	var shoppers sync.WaitGroup
	for range 8 {
		shoppers.Go(func() {
			for i := range numbers {
				m.deliver(m.s.Control+"/platform/contracts", map[string]any{
					"customer":        map[string]any{"email": fmt.Sprintf("shopper.%d@shopper.example", i)},
					"nextBillingDate": now.Now.AddDate(0, 0, 20), "billingPolicy": map[string]any{"interval": "MONTH"}, "lines": []any{map[string]any{"variantId": 4001}},
				})
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	shoppers.Wait()
}
