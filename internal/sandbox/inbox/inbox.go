// Package inbox shows people what the sandbox has caught: each e-mail as its reader sees it, on a
// wide screen, on a phone, in the dark and as plain text, and each SMS.
package inbox

import (
	_ "embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal/letters"
)

// Item is what was caught.
type Item struct {
	From, To string
	Kind     string
	Subject  string // of an e-mail
	Text     string
	HTML     string // of an e-mail
	At       time.Time
	Segments int // of an SMS, which has one at least; 0: it is an e-mail

	Unsubscribe string // where mail programs end e-mails of its kind; empty: they cannot
}

// SMS reports whether the item is one.
func (i Item) SMS() bool { return i.Segments > 0 }

// Catcher returns what was caught, oldest first. What is due when it is asked has been sent.
type Catcher func(r *http.Request) ([]Item, error)

// pageSize is how many items a page lists.
const pageSize = 50

// Routes serves the pages, each inside what is around all reads.
func Routes(mux *http.ServeMux, around func(http.HandlerFunc) http.HandlerFunc, catch Catcher) {
	p := &pages{catch}
	mux.HandleFunc("GET /inbox", around(p.list))
	mux.HandleFunc("GET /inbox/{number}", around(p.one))
	mux.HandleFunc("GET /inbox/{number}/letter", around(p.letter))
}

type pages struct{ catch Catcher }

//go:embed inbox.html
var source string

//go:embed inbox.css
var css string

var templates, styles = web.PagesWith(source, css)

var policy = web.ContentPolicy(styles, "form-action 'self'", "frame-src 'self'")

// framed is the policy of an e-mail in its frame: it may look, and do nothing. Links open in a tab of
// their own.
const framed = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: http: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// row is an item in a list, with its number from 1 in the order in which items were caught.
type row struct {
	Item

	Number int
}

// listView is the page of a list.
type listView struct {
	Rows         []row
	Kinds        []string
	To, Kind     string
	Newer, Older string // addresses of the neighbouring pages
	Found        int
}

// list shows the items that match a filter, newest first.
func (p *pages) list(w http.ResponseWriter, r *http.Request) {
	items, err := p.catch(r)
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	q := r.URL.Query()
	v := listView{To: strings.TrimSpace(q.Get("to")), Kind: q.Get("kind")}
	var rows []row
	for i, is := range items {
		if !slices.Contains(v.Kinds, is.Kind) {
			v.Kinds = append(v.Kinds, is.Kind)
		}
		if (v.To == "" || strings.Contains(strings.ToLower(is.To), strings.ToLower(v.To))) && (v.Kind == "" || v.Kind == is.Kind) {
			rows = append(rows, row{is, i + 1})
		}
	}
	slices.Sort(v.Kinds)
	slices.Reverse(rows)
	v.Found = len(rows)
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 0 || page*pageSize >= max(len(rows), 1) {
		page = 0
	}
	at := func(n int) string {
		return "/inbox?" + url.Values{"to": {v.To}, "kind": {v.Kind}, "page": {strconv.Itoa(n)}}.Encode()
	}
	if page > 0 {
		v.Newer = at(page - 1)
	}
	if (page+1)*pageSize < len(rows) {
		v.Older = at(page + 1)
	}
	v.Rows = rows[page*pageSize : min(len(rows), (page+1)*pageSize)]
	render(w, r, "inbox", v)
}

// Shapes in which an e-mail is looked at.
var shapes = []shape{{"desktop", "Desktop"}, {"phone", "Phone"}, {"dark", "Dark"}, {"text", "Text"}}

type shape struct{ Name, Label string }

// itemView is the page of an item.
type itemView struct {
	row

	As     string
	Shapes []shape
}

// one shows an item.
func (p *pages) one(w http.ResponseWriter, r *http.Request) {
	is, err := p.find(r)
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	v := itemView{row: is, As: r.URL.Query().Get("as"), Shapes: shapes}
	if !slices.ContainsFunc(shapes, func(s shape) bool { return s.Name == v.As }) {
		v.As = shapes[0].Name
	}
	if is.HTML == "" {
		v.As = "text"
	}
	render(w, r, "item", v)
}

// letter answers with the HTML of an e-mail. Its rules for dark screens are those for all screens when
// it is looked at as dark.
func (p *pages) letter(w http.ResponseWriter, r *http.Request) {
	is, err := p.find(r)
	if err == nil && is.HTML == "" {
		err = fault.New(fault.NotFound, "message %d has no HTML", is.Number).Entity("mail").Code("mailUnknown")
	}
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	html := is.HTML
	if r.URL.Query().Has("dark") {
		html = letters.Dark(html)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", framed)
	_, _ = w.Write([]byte(strings.Replace(html, "<head>", `<head><base target="_blank">`, 1))) // the client is gone
}

func (p *pages) find(r *http.Request) (row, error) {
	items, err := p.catch(r)
	if err != nil {
		return row{}, err
	}
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || n < 1 || n > len(items) {
		return row{}, fault.New(fault.NotFound, "there is no message %.50q: %d were caught", r.PathValue("number"), len(items)).Entity("mail").Code("mailUnknown")
	}
	return row{items[n-1], n}, nil
}

func render(w http.ResponseWriter, r *http.Request, name string, view any) {
	if err := web.Render(w, templates, http.StatusOK, name, policy, view); err != nil {
		web.WriteError(w, r, err)
	}
}
