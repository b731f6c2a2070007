package test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// dashboardUser is a user of the demo store in its dashboard.
type dashboardUser struct {
	*store
	browser *http.Client
	box     *sandbox.Sandbox
	options sandbox.Options
	key     string
}

// openDashboard starts a sandbox with contracts and signs its user in.
func openDashboard(t *testing.T, o sandbox.Options) *dashboardUser {
	t.Helper()
	o = cheaper(t, o)
	o.DataDir, o.Listen, o.Log, o.Out = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler), io.Discard
	if onPostgres(t) {
		o.Database = storetest.PostgresOptions(t).URL
	} else {
		o.Database = filepath.Join(o.DataDir, "perennial.db")
		storetest.SQLiteFile(t, o.Database)
	}
	m := &dashboardUser{store: &store{t: t, dir: o.DataDir}, options: o}
	m.run()
	t.Cleanup(func() { m.stop() })
	return m
}

// run starts the sandbox and signs in.
func (m *dashboardUser) run() {
	m.t.Helper()
	var err error
	if m.box, err = sandbox.Start(m.t.Context(), m.options); err != nil {
		m.t.Fatal(err)
	}
	m.urls, m.key = m.box.URLs(), m.box.Manifest().APIKey
	jar, err := cookiejar.New(nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.browser = &http.Client{Jar: jar}
	is := m.box.Manifest()
	if path, _ := m.form("/admin/signin", "email", is.DashboardUser, "password", is.DashboardPassword); strings.Contains(path, "signin") {
		m.t.Fatal("the demo user cannot sign in")
	}
}

// stop ends the sandbox, whatever it is at.
func (m *dashboardUser) stop() {
	m.t.Helper()
	if m.box == nil {
		return
	}
	if err := m.box.Close(); err != nil {
		m.t.Errorf("close the sandbox: %v", err)
	}
	m.box = nil
}

// at is the path of the demo store's pages.
func (m *dashboardUser) at() string { return "/admin/stores/" + login.Handle(m.box.Manifest().Shop) }

// form sends a form, whose fields are names and values in turn, and returns the path and the
// text of the page to which it leads.
func (m *dashboardUser) form(path string, fields ...string) (at, text string) {
	m.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.urls.Dashboard+path, strings.NewReader(form.Encode()))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return m.answer(req)
}

// page opens a page.
func (m *dashboardUser) page(path string) string {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.urls.Dashboard+path, http.NoBody)
	if err != nil {
		m.t.Fatal(err)
	}
	_, text := m.answer(req)
	return text
}

func (m *dashboardUser) answer(req *http.Request) (at, text string) {
	m.t.Helper()
	r, err := m.browser.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer r.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		m.t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK {
		m.t.Fatalf("%s %s answered %d:\n%s", req.Method, req.URL.Path, r.StatusCode, body.String())
	}
	return r.Request.URL.Path, body.String()
}

// hidden returns a hidden field of a page.
func (m *dashboardUser) hidden(page, name string) string {
	m.t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		m.t.Fatalf("the page has no field %s:\n%s", name, page)
	}
	return found[1]
}

// get reads from the admin interface.
func (m *dashboardUser) get(path string, out any) {
	m.t.Helper()
	if got := m.send("GET", m.urls.Subscriptions+api+path, m.key, nil, out); got != http.StatusOK {
		m.t.Fatalf("GET %s answered %d", path, got)
	}
}

// dates returns when the next order of each active contract is.
func (m *dashboardUser) dates() map[int64]time.Time {
	m.t.Helper()
	var rows []row
	m.get("/subscription-contract-details?status=ACTIVE&size=2000", &rows)
	dates := make(map[int64]time.Time)
	for _, r := range rows {
		if r.NextBillingDate != nil {
			dates[r.SubscriptionContractID] = *r.NextBillingDate
		}
	}
	return dates
}

var progressOf = regexp.MustCompile(`<label class="small" for="pr">(\d+) of (\d+) done(?:, (\d+) failed)?`)

func TestContractsAreMovedByADayOnceThoughTheServiceRestarts(t *testing.T) {
	t.Parallel()
	m := openDashboard(t, sandbox.Options{Contracts: 200})
	before := m.dates()
	if len(before) < 100 {
		t.Fatalf("only %d contracts have an order to come", len(before))
	}
	selected := []string{"all", "1", "query", "status=ACTIVE", "action", "MOVE_NEXT"}
	_, asks := m.form(m.at()+"/bulk/new", selected...)
	if !strings.Contains(asks, `name="days"`) {
		t.Fatalf("nothing asks for the days:\n%s", asks)
	}
	_, preview := m.form(m.at()+"/bulk/preview", append(selected, "days", "1")...)
	confirm := append(selected, "days", "1", "previewed", m.hidden(preview, "previewed"), "key", m.hidden(preview, "key"))
	job, _ := m.form(m.at()+"/bulk", confirm...)
	if again, _ := m.form(m.at()+"/bulk", confirm...); again != job {
		t.Errorf("the form sent twice leads to %s and %s", job, again)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if is := progressOf.FindStringSubmatch(m.page(job)); is != nil && is[1] != "0" {
			break
		}
	}
	m.stop()
	m.run()
	t.Logf("after the restart: %s", progressOf.FindString(m.page(job)))
	m.pass("PT10M") // leases of what was begun end
	found := progressOf.FindStringSubmatch(m.page(job))
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(m.page(job), ">Done<") && !strings.Contains(m.page(job), ">Partly done<"); {
		if time.Now().After(end) {
			t.Fatalf("the job does not end: %s\n%s", found, m.page(job))
		}
		m.pass("PT1M")
	}
	if found = progressOf.FindStringSubmatch(m.page(job)); found == nil {
		t.Fatalf("the page shows no progress:\n%s", m.page(job))
	}
	failed := strings.Count(string(m.file(job+"/failed.csv")), "\n") - 1
	entries := m.moves()
	after := m.dates()
	moved := 0
	for id, date := range before {
		switch by := after[id].Sub(date); {
		case by == 24*time.Hour || by == 23*time.Hour || by == 25*time.Hour: // clocks may change
			moved++
		case by != 0:
			t.Errorf("contract %d moved by %v", id, by)
		}
	}
	if fmt.Sprint(moved) != found[1] || len(entries) != moved || moved+failed != atoi(t, found[2]) || moved < len(before)-5 {
		t.Errorf("%d of %d contracts were moved, by %d entries, and %d failed; the page says %q", moved, len(before), len(entries), failed, found[0])
	}
	for _, e := range entries {
		if e.Status != "SUCCESS" || e.ActivityBy != m.box.Manifest().DashboardUser {
			t.Errorf("entry %+v", e)
			break
		}
	}
	var jobs []struct{ EventType, Status string }
	m.get("/activity-logs?entityType.equals=BULK_AUTOMATION&sort=id,asc", &jobs)
	want := "[{STARTED_BULK_AUTOMATION_PROCESSING INFO} {INFORMATIONAL_EVENT SUCCESS}]"
	if failed > 0 {
		want = "[{STARTED_BULK_AUTOMATION_PROCESSING INFO} {INFORMATIONAL_EVENT PARTIAL_FAILURE}]"
	}
	if got := fmt.Sprint(jobs); got != want {
		t.Errorf("entries of the job %s, want %s", got, want)
	}
}

// bulkEntry is what a story looks at in an entry of a bulk action.
type bulkEntry struct {
	ID         int64
	ActivityBy string
	Status     string
}

// moves returns the entries of orders that bulk actions moved.
func (m *dashboardUser) moves() (all []bulkEntry) {
	m.t.Helper()
	const most = 100
	for page := 0; ; page++ {
		var some []bulkEntry
		m.get(fmt.Sprintf("/activity-logs?size=%d&page=%d&sort=id,asc&eventSource.equals=MERCHANT_PORTAL_BULK_AUTOMATION&eventType.equals=NEXT_BILLING_DATE_CHANGE", most, page), &some)
		if all = append(all, some...); len(some) < most {
			return all
		}
	}
}

// file downloads a file.
func (m *dashboardUser) file(path string) []byte { return []byte(m.page(path)) }

func atoi(t *testing.T, text string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
