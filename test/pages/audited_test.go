package pages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

var (
	renew = flag.Bool("renew", false, "write the list of audited pages again")
	seen  = flag.String("seen", "", "folder for the texts from which the checksums of pages are made")
)

const (
	auditedFile  = "testdata/audited.txt"
	renewCommand = "make audits"
)

// audits are the pages that were found to be sound. A line is the checksum of a page and its name: of the
// visit, and of what the visit looks at.
type audits struct {
	all    bool // audit every page, whether the list has it or not
	mu     sync.Mutex
	listed map[string]bool // lines of the file
	found  map[string]bool // lines of the pages that this run has visited
}

// audited are those of this package.
var audited = audits{all: auditsAll, found: make(map[string]bool)}

// readAudits reads the list. Without a file it is empty.
func readAudits(file string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	list := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		list[strings.TrimSpace(line)] = true
	}
	return list, nil
}

// has notes a visit of a page and reports whether the list has the page as it is.
func (a *audits) has(name, content string) bool {
	sum := sha256.Sum256([]byte(content + browsertest.Rules()))
	line := hex.EncodeToString(sum[:12]) + "  " + name
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found[line] = true
	return a.listed[line]
}

// unchanged reports whether a part of the page that is open was found to be sound before, as it is now.
func (v *visit) unchanged(list *audits, name string, p part) bool {
	v.t.Helper()
	full := strings.TrimSpace(v.of + "/" + name + " " + strings.TrimSuffix(p.where, ", "))
	content := p.page.Content()
	if *seen != "" {
		file := filepath.Join(*seen, strings.NewReplacer("/", "--", " ", "-").Replace(full)+".html")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			v.t.Fatal(err)
		}
	}
	is := list.has(full, content)
	if !is && !list.all {
		v.t.Logf("%s has changed and is audited: renew the list with %s", full, renewCommand)
	}
	return is && !list.all
}

// TestMain compares the list with the pages that were visited, or renews it, once all tests have passed.
func TestMain(m *testing.M) {
	var err error
	if audited.listed, err = readAudits(auditedFile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	end := browsertest.Keep()
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "end the browser:", err)
		code = 1
	}
	if code == 0 && !audited.all {
		if err := audited.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// end writes the list again when the flag -renew is set. Otherwise it prints the lines by which the list
// differs from the pages that were visited, unless only some tests ran: such pages were audited, which
// takes time and is no fault. Another version of the browser writes style sheets in another way, perhaps.
func (a *audits) end() error {
	some := false
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		some = some || flag.Lookup(name).Value.String() != ""
	}
	if *renew {
		return a.write(auditedFile, some)
	}
	if some || *postgres {
		return nil
	}
	for _, line := range sorted(a.found) {
		if !a.listed[line] {
			fmt.Println("audited now, and not in the list: ", line)
		}
	}
	for _, line := range sorted(a.listed) {
		if !a.found[line] {
			fmt.Println("in the list, and not visited:     ", line)
		}
	}
	return nil
}

// write writes the list with the pages that were visited. When only some tests ran, it keeps the lines of
// visits that were not made.
func (a *audits) write(file string, some bool) error {
	list := maps.Clone(a.found)
	if some {
		made := make(map[string]bool)
		for line := range a.found {
			made[visitOf(line)] = true
		}
		for line := range a.listed {
			if !made[visitOf(line)] {
				list[line] = true
			}
		}
	}
	return os.WriteFile(file, []byte(strings.Join(sorted(list), "\n")+"\n"), 0o644) //nolint:gosec // a file of this folder
}

// visitOf returns the name of the visit in a line.
func visitOf(line string) string {
	_, name, _ := strings.Cut(line, "  ")
	visit, _, _ := strings.Cut(name, "/")
	return visit
}

// sorted returns lines by the names of the pages.
func sorted(lines map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		_, first, _ := strings.Cut(a, "  ")
		_, second, _ := strings.Cut(b, "  ")
		return cmp.Or(strings.Compare(first, second), strings.Compare(a, b))
	})
}

// A page in the list is not audited. When a character of its HTML or its style sheet changes, it is, and what
// breaks a rule is found.
func TestChangedPageIsAudited(t *testing.T) {
	t.Parallel()
	const page = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Orders</title><link rel="stylesheet" href="/css"><main><h1>Orders</h1><p id="a">Order 12</p></main></html>`
	html, css := page, "p{color:#222;background:#fff}"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := html
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/css" {
			text = css
			w.Header().Set("Content-Type", "text/css")
		}
		_, _ = io.WriteString(w, text) // the browser is gone
	}))
	defer server.Close()
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "orders"}
	list := audits{listed: map[string]bool{}, found: map[string]bool{}}
	for _, row := range []struct {
		name    string
		change  func()
		audited bool
		rule    string // that is broken; "": none
	}{
		{"no run has visited it", func() {}, true, ""},
		{"it is the same", func() {}, false, ""},
		{"it has another number", func() { html = strings.Replace(page, "12", "1300", 1) }, false, ""},
		{"its style sheet has another colour", func() { css = "p{color:#2f2;background:#fff}" }, true, "color-contrast"},
		{"it has another element", func() { html, css = strings.Replace(page, "h1", "h4", 2), "p{color:#222;background:#fff}" }, true, "page-has-heading-one"},
		{"it has another attribute", func() { html = strings.Replace(page, "lang", "wang", 1) }, true, "html-has-lang"},
	} {
		row.change()
		v.tab.Open(server.URL)
		found, audited := v.violations(&list, "page", part{"", v.tab})
		if audited != row.audited {
			t.Errorf("%s: audited %t", row.name, audited)
		}
		if text := strings.Join(found, "\n"); row.rule == "" && text != "" || !strings.Contains(text, row.rule) {
			t.Errorf("%s: found %q, want %q", row.name, text, row.rule)
		}
		if row.rule == "" {
			list.listed = maps.Clone(list.found)
		}
	}
}
