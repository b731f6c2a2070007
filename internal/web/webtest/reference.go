package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/reference"
)

// maxPage is the largest page of a reference, in bytes: a phone shows it at once.
const maxPage = 60_000

var hrefs = regexp.MustCompile(`href="([^"#]*)(?:#([^"]*))?"`)

// Reference reads every page of an interface's reference and fails the test where a link
// leads nowhere, a page is large or needs another host, an operation or a shape is missing,
// or the search does not find an operation. It returns the text of all pages.
func Reference(t *testing.T, h http.Handler, root string, doc *huma.OpenAPI) string {
	t.Helper()
	index := root + "/docs"
	open := func(address string) string {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		h.ServeHTTP(w, r)
		page := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s answered %d", address, w.Code)
		}
		if w.Body.Len() > maxPage {
			t.Errorf("%s has %d bytes, and a page may have %d: give some of its operations a tag of their own", address, w.Body.Len(), maxPage)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "connect-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s may load and call anything: %q", address, policy)
		}
		for _, banned := range []string{`src="http`, `href="http`, "<link", "@import", "url("} {
			if strings.Contains(page, banned) {
				t.Errorf("%s reaches outside with %q", address, banned)
			}
		}
		return page
	}
	pages := map[string]string{index: open(index)}
	for found := []string{index}; len(found) > 0; found = found[1:] {
		for _, link := range hrefs.FindAllStringSubmatch(pages[found[0]], -1) {
			path := link[1]
			if _, known := pages[path]; path == "" || known {
				continue
			}
			if !web.Describes(root, path) {
				t.Errorf("%s links to %s, which is none of the documents", found[0], path)
				continue
			}
			if pages[path] = ""; strings.HasPrefix(path, index) {
				pages[path] = open(path)
				found = append(found, path)
			}
		}
	}
	for from, page := range pages {
		for _, link := range hrefs.FindAllStringSubmatch(page, -1) {
			if to := pages[link[1]]; link[1] != "" && link[2] != "" && !strings.Contains(to, `id="`+link[2]+`"`) {
				t.Errorf("%s links to %s, and there is no %q", from, link[0], link[2])
			}
		}
	}
	for path, item := range doc.Paths {
		for _, op := range reference.Operations(item) {
			entry := `#` + op.OperationID + `"`
			if !strings.Contains(pages[index], entry) || !strings.Contains(pages[index], `id="`+op.OperationID+`"`) {
				t.Errorf("the index does not lead to %s %s", op.Method, path)
			}
			if results := open(index + "?q=" + url.QueryEscape(op.Method+" "+op.OperationID)); !strings.Contains(results, entry) {
				t.Errorf("a search does not find %s", op.OperationID)
			}
		}
	}
	for name := range doc.Components.Schemas.Map() {
		if pages[index+"/shapes/"+name] == "" {
			t.Errorf("no page shows the shape %s", name)
		}
	}
	if results := open(index + "?q=quagga"); !strings.Contains(results, "0 operations and 0 shapes") {
		t.Error("a search that finds nothing does not say so")
	}
	open(index + "?q=e") // what is in everything
	var all strings.Builder
	for _, page := range pages {
		all.WriteString(page)
	}
	return all.String()
}
