package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

// words is the text of the page, in one line.
const words = "document.querySelector('main').innerText.replace(/\\s+/g, ' ')"

// A shopper chooses a plan on a product's page, with and without scripts, in the theme's
// form and in that of the block, and is charged the price that the page shows.
func TestShopperIsChargedPriceOfChosenPlan(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	for name, row := range map[string]struct {
		scripts bool
		query   string
		button  string
	}{
		"in the theme's form, with scripts":    {true, "", ".buy button"},
		"in the theme's form, without scripts": {false, "", ".buy button"},
		"in its own form, with scripts":        {true, "?purchase-options.form=own", ".perennial-add"},
		"in its own form, without scripts":     {false, "?purchase-options.form=own", ".perennial-add"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := browser.Tab(t)
			tab.Scripts(row.scripts)
			tab.Open(s.Storefront + "/products/earl-grey-loose-leaf" + row.query)
			tab.Press("[name=selling_plan][value='6009']")
			shown := browsertest.Eval[string](tab, "document.querySelector('.perennial-option:has(:checked)').innerText.replace(/\\s+/g, ' ')")
			const want = "3 months prepaid, delivered every month $10.62 per delivery Save $1.88 Today: $31.86 for 3 deliveries Every renewal: $31.86 for 3 deliveries"
			if strings.TrimSpace(shown) != want {
				t.Errorf("the page shows %q", shown)
			}
			if at := browsertest.Eval[string](tab, "location.search"); strings.Contains(at, "selling_plan=6009") != row.scripts {
				t.Errorf("the address is %q", at)
			}
			if status := tab.Click(row.button); status != http.StatusOK {
				t.Fatalf("the cart answered %d", status)
			}
			if got := browsertest.Eval[string](tab, words); !strings.Contains(got, "3 months prepaid, delivered every month Every renewal: $31.86") || !strings.Contains(got, "Total $31.86") {
				t.Fatalf("the cart says %q", got)
			}
			tab.Click("main a.button")
			if got := browsertest.Eval[string](tab, words); !strings.Contains(got, "Charged today $31.86") {
				t.Errorf("the checkout says %q", got)
			}
			if status := tab.Submit("[name=email]", strings.ReplaceAll(name, " ", "")[:12]+"@shopper.example"); status != http.StatusOK {
				t.Fatalf("the checkout answered %d", status)
			}
			if got := browsertest.Eval[string](tab, words); !strings.Contains(got, "is paid: $31.86. Your subscription has the number") {
				t.Errorf("the thanks are %q", got)
			}
		})
	}
}

// When the theme shows another variant, the script reads its prices and keeps the plan. It
// finds the form when the setting names none.
func TestPurchaseOptionsFollowVariantOfTheme(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	tab := browser.Tab(t)
	tab.Open(s.Storefront + "/products/house-blend-coffee?selling_plan=6003&purchase-options.form_id=nothing")
	const change = `(async () => {
		const id = document.querySelector(".buy [name=id]");
		id.value = "4003";
		id.dispatchEvent(new Event("change", {bubbles: true}));
		const chosen = () => document.querySelector(".perennial-option:has(:checked)").innerText;
		while (!chosen().includes("$35.10")) await new Promise(requestAnimationFrame);
		return chosen().replace(/\s+/g, " ") + " " + new FormData(document.querySelector(".buy")).get("selling_plan");
	})()`
	if got := browsertest.Eval[string](tab, change); got != "Every month $35.10 per delivery Save $3.90 Today: $35.10 Every renewal: $35.10 6003" {
		t.Errorf("of the other variant it shows %q", got)
	}
	tab.Click(".buy button")
	if got := browsertest.Eval[string](tab, words); !strings.Contains(got, "Whole bean, 1 kg Every month") || !strings.Contains(got, "Total $35.10") {
		t.Errorf("the cart says %q", got)
	}
}

// Variants are links of the block's own form: they lead to the same plan when a script is
// there.
func TestVariantsOfOwnFormKeepPlan(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	tab := browser.Tab(t)
	tab.Open(s.Storefront + "/products/house-blend-coffee?purchase-options.form=own")
	tab.Press("[name=selling_plan][value='6001']")
	if got := browsertest.Eval[string](tab, "[...document.querySelectorAll('.perennial-variants a')].map(a => a.getAttribute('href')).at(-1)"); got != "/products/house-blend-coffee?variant=4003&selling_plan=6001" {
		t.Errorf("the last variant is at %q", got)
	}
	tab.Press("[name=selling_plan][value='']")
	if got := browsertest.Eval[string](tab, "location.search"); strings.Contains(got, "selling_plan") {
		t.Errorf("the address is %q", got)
	}
}
