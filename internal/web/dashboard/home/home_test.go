package home_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/intake"
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
