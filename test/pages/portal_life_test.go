package pages

import (
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// A declined card is made good from the banner, an order is made early, a paused subscription runs
// again, and a cancelled one starts again: at the store's address, against the sandbox.
func TestCustomerPaysResumesAndStartsAgainInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.order(t, "/platform/outcomes", map[string]any{"contractId": 9001, "code": "INSUFFICIENT_FUNDS"})
			s.order(t, "/clock", map[string]any{"advance": "P15D"})
			at := s.Storefront + "/apps/subscriptions/cp"
			v := &visit{t: t, tab: browser.Tab(t), of: "portal life " + name}
			v.tab.Scripts(scripts)
			v.tab.Open(at)
			v.tab.Click("main a.btn")
			if status := v.tab.Submit("[name=customer_id]", "7001"); status != http.StatusOK {
				t.Fatalf("signing in answered %d", status)
			}
			contract := at + "/s/9001"

			v.tab.Open(at)
			v.look("declined", http.StatusOK, http.StatusOK)
			v.says("Update payment")
			v.open("retry", v.href(at, ".banner a[href$='/now']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			s.order(t, "/clock", map[string]any{"advance": "PT5M"})
			v.reads(contract, "then paid")
			v.tab.Open(at)
			if browsertest.Eval[bool](v.tab, "document.querySelector('.banner.crit') !== null") {
				t.Error("the banner is there after the payment")
			}

			v.open("early", v.href(contract, "a[href$='/now']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			s.order(t, "/clock", map[string]any{"advance": "PT5M"})
			var orders []struct{ Contract int64 }
			s.read(t, "/platform/orders?contractId=9001", &orders)
			if len(orders) != 2 {
				t.Errorf("%d orders were made, want the declined one and the early one", len(orders))
			}

			v.tab.Open(v.href(contract, "a[href*='/pause']"))
			v.tab.Press("[name=long][value='1']")
			v.tab.Click("main form .btn.main")
			arrive(v, "done=paused")
			v.open("resume", v.href(contract, "a[href*='/resume']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			arrive(v, "done=resumed")
			v.says("Your subscription runs again.")

			v.tab.Open(v.href(contract, "a[href*='/cancel']"))
			v.tab.Press("main form .btn:last-child") // without a reason
			v.comes("Cancel subscription")
			v.tab.Press("main form .btn")
			v.comes("Nothing more will be charged.")
			v.open("start again", v.href(contract, "a[href*='/restart']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			arrive(v, "done=restarted")
			v.says("Your new subscription has begun.")
		})
	}
}

// reads opens a page again until it says something.
func (v *visit) reads(page, words string) {
	v.t.Helper()
	for range 100 {
		v.tab.Open(page)
		if browsertest.Eval[bool](v.tab, saying(words)) {
			return
		}
		pause()
	}
	v.says(words)
}

// comes waits until the page that a form leads to says something.
func (v *visit) comes(words string) {
	v.t.Helper()
	v.tab.Until(saying(words))
}

// saying is the expression that the page says something.
func saying(words string) string {
	return "(document.body?.innerText ?? ``).includes(`" + words + "`)"
}
