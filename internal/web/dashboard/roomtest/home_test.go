package roomtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/home"
)

func TestSetupGuideSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := dashboardtest.Open(t)
	s.SignIn("ana@staff.example")
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "0 of 6 done", "6 steps are left.", "Install the app again", "Ask the operator to set PERENNIAL_PUBLIC_URL.")
	s.State = home.State{Connected: true, ScopesKnown: true, Missing: []string{"read orders", "write discounts"}, WebhookURL: true, WebhookError: "address not allowed", Mail: true}
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "2 of 7 done", "Missing: read orders; write discounts.", "The platform refuses: address not allowed")
	s.State = home.State{Connected: true, ScopesKnown: true, WebhookURL: true, Subscribed: true, Plans: true, Mail: true, ProxySeen: s.Clock.Now(), Contracts: true}
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "all 7 steps are done", "first on 25 Nov 2026")
}

func TestHomeWarnsOfUninstallation(t *testing.T) {
	t.Parallel()
	s := dashboardtest.Open(t)
	s.SignIn("ana@staff.example")
	now := s.Clock.Now()
	s.Departed = intake.Departure{DisconnectedAt: now, CancelsAt: now.Add(48 * time.Hour), Contracts: 3}
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "The app was uninstalled on 25 Nov 2026, 12:00 UTC", "On 27 Nov 2026, 12:00 UTC the platform cancels 3 contracts.")
	s.Departed.CancelsAt = now
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "The platform cancelled the contracts of the store on 25 Nov 2026, 12:00 UTC.")
}

func TestGuideLeadsToConfirmation(t *testing.T) {
	t.Parallel()
	s := dashboardtest.Open(t)
	s.SignIn("ana@staff.example")
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "of 6 done")
	s.First.Guard.Await(s.Clock.Now())
	s.Put()
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "of 7 done", "Nothing is charged before you have seen what will be.", `<a href="/admin/stores/first/charging">Confirm charging</a>`)
	s.First.Guard.Confirm(s.Clock.Now(), "ana@staff.example")
	s.Put()
	s.Want(s.Get("/admin/stores/first"), http.StatusOK, "confirmed by ana@staff.example on 25 Nov 2026")
}

func TestHomeShowsFiguresAttentionAndEvents(t *testing.T) {
	t.Parallel()
	s := dashboardtest.Open(t)
	s.SignIn(dashboardtest.Owner)
	s.State = home.State{Connected: true, Contracts: true}
	trend := make([]int64, 30)
	trend[29] = 120050
	s.Overview = analytics.Overview{
		At: s.Clock.Now(), First: 1, Currency: "EUR", Others: []money.Currency{"SEK"}, MRR: analytics.Tile{Value: 120050, Before: 100000, Trend: trend},
		Subscribers: analytics.Tile{Value: 8, Before: 9}, Churn: analytics.Tile{Value: 1}, ChurnOf: 9, ToRecoverOrders: 2,
	}
	s.Hooks = []webhook.Endpoint{{URL: "https://hooks.example/<in>", Reason: "it failed for five days"}}
	s.Asking = []partner.View{{App: partner.App{Name: "<b>Warehouse</b>"}}}
	p := s.Get(dashboardtest.At)
	s.Want(p, http.StatusOK, `hx-get="/admin/stores/first/home/figures"`, `href="/admin/stores/first?figures=now"`, "A webhook endpoint was disabled", "https://hooks.example/&lt;in&gt;", "&lt;b&gt;Warehouse&lt;/b&gt; asks for access",
		"Latest events")
	s.Want(s.Get(dashboardtest.At+"/home/figures"), http.StatusOK, "1200.50", "&#43;200.50 in 30 days", "−1 in 30 days", "11.1 %", "2 declined orders", "Amounts in SEK are not included.",
		"scheduled; too few results yet to expect less")
	if p := s.Get(dashboardtest.At); strings.Contains(p.Text, "hx-get") || !strings.Contains(p.Text, "1200.50") {
		t.Errorf("figures that are at hand are not on the page:\n%s", p.Text)
	}
	s.Overview.RevenueExpected = true
	s.Clock.Set(s.Clock.Now().Add(2 * time.Minute))
	s.Want(s.Get(dashboardtest.At+"?figures=now"), http.StatusOK, "1200.50", "expected of what is scheduled")
}
