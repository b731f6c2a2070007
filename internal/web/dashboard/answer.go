package dashboard

import (
	"net/http"
	"net/url"
	"strings"
)

// Page is what a page of a store shows within the layout.
type Page struct {
	Name    string // of the template
	Title   string
	Lead    string // a sentence below the title; empty: none
	Crumb   *Crumb // the page that it belongs to; nil: none
	Content any    // .Page in the template
	// Sheets are the style sheets of documents within the page, which the browser lets through.
	Sheets []string
	// Letters reports that documents within the page are e-mails: their elements have styles of their
	// own, and pictures of any host.
	Letters bool
}

// At returns the address of a page, whose path is below that of the store and may have a
// query.
func (v Visit) At(path string) string { return v.View.At(path) }

// Answer shows a page.
func (v Visit) Answer(w http.ResponseWriter, p Page) error {
	return v.renderer.render(w, http.StatusOK, p.Name, v.with(p))
}

// Refuse shows a page again whose form was sent, with what is wrong. A failure that the form
// cannot mend is returned, to be shown on a page of its own.
func (v Visit) Refuse(w http.ResponseWriter, r *http.Request, p Page, err error) error {
	return v.renderer.again(w, r, p.Name, v.with(p), err)
}

// Ask shows what an action would do, and asks whether to do it. With a failure it says why
// the form that was sent did not do it.
func (v Visit) Ask(w http.ResponseWriter, r *http.Request, q Question, err error) error {
	p := Page{Name: "question", Title: q.Title, Content: q}
	if err != nil {
		return v.Refuse(w, r, p, err)
	}
	return v.Answer(w, p)
}

// Fragment answers with a template that has no layout, for a part of a page that its script
// reads again.
func (v Visit) Fragment(w http.ResponseWriter, name string, content any) error {
	return v.renderer.render(w, http.StatusOK, name, v.with(Page{Content: content}))
}

// Go sends the reader to a page of the store, which says what was done, by the name of a
// sentence in [Room.Said]. Empty: it says nothing.
func (v Visit) Go(w http.ResponseWriter, path, done string) error {
	if done != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + "done=" + url.QueryEscape(done)
	}
	return Redirect(w, v.At(path))
}

func (v Visit) with(p Page) View {
	view := v.View
	view.Title, view.Lead, view.Crumb, view.Page, view.sheets, view.letters = p.Title, p.Lead, p.Crumb, p.Content, p.Sheets, p.Letters
	return view
}
