package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// A prepaid plan, a plan with a commitment and a membership are bought at the checkout and looked
// after in the portal, with and without scripts: what can be done, and when each ends.
func TestCustomerOfEveryKindOfPlanInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.order(t, "/settings", map[string]any{"freezeUntilMinCycles": true})
			v := &visit{t: t, tab: browser.Tab(t), of: "portal kinds " + name}
			v.tab.Scripts(scripts)
			subscriptions, memberships := s.Storefront+"/apps/subscriptions/cp/s/", s.Storefront+"/apps/memberships/cp/s/"

			prepaid := subscriptions + v.buys(s, "/products/earl-grey-loose-leaf", "6009")
			v.reads(prepaid, "of 3 deliveries sent")
			v.says("Nothing is charged for this delivery.")
			v.says("What you have paid for still comes.")
			v.look("prepaid", http.StatusOK, http.StatusOK)
			v.cancels(prepaid, "deliveries that you have paid for still come.", "Your subscription ends on")
			v.reads(prepaid, "Keep my subscription")
			v.tab.Click(".banner form .btn")
			arrive(v, "done=kept")
			v.says("Nothing was cancelled.")

			number := v.buys(s, "/products/earl-grey-loose-leaf", "6003")
			committed := subscriptions + number
			v.reads(committed, "Skip")
			s.commit(t, number, 3)
			v.reads(committed, "Until then orders can’t be skipped or moved.")
			if links := browsertest.Eval[int](v.tab, "document.querySelectorAll(`main a[href*='/skip'], main a[href*='/reschedule'], main a[href*='/pause']`).length"); links != 0 {
				t.Errorf("in a commitment %d links lead to what it forbids", links)
			}
			v.look("committed", http.StatusOK, http.StatusOK)
			v.cancels(committed, "after the orders that you agreed to.", "Your subscription ends on")
			v.reads(committed, "Keep my subscription")

			member := memberships + v.buys(s, "/products/pantry-club-membership", "6101")
			v.reads(member, "Member since")
			v.says("Your membership renews on")
			v.says("Cancelling ends the membership.")
			v.look("membership", http.StatusOK, http.StatusOK)
			v.tab.Open(v.href(member, "a[href*='/pause']"))
			v.tab.Press("[name=long][value='1']")
			v.tab.Click("main form .btn.main")
			arrive(v, "done=paused")
			v.open("membership resumed", v.href(member, "a[href*='/resume']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			arrive(v, "done=resumed")
			v.cancels(member, "No more orders will be made.", "Nothing more will be charged.")
			v.open("membership again", v.href(member, "a[href*='/restart']"), http.StatusOK)
			v.tab.Click("main form .btn.main")
			arrive(v, "done=restarted")
		})
	}
}

// buys buys a product on a plan at the checkout and returns the number of the contract. The first
// purchase signs its customer in at the store.
func (v *visit) buys(s *site, product, plan string) string {
	v.t.Helper()
	v.tab.Open(s.Storefront + product)
	v.tab.Press("[name=selling_plan][value='" + plan + "']")
	v.tab.Click(".buy button")
	v.tab.Click("main a.button")
	if browsertest.Eval[bool](v.tab, "document.querySelector('[name=email]') !== null") {
		v.tab.Submit("[name=email]", "every.kind@shopper.example")
	} else {
		v.tab.Click(".pay button")
	}
	v.comes("is paid")
	number := browsertest.Eval[string](v.tab, "document.querySelectorAll('.note strong')[1].textContent")
	if browsertest.Eval[bool](v.tab, "document.querySelector('main [name=customer_id]') !== null") {
		v.tab.Click("main form[action='/account/login'] button")
		v.tab.Until(`location.pathname === "/apps/subscriptions/cp" && document.readyState === "complete"`)
	}
	return number
}

// cancels goes through the cancelling flow without a reason. The last step has to say what
// happens, and the page after it how it ended.
func (v *visit) cancels(contract, what, end string) {
	v.t.Helper()
	v.tab.Open(v.href(contract, "a[href*='/cancel']"))
	v.tab.Press("main form .btn:last-child")
	v.comes("What happens")
	v.says(what)
	v.tab.Press("main form .btn")
	v.comes(end)
}

// commit binds a contract to a number of orders, as a merchant does over the interface.
func (s *site) commit(t *testing.T, contract string, orders int) {
	t.Helper()
	query := url.Values{"contractId": {contract}, "minCycles": {fmt.Sprint(orders)}}
	s.send(t, http.MethodPut, "/subscription-contracts-update-min-cycles?"+query.Encode(), nil)
}

// send asks the admin interface for a change, as a merchant does.
func (s *site) send(t *testing.T, method, path string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.Subscriptions+"/api/external/v2"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", s.key)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		said, _ := io.ReadAll(answer.Body) //nolint:errcheck // it is shown only
		t.Fatalf("%s %s answered %d %s", method, path, answer.StatusCode, said)
	}
}
