package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
)

var hrefs = regexp.MustCompile(`href="(/[^"]*)"`)

// Browsers find at the root of each host what that host serves, and nothing that it does
// not; programs are answered as by any path that is not there.
func TestRootOfEachHostListsItsPages(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ opsListen, title, ops string }{
		"operators have a host of their own": {"127.0.0.1:0", "Perennial operations", "a.Ops"},
		"operators share the host":           {"", "Perennial subscriptions", "a.Subscriptions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := serverSettings(t)
			set.OpsListen = row.opsListen
			a, err := New(t.Context(), Options{Settings: set, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: Production})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			hosts := map[string]http.Handler{"a.Subscriptions": a.Subscriptions, "a.Memberships": a.Memberships, "a.Ops": a.Ops}
			ask := func(host, path, accept string) (int, string) {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Accept", accept)
				w := httptest.NewRecorder()
				hosts[host].ServeHTTP(w, r)
				return w.Code, w.Body.String()
			}
			for host := range hosts {
				if host == "a.Ops" && row.opsListen == "" {
					continue // no client reaches it
				}
				status, page := ask(host, "/", "text/html")
				links := hrefs.FindAllStringSubmatch(page, -1)
				if status != http.StatusOK || len(links) == 0 {
					t.Errorf("%s: a browser is answered %d:\n%s", host, status, page)
				}
				for _, link := range links {
					if status, _ := ask(host, link[1], "text/html"); status != http.StatusOK && link[1] != "/readyz" {
						t.Errorf("%s: %s answered %d", host, link[1], status)
					}
				}
				if operated := strings.Contains(page, `href="/metrics"`); operated != (host == row.ops) {
					t.Errorf("%s: metrics are linked: %t", host, operated)
				}
				if host == row.ops && !strings.Contains(page, "<h1>"+row.title+"</h1>") {
					t.Errorf("%s:\n%s", host, page)
				}
				if status, body := ask(host, "/", "*/*"); status != http.StatusNotFound || !strings.Contains(body, `"errorKey":"pathNotFound"`) {
					t.Errorf("%s: a program is answered %d %s", host, status, body)
				}
			}
		})
	}
}
