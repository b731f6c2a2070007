package pages

import (
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// canary is a text that does harm where it is taken for markup, script or a template.
const canary = `<script>document.title="hit"</script>{{7*7}}<img src=x onerror="document.title='hit'">`

func TestPlansAreMadeInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/plans"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard plans"}
	v.signIn(s, m)
	v.open("none", at+"?line=memberships", http.StatusOK)
	v.open("list", at, http.StatusOK)
	v.open("new", at+"/new", http.StatusOK)
	v.fill("#f-name", canary)
	v.fill("#f-option", "Every month")
	v.fill("#f-count", "1")
	v.fill("#f-first-offer", "120")
	browsertest.Eval[bool](v.tab, `document.querySelector("#f-first").checked = true`)
	v.click("new refused", "button[value=preview]", http.StatusUnprocessableEntity)
	v.fill("#f-first-offer", "10")
	v.click("new preview", "button[value=preview]", http.StatusOK)
	v.says("18.00 ")
	v.click("made", "button[value=save]", http.StatusOK)
	v.says("The plan group was made")
	v.says(canary)
	group := browsertest.Eval[string](v.tab, "location.href.split('?')[0]")
	if title := browsertest.Eval[string](v.tab, "document.title"); title == "hit" {
		t.Error("the name of a group runs as script")
	}

	v.open("add products", group+"/products/add", http.StatusOK)
	v.fill("#f-products", "3001, 999999")
	v.click("add refused", "form:has(#f-products) button", http.StatusUnprocessableEntity)
	v.fill("#f-products", "3001")
	v.click("added", "form:has(#f-products) button", http.StatusOK)
	v.says("The products are sold")
	v.open("nothing found", group+"/products/add?search=quagga", http.StatusOK)
	v.says("Try fewer letters.")
	v.fill("main [name=search]", "earl gr")
	v.click("found", "main [role=search] button", http.StatusOK)
	browsertest.Eval[bool](v.tab, `document.querySelector("[name=tick-products]:not(:disabled)").click(), true`)
	v.click("ticked added", "main button.pri", http.StatusOK)
	v.says("Earl Grey Loose Leaf")

	v.open("option", group+"/options/new", http.StatusOK)
	v.fill("#f-option", "Every 2 weeks, prepaid")
	v.fill("#f-count", "2")
	v.fill("#f-interval", "WEEK")
	v.fill("#f-kind", "PREPAID")
	v.fill("#f-billing-count", "3")
	v.fill("#f-billing-interval", "WEEK")
	v.click("option refused", "button[value=save]", http.StatusUnprocessableEntity)
	v.fill("#f-billing-count", "4")
	v.click("option added", "button[value=save]", http.StatusOK)
	v.says("The change was saved")

	// The preview follows the form when scripts run.
	v.tab.Click(`main ul.list a[href*="/options/"]`)
	browsertest.Eval[bool](v.tab, `(async () => {
		const field = document.querySelector("#f-first-offer");
		field.value = "50";
		field.dispatchEvent(new Event("change", { bubbles: true }));
		for (let i = 0; i < 100 && !document.querySelector("[aria-live]").textContent.includes("10.00"); i++) await new Promise(r => setTimeout(r, 50));
		return true;
	})()`)
	v.says("10.00 ")
	browsertest.Eval[bool](v.tab, "document.querySelector('form[data-guard]').dispatchEvent(new Event('submit')), true") // nothing is left unsaved

	v.tab.Open(group)
	v.look("group", http.StatusOK, http.StatusOK)
	v.open("remove products", group+"/products/remove?tick-products=3001", http.StatusOK)
	v.click("removed", "main button.dan", http.StatusOK)
	v.open("delete", group+"/delete", http.StatusOK)
	v.click("deleted", "main button.dan", http.StatusOK)
	v.says("The plan group was deleted.")
	v.open("gone", group, http.StatusNotFound)
}
