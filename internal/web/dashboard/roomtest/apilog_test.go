package roomtest_test

import (
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/apilog"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

const apilogPath = dashboardtest.At + "/api-log"

func openAPILog(t *testing.T) (*dashboardtest.Site, access.Key) {
	t.Helper()
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		keys := &access.Service{Store: s.DB.Access(), Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}
		log := &requestlog.Service{Store: s.DB, Clock: s.Clock}
		o.Rooms = append(o.Rooms, apilog.New(apilog.Options{Requests: log, Keys: keys, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	keys := &access.Service{Store: s.DB.Access(), Clock: s.Clock}
	_, key, err := keys.Create(t.Context(), s.First.ID, access.NewKey{Name: "Warehouse"})
	if err != nil {
		t.Fatal(err)
	}
	return s, key
}

// addRequest adds a request of a store.
func addRequest(s *dashboardtest.Site, e requestlog.Entry) {
	s.Helper()
	if err := s.DB.AddRequests(s.Context(), s.First.ID, []requestlog.Entry{e}); err != nil {
		s.Fatal(err)
	}
}

func TestAPILogShowsAndFiltersRequests(t *testing.T) {
	t.Parallel()
	s, key := openAPILog(t)
	s.Want(s.Get(apilogPath), http.StatusOK, "No request", "Warehouse")
	now := s.Clock.Now()
	addRequest(s, requestlog.Entry{ID: 1, At: now.AddDate(0, 0, -3), Key: key.ID, KeyName: "Warehouse", Method: "GET", Path: "/api/old", Status: 200, RequestID: "r-old"})
	addRequest(s, requestlog.Entry{ID: 2, At: now.Add(-time.Minute), Key: key.ID, KeyName: "Warehouse", Method: "GET", Path: "/api/x", Parameters: []string{"page", "size"}, Status: 429, Took: 7 * time.Millisecond, RequestID: "r-1"})
	addRequest(s, requestlog.Entry{ID: 3, At: now.Add(-time.Second), Key: 99, KeyName: "Reports", App: "reports", Method: "PUT", Path: "/api/y", Status: 403, RequestID: "r-2"})
	addRequest(s, requestlog.Entry{ID: 4, At: now.AddDate(0, 0, -8), Key: key.ID, KeyName: "Warehouse", Method: "GET", Path: "/api/ancient", Status: 200})
	all := s.Get(apilogPath)
	s.Want(all, http.StatusOK, "GET /api/x", "with page, size", "429", "7 ms", "25 Nov, 11:59:00", "r-2", "application <code>reports</code>", "GET /api/old", "<dd>1</dd>")
	if strings.Contains(all.Text, "/api/ancient") {
		t.Error("a request of more than a week ago is shown")
	}
	for query, path := range map[string]string{
		"answer=403": "/api/y", "request=r-1": "/api/x", "answer=429": "/api/x", "answer=failed&key=99": "/api/y", fmt.Sprintf("key=%d&answer=failed", key.ID): "/api/x", "until=2026-11-23": "/api/old",
	} {
		p := s.Get(apilogPath + "?" + query)
		s.Want(p, http.StatusOK, path)
		if n := strings.Count(p.Text, "<code>GET /") + strings.Count(p.Text, "<code>PUT /"); n != 1 {
			t.Errorf("%s shows %d requests, want 1", query, n)
		}
	}
	for _, bad := range []string{"request=" + strings.Repeat("r", 129), "answer=500", "key=x", "until=soon", "after=1", "after=x-1"} {
		s.Want(s.Get(apilogPath+"?"+bad), http.StatusBadRequest)
	}
}

func TestAPILogShowsOneRequest(t *testing.T) {
	t.Parallel()
	s, key := openAPILog(t)
	addRequest(s, requestlog.Entry{ID: 1, At: s.Clock.Now(), Key: key.ID, Method: "GET", Path: "/api/x", Status: 200, RequestID: "<b>r"})
	s.Want(s.Get(apilogPath+"?request=%3Cb%3Er"), http.StatusOK, "GET /api/x", "Only request <code>&lt;b&gt;r</code>", "Show all requests")
	s.Want(s.Get(apilogPath+"?request=gone"), http.StatusOK, "The log has no such request.")
}

func TestAPILogHasPages(t *testing.T) {
	t.Parallel()
	s, key := openAPILog(t)
	for i := range 60 { // all in one millisecond
		addRequest(s, requestlog.Entry{ID: int64(i + 1), At: s.Clock.Now(), Key: key.ID, Method: "GET", Path: fmt.Sprintf("/api/%d/", i), Status: 200})
	}
	first := s.Get(apilogPath)
	s.Want(first, http.StatusOK, "/api/59/", "/api/10/", "Older")
	if strings.Contains(first.Text, "/api/9/") {
		t.Error("the first page has more than 50 requests")
	}
	s.Want(s.Get(fmt.Sprintf("%s?after=%d-11", apilogPath, s.Clock.Now().UnixMilli())), http.StatusOK, "/api/9/", "/api/0/", "Newest")
}

func TestAPILogIsOfOneStoreAndForDevelopers(t *testing.T) {
	t.Parallel()
	s, _ := openAPILog(t)
	if err := s.DB.AddRequests(t.Context(), s.Second.ID, []requestlog.Entry{{ID: 1, At: s.Clock.Now(), Key: 5, Method: "GET", Path: "/api/theirs", Status: 200}}); err != nil {
		t.Fatal(err)
	}
	s.Want(s.Get(apilogPath), http.StatusOK, "No request")
	s.Add("dev@staff.example", staff.Developer)
	s.SignIn("dev@staff.example")
	s.Want(s.Get(apilogPath), http.StatusOK)
	s.Add("ann@staff.example", staff.Analyst)
	s.SignIn("ann@staff.example")
	s.Want(s.Get(apilogPath), http.StatusForbidden)
}

func TestPathOfRequestIsShownAsText(t *testing.T) {
	t.Parallel()
	s, key := openAPILog(t)
	bad := "<script>alert(1)</script>{{7*7}}"
	addRequest(s, requestlog.Entry{ID: 1, At: s.Clock.Now(), Key: key.ID, KeyName: bad, Method: "GET", Path: "/api/" + bad, Status: 200})
	p := s.Get(apilogPath)
	s.Want(p, http.StatusOK, "/api/"+html.EscapeString("<script>alert(1)</script>")+"{{7*7}}")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("the path is a script")
	}
}

func TestExpiredRequestsAreDeleted(t *testing.T) {
	t.Parallel()
	s, key := openAPILog(t)
	now := s.Clock.Now()
	for i := range 3 {
		addRequest(s, requestlog.Entry{ID: int64(i + 1), At: now.Add(time.Duration(i) * time.Hour), Key: key.ID, Method: "GET", Path: "/", Status: 200})
	}
	due := func() int {
		ids, err := s.DB.Shops().ExpiredRequestShops(t.Context(), s.Clock.Now(), 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	s.Clock.Set(now.Add(requestlog.Retention + 59*time.Minute))
	if due() != 0 {
		t.Error("a store is cleaned before anything has expired for an hour")
	}
	s.Clock.Set(now.Add(requestlog.Retention + 90*time.Minute))
	if due() != 1 {
		t.Error("a store with expired requests is not cleaned")
	}
	log := &requestlog.Service{Store: s.DB, Clock: s.Clock}
	if err := log.Clean(t.Context(), s.First.ID); err != nil {
		t.Fatal(err)
	}
	left, err := s.DB.Requests(t.Context(), s.First.ID, requestlog.Filter{}, time.Time{}, page.Cursor{}, 10)
	if err != nil || len(left) != 1 || left[0].ID != 3 {
		t.Errorf("%v are left, %v", left, err)
	}
}
