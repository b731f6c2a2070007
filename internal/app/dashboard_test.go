package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// wildcard finds what a route leaves open.
var wildcard = regexp.MustCompile(`\{[^}]+\}`)

// Every route of the dashboard is open to the roles that its permission is granted to, in the
// stores that a user belongs to, and to no one else.
func TestEveryRouteOfDashboardAsksForItsPermission(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	l := live(t)
	other := shop.Shop{Domain: "other.myshopify.com", Token: "shpat_other", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: l.clock.Now()}
	l.must(l.app.Store.Shops().AddShop(t.Context(), &other))
	pages, err := l.app.dashboard(web.Frame{Log: slog.New(slog.DiscardHandler)})
	l.must(err)
	send := func(method, path string, cookies []*http.Cookie, form url.Values) *http.Response {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, c := range cookies {
			r.AddCookie(c)
		}
		rec := httptest.NewRecorder()
		pages.ServeHTTP(rec, r)
		return rec.Result()
	}
	sessions := map[staff.Role][]*http.Cookie{}
	for _, role := range staff.Roles {
		email := strings.ToLower(string(role)) + "@staff.example"
		l.must(l.app.Staff.Add(t.Context(), l.of.ID, email, "", role, password))
		answer := send(http.MethodPost, "/admin/signin", nil, url.Values{"email": {email}, "password": {password}})
		if sessions[role] = answer.Cookies(); len(sessions[role]) == 0 {
			t.Fatalf("%s cannot sign in: %d", role, answer.StatusCode)
		}
	}
	checked := 0
	for _, room := range l.app.rooms(nil) {
		for _, route := range room.Routes {
			method, path, _ := strings.Cut(route.Pattern, " ")
			path = wildcard.ReplaceAllString(path, "1")
			for _, role := range staff.Roles {
				answer := send(method, "/admin/stores/demo"+path, sessions[role], nil)
				if forbidden := answer.StatusCode == http.StatusForbidden; forbidden == role.May(route.Need) {
					t.Errorf("%s by %s, which needs %s, answers %d", route.Pattern, role, route.Need, answer.StatusCode)
				}
				if answer.StatusCode >= http.StatusInternalServerError {
					t.Errorf("%s by %s answers %d", route.Pattern, role, answer.StatusCode)
				}
				if answer := send(method, "/admin/stores/other"+path, sessions[role], nil); answer.StatusCode != http.StatusNotFound {
					t.Errorf("%s of a store that %s does not belong to answers %d", route.Pattern, role, answer.StatusCode)
				}
				checked++
			}
			if answer := send(method, "/admin/stores/demo"+path, nil, nil); answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/admin/signin") {
				t.Errorf("%s without a session answers %d and leads to %q", route.Pattern, answer.StatusCode, answer.Header.Get("Location"))
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d requests were checked", checked)
	}
}
