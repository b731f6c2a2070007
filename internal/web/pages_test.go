package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only a browser that asks for the root is shown the page. All else is answered as if
// there were none.
func TestRootShowsPageOnlyToBrowsers(t *testing.T) {
	t.Parallel()
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "next ", r.Method, r.URL.Path)
	})
	h := AtRoot(Front{Title: "Here <b>", About: "What is here.", Sections: []FrontSection{
		{Title: "Pages", Links: []FrontLink{{Name: "Reference", Href: "/docs"}, {Name: "Call", Command: "curl -d '<x>'"}}},
	}}, next)
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, row := range []struct {
		method, path, accept string
		page                 bool
	}{
		{http.MethodGet, "/", browser, true},
		{http.MethodHead, "/", browser, true},
		{http.MethodPost, "/", browser, false},
		{http.MethodGet, "/docs", browser, false},
		{http.MethodGet, "//", browser, false},
		{http.MethodGet, "/", "", false},
		{http.MethodGet, "/", "*/*", false},
		{http.MethodGet, "/", "application/json", false},
	} {
		r := httptest.NewRequest(row.method, "/", nil)
		r.URL.Path = row.path
		if row.accept != "" {
			r.Header.Set("Accept", row.accept)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !row.page {
			if want := "next " + row.method + row.path; w.Body.String() != want || len(w.Header()) != 1 || w.Header().Get("Content-Type") != "text/plain" {
				t.Errorf("%+v: answered %v %s", row, w.Header(), w.Body)
			}
			continue
		}
		body := w.Body.String()
		for _, want := range []string{`<h1>Here &lt;b&gt;</h1>`, `<a href="/docs">Reference</a>`, `<pre>curl -d &#39;&lt;x&gt;&#39;</pre>`} {
			if !strings.Contains(body, want) {
				t.Errorf("%+v: the page lacks %s:\n%s", row, want, body)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%+v: headers %v", row, w.Header())
		}
	}
}
