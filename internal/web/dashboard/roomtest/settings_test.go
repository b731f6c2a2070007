package roomtest_test

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// seenIn returns which settings a page has shown.
func seenIn(t *testing.T, p dashboardtest.Page) string {
	t.Helper()
	found := seenValue.FindStringSubmatch(p.Text)
	if found == nil {
		t.Fatalf("%s does not say which settings it shows:\n%s", p.Path, p.Text)
	}
	return found[1]
}

func TestGeneralSettingsAreSaved(t *testing.T) {
	s := openSettings(t)
	s.SignIn(dashboardtest.Owner)
	seen := seenIn(t, s.Get(dashboardtest.At+"/settings"))
	p := s.Post(dashboardtest.At+"/settings", "seen", seen, "immediate", "on", "catch-up", "12", "memberships", "7, 3 7", "rate", "2.5", "burst", "10")
	s.Want(p, http.StatusOK, "The settings were saved.", `value="3, 7"`)
	if got := s.First.Settings; !got.ImmediateOrders || got.FreezeUntilMinCycles || got.CatchUpHours != 12 || !slices.Equal(got.Memberships, []int64{3, 7}) || got.RatePerSecond != 2.5 || got.RateBurst != 10 {
		t.Errorf("the settings are %+v", got)
	}
	p = s.Post(dashboardtest.At+"/settings", "seen", seen, "catch-up", "9", "rate", "0", "burst", "0")
	s.Want(p, http.StatusUnprocessableEntity, "The settings were changed since the page was opened", `value="9"`)
	p = s.Post(dashboardtest.At+"/settings", "seen", seenIn(t, s.Get(dashboardtest.At+"/settings")), "catch-up", "70", "rate", "0", "burst", "0")
	s.Want(p, http.StatusUnprocessableEntity, `id="e-catch-up"`, `value="70"`)
	p = s.Post(dashboardtest.At+"/settings", "seen", seen, "catch-up", "6", "memberships", "3, x", "rate", "0", "burst", "0")
	s.Want(p, http.StatusUnprocessableEntity, `id="e-memberships"`, "is not the number of a selling plan")
	if len(s.saved) != 1 {
		t.Errorf("settings were saved %d times, want once", len(s.saved))
	}
}

func TestPreviewOfDunningSavesNothing(t *testing.T) {
	s := openSettings(t)
	s.SignIn(dashboardtest.Owner)
	for range 3 {
		s.cases = append(s.cases, dunning.Case{State: dunning.Lost, OpenedAt: s.Clock.Now().AddDate(0, 0, -9), FirstCode: "CARD_DECLINED", Class: dunning.Issuer})
	}
	s.cases = append(s.cases, dunning.Case{State: dunning.Open, OpenedAt: s.Clock.Now().AddDate(0, 0, -1), FirstCode: "EXPIRED_CARD", Class: dunning.Card})
	form := []string{
		"seen", seenIn(t, s.Get(dashboardtest.At+"/settings/payments")), "mode", "SIMPLE", "retries", "2", "every", "3", "then", "SKIP", "stock-retries", "5", "stock-every", "1", "stock-then", "SKIP",
	}
	p := s.Post(dashboardtest.At+"/settings/payments", append(form, "do", "preview")...)
	s.Want(p, http.StatusOK, "4 charges were declined", "Declined by the bank", "18 retries over", "6 retries over 5 days; then: Give up the order", "The card cannot be charged", `<option value="SIMPLE" selected>`)
	if len(s.saved) != 0 {
		t.Fatal("a preview saved the settings")
	}
	s.Want(s.Post(dashboardtest.At+"/settings/payments", append(form, "do", "save")...), http.StatusOK, "The settings were saved.")
	if got := s.First.Settings.Dunning; got.Mode != dunning.Simple || got.Retries != 2 || got.EveryDays != 3 || got.Then != dunning.Skip {
		t.Errorf("the settings are %+v", got)
	}
	s.Want(s.Post(dashboardtest.At+"/settings/payments", "mode", "SIMPLE", "retries", "11", "every", "3", "then", "SKIP", "stock-retries", "5", "stock-every", "1", "stock-then", "SKIP"),
		http.StatusUnprocessableEntity, `id="e-retries"`, "11 retries: use 0 to 10")
}

func TestEveryKindOfMailHasSwitch(t *testing.T) {
	s := openSettings(t)
	s.SignIn(dashboardtest.Owner)
	p := s.Get(dashboardtest.At + "/settings/mail")
	s.Want(p, http.StatusOK, `href="`+dashboardtest.At+`/mails"`)
	off := []notify.Kind{notify.TransactionSuccess, notify.PointsEarned, notify.Birthday}
	var fields []string
	for _, k := range notify.Kinds() {
		name := "mail-" + string(k)
		if sent := regexp.MustCompile(`name="` + name + `" checked`).MatchString(p.Text); sent == slices.Contains(off, k) || !strings.Contains(p.Text, `name="`+name+`"`) {
			t.Errorf("the page has no switch for %s", k)
		}
		if k != notify.Paused && !slices.Contains(off, k) {
			fields = append(fields, name, "on")
		}
	}
	s.Want(s.Post(dashboardtest.At+"/settings/mail", append(fields, "seen", seenIn(t, p))...), http.StatusOK, "The settings were saved.")
	if got := s.First.Settings.DisabledMails; !slices.Equal(got, []notify.Kind{notify.Paused}) {
		t.Errorf("the disabled kinds are %v", got)
	}
}

func TestKindsOfSMSHaveSwitchesWhereTheyAreSent(t *testing.T) {
	s := openSettings(t)
	s.SignIn(dashboardtest.Owner)
	p := s.Get(dashboardtest.At + "/settings/mail")
	if strings.Contains(p.Text, `name="sms-`) {
		t.Error("an installation without a provider has switches of SMS")
	}
	fields := []string{"sms-transaction_failed", "on", "seen", seenIn(t, p)}
	s.Want(s.Post(dashboardtest.At+"/settings/mail", fields...), http.StatusOK)
	if got := s.First.Settings.EnabledSMS; got != nil {
		t.Errorf("without a provider SMS %v are switched on", got)
	}
	s.DB.SendsSMS()
	p = s.Get(dashboardtest.At + "/settings/mail")
	s.Want(p, http.StatusOK, `name="sms-transaction_failed"`, `name="sms-upcoming_order"`, `name="sms-subscription_created"`)
	s.Want(s.Post(dashboardtest.At+"/settings/mail", "sms-transaction_failed", "on", "seen", seenIn(t, p)), http.StatusOK, `name="sms-transaction_failed" checked`)
	if got := s.First.Settings.EnabledSMS; !slices.Equal(got, []notify.Kind{notify.TransactionFailed}) {
		t.Errorf("SMS are sent of %v", got)
	}
}

func TestOnlyStoreManagersSaveSettings(t *testing.T) {
	s := openSettings(t)
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	for _, page := range []string{"/settings", "/settings/payments", "/settings/mail"} {
		p := s.Get(dashboardtest.At + page)
		s.Want(p, http.StatusOK, "An owner or admin of the store can change this.", "disabled")
		if strings.Contains(p.Text, "Save changes") {
			t.Errorf("%s offers to save", page)
		}
		s.Want(s.Post(dashboardtest.At+page, "seen", "x"), http.StatusForbidden)
	}
	if len(s.saved) != 0 {
		t.Error("a user without the permission has saved settings")
	}
}

func TestPortalSettingsAreSaved(t *testing.T) {
	s := openSettings(t)
	s.SignIn(dashboardtest.Owner)
	path := dashboardtest.At + "/settings/portal"
	p := s.Get(path)
	var form []string
	for _, toggle := range portal.Toggles {
		if !strings.Contains(p.Text, `name="`+string(toggle)+`" checked`) {
			t.Errorf("the page has no switch for %s", toggle)
		}
		if toggle != portal.AllowOrderNow {
			form = append(form, string(toggle), "on")
		}
	}
	s.Want(p, http.StatusOK, "https://subs.example/p/first/signin/account/return", "<dd>https://subs.example/p/first/signin</dd>")
	seen := seenIn(t, p)
	form = append(form, "seen", seen, "skipMax", "2", "pauseMaxDays", "90", "rescheduleMinDays", "1", "rescheduleMaxDays", "60", "cutoffDays", "3", "upcomingCount", "4", "reasonRequired", "on", "supportUrl", "https://demo.example/help")
	s.Want(s.Post(path, form...), http.StatusOK, "The settings were saved.", `value="90"`, `value="https://demo.example/help"`)
	is, err := s.portal.Settings(t.Context(), s.First.ID)
	want := portal.Settings{
		Off: []portal.Toggle{portal.AllowOrderNow}, SkipMax: 2, PauseMaxDays: 90, RescheduleMin: 1, RescheduleMax: 60, CutoffDays: 3, Upcoming: 4, ReasonRequired: true,
		Support: portal.Support{URL: "https://demo.example/help"}, Version: 1, UpdatedAt: s.Clock.Now(),
	}
	if err != nil || !reflect.DeepEqual(is, want) {
		t.Errorf("the settings are %+v, %v; want %+v", is, err, want)
	}
	s.Want(s.Post(path, form...), http.StatusUnprocessableEntity, "The settings were changed since the page was opened")
	for field, value := range map[string]string{"skipMax": "53", "cutoffDays": "-1", "supportUrl": "http://demo.example", "supportEmail": "nowhere", "rescheduleMaxDays": "x"} {
		again := append([]string{field, value, "seen", "1"}, form...) // the first of several counts
		s.Want(s.Post(path, again...), http.StatusUnprocessableEntity, `id="e-`+field+`"`)
	}
	s.clientOfAccounts(t, path, form)
}

// clientOfAccounts sets the client of customer accounts, whose secret is never shown and is kept while
// the client stays.
func (s *settingsSite) clientOfAccounts(t *testing.T, path string, form []string) {
	t.Helper()
	for _, row := range []struct{ id, secret, wantSecret string }{
		{"shp_1", "hush-hush", "hush-hush"}, {"shp_1", "", "hush-hush"}, {"shp_1", "other-secret", "other-secret"}, {"shp_2", "", ""}, {"", "for-nobody", ""},
	} {
		fields := append([]string{"seen", seenIn(t, s.Get(path)), "accountClientId", row.id, "accountClientSecret", row.secret}, form...)
		p := s.Post(path, fields...)
		s.Want(p, http.StatusOK, "The settings were saved.", `name="accountClientId"`)
		if is, err := s.portal.Settings(t.Context(), s.First.ID); err != nil || is.AccountClient != row.id || string(is.AccountSecret) != row.wantSecret {
			t.Errorf("%+v: client %q with secret %q, %v", row, is.AccountClient, string(is.AccountSecret), err)
		}
		if strings.Contains(p.Text, "hush-hush") || strings.Contains(p.Text, "other-secret") {
			t.Error("the page shows the secret")
		}
	}
	p := s.Post(path, append([]string{"seen", seenIn(t, s.Get(path)), "accountClientId", "shp 1", "accountClientSecret", "typed-secret"}, form...)...)
	s.Want(p, http.StatusUnprocessableEntity, `id="e-accountClientId"`, `value="shp 1"`)
	if strings.Contains(p.Text, "typed-secret") {
		t.Error("the form shows the secret that was typed")
	}
}
