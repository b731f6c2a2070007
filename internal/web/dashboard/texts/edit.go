package texts

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// editPage is the form of a text.
type editPage struct {
	Path    string // below the store's
	Lang    string
	Dir     string
	English bool   // the default is English because the language lacks the text
	Note    string // about what is stored; empty: nothing
	Forms   []formField
	Uses    []string // the placeholders, as texts have them
	Stored  bool     // the merchant has a text
	May     bool
	Seen    seen
}

// formField is the text of a plural form.
type formField struct {
	Field   dashboard.Field
	Default string
	Was     string // the merchant's text when the form was opened; empty: none
	WasName string // of the unseen field that says so
}

// text is a text that is edited.
type text struct {
	language, key string
	defaults      []locale.FormText
	translated    bool
	own           wording.Forms
}

// find returns the text that the path names.
func (m *room) find(ctx context.Context, r *http.Request, v dashboard.Visit) (text, error) {
	t := text{language: r.PathValue("language"), key: r.PathValue("key"), own: wording.Forms{}}
	t.defaults, t.translated = m.Catalogue.Defaults(t.language, t.key)
	list, err := m.Wordings.List(ctx, v.Shop.ID)
	if err != nil {
		return t, err
	}
	for _, o := range list {
		if o.Language == t.language && o.Key == t.key {
			t.own[o.Form] = o.Text
		}
	}
	if len(t.defaults) == 0 && len(t.own) == 0 {
		return t, fault.New(fault.NotFound, "there is no such text").Code("portalTextNotFound")
	}
	return t, nil
}

// at returns the path of the text, below the store's.
func (t text) at() string { return fmt.Sprintf("%s/%s/%s", path, t.language, url.PathEscape(t.key)) }

// back returns the path of the list.
func (t text) back() string { return path + "?language=" + url.QueryEscape(t.language) }

// formNames are the plural forms in words.
var formNames = map[string]string{"zero": "none", "one": "one", "two": "two", "few": "a few", "many": "many", "other": "all other numbers"}

// edit shows the form of a text.
func (m *room) edit(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	t, err := m.find(r.Context(), r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, m.page(v, t, t.own))
}

// page returns the form of a text, with texts that are entered.
func (m *room) page(v dashboard.Visit, t text, entered wording.Forms) dashboard.Page {
	p := editPage{
		Path: t.at(), Lang: t.language, Dir: m.Catalogue.Printer(t.language, nil).Dir(), English: !t.translated, Stored: len(t.own) > 0, May: v.May(staff.ManageStore),
		Seen: m.seen(v, t, entered),
	}
	for _, name := range m.Catalogue.Placeholders(t.key) {
		p.Uses = append(p.Uses, "{"+name+"}")
	}
	for _, form := range slices.Sorted(maps.Keys(t.own)) {
		own := t.own[form]
		if err := m.Catalogue.CheckOverride(t.language, t.key, form, own); err != nil {
			p.Note = "Your text “" + own + "” is not shown: it no longer fits the product. Customers see the default."
		}
	}
	for _, d := range t.defaults {
		f := formField{Default: d.Text, Was: t.own[d.Form], WasName: wasField(d.Form)}
		f.Field = dashboard.Field{Name: wording.Field(d.Form), Label: "Your text", Type: "textarea", Value: entered[d.Form], Max: wording.MaxText}
		if n := locale.Example(t.language, d.Form); d.Form != "" {
			f.Field.Label = "Your text for " + formNames[d.Form]
			f.Field.Hint = fmt.Sprintf("Such as %d.", n)
		}
		p.Forms = append(p.Forms, f)
	}
	lead := "What customers read in " + locale.Name(t.language) + ". Leave a field empty to show the default."
	return dashboard.Page{Name: "text", Title: t.key, Lead: lead, Crumb: &dashboard.Crumb{Name: "Portal texts", Path: t.back()}, Content: p}
}

// wasField is the name of the unseen field that holds what a form's text was.
func wasField(form string) string { return strings.Replace(wording.Field(form), "text", "was", 1) }

// sent reads the texts of a form, whose fields have names.
func (t text) sent(r *http.Request, field func(form string) string) wording.Forms {
	forms := wording.Forms{}
	for _, d := range t.defaults {
		if text := strings.ReplaceAll(r.PostForm.Get(field(d.Form)), "\r\n", "\n"); text != "" {
			forms[d.Form] = text
		}
	}
	return forms
}

// save stores a text, or shows how it would look.
func (m *room) save(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	t, err := m.find(r.Context(), r, v)
	if err != nil {
		return err
	}
	now := t.sent(r, wording.Field)
	if r.PostForm.Get("do") == "preview" {
		return v.Answer(w, m.page(v, t, now))
	}
	err = m.Wordings.Save(r.Context(), v.Shop.ID, wording.Draft{Language: t.language, Key: t.key, Was: t.sent(r, wasField), Now: now}, v.Actor(r))
	if err != nil {
		return v.Refuse(w, r, m.page(v, t, now), err)
	}
	done := "text-saved"
	if len(now) == 0 {
		done = "text-reset"
	}
	return v.Go(w, t.at(), done)
}

// askReset asks whether to delete the merchant's text.
func (m *room) askReset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	t, err := m.find(r.Context(), r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, t.question(), nil)
}

// question is the one that is asked before a text is reset.
func (t text) question() dashboard.Question {
	q := dashboard.Question{
		Title: "Reset " + t.key, Back: t.at(), Path: t.at() + "/reset", Button: "Reset to default", Keep: "Keep my text", Grave: true, Hidden: map[string]string{},
		Says: []string{"Your text in " + locale.Name(t.language) + " is deleted:"},
	}
	for _, form := range slices.Sorted(maps.Keys(t.own)) {
		own := t.own[form]
		q.Says = append(q.Says, "“"+own+"”")
		q.Hidden[wasField(form)] = own
	}
	if len(t.defaults) > 0 {
		q.Says = append(q.Says, "Customers see this instead from now on:", "“"+t.defaults[len(t.defaults)-1].Text+"”")
	}
	return q
}

// reset deletes the merchant's text.
func (m *room) reset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	t, err := m.find(r.Context(), r, v)
	if err != nil {
		return err
	}
	was := wording.Forms{}
	for form := range t.own {
		was[form] = strings.ReplaceAll(r.PostForm.Get(wasField(form)), "\r\n", "\n")
	}
	err = m.Wordings.Save(r.Context(), v.Shop.ID, wording.Draft{Language: t.language, Key: t.key, Was: was}, v.Actor(r))
	if err != nil {
		return v.Ask(w, r, t.question(), err)
	}
	return v.Go(w, t.back(), "text-reset")
}
