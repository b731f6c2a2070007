package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
)

// A merchant moves a store from one service to another in the browser: the form, the dry run, the orders
// that were compared, a wave, what has arrived, and the end.
func TestStoreIsMovedInTheBrowser(t *testing.T) {
	t.Parallel()
	sand, browser := run(t, sandbox.Options{Contracts: 24, Second: true, MainOnly: true}), browsertest.Start(t)
	m := sand.Manifest()
	s := &site{URLs: sand.URLs(), key: m.APIKey, manifest: m}
	s.make(t, "/settings", map[string]int{"requestsPerSecond": 1000, "requestBurst": 10000}, &struct{}{})
	s.send(t, http.MethodDelete, fmt.Sprintf("/product-swaps/%d", m.Examples.SwapRule), nil) // a contract waits for the first charge of its higher price
	advance := func(by string) { s.make(t, "/clock", map[string]string{"advance": by}, &struct{}{}) }

	old := &visit{t: t, tab: browser.Tab(t), of: "dashboard moves"} // the store has plans there
	old.tab.Open(s.Dashboard + old.signIn(s, m) + "/moves/out")
	old.fill("#f-address", m.Second.Subscriptions)
	old.fill("#there-1", "first plan")
	old.submit("plan refused", "#f-key", m.Second.APIKey, http.StatusUnprocessableEntity)
	old.says("is not the number of a selling plan")
	old.click("more plans", "button[value=rows]", http.StatusOK)

	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard moves"}
	v.tab.Open(m.Second.Dashboard + "/admin")
	v.fill("#email", m.DashboardUser)
	v.tab.Submit("#password", m.Second.DashboardPassword)
	moves := m.Second.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/moves"
	v.open("none", moves, http.StatusOK)
	v.open("out", moves+"/out", http.StatusOK)
	v.click("start", `a[href$="/moves"]`, http.StatusOK)
	v.open("file", moves+"/file", http.StatusOK)
	v.open("in", moves+"/in", http.StatusOK)
	v.fill("#f-address", "https://subscriptions.example.com/?store=1")
	v.submit("in refused", "#f-key", s.key, http.StatusUnprocessableEntity)
	v.says("must be the base address")
	v.fill("#f-address", s.Subscriptions)
	v.fill("#f-memberships", s.Memberships)
	v.fill("#f-rate", "1000")
	v.tab.Submit("#f-key", s.key)
	v.says("nothing is changed anywhere")
	v.says("Reading")

	advance("PT10M")
	move := browsertest.Eval[string](v.tab, "location.pathname")
	move = m.Second.Dashboard + move
	v.open("read", move, http.StatusOK)
	v.says("Comparing")
	v.says("Go as they are")
	v.says("The next 30 days")
	v.says("First say what becomes of plan groups")
	v.tab.Click(`form[action$="/parts"] button`)
	advance("PT10M")
	v.open("made", move, http.StatusOK)
	v.says("Is here")
	advance("P10D")
	v.open("compared", move, http.StatusOK)
	v.open("orders", move+"/orders", http.StatusOK)
	v.open("contracts", move+"/contracts", http.StatusOK)
	v.open("contracts that stay", move+"/contracts?show=stays", http.StatusOK)
	v.open("wave", move+"/wave?percent=10", http.StatusOK)
	v.says("stopped there")
	v.says("created here")
	v.says("cancelled there")
	v.open("wave of everything", move+"/wave?percent=100", http.StatusOK)
	v.tab.Click("main form button") // the page is looked at once it no longer changes
	advance("P3D")
	v.tab.Until(`document.querySelector("#move-progress").innerText.includes("the wave of 100 percent has arrived")`) // a script reads it again
	v.tab.Until(`!document.querySelector("#move-progress").hasAttribute("hx-get")`)
	v.open("moved", move, http.StatusOK)
	v.says("moved")
	v.open("contracts moved", move+"/contracts?show=moved", http.StatusOK)
	v.open("contract that has come", v.first(), http.StatusOK)
	v.says("The contract has come from another service")
	v.open("end", move+"/end", http.StatusOK)
	v.click("ended", "main form button", http.StatusOK)
	v.click("another one", `a[href*="in?like="]`, http.StatusOK)
	v.open("list", moves, http.StatusOK)

	v.tab.Open(moves + "/out")
	v.fill("#f-address", s.Subscriptions)
	v.fill("#f-memberships", s.Memberships)
	v.fill("#f-rate", "1000")
	v.tab.Submit("#f-key", s.key)
	back := m.Second.Dashboard + browsertest.Eval[string](v.tab, "location.pathname")
	advance("PT10M")
	v.open("read to move out", back, http.StatusOK)
	v.says("Make it there")
	v.tab.Click(`form[action$="/parts"] button`)
	advance("PT10M")
	v.open("made there", back, http.StatusOK)
	v.says("Is there")
	v.tab.Open(back + "/wave?percent=100")
	v.says("It is cancelled here, for good")
	v.tab.Click("main form button")
	advance("P1D")
	v.open("moved out", back, http.StatusOK)
	v.tab.Open(back + "/contracts?show=moved")
	v.open("contract that has left", v.first(), http.StatusOK)
	v.says("The contract leaves for another service")
	v.says("moved to " + s.Subscriptions)
}

// first returns the address in the row of a table whose cells come first in the alphabet: the same contract
// in each run, where its number is another.
func (v *visit) first() string {
	v.t.Helper()
	return browsertest.Eval[string](v.tab, `(() => {
		const cells = tr => [...tr.querySelectorAll("td")].map(td => td.textContent).join(" ");
		return [...document.querySelectorAll("tbody tr")].sort((a, b) => cells(a) < cells(b) ? -1 : 1)[0].querySelector("th a").href;
	})()`)
}

// A merchant whose service has no interface uploads a file in the browser, says what its columns are, and
// creates its contracts.
func TestContractsComeFromFileInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	advance := func(by string) { s.make(t, "/clock", map[string]string{"advance": by}, &struct{}{}) }
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard move of file"}
	moves := s.Dashboard + v.signIn(s, s.manifest) + "/moves"
	v.tab.Open(moves + "/file")
	file := "Subscription ID;Email;Variant;Product;Quantity;Price;Billing interval;When;Address1;City;Zip;Country\\n" +
		"S-1;" + s.email + ";4001;House blend coffee;1;12,50;MONTH;2026-12-24;1 Main Street;Springfield;10001;US\\n" +
		"S-2;unknown@shopper.example;4001;House blend coffee;1;12,50;MONTH;2026-12-24;1 Main Street;Springfield;10001;US\\n"
	browsertest.Eval[bool](v.tab, `(() => {
		const files = new DataTransfer();
		files.items.add(new File(["`+file+`"], "old contracts.csv", {type: "text/csv"}));
		document.querySelector("#f-file").files = files.files;
		return true;
	})()`)
	v.click("columns", "main form button", http.StatusOK)
	v.says("old contracts.csv")
	v.click("columns refused", "button[value=read]", http.StatusUnprocessableEntity)
	v.says("It looks like a date: choose the field that it holds above, or leave it out.")
	browsertest.Eval[bool](v.tab, `document.querySelector("[name=left-out]").checked = true`)
	v.tab.Click("button[value=read]")
	v.says("Reading")
	advance("PT10M")
	move := s.Dashboard + browsertest.Eval[string](v.tab, "location.pathname")
	v.open("read without dates", move, http.StatusOK)
	v.tab.Open(move + "/mapping")
	v.fill("[name=column-billingInterval]", "")
	v.click("column missing", "button[value=read]", http.StatusUnprocessableEntity)
	v.fill("[name=column-billingInterval]", "Billing interval")
	v.fill("[name=column-nextOrderDate]", "When")
	if status := v.tab.Click("button[value=read]"); status != http.StatusOK {
		t.Fatalf("columns named: %d", status)
	}
	advance("PT10M")
	v.open("read", move, http.StatusOK)
	v.open("contracts", move+"/contracts", http.StatusOK)
	v.open("wave", move+"/wave?percent=100", http.StatusOK)
	v.says("Stop these contracts where they are first")
	v.tab.Click("main form button")
	advance("P1D")
	v.open("created", move, http.StatusOK)
	v.tab.Open(move + "/contracts?show=moved")
	v.tab.Click("tbody th a")
	v.says("from old contracts.csv, where it was contract S-1")
}
