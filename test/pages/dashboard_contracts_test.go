package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// shows checks that the page that is open says some words.
func (v *visit) shows(words ...string) {
	v.t.Helper()
	text := browsertest.Eval[string](v.tab, "document.body.innerText")
	for _, want := range words {
		if !strings.Contains(text, want) {
			v.t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}

func TestContractsAreFoundInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard contracts"}
	v.signIn(s, m)
	v.open("list", at+"/contracts", http.StatusOK)
	browsertest.Eval[bool](v.tab, `document.querySelectorAll("tbody [name=id]")[1].click(), true`)
	if got := browsertest.Eval[string](v.tab, `document.querySelector("[data-ticked]").textContent`); got != "1 selected" {
		t.Errorf("the bar says %q", got)
	}
	v.look("selected", http.StatusOK, http.StatusOK)
	v.click("selected contract in bulk", `button[value="MOVE_NEXT"]`, http.StatusOK)
	v.shows("1 contract.")

	v.open("filters refused", at+"/contracts?fromNextDate=2026-12-01&productId=x", http.StatusUnprocessableEntity)
	v.open("filtered", at+"/contracts?fromCreatedDate=2020-01-01&minOrderAmount=1&status=ACTIVE&sort=next_billing_date,asc&columns=contract,status,next,amount,created,lifetime,last", http.StatusOK)
	v.click("chip removed", ".chip", http.StatusOK)
	v.submit("no match", "main [name=q]", "no such customer", http.StatusOK)
	v.open("columns", at+"/contracts?status=PAUSED", http.StatusOK)

	v.open("save view", at+"/views/new?query=status%3DACTIVE%26sort%3Did%252Cdesc", http.StatusOK)
	v.submit("saved view", "#f-name", "Coffee drinkers", http.StatusOK)
	v.shows("The view was saved.", "Coffee drinkers", "your view")
	v.open("save view refused", at+"/views/new?query=", http.StatusOK)
	v.submit("save view refused", "#f-name", "coffee drinkers", http.StatusUnprocessableEntity)
	v.open("find page", at+"/find?find=shopper", http.StatusOK)
	v.open("find nothing", at+"/find?find=no+such+thing", http.StatusOK)
}

// The search of the store shows results as one types, and arrow keys go through them.
func TestSearchOfStoreIsPalette(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	at := "/admin/stores/" + login.Handle(s.manifest.Shop)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard palette"}
	v.tab.Show(1280, 800, "light")
	v.signIn(s, s.manifest)
	v.tab.Open(s.Dashboard + at)
	// keys sends a key to what has the focus, as a keyboard does.
	const keys = `const press = (key, more) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, ...more}));`
	got := browsertest.Eval[string](v.tab, `(async () => { `+keys+`
		press("k", {ctrlKey: true});
		const find = document.activeElement;
		find.value = "contracts";
		find.dispatchEvent(new Event("input", {bubbles: true}));
		while (document.getElementById("found").hidden) await new Promise(requestAnimationFrame);
		press("ArrowDown");
		return document.activeElement.getAttribute("href");
	})()`)
	if got != at+"/contracts" {
		t.Errorf("the arrow key leads to %q", got)
	}
	v.picture("palette")
	if !v.unchanged(&audited, "palette", part{"", v.tab}) {
		v.report("palette", v.tab.Audit())
	}
	if got := browsertest.Eval[string](v.tab, `(() => { `+keys+` press("Escape"); return document.activeElement.id + " " + document.getElementById("found").hidden; })()`); got != "find true" {
		t.Errorf("Escape leaves %s", got)
	}
	first := browsertest.Eval[string](v.tab, fmt.Sprintf(`fetch(%q).then(answer => answer.text()).then(text => new DOMParser().parseFromString(text, "text/html").querySelector("[name=id]").value)`, at+"/contracts"))
	v.fill("#find", "")
	v.tab.Submit("#find", first)
	if got := browsertest.Eval[string](v.tab, "location.pathname"); got != at+"/contracts/"+first {
		t.Errorf("the number of a contract leads to %s", got)
	}
}

func TestUpcomingOrdersAreMovedInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	at := s.Dashboard + "/admin/stores/" + login.Handle(s.manifest.Shop) + "/upcoming"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard upcoming"}
	v.signIn(s, s.manifest)
	v.open("calendar", at, http.StatusOK)
	next := browsertest.Eval[string](v.tab, `document.querySelector("[aria-label='Next month']").href`)
	v.open("next month", next, http.StatusOK)
	v.open("list", next+"&view=list", http.StatusOK)
	v.open("nothing", at+"?month="+browsertest.Eval[string](v.tab, `String(new Date().getFullYear() + 4)`)+"-01", http.StatusOK)
	v.tab.Open(next + "&view=list")
	v.click("day", ".days a", http.StatusOK)
	day := browsertest.Eval[string](v.tab, "location.pathname")
	move := browsertest.Eval[string](v.tab, `document.querySelector("[href$='/move']").href`)
	v.open("move", move, http.StatusOK)
	v.fill("#f-date", "2020-01-01")
	browsertest.Eval[bool](v.tab, `document.querySelector("main form").noValidate = true`)
	v.click("move refused", "main button.pri", http.StatusUnprocessableEntity)
	later := browsertest.Eval[string](v.tab, fmt.Sprintf(`new Date(Date.parse(%q) + 2 * 86400000).toISOString().slice(0, 10)`, day[len(day)-10:]))
	v.fill("#f-date", later)
	v.click("moved", "main button.pri", http.StatusOK)
	v.shows("The order was moved to this day.", "Moved")
	v.open("skip", browsertest.Eval[string](v.tab, `document.querySelector("[href$='/skip']").href`), http.StatusOK)
	v.click("skipped", "main button.btn", http.StatusOK)
	v.shows("The order was skipped.")
}
