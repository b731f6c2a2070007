package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// A customer fills a box within its rules, with and without scripts: what breaks one is said before and
// after it is sent, and nothing that was chosen is lost.
func TestCustomerFillsBoxInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.send(t, http.MethodPost, "/subscription-bundle-settings", map[string]any{
				"title": "Box", "enabled": true, "allowModifications": true, "minProducts": 2, "maxProducts": 6, "maxSwapsPerCycle": 3, "minBundleValue": 10, "sellingPlanIds": []any{"6003"},
			})
			v := &visit{t: t, tab: browser.Tab(t), of: "portal box " + name}
			v.tab.Scripts(scripts)
			contract := s.Storefront + "/apps/subscriptions/cp/s/" + v.buys(s, "/products/earl-grey-loose-leaf", "6003")
			v.open("subscription", contract, http.StatusOK)
			v.open("box", v.href(contract, "a[href*='/box']"), http.StatusOK)
			v.says("Choose what comes from your next order on.")
			v.says("2 to 6 pieces.")
			v.says("The box holds too few products.")
			fields := browsertest.Eval[int](v.tab, `document.querySelectorAll("[name^='quantity-']").length`)
			if fields < 4 {
				t.Fatalf("%d products can be chosen", fields)
			}
			put := func(at, n int) {
				t.Helper()
				browsertest.Eval[bool](v.tab, fmt.Sprintf(`(() => { const f = document.querySelectorAll("[name^='quantity-']")[%d]; f.value = "%d"; f.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, at, n))
			}
			press := func(value string) { v.tab.Click("button[name=do][value=" + value + "]") }
			put(0, 7)
			if scripts {
				v.tab.Until("document.querySelector('[data-total]').innerText.includes('7 pieces')")
			} else {
				press("count")
				v.tab.Until("document.querySelector('.stick .err') !== null")
			}
			v.says("The box holds too many products.")
			v.says("7 pieces")
			press("save")
			v.tab.Until("document.querySelector('[role=alert]') !== null")
			v.says("The box holds too many products.")
			v.look("box refused", http.StatusUnprocessableEntity, http.StatusUnprocessableEntity)

			put(0, 2)
			put(2, 1)
			browsertest.Eval[bool](v.tab, `document.querySelector("[name=search]").value = "no such product", true`)
			press("find")
			v.tab.Until("document.querySelectorAll(\"[name^='quantity-'][type=hidden]\").length === 1")
			v.says("No product has")
			press("save")
			arrive(v, "done=box")
			v.says("Your box is saved.")
			if n := browsertest.Eval[int](v.tab, "document.querySelectorAll(`main a[href*='/swap?']`).length"); n != 2 {
				t.Errorf("the subscription has %d products, want 2", n)
			}
		})
	}
}
