package pages

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestMerchantChecksTheSenderInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard sender"}
	v.signIn(s, m)
	v.open("list", at+"/mails", http.StatusOK)
	v.click("sender", `main a[href$="/sender"]`, http.StatusOK)
	v.says("subscriptions@sandbox.example")
	v.says("lets every server send in its name")
	v.says("sandbox._domainkey.sandbox.example has a DKIM key")
	v.says("Add a TXT record to _dmarc.sandbox.example")
	v.says("sandbox.example takes e-mails")
	v.click("checked again", `form[action$="/sender"] button`, http.StatusOK)
	v.says("Checked ")
	v.click("test sent", `form[action$="/sender/test"] button`, http.StatusOK)
	v.says("A test is on its way to you.")

	bare := &visit{t: t, tab: browser.Tab(t), of: "dashboard sender without scripts"}
	bare.tab.Scripts(false)
	bare.signIn(s, m)
	bare.tab.Open(at + "/sender")
	if status := bare.tab.Click(`form[action$="/sender"] button`); status != http.StatusOK {
		t.Errorf("checking again without scripts answers %d", status)
	}
	bare.says("DNS records of sandbox.example")
	if status := bare.tab.Click(`form[action$="/sender/test"] button`); status != http.StatusOK {
		t.Errorf("sending a test without scripts answers %d", status)
	}
	bare.says("A test is on its way to you.")

	var mails []struct{ From, To, Subject, Text string }
	s.read(t, "/mail?kind=test", &mails)
	if len(mails) != 2 || slices.ContainsFunc(mails, func(m struct{ From, To, Subject, Text string }) bool {
		return !strings.Contains(m.From, "subscriptions@sandbox.example") || m.Subject != "Test: e-mails arrive" || !strings.Contains(m.Text, "E-mails to customers come from the same sender")
	}) {
		t.Errorf("the tests that were sent are %+v", mails)
	}
}
