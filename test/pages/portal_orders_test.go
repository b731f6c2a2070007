package pages

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// A customer signs in at the store, finds their subscription, skips its next order and takes that
// back, with scripts and without: at the store's domain, through its app proxy.
func TestCustomerSkipsAtStoreInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			v := &visit{t: t, tab: browser.Tab(t), of: "portal orders " + name}
			v.tab.Scripts(scripts)
			if status := v.tab.Open(s.Storefront + "/apps/subscriptions/cp/upcoming"); status != http.StatusNotFound && status != http.StatusUnauthorized {
				t.Errorf("without a sign-in a screen answers %d", status)
			}
			v.tab.Open(s.Storefront + "/apps/subscriptions/cp")
			v.says("Sign in to see your subscriptions")
			v.tab.Click("main a.btn")
			if status := v.tab.Submit("[name=customer_id]", "7001"); status != http.StatusOK {
				t.Fatalf("signing in answered %d", status)
			}
			v.says("Your next order")
			if at := browsertest.Eval[string](v.tab, "location.pathname"); at != "/apps/subscriptions/cp" {
				t.Errorf("after the sign-in the page is %s", at)
			}
			v.tab.Click(".sub .link")
			v.says("Upcoming orders")

			first := browsertest.Eval[string](v.tab, "document.querySelector('.list time, .list h3').textContent.trim()")
			const asks = ".list a[data-ask]"
			if scripts {
				v.asks(asks)
				v.says("Skip the order on " + first + "?")
				v.tab.Click("dialog button.main")
			} else {
				v.tab.Click(asks)
				v.says("Skip the order on " + first + "?")
				v.tab.Click("main button.main")
			}
			arrive(v, "done=skipped")
			v.says("The order is skipped.")
			v.tab.Click(".says button")
			arrive(v, "done=unskipped")
			v.says("The order is back.")
			if text := browsertest.Eval[string](v.tab, "document.querySelector('.list').innerText"); !strings.Contains(text, first) || strings.Contains(text, "Undo skip") {
				t.Errorf("the list says:\n%s", text)
			}
		})
	}
}

// pause waits before a page is looked at again.
func pause() { <-time.After(50 * time.Millisecond) }

// asks follows a link to a question, and waits until a dialog asks it.
func (v *visit) asks(link string) {
	v.t.Helper()
	v.tab.Press(link)
	v.tab.Until(`document.querySelector("dialog[open]") !== null`)
}

// arrive waits until the page that leads on after a form has led on.
func arrive(v *visit, query string) {
	v.t.Helper()
	v.tab.Until(`location.search.includes("` + query + `") && document.readyState === "complete"`)
}
