package roomtest_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	domain "github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/activity"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

const activityPath = dashboardtest.At + "/activity"

// activityCriteria reads some parameters of the API's log.
func activityCriteria(query url.Values, zone *time.Location) ([]page.Criterion, error) {
	return web.ParseCriteria(query, []web.Field{
		{Name: domain.FieldEntityID, Kind: web.Number}, {Name: domain.FieldAt, Kind: web.Date}, {Name: domain.FieldBy, Kind: web.Text},
		{Name: domain.FieldStatus, Kind: web.Enum, Values: []string{"SUCCESS", "FAILURE"}},
	}, zone)
}

func openActivity(t *testing.T) *dashboardtest.Site {
	t.Helper()
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, activity.New(activity.Options{Log: s.DB, Criteria: activityCriteria, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return s
}

// recordEntries writes entries of a store.
func recordEntries(s *dashboardtest.Site, of shop.ID, entries ...domain.Entry) {
	s.Helper()
	if err := s.DB.Update(s.Context(), of, func(tx *store.Tx) error { return tx.Record(s.Context(), entries...) }); err != nil {
		s.Fatal(err)
	}
}

func pausedEntry(contract int64, at time.Time, by string) domain.Entry {
	return domain.Entry{
		EntityID: contract, EntityType: domain.EntitySubscriptionContractDetails, Event: domain.ContractPaused, Status: domain.Success, At: at,
		Actor: domain.Actor{Source: domain.CustomerPortal, By: by, ClientIP: "192.0.2.7"}, Info: `{"reason":"holidays"}`,
	}
}

func TestActivityIsGroupedByDayInWords(t *testing.T) {
	t.Parallel()
	s := openActivity(t)
	now := s.Clock.Now()
	recordEntries(s, s.First.ID, pausedEntry(9001, now.AddDate(0, 0, -1), "cora@shopper.example"), pausedEntry(9002, now, "=cmd()"))
	p := s.Get(activityPath)
	s.Want(p, http.StatusOK, "Wednesday 25 November 2026", "Tuesday 24 November 2026", "The contract was paused", "cora@shopper.example, portal · 192.0.2.7", "holidays", dashboardtest.At+"/contracts/9001")

	s.Want(s.Get(activityPath+"?entityId.equals=9001"), http.StatusOK, "contracts/9001", "Clear filters")
	if p := s.Get(activityPath + "?entityId.equals=9001&status.equals="); strings.Contains(p.Text, "contracts/9002") {
		t.Error("the filter does not hold")
	}
	s.Want(s.Get(activityPath+"?createAt.lessThanOrEqual=2026-11-24&activityBy.contains=cora"), http.StatusOK, "contracts/9001")
	s.Want(s.Get(activityPath+"?status.equals=FAILURE"), http.StatusOK, "No entry fits")
	for _, bad := range []string{"entityId.equals=x", "status.equals=GONE", "createAt.lessThanOrEqual=soon", "after=x", "after=1-x"} {
		s.Want(s.Get(activityPath+"?"+bad), http.StatusBadRequest)
	}

	table := s.Get(activityPath + "/export.csv?entityId.equals=9002")
	rows, err := csv.NewReader(strings.NewReader(table.Text)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][1] != "The contract was paused" || rows[1][2] != "'=cmd()" || rows[1][7] != "9002" {
		t.Errorf("the table is %q, %v", rows, err)
	}
}

func TestEntryLeadsToItsRequestWhileTheAPILogKeepsIt(t *testing.T) {
	t.Parallel()
	s := openActivity(t)
	byRequest := func(contract int64, ago time.Duration) domain.Entry {
		e := pausedEntry(contract, s.Clock.Now().Add(-ago), "API key ERP")
		e.Actor.Source, e.Actor.Request = domain.MerchantExternalAPI, fmt.Sprintf("r:%d", contract)
		return e
	}
	recordEntries(s, s.First.ID, byRequest(9001, time.Hour), byRequest(9002, requestlog.Retention), pausedEntry(9003, s.Clock.Now(), ""))
	link := dashboardtest.At + "/api-log?request=r%3A"
	p := s.Get(activityPath)
	s.Want(p, http.StatusOK, link+"9001", "contracts/9002", "contracts/9003")
	if n := strings.Count(p.Text, "Show the request"); n != 1 {
		t.Errorf("%d entries lead to requests, want 1", n)
	}
	s.Add("ann@staff.example", staff.Analyst)
	s.SignIn("ann@staff.example")
	if p := s.Get(activityPath); strings.Contains(p.Text, link) {
		t.Error("a user who may not read the API log is led there")
	}
}

func TestActivityOfOneInstantHasPages(t *testing.T) {
	t.Parallel()
	s := openActivity(t)
	var entries []domain.Entry
	for i := range 60 {
		entries = append(entries, pausedEntry(int64(1000+i), s.Clock.Now().Add(time.Hour), ""))
	}
	recordEntries(s, s.First.ID, entries...)
	first := s.Get(activityPath)
	s.Want(first, http.StatusOK, "contracts/1059", "contracts/1010")
	if strings.Contains(first.Text, "contracts/1009") {
		t.Error("a page has more than 50 entries")
	}
	_, rest, _ := strings.Cut(first.Text, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	s.Want(s.Get(html.UnescapeString(next)), http.StatusOK, "contracts/1009", "contracts/1000", "Newest")
}

func TestSearchOfTheLogGoesOnAfterManyEntries(t *testing.T) {
	t.Parallel()
	s := openActivity(t)
	now := s.Clock.Now()
	old := pausedEntry(7, now.Add(time.Minute), "found@shopper.example")
	recordEntries(s, s.First.ID, old)
	entries := make([]domain.Entry, 10_000)
	for i := range entries {
		entries[i] = pausedEntry(8, now.Add(time.Hour), "")
	}
	recordEntries(s, s.First.ID, entries...)
	p := s.Get(activityPath + "?activityBy.contains=found")
	s.Want(p, http.StatusOK, "No entry fits since 25 Nov 2026, 13:00 UTC", "Search older entries")
	_, rest, _ := strings.Cut(p.Text, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	s.Want(s.Get(html.UnescapeString(next)), http.StatusOK, "found@shopper.example")
}

func TestActivityIsOfOneStoreAndShownAsText(t *testing.T) {
	t.Parallel()
	s := openActivity(t)
	bad := "<script>alert(1)</script>{{7*7}}"
	recordEntries(s, s.Second.ID, pausedEntry(666, s.Clock.Now(), "theirs@shopper.example"))
	recordEntries(s, s.First.ID, pausedEntry(1, s.Clock.Now(), bad))
	p := s.Get(activityPath)
	s.Want(p, http.StatusOK, html.EscapeString("<script>alert(1)</script>")+"{{7*7}}")
	if strings.Contains(p.Text, "theirs@") || strings.Contains(p.Text, "<script>alert") {
		t.Error("the page shows another store's entry, or a script")
	}
}
