package pages

import (
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestFlowOfCancellingIsEditedInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/cancellations"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard cancellations"}
	v.signIn(s, m)
	v.open("none", at, http.StatusOK)
	v.open("flow", at+"/flow", http.StatusOK)
	v.click("moved", `button[value="down:0"]`, http.StatusOK)
	v.fill("#f-budget", "much")
	v.click("refused", `button[value=publish]`, http.StatusUnprocessableEntity)
	v.fill("#f-budget", "500")
	v.fill("#f-holdback", "20")
	v.fill("#f-r0-label", canary)
	v.click("published", `button[value=publish]`, http.StatusOK)
	v.says("The flow was published.")
	v.says(canary)
	if title := browsertest.Eval[string](v.tab, "document.title"); title == "hit" {
		t.Error("the text of a reason runs as script")
	}
	browsertest.Eval[bool](v.tab, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
	v.click("added", `button[value="add-offer:1"]`, http.StatusOK)
	v.says("Remove offer")
	v.click("new reason", `button[value=add]`, http.StatusOK)
	v.says("New reason")
}
