// Package preferences is the screen on which subscribers choose which e-mails they get, and in which
// language they read the portal.
package preferences

import (
	"context"
	"embed"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Preferences reads and changes what subscribers have set. Failures are faults.
type Preferences interface {
	Preferences(ctx context.Context, who do.Caller) (do.Preferences, error)
	SetPreferences(ctx context.Context, who do.Caller, want do.Preferences) (do.Preferences, error)
}

// Options are what the room needs.
type Options struct {
	Preferences Preferences
	Languages   []string // tags of those that the pages have
}

//go:embed pages/*.html
var pages embed.FS

const path = "/preferences"

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{{Pattern: "GET " + path, Show: r.show}, {Pattern: "POST " + path, Show: r.set}},
		Tabs:   []portal.Tab{{Text: "preferences.tab", Path: path}},
		Pages:  pages,
		Said:   map[string]string{"preferences": "done.preferences"},
	}
}

type room struct{ Options }

// Fields of the form.
const (
	wanted   = "mail"     // a kind of e-mail that the subscriber wants: one value for each
	language = "language" // BCP 47, as the interface names it; empty: the browser's
)

// screen is what the page shows.
type screen struct {
	Form   portal.Form
	Lang   portal.Field
	Kinds  []portal.Choice // that can be refused
	Always []string        // names of the others
}

// page shows the language of a subscriber, and which e-mails are sent to them.
func (m room) page(v portal.Visit, p do.Preferences) portal.Page {
	is := screen{Form: v.View.Form(path, p.Version), Lang: m.languages(v, p.Language)}
	off := p.Off
	for _, k := range notify.OptionalKinds {
		is.Kinds = append(is.Kinds, portal.Choice{Value: string(k), Name: v.T("mail." + string(k)), Selected: !slices.Contains(off, k)})
	}
	for _, k := range notify.CustomerKinds() {
		if !slices.Contains(notify.OptionalKinds, k) {
			is.Always = append(is.Always, v.T("mail."+string(k)))
		}
	}
	return portal.Page{Name: "preferences", Title: v.T("preferences.title"), Lead: v.T("preferences.text"), Content: is}
}

// languages is the field of the languages, each under its own name. A choice that the pages do not have,
// which other clients can make, stays as it is.
func (m room) languages(v portal.Visit, chosen string) portal.Field {
	f := portal.Field{Name: language, Type: "select", Label: v.T("preferences.language"), Hint: v.T("preferences.language.text"), Choices: []portal.Choice{{Name: v.T("preferences.language.browser")}}}
	known := chosen == ""
	for _, tag := range m.Languages {
		f.Choices = append(f.Choices, portal.Choice{Value: tag, Name: locale.Name(tag), Selected: tag == chosen})
		known = known || tag == chosen
	}
	if !known {
		f.Choices = append(f.Choices, portal.Choice{Value: chosen, Name: chosen, Selected: true})
	}
	return f
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, err := m.Preferences.Preferences(r.Context(), v.Caller(r))
	if err != nil {
		return err
	}
	return v.Answer(w, m.page(v, p))
}

// refused returns the kinds that a form does not want.
func refused(r *http.Request) []notify.Kind {
	return slices.DeleteFunc(slices.Clone(notify.OptionalKinds), func(k notify.Kind) bool { return slices.Contains(r.PostForm[wanted], string(k)) })
}

func (m room) set(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	err := v.InChosenLanguage().Do(w, r, func(ctx context.Context, _ string) (string, error) {
		is, err := m.Preferences.Preferences(ctx, v.Caller(r))
		if err != nil {
			return "", err
		}
		is.Off, is.Version = refused(r), v.Version(r)
		if r.PostForm.Has(language) {
			is.Language = r.PostForm.Get(language)
		}
		_, err = m.Preferences.SetPreferences(ctx, v.Caller(r), is)
		return path + "?done=preferences", err
	})
	return v.Again(err, func() error {
		is, failed := m.Preferences.Preferences(r.Context(), v.Caller(r))
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, m.page(v, is), err)
	})
}
