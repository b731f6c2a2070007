package pages

import (
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestMerchantChangesSettingsInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard settings"}
	v.signIn(s, m)
	v.open("home with figures", at+"?figures=now", http.StatusOK)
	v.open("general", at+"/settings", http.StatusOK)
	v.fill("#f-catch-up", "9")
	v.submit("general refused", "#f-memberships", "three", http.StatusUnprocessableEntity)
	v.fill("#f-memberships", "")
	v.click("general saved", "main button.pri", http.StatusOK)
	v.open("dunning", at+"/settings/payments", http.StatusOK)
	v.click("dunning preview", "main button[value=preview]", http.StatusOK)
	v.open("mails", at+"/settings/mail", http.StatusOK)
	v.click("mails saved", "main button.pri", http.StatusOK)
	v.open("portal", at+"/settings/portal", http.StatusOK)
	v.fill("#f-supportUrl", "http://not-secure.example")
	v.click("portal refused", "main button.pri", http.StatusUnprocessableEntity)
	v.fill("#f-supportUrl", "https://help.example")
	v.click("portal saved", "main button.pri", http.StatusOK)
}
