package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestContractIsLookedAfterInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	var contract int64
	for _, c := range m.Customers {
		if len(c.Contracts) > 0 {
			contract = c.Contracts[0]
			break
		}
	}
	at := fmt.Sprintf("%s/admin/stores/%s/contracts/%d", s.Dashboard, login.Handle(m.Shop), contract)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard contract"}
	v.signIn(s, m)
	v.open("page", at, http.StatusOK)
	v.fill("#f-text", "Called about the delivery. <script>alert(1)</script>{{7*7}}")
	v.clickAndWait("comment", `form[action$="/comments"] button`, s)

	v.click("why", `.card[aria-labelledby=upcoming] td a[href*="/orders/"]`, http.StatusOK)
	v.open("skip", skipOf(v, at), http.StatusOK)
	v.clickAndWait("skipped", "main button.btn.pri", s)
	v.open("cycles", at+"/do/cycles", http.StatusOK)
	v.fill("#f-minCycles", "9")
	v.submit("cycles refused", "#f-maxCycles", "3", http.StatusUnprocessableEntity)
	v.open("portal question", at+"/portal", http.StatusOK)
	v.click("portal link", "main button.btn.pri", http.StatusOK)
	v.open("pause", at+"/do/pause", http.StatusOK)
	v.clickAndWait("paused", "main button.btn.pri", s)
	v.open("cancel", at+"/do/cancel", http.StatusOK)
	v.clickAndWait("cancelled", "main button.btn.dan", s)
	v.open("nothing fits", at+"?status=PARTIAL_FAILURE", http.StatusOK)
	v.open("not there", s.Dashboard+"/admin/stores/"+login.Handle(m.Shop)+"/contracts/1", http.StatusNotFound)
}

// skipOf opens a contract and returns the address of skipping its next order.
func skipOf(v *visit, at string) string {
	v.t.Helper()
	v.tab.Open(at)
	return browsertest.Eval[string](v.tab, `document.querySelector('a[href*="/do/skip"]').href`)
}
