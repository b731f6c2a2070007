package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// hostile is a text that would do something where it were taken for HTML.
const hostile = `<script>document.title="hit"</script><img src=x onerror="document.title='hit'">`

func TestMerchantChangesPortalTextsInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/texts"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard texts"}
	v.signIn(s, m)
	v.open("list", at, http.StatusOK)
	v.open("german", at+"?language=de&q=abonnement", http.StatusOK)
	v.open("nothing found", at+"?q=zzzz", http.StatusOK)
	v.open("forms", at+"/en/every.week", http.StatusOK)
	v.open("text", at+"/de/signin.title", http.StatusOK)
	const typed = `(async () => {
		const field = document.querySelector("#f-text");
		field.value = "Mein {stoer}";
		field.dispatchEvent(new Event("input", {bubbles: true}));
		while (!document.querySelector(".seen .bad")) await new Promise(requestAnimationFrame);
		return document.querySelector(".seen").innerText;
	})()`
	if got := browsertest.Eval[string](v.tab, typed); !strings.Contains(got, "no value for {stoer}") {
		t.Errorf("the preview says %q", got)
	}
	v.look("problem seen", http.StatusOK, http.StatusOK)
	v.click("refused", "button[value=save]", http.StatusUnprocessableEntity)
	v.fill("#f-text", hostile)
	v.click("saved", "button[value=save]", http.StatusOK)
	v.says("The text was saved.")
	v.says(hostile)
	v.open("changed", at+"?language=de&show=changed", http.StatusOK)

	customer := &visit{t: t, tab: browser.Tab(t), of: "portal in german"}
	customer.open("sign in", s.portal+"/signin?locale=de", http.StatusOK)
	customer.says(hostile)
	customer.says("E-Mail-Adresse")
	if title := browsertest.Eval[string](customer.tab, "document.title"); title == "hit" {
		t.Error("a merchant's text runs as script")
	}

	v.tab.Open(at + "/de/signin.title")
	v.open("reset asked", at+"/de/signin.title/reset", http.StatusOK)
	v.click("reset", "main button.dan", http.StatusOK)
	v.says("The text was reset.")
	v.open("no such text", at+"/de/no.such", http.StatusNotFound)
}
