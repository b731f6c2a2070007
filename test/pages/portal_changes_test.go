package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// Customers change when orders come and what is charged, at the store's address, with and without
// scripts.
func TestCustomerPausesMovesAndPaysInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			at := s.Storefront + "/apps/subscriptions/cp"
			v := &visit{t: t, tab: browser.Tab(t), of: "portal changes " + name}
			v.tab.Scripts(scripts)
			v.tab.Open(at)
			v.tab.Click("main a.btn")
			if status := v.tab.Submit("[name=customer_id]", "7001"); status != http.StatusOK {
				t.Fatalf("signing in answered %d", status)
			}
			contract := at + "/s/9001"

			v.open("move", v.href(contract, "a[href*=reschedule]"), http.StatusOK)
			v.says("You can choose a day from")
			v.tab.Press("[name=to]:not([value=other])")
			v.tab.Click("main form .btn.main")
			arrive(v, "done=moved")
			v.says("The order is moved.")
			v.tab.Click(".says button")
			arrive(v, "done=moved-back")
			v.says("The order is back on its day.")

			v.open("pause", v.href(contract, "a[href*='/pause']"), http.StatusOK)
			v.says("nothing is charged")
			v.tab.Press("[name=long][value='2']")
			v.tab.Click("main form .btn.main")
			arrive(v, "done=paused")
			v.look("paused", http.StatusOK, http.StatusOK)
			v.says("Your subscription is paused.")

			v.open("payment", v.href(contract, "a[href*='/payment']"), http.StatusOK)
			v.tab.Click("form[action*='/payment/link'] button")
			arrive(v, "done=payment-link")
			v.says("The link is on its way.")
		})
	}
}

// href returns where a link of a page leads. The page is read and not shown.
func (v *visit) href(page, link string) string {
	v.t.Helper()
	return browsertest.Eval[string](v.tab, fmt.Sprintf(`(() => {
		const ask = new XMLHttpRequest();
		ask.open("GET", %q, false);
		ask.send();
		return new URL(new DOMParser().parseFromString(ask.responseText, "text/html").querySelector(%q).getAttribute("href"), %[1]q).href;
	})()`, page, link))
}
