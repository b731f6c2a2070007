package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// Customers change what comes, how often and where, at the store's address, with and without scripts.
func TestCustomerChangesProductsAndTermsInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	months := strings.NewReplacer("Nov ", "November ", "Dec ", "December ", "Jan ", "January ", "Feb ", "February ")
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			at := s.Storefront + "/apps/subscriptions/cp"
			v := &visit{t: t, tab: browser.Tab(t), of: "portal products " + name}
			v.tab.Scripts(scripts)
			v.tab.Open(at)
			v.tab.Click("main a.btn")
			if status := v.tab.Submit("[name=customer_id]", "7001"); status != http.StatusOK {
				t.Fatalf("signing in answered %d", status)
			}
			contract := at + "/s/9001"
			option := "0" // every week
			if !scripts {
				option = "8" // every month, on a fixed day
			}
			send := func(done, says string) {
				t.Helper()
				v.tab.Click("main form.stack .btn.main")
				arrive(v, "done="+done)
				v.says(says)
			}

			v.open("frequency", v.href(contract, "a[href*='/frequency']"), http.StatusOK)
			v.says("Each choice says when orders come.")
			dates := browsertest.Eval[string](v.tab, `(() => { const other = [...document.querySelectorAll("[name=sellingPlanId]:not(:checked)")].at(`+option+`); other.click(); return other.closest("label").innerText; })()`)
			send("frequency", "How often your orders come is changed.")
			_, dates, _ = strings.Cut(dates, "Next orders: ")
			dates, _, _ = strings.Cut(dates, "\n")
			days := strings.Split(strings.ReplaceAll(dates, " and ", ", "), ", ")
			if len(days) < 3 {
				t.Errorf("the frequency was shown with the days %q", days)
			}
			for _, day := range days { // they come as they were shown
				v.says(months.Replace(strings.TrimSuffix(day, ",")))
			}
			v.look("frequency changed", http.StatusOK, http.StatusOK)

			v.open("swap", v.href(contract, "a[href*='/swap?']"), http.StatusOK)
			v.open("swap asked", browsertest.Eval[string](v.tab, "document.querySelector(`a[href*='variant=']`).href"), http.StatusOK)
			v.says("After the change")
			browsertest.Eval[bool](v.tab, `document.querySelector("[name=agreed]")?.click(), true`)
			send("swapped", "The product is swapped")
			takeBack := func(done, says string) {
				t.Helper()
				v.tab.Click(".says form button")
				arrive(v, "done="+done)
				v.says(says)
			}
			takeBack("swapped-back", "You have your former product again")

			v.open("add", v.href(contract, "main a[href$='/s/9001/add']"), http.StatusOK)
			v.open("add asked", browsertest.Eval[string](v.tab, "document.querySelector(`a[href*='variant=']`).href"), http.StatusOK)
			send("added", "The product is added")
			takeBack("removed-again", "The product is removed again.")
			v.open("add again", browsertest.Eval[string](v.tab, "document.querySelector(`main a[href$='/s/9001/add']`).href"), http.StatusOK)
			v.open("add asked again", browsertest.Eval[string](v.tab, "document.querySelector(`a[href*='variant=']`).href"), http.StatusOK)
			send("added", "The product is added")
			// The new total is shown before anything is changed: scripts count while a quantity is typed, and without
			// them the form comes back with the total.
			counts := func(field, quantity, button string) {
				t.Helper()
				total := func(is string) string { return `document.querySelector("[name=total]")?.value ` + is }
				was := browsertest.Eval[string](v.tab, `document.querySelector("[name=total]")?.value ?? ""`)
				browsertest.Eval[bool](v.tab, `(() => { const f = document.querySelector("`+field+`"); f.value = "`+quantity+`"; f.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
				if !scripts {
					v.tab.Click(button)
					v.says("Nothing is changed yet.")
				}
				v.tab.Until(total(`> 0`) + ` && ` + total(`!== "`+was+`"`))
				v.says("After the change")
			}
			v.open("quantity", v.href(contract, "a[href*='/quantity?']"), http.StatusOK)
			counts("[name=quantity]", "3", "main form.stack .btn.main")
			send("quantity", "The quantity is changed")
			v.open("remove", v.href(contract, "a[href*='/remove?']"), http.StatusOK)
			v.says("You can add it again.")
			send("removed", "The product is removed.")
			takeBack("added-again", "The product is back, at the same price")

			v.open("one-time", v.href(contract, "a[href*='/orders/'][href$='/add']"), http.StatusOK)
			v.open("one-time asked", browsertest.Eval[string](v.tab, "document.querySelector(`a[href*='variant=']`).href"), http.StatusOK)
			send("once", "The product comes with this order.")
			v.look("one order", http.StatusOK, http.StatusOK)
			counts("input[name=quantity]", "2", "form[action*='/quantity'] button")
			v.tab.Click("form[action*='/quantity'] button")
			arrive(v, "done=once-changed")
			v.tab.Click("form[action$='/remove'] button")
			arrive(v, "done=once-removed")
			v.says("Nothing is added to this order.")
			v.open("note", browsertest.Eval[string](v.tab, "document.querySelector(`a[href$='/note']`).href"), http.StatusOK)
			browsertest.Eval[bool](v.tab, `document.querySelector("textarea").value = "Ring twice.", true`)
			send("note", "Ring twice.")

			v.open("address", v.href(contract, "a[href*='/address']"), http.StatusOK)
			browsertest.Eval[bool](v.tab, `document.querySelector("[name=address1]").value = "7 Harbour Road", true`)
			send("address", "Orders go to the new address")
		})
	}
}
