package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
)

const sound = `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Page</title></head><body><main><h1>Page</h1>%</main></body></html>`

// What the browser is trusted to find, it finds; on a sound page it finds nothing.
func TestEachAccessibilityMistakeIsFound(t *testing.T) {
	t.Parallel()
	content := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Write([]byte(strings.Replace(sound, "%", content, 1)))
	}))
	defer site.Close()
	tab := browsertest.Start(t).Tab(t)
	tab.Show(390, 844, "light")
	for _, row := range []struct {
		name, content string
		find          func() []browsertest.Violation
		want          string // rule; empty: nothing is found
	}{
		{"a sound page", `<p><a href="/">Home</a></p>`, tab.Audit, ""},
		{"a label that is too pale", `<p style="color:#bbb;background:#fff">Pale</p>`, tab.Audit, "color-contrast"},
		{"a label that is too pale, by its colours", `<p style="color:#bbb;background:#fff">Pale</p>`, tab.AuditColours, "color-contrast"},
		{"a link that only its colour shows", `<style>a{color:#555;text-decoration:none}p{color:#333}</style><p>Words and <a href="/">a link</a> in them</p>`, tab.AuditColours, "link-in-text-block"},
		{"a field without a label, by its colours", `<input>`, tab.AuditColours, ""},
		{"an empty header of a table", `<table><tr><th>Name</th><th></th></tr><tr><td>a</td><td>b</td></tr></table>`, tab.Audit, "empty-table-header"},
		{"a region that scrolls and takes no focus", `<div style="overflow:auto;height:2rem"><p style="height:9rem">Long</p></div>`, tab.Audit, "scrollable-region-focusable"},
		{"a field without a label", `<input>`, tab.Audit, "label"},
		{"what the keyboard reaches", `<p><a href="/">Home</a> <button>Go</button></p><div tabindex="0" style="overflow:auto;height:2rem"><p style="height:9rem">Long</p></div>`, tab.Keyboard, ""},
		{"a link that the keyboard does not reach", `<p><a href="/" tabindex="-1">Home</a></p>`, tab.Keyboard, "keyboard"},
		{"a link that does not show the focus", `<p><a href="/" style="outline:none">Home</a></p>`, tab.Keyboard, "focus-visible"},
		{"a page that fits", `<p>Narrow</p>`, tab.Sideways, ""},
		{"a page that is too wide", `<pre style="width:60rem">Wide</pre>`, tab.Sideways, "sideways"},
	} {
		content = row.content
		tab.Open(site.URL)
		found := row.find()
		if row.want == "" && len(found) > 0 || row.want != "" && (len(found) != 1 || found[0].Rule != row.want) {
			t.Errorf("%s: found %v, want %q", row.name, found, row.want)
		}
	}
}

// A page that shows another thing in the dark has another layout there. A page with other
// colours alone has the same.
func TestLayoutDiffersOnlyByWhatIsShown(t *testing.T) {
	t.Parallel()
	content := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(strings.Replace(sound, "%", content, 1)))
	}))
	defer site.Close()
	tab := browsertest.Start(t).Tab(t)
	for _, row := range []struct {
		name, dark string // rules of the dark scheme
		same       bool
	}{
		{"other colours", "p{color:#fff;background:#000}", true},
		{"a paragraph is gone", "p{display:none}", false},
		{"a paragraph is invisible", "p{visibility:hidden}", false},
		{"a paragraph is transparent", "p{opacity:0}", false},
		{"larger letters", "p{font-size:2rem}", false},
	} {
		content = "<style>@media (prefers-color-scheme:dark){" + row.dark + "}</style><p>Words</p>"
		tab.Open(site.URL)
		tab.Show(390, 844, "light")
		light := tab.Layout()
		tab.Show(390, 844, "dark")
		if same := tab.Layout() == light; same != row.same {
			t.Errorf("%s: the same layout: %t", row.name, same)
		}
	}
}

func TestPageLoadsWithoutScripts(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<!doctype html><title>Page</title><p id=text>without</p><script>document.getElementById('text').textContent='with'</script>"))
	}))
	defer site.Close()
	tab := browsertest.Start(t).Tab(t)
	for _, scripts := range []bool{false, true} {
		tab.Scripts(scripts)
		tab.Open(site.URL)
		if got := browsertest.Eval[string](tab, "document.getElementById('text').textContent"); (got == "with") != scripts {
			t.Errorf("with scripts %t the page is shown %s", scripts, got)
		}
	}
}

// A frame is read, clicked and typed into although its page is of another origin.
func TestFrameOfAnotherOriginIsUsed(t *testing.T) {
	t.Parallel()
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
		content := `<p><a href="/next">Next</a></p>`
		if r.URL.Path == "/next" {
			content = `<form action="/said"><label>Name <input name="name"></label></form><p style="color:#bbb;background:#fff">Pale</p>`
		}
		w.Write([]byte(strings.Replace(sound, "%", content+"<p>Said "+r.URL.Query().Get("name")+".</p>", 1)))
	}))
	defer inner.Close()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(strings.Replace(sound, "%", `<iframe id="app" title="App" style="margin:3rem" src="`+inner.URL+`"></iframe>`, 1)))
	}))
	defer outer.Close()
	tab := browsertest.Start(t).Tab(t)
	tab.Open(outer.URL)
	frame := tab.Frame("#app")
	frame.Wait("Said .")
	if found := frame.Audit(); len(found) != 0 {
		t.Errorf("on a sound page: %v", found)
	}
	frame.Click("a")
	frame.Wait("Pale")
	if found := frame.Audit(); len(found) != 1 || found[0].Rule != "color-contrast" {
		t.Errorf("on a page that is too pale: %v", found)
	}
	frame.Submit("input", "Ada")
	frame.Wait("Said Ada.")
	if found := frame.Sideways(); len(found) != 0 {
		t.Errorf("on a page that fits: %v", found)
	}
	if text := frame.Text(); !strings.Contains(text, "Next") {
		t.Errorf("the frame says %q", text)
	}
}
