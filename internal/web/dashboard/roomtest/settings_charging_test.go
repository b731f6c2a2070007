package roomtest_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/settings"
)

// storeLife is what the pages show of a store's life. Tests set it.
type storeLife struct {
	preview   confirm.Preview
	confirmed []activity.Actor
	sync      intake.Sync
	departed  intake.Departure
	requests  []privacy.Request
}

// Preview returns the preview that the test has set.
func (l *storeLife) Preview(context.Context, shop.ID) (confirm.Preview, error) { return l.preview, nil }

// Confirm notes who has confirmed, as the service does.
func (l *storeLife) Confirm(_ context.Context, _ shop.ID, seen confirm.Fingerprint, by activity.Actor) (bool, error) {
	switch {
	case l.preview.Awaits.IsZero():
		return false, nil
	case l.preview.Syncing:
		return false, fault.New(fault.FailedPrecondition, "the contracts are still being read").Code(confirm.SyncRuns)
	case seen != l.preview.Fingerprint():
		return false, fault.New(fault.Conflict, "the orders have changed").Code(confirm.PreviewChanged)
	}
	l.confirmed = append(l.confirmed, by)
	l.preview.Awaits = time.Time{}
	return true, nil
}

// Progress returns the sync that the test has set.
func (l *storeLife) Progress(context.Context, shop.ID) (intake.Sync, bool, error) {
	return l.sync, l.sync.Stage != "", nil
}

// Departure returns the departure that the test has set.
func (l *storeLife) Departure(context.Context, shop.ID) (intake.Departure, error) {
	return l.departed, nil
}

// List returns the requests that the test has set.
func (l *storeLife) List(context.Context, shop.ID) ([]privacy.Request, error) { return l.requests, nil }

// Download returns an archive that names the request.
func (l *storeLife) Download(_ context.Context, _ shop.ID, id privacy.ID, _ activity.Actor) (privacy.Archive, error) {
	return privacy.Archive{Name: "customer-5.zip", Zip: []byte{'P', 'K', byte(id)}}, nil
}

// settingsSite is the dashboard, with a store's life that tests set.
type settingsSite struct {
	*dashboardtest.Site

	life   storeLife
	portal *portal.Service
	saved  []shop.Settings
	cases  []dunning.Case
}

// ChangeSettings changes the settings of the first store.
func (s *settingsSite) ChangeSettings(_ context.Context, _ string, _ activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error) {
	next := s.First.Settings
	if err := errors.Join(fn(&next), next.Check(), next.Dunning.Check()); err != nil {
		return next, err
	}
	s.First.Settings = next
	s.Put()
	s.saved = append(s.saved, next)
	return next, nil
}

// CasesSince returns the cases that the test has set.
func (s *settingsSite) CasesSince(context.Context, shop.ID, time.Time) ([]dunning.Case, error) {
	return s.cases, nil
}

func openSettings(t *testing.T) *settingsSite {
	t.Helper()
	t.Parallel()
	s := &settingsSite{}
	s.Site = dashboardtest.Open(t, func(here *dashboardtest.Site, o *dashboard.Options) {
		s.portal = &portal.Service{Store: here.DB.Portal(), Clock: o.Clock}
		o.Rooms = append(o.Rooms, settings.New(settings.Options{Changes: s, Failures: s, Charging: &s.life, Syncs: &s.life, Privacy: &s.life, Portal: s.portal, Accounts: &login.Service{PublicURL: "https://subs.example"}, Clock: o.Clock}))
	})
	return s
}

var seenValue = regexp.MustCompile(`name="seen" value="([^"]*)"`)

func TestMerchantConfirmsWhatThePageHasShown(t *testing.T) {
	s := openSettings(t)
	s.SignIn("ana@staff.example")
	now := s.Clock.Now()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	s.life.preview = confirm.Preview{
		Awaits: now.Add(-time.Hour), Until: now.Add(confirm.Ahead), Overdue: 1, Totals: []confirm.Total{{Orders: 21, Amount: eur(123450)}},
		First: []confirm.Order{{Contract: 42, Cycle: 3, Date: now.Add(-time.Hour), Amount: eur(1999)}, {Contract: 43, Cycle: 1, Date: now.Add(time.Hour), Amount: eur(500)}},
	}
	p := s.Get("/admin/stores/first/charging")
	s.Want(p, http.StatusOK, "Nothing is charged yet", "21 orders are charged until 2 Dec 2026, 12:00 UTC", "1234.50 EUR", "1 of them is overdue", "19.99 EUR", "And 19 more.", "Start charging")
	shown := seenValue.FindStringSubmatch(p.Text)
	if shown == nil {
		t.Fatal("the form does not say what it confirms")
	}
	s.life.preview.Totals[0].Orders = 22
	p = s.Post("/admin/stores/first/charging", "seen", shown[1])
	s.Want(p, http.StatusUnprocessableEntity, "The orders have changed")
	if len(s.life.confirmed) != 0 {
		t.Fatal("other orders were confirmed than the page has shown")
	}
	s.life.preview.Totals[0].Orders = 21
	p = s.Post("/admin/stores/first/charging", "seen", shown[1])
	s.Want(p, http.StatusOK, "Orders are charged from now on.", "21 orders, 1234.50 EUR")
	if len(s.life.confirmed) != 1 || s.life.confirmed[0].By != "ana@staff.example" || s.life.confirmed[0].Source != activity.MerchantPortal {
		t.Errorf("confirmed by %+v", s.life.confirmed)
	}
	s.Want(s.Post("/admin/stores/first/charging", "seen", shown[1]), http.StatusOK) // the button was pressed twice
	if len(s.life.confirmed) != 1 {
		t.Errorf("it was confirmed %d times", len(s.life.confirmed))
	}
}

func TestNothingIsConfirmedDuringFirstSync(t *testing.T) {
	s := openSettings(t)
	s.SignIn("ana@staff.example")
	now := s.Clock.Now()
	s.life.preview = confirm.Preview{Awaits: now, Until: now.Add(confirm.Ahead), Syncing: true}
	s.life.sync = intake.Sync{StartedAt: now, Stage: intake.Reading, StageAt: now, Done: 1200, Total: 100_000, Worked: 10 * time.Second}
	p := s.Get("/admin/stores/first/charging")
	s.Want(p, http.StatusOK, "1200 of 100000", "120 contracts a second", "done about 25 Nov 2026, 12:13 UTC", "You can confirm when all contracts are read.")
	if strings.Contains(p.Text, "Start charging") {
		t.Error("the incomplete list can be confirmed")
	}
	s.Want(s.Post("/admin/stores/first/charging", "seen", ""), http.StatusUnprocessableEntity, "still being read")
	if len(s.life.confirmed) != 0 {
		t.Error("an incomplete list was confirmed")
	}
}

func TestChargingPageSaysThatAppWasUninstalled(t *testing.T) {
	s := openSettings(t)
	s.SignIn("ana@staff.example")
	now := s.Clock.Now()
	p := s.Get("/admin/stores/first/charging")
	s.Want(p, http.StatusOK)
	if strings.Contains(p.Text, "uninstalled") {
		t.Error("a store that has the app is said to have uninstalled it")
	}
	s.life.departed = intake.Departure{DisconnectedAt: now, CancelsAt: now.Add(48 * time.Hour), Contracts: 1}
	s.Want(s.Get("/admin/stores/first/charging"), http.StatusOK, "The app was uninstalled on 25 Nov 2026, 12:00 UTC", "On 27 Nov 2026, 12:00 UTC the platform cancels 1 contract.")
}

func TestOnlyStoreManagersConfirmAndDownload(t *testing.T) {
	s := openSettings(t)
	s.life.preview = confirm.Preview{Awaits: s.Clock.Now()}
	s.life.requests = []privacy.Request{{ID: 9, Kind: privacy.Export}}
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	s.Want(s.Get("/admin/stores/first/charging"), http.StatusOK, "An owner or admin of the store can confirm this.")
	s.Want(s.Post("/admin/stores/first/charging", "seen", ""), http.StatusForbidden)
	s.Want(s.Get("/admin/stores/first/personal-data"), http.StatusForbidden)
	s.Want(s.Post("/admin/stores/first/personal-data/9"), http.StatusForbidden)
	if len(s.life.confirmed) != 0 {
		t.Error("a user without the permission has confirmed")
	}
}

func TestExportOfCustomerIsDownloaded(t *testing.T) {
	s := openSettings(t)
	s.SignIn("ana@staff.example")
	now := s.Clock.Now()
	day := 24 * time.Hour
	s.life.requests = []privacy.Request{
		{ID: 9, Kind: privacy.Export, Customer: 5, ReceivedAt: now.Add(-day), DueBy: now.Add(29 * day), ReadyAt: now},
		{ID: 8, Kind: privacy.EraseCustomer, Customer: 6, ReceivedAt: now.Add(-31 * day), DueBy: now.Add(-day)},
		{ID: 7, Kind: privacy.EraseStore, ReceivedAt: now.Add(-40 * day), DueBy: now.Add(-10 * day), ClosedAt: now.Add(-39 * day)},
	}
	s.Want(s.Get("/admin/stores/first/personal-data"), http.StatusOK, "A copy of the data of customer 5", "send it to the customer by 24 Dec 2026", "Erase customer 6", "Overdue", "Erase all customers of the store", "Done")
	p := s.Post("/admin/stores/first/personal-data/9")
	if p.Status != http.StatusOK || p.Text != "PK\t" || p.Header.Get("Content-Disposition") != `attachment; filename="customer-5.zip"` || p.Header.Get("Content-Type") != "application/zip" || p.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the download is %d %q %v", p.Status, p.Text, p.Header)
	}
	s.Want(s.Post("/admin/stores/first/personal-data/nine"), http.StatusNotFound)
}
