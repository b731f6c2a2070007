package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// choose opens the page that a form with a selection and an action leads to, as the list of
// contracts sends it.
func (v *visit) choose(name, path, action string) {
	v.t.Helper()
	browsertest.Eval[bool](v.tab, fmt.Sprintf(`(() => {
		const form = document.createElement("form");
		form.method = "post";
		form.action = %q;
		for (const [name, value] of [["all", "1"], ["query", "status=ACTIVE"], ["action", %q]]) {
			const field = document.createElement("input");
			field.type = "hidden";
			field.name = name;
			field.value = value;
			form.append(field);
		}
		const button = document.createElement("button");
		button.id = "choose";
		form.append(button);
		document.querySelector("main").append(form);
		return true;
	})()`, path, action))
	v.click(name, "#choose", http.StatusOK)
}

func TestManyContractsAreChangedInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	bulk := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/bulk"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard bulk"}
	v.signIn(s, m)
	v.open("no jobs", bulk, http.StatusOK)

	v.choose("cancel", bulk+"/new", "CANCEL")
	v.click("cancel preview", "main button.btn.pri", http.StatusOK)
	v.submit("cancel refused", "#f-typed", "1", http.StatusUnprocessableEntity)

	v.tab.Open(bulk)
	v.choose("choose an action", bulk+"/new", "")
	v.tab.Open(bulk)
	v.choose("price", bulk+"/new", "SET_PRICE")
	v.fill("#f-variant", "12")
	v.submit("price refused", "#f-price", "cheap", http.StatusUnprocessableEntity)

	v.tab.Open(bulk)
	v.choose("move", bulk+"/new", "MOVE_NEXT")
	v.submit("move preview", "#f-days", "1", http.StatusOK)
	v.tab.Click("main button.btn.pri")
	// In every run, and without the keyboard: the page changes while the job goes on.
	v.report("the page of a job that goes on", v.tab.Audit())
	v.tab.Until(`document.querySelector("#bulk-job .badge").textContent.includes("one")`)
	v.look("move done", http.StatusOK, http.StatusOK)

	v.tab.Open(bulk)
	v.choose("pause", bulk+"/new", "PAUSE")
	v.click("pause preview", "main button.btn.pri", http.StatusOK)
	v.tab.Click("main button.btn.pri")
	s.rest(t)
	v.open("jobs", bulk, http.StatusOK)
}
