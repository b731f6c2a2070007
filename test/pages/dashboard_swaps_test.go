package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestSwapRulesAreMadeInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/swaps"
	var contract struct {
		Lines []struct {
			VariantID int64 `json:"variantId"`
		} `json:"lines"`
	}
	s.read(t, "/platform/contracts/9001", &contract)
	if len(contract.Lines) == 0 {
		t.Fatal("contract 9001 has no lines")
	}
	from := contract.Lines[0].VariantID
	to := 4001
	if from == 4001 {
		to = 4002
	}
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard swaps"}
	v.signIn(s, m)
	v.open("list", at, http.StatusOK)
	v.open("none", at+"?line=memberships", http.StatusOK)
	v.open("new", at+"/new", http.StatusOK)
	v.fill("#f-name", canary)
	v.fill("#f-from", "tea")
	v.fill("#f-to", fmt.Sprint(to))
	v.click("refused", "button[value=save]", http.StatusUnprocessableEntity)
	v.fill("#f-from", fmt.Sprintf("%d x 1", from))
	browsertest.Eval[bool](v.tab, `document.querySelector("#f-on").checked = false, true`)
	v.click("dry run", "button[value=dry-run]", http.StatusOK)
	v.says("Nothing was changed or saved.")
	v.click("made", "button[value=save]", http.StatusOK)
	v.says("The rule was made.")
	v.says(canary)
	if title := browsertest.Eval[string](v.tab, "document.title"); title == "hit" {
		t.Error("the name of a rule runs as script")
	}
	v.tab.Open(at + "/new")
	v.fill("#f-name", "Second")
	v.fill("#f-from", fmt.Sprint(to))
	v.fill("#f-to", fmt.Sprint(from))
	v.tab.Click("button[value=save]")
	v.click("moved", "button[value=down]:not([disabled])", http.StatusOK)
	v.says("The order of the rules was changed.")
	rule := browsertest.Eval[string](v.tab, `[...document.querySelectorAll("main tbody th a")].find(a => a.textContent !== "Second").href`)
	v.open("rule", rule, http.StatusOK)
	v.open("switch", rule+"/switch", http.StatusOK)
	v.click("switched", "main button.pri", http.StatusOK)
	v.says("The rule changes orders from now on.")
	v.open("delete", rule+"/delete", http.StatusOK)
	v.click("deleted", "main button.dan", http.StatusOK)
	v.says("The rule was deleted.")
	v.open("gone", rule, http.StatusNotFound)
}
