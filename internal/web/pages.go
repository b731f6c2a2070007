package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web/reference"
)

//go:embed pages.css
var styles string

//go:embed pages.html
var pages string

// templates are the service's own pages for developers and operators.
var templates = sync.OnceValue(func() *template.Template {
	of, _ := PagesWith(reference.Templates, "")
	return of
})

// PagesWith returns further templates that look as the service's own pages for developers do: they
// begin with "top" and have its styles, which are returned, with their own behind them.
func PagesWith(source, more string) (of *template.Template, all string) {
	all = styles + more
	funcs := template.FuncMap{"styles": func() template.CSS { return template.CSS(all) }} //nolint:gosec // it is ours
	return template.Must(template.Must(template.New("pages").Funcs(funcs).Parse(pages)).Parse(source)), all
}

// ContentPolicy returns the Content-Security-Policy of a page whose only style sheet is
// the given one, in the page. More directives follow.
func ContentPolicy(styles string, more ...string) string {
	return FramedContentPolicy(styles, nil, more...)
}

// FramedContentPolicy is ContentPolicy for a page that pages of some origins may have in a
// frame.
func FramedContentPolicy(styles string, ancestors []string, more ...string) string {
	sum := sha256.Sum256([]byte(styles))
	style := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if len(ancestors) == 0 {
		ancestors = []string{"'none'"}
	}
	return strings.Join(append([]string{"default-src 'none'", style, "base-uri 'none'", "frame-ancestors " + strings.Join(ancestors, " ")}, more...), "; ")
}

// WantsPage reports whether the client is a browser that shows a page: it accepts HTML by
// name, which API clients do not.
func WantsPage(r *http.Request) bool {
	return strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
}

// writePage answers with one of the templates.
func writePage(w http.ResponseWriter, r *http.Request, status int, name, policy string, view any) {
	if err := Render(w, templates(), status, name, policy, view); err != nil {
		WriteError(w, r, err)
	}
}

// Render answers with a page and its Content-Security-Policy. When the template fails it has
// written nothing.
func Render(w http.ResponseWriter, pages *template.Template, status int, name, policy string, view any) error {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, view); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client is gone
	return nil
}

// Sentence returns the message of a failure as a page shows it.
func Sentence(f *fault.Error) string {
	_, size := utf8.DecodeRuneInString(f.Message)
	return strings.ToUpper(f.Message[:size]) + f.Message[size:] + "."
}

// SetRetryAfter says after how many seconds it is worth trying again, when a failure does.
func SetRetryAfter(w http.ResponseWriter, f *fault.Error) {
	if f.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.Wait.Seconds()))))
	}
}

// Front is the page at a host's root: what the host serves, for a person.
type Front struct {
	Title    string
	About    string
	Sections []FrontSection
}

// FrontSection is a group of links.
type FrontSection struct {
	Title string
	Links []FrontLink
}

// FrontLink is one thing that the host serves.
type FrontLink struct {
	Name    string
	Href    string // empty: it is no page, the command shows how to call it
	About   string
	Command string // a command line to copy
}

// ServeHTTP answers with the page.
func (f Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	writePage(w, r, http.StatusOK, "front", ContentPolicy(styles, "form-action 'none'"), f)
}

// AtRoot answers browsers at the root of a host with a page. All other requests go to next.
func AtRoot(page, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && WantsPage(r) {
			page.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
