package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// Customers sign in with their account at the store, as a new sandbox offers it, and out again, with and
// without scripts.
func TestCustomerSignsInWithStoreAccountInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	for _, scripts := range []bool{true, false} {
		v := &visit{t: t, tab: browser.Tab(t), of: "portal account"}
		v.tab.Scripts(scripts)
		signIn := s.portal + "/signin"
		where := func() string { return browsertest.Eval[string](v.tab, "location.href") }
		const account = "a[href*='/signin/account']"

		v.open("account sign in", signIn, http.StatusOK)
		v.tab.Click(account)
		v.says("choose who you are")
		v.picture("account platform")
		v.tab.Click("main > p a") // Cancel
		v.look("account cancelled", http.StatusOK, http.StatusOK)
		v.says("You didn’t sign in with your store account.")

		v.tab.Click(account)
		if status := v.tab.Click("[name=customer][value='7001']"); status != http.StatusOK || where() != s.portal {
			t.Fatalf("signing in leads to %d %s", status, where())
		}
		v.says(s.email)

		v.click("account signed out", ".foot form button", http.StatusOK)
		v.says("You are signed out here")
		if v.tab.Click("main .btn:not(.main)"); where() != signIn {
			t.Errorf("staying signed in there leads to %s", where())
		}
		if v.tab.Click(account); where() != s.portal { // the platform does not ask again
			t.Errorf("signing in again leads to %s", where())
		}
		v.tab.Click(".foot form button")
		if v.tab.Click("main .btn.main"); where() != signIn {
			t.Errorf("signing out there too leads to %s", where())
		}
		if v.tab.Click(account); !strings.HasPrefix(where(), s.Platform) {
			t.Errorf("after that the platform does not ask: %s", where())
		}
	}
}
