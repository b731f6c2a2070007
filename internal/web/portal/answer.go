package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Page is what a screen shows within the layout.
type Page struct {
	Name    string // of the template
	Title   string
	Lead    string // a sentence below the title; empty: none
	Crumb   *Crumb // the screen that it belongs to; nil: none
	Email   string // of the customer, where it is known
	Undo    *Form  // takes back what was just done; nil: that is not possible
	Content any    // .Page in the template
}

// Answer shows a screen.
func (v Visit) Answer(w http.ResponseWriter, p Page) error {
	return v.renderer.render(w, http.StatusOK, p.Name, v.with(p))
}

// Refuse shows a screen again whose form was sent, with what is wrong. A failure that the form
// cannot mend is returned, to be shown on a page of its own.
func (v Visit) Refuse(w http.ResponseWriter, r *http.Request, p Page, err error) error {
	return v.renderer.again(w, r, p.Name, v.with(p), err)
}

// Sentence says what is wrong, in the reader's words; "" for a failure that is not about what they asked.
func (v Visit) Sentence(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return ""
	}
	return v.renderer.sentence(v.View, f)
}

// Ask shows what an action would do, and asks whether to do it. With a failure it says why the
// form that was sent did not do it.
func (v Visit) Ask(w http.ResponseWriter, r *http.Request, q Question, err error) error {
	p := Page{Name: "question", Title: q.Title, Lead: q.Lead, Crumb: q.Back, Email: q.Email, Content: q}
	if err != nil {
		return v.Refuse(w, r, p, err)
	}
	return v.Answer(w, p)
}

// Fragment answers with a template that has no layout, for a part of a screen that its script
// reads again.
func (v Visit) Fragment(w http.ResponseWriter, name string, content any) error {
	return v.renderer.render(w, http.StatusOK, name, v.with(Page{Content: content}))
}

// Go sends the reader to a screen, which says what was done, by the name of a sentence in
// [Room.Said]. Empty: it says nothing.
func (v Visit) Go(w http.ResponseWriter, path, done string) error {
	if done != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + "done=" + url.QueryEscape(done)
	}
	return v.renderer.forward(w, v.View, v.View.At(path))
}

// Leave sends the reader to a page of another site.
func (v Visit) Leave(w http.ResponseWriter, to string) error {
	return v.renderer.forward(w, v.View, to)
}

func (v Visit) with(p Page) View {
	view := v.View
	view.Title, view.Lead, view.Crumb, view.Email, view.Undo, view.Page = p.Title, p.Lead, p.Crumb, p.Email, p.Undo, p.Content
	return view
}
