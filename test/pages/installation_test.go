package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/intake"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/settings"
)

// lookInFrame waits until the page in a frame says something, and audits it and the page
// around it.
func (v *visit) lookInFrame(name string, frame *browsertest.Frame, words string) {
	v.t.Helper()
	frame.Wait(words)
	v.audit(name, part{"", v.tab}, part{"in the frame, ", frame})
}

func TestEveryPageOfInstallationCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	s := run(t, sandbox.Options{Empty: true, NotInstalled: true, MembershipsApp: true, CheckEvery: 24 * time.Hour})
	at, domain := s.URLs(), s.Manifest().Shop
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "installation"}
	v.open("start", at.Subscriptions+"/auth", http.StatusOK)
	v.submit("no such store", "#shop", "nowhere", http.StatusBadRequest)
	v.open("not opened in the admin", at.Subscriptions+"/auth/entry?id_token=none", http.StatusUnauthorized)

	admin := at.Platform + "/store/" + domain + "/admin"
	v.open("stores", at.Platform+"/store", http.StatusOK)
	v.open("apps not installed", admin, http.StatusOK)
	v.click("consent", "a.act", http.StatusOK)
	v.tab.Click("form button")
	app := v.tab.Frame("#app")
	v.lookInFrame("home", app, "Setup guide")
	app.Click(`a[href*="/charging"]`)
	v.lookInFrame("charging waits", app, "Nothing is charged yet")
	app.Click("form button.pri")
	v.lookInFrame("charging confirmed", app, "Orders are charged from now on.")

	v.tab.Open(admin)
	v.click("consent of second app", `a.act[href$="-memberships"]`, http.StatusOK)
	v.tab.Click("form button")
	v.lookInFrame("second app", app, domain+" is connected.")

	v.open("apps installed", admin, http.StatusOK)
	v.tab.Click("form[action$=reduce-scopes] button")
	advance(t, at.Control, "P2D") // the service refreshes its token, and learns it
	v.tab.Click("a.act")
	v.tab.Until(`document.title.includes("asks for more")`) // the merchant is asked again
	v.look("consent again", http.StatusOK, http.StatusOK)
	v.open("no such app", admin+"/apps/nothing", http.StatusNotFound)
}

// advance moves the time of a sandbox.
func advance(t *testing.T, control, by string) {
	t.Helper()
	answer, err := http.Post(control+"/clock", "application/json", strings.NewReader(fmt.Sprintf(`{"advance":%q}`, by)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the clock answers %d", answer.StatusCode)
	}
}

// newStore is what the page about charges shows of a store.
type newStore struct {
	settings.Changes
	settings.Failures
	settings.Privacy

	preview  confirm.Preview
	sync     intake.Sync
	departed intake.Departure
}

// Preview returns the preview that the test has set.
func (n *newStore) Preview(context.Context, shop.ID) (confirm.Preview, error) { return n.preview, nil }

// Confirm confirms nothing.
func (n *newStore) Confirm(context.Context, shop.ID, confirm.Fingerprint, activity.Actor) (bool, error) {
	return false, nil
}

// Progress returns the sync that the test has set.
func (n *newStore) Progress(context.Context, shop.ID) (intake.Sync, bool, error) {
	return n.sync, true, nil
}

// Departure returns the departure that the test has set.
func (n *newStore) Departure(context.Context, shop.ID) (intake.Departure, error) {
	return n.departed, nil
}

func TestChargingPageOfNewStoreCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	is := &newStore{}
	s := dashboardtest.Open(t, func(here *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, settings.New(settings.Options{Changes: is, Failures: is, Charging: is, Syncs: is, Privacy: is, Portal: &do.Service{Store: here.DB.Portal(), Clock: o.Clock}, Clock: o.Clock}))
	})
	now := s.Clock.Now()
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "charging"}
	v.tab.Open(s.URL + "/admin/signin")
	v.fill("#email", dashboardtest.Owner)
	v.tab.Submit("#password", dashboardtest.Password)
	charging := s.URL + dashboardtest.At + "/charging"

	is.preview = confirm.Preview{Awaits: now, Until: now.Add(confirm.Ahead), Syncing: true}
	is.sync = intake.Sync{StartedAt: now, Stage: intake.Counting, StageAt: now}
	v.open("counting", charging, http.StatusOK)

	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	is.preview.Totals, is.preview.Overdue = []confirm.Total{{Orders: 1204, Amount: amount(2_345_678)}, {Orders: 12, Amount: money.Amount{Minor: 99_900, Currency: "JPY"}}}, 3
	for i := range 20 {
		is.preview.First = append(is.preview.First, confirm.Order{Contract: 9_000_123_456, Cycle: i, Date: now.Add(time.Duration(i-3) * time.Hour), Amount: amount(123_456)})
	}
	is.sync = intake.Sync{StartedAt: now, Stage: intake.Reading, StageAt: now, Done: 61_250, Total: 100_000, Worked: 10 * time.Minute, Failure: "the platform does not answer"}
	v.open("syncing", charging, http.StatusOK)

	is.sync.Stage, is.preview.Syncing = intake.Done, false
	v.open("waiting", charging, http.StatusOK)
	is.preview.Awaits = time.Time{}
	v.open("confirmed", charging, http.StatusOK)
	is.departed = intake.Departure{DisconnectedAt: now.Add(-time.Hour), CancelsAt: now.Add(47 * time.Hour), Contracts: 61_250}
	v.open("uninstalled", charging, http.StatusOK)
}
