package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestMerchantWritesEMailsInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/mails"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard mails"}
	v.signIn(s, m)
	v.open("list", at, http.StatusOK)
	v.click("switched off", `button[aria-label="Switch off: Paused"]`, http.StatusOK)
	v.says("The e-mail is not sent any more.")
	v.open("form switched off", at+"/paused/de", http.StatusOK)
	v.open("list again", at, http.StatusOK)
	v.click("switched on", `button[aria-label="Switch on: Paused"]`, http.StatusOK)
	v.open("form", at+"/paused/en", http.StatusOK)
	v.fill("#f-heading", hostile)
	v.fill("#f-subject", "Paused: {{ subscription.name }}")
	v.fill("#f-body", `<p style="color:#7b1f4b">We wait for you, {{ customer.first_name }}.</p>{{ letter.orders }}`)
	v.click("preview", "button[value=preview]", http.StatusOK)
	v.says("It is not published.")
	v.says("Nothing in it can be pressed")
	const painted = `(async () => {
		const frame = document.querySelector(".letters iframe");
		frame.removeAttribute("sandbox"); // only to look inside
		frame.srcdoc = frame.srcdoc;
		await new Promise((done) => frame.onload = done);
		const p = frame.contentDocument.querySelector("p[style*='#7b1f4b']");
		return frame.contentWindow.getComputedStyle(p).color + " " + p.textContent;
	})()`
	if got := browsertest.Eval[string](v.tab, painted); got != "rgb(123, 31, 75) We wait for you, Ada." {
		t.Errorf("the preview shows %s", got)
	}
	v.fill("#f-body", "<p>{{ customer.nickname }}</p>\n{% for x in (1..9) %}")
	v.click("refused", "button[value=publish]", http.StatusUnprocessableEntity)
	v.says("line 2")
	v.fill("#f-body", `<p>We wait for you, {{ customer.first_name }}.</p>{{ letter.button }}`)
	v.fill("#f-contract", "9001")
	v.click("with a contract", "button[value=preview]", http.StatusOK)
	v.click("test sent", "button[value=test]", http.StatusOK)
	v.says("A test is on its way to ")
	var mails []struct{ To, Subject, Text, HTML string }
	s.read(t, "/mail?kind=test", &mails)
	if len(mails) != 1 || !strings.HasPrefix(mails[0].Subject, "Test: Paused: ") || !strings.Contains(mails[0].Text, "We wait for you, ") || strings.Contains(mails[0].HTML, "<script>") {
		t.Errorf("the tests that were sent are %+v", mails)
	}
	v.click("published", "button[value=publish]", http.StatusOK)
	v.says("The e-mail was published.")
	v.open("list with own", at, http.StatusOK)
	v.says("Yours in English")
	v.open("history", at+"/paused/en/history", http.StatusOK)
	v.open("reset asked", at+"/paused/en/reset", http.StatusOK)
	v.click("reset", "main form button", http.StatusOK)
	v.says("The e-mail is the product’s again.")
	v.open("version", at+"/paused/en?version=1", http.StatusOK)
	v.says("Publish it to have it sent again.")
	v.open("sent", s.Dashboard+"/admin/stores/"+login.Handle(m.Shop)+"/sent-mails", http.StatusOK)
	v.says("Test: Paused: ")
	v.open("sent to no one", s.Dashboard+"/admin/stores/"+login.Handle(m.Shop)+"/sent-mails?to=none@shopper.example", http.StatusOK)
	v.open("suppressed", s.Dashboard+"/admin/stores/"+login.Handle(m.Shop)+"/suppressed", http.StatusOK)
	v.open("no such kind", at+"/newsletter/en", http.StatusNotFound)
	v.open("no such language", at+"/paused/xx", http.StatusNotFound)
	other := &visit{t: t, tab: browser.Tab(t), of: "dashboard mails of another user"}
	other.signIn(s, m)
	other.tab.Open(at + "/resumed/en")
	v.open("form of an older version", at+"/resumed/en", http.StatusOK)
	other.fill("#f-subject", "Theirs")
	if status := other.tab.Click("button[value=publish]"); status != http.StatusOK {
		t.Errorf("publishing answers %d", status)
	}
	v.fill("#f-subject", "Mine")
	v.click("published meanwhile", "button[value=publish]", http.StatusUnprocessableEntity)
	v.says("What you typed is kept and not published.")
	v.click("published over it", "button[value=publish]", http.StatusOK)
	if title := browsertest.Eval[string](v.tab, "document.title"); title == "hit" {
		t.Error("a merchant's text runs as script")
	}

	bare := &visit{t: t, tab: browser.Tab(t), of: "dashboard mails without scripts"}
	bare.tab.Scripts(false)
	bare.signIn(s, m)
	bare.tab.Open(at + "/canceled/de")
	bare.fill("#f-heading", "Auf Wiedersehen")
	if status := bare.tab.Click("button[value=publish]"); status != http.StatusOK {
		t.Errorf("publishing without scripts answers %d", status)
	}
	bare.says("The e-mail was published.")
}
