// Package preferences is the screen on which subscribers choose which e-mails they get.
package preferences

import (
	"context"
	"embed"
	"net/http"
	"slices"

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
type Options struct{ Preferences Preferences }

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

// wanted is the field of the kinds of e-mail that a subscriber wants: one value for each.
const wanted = "mail"

// screen is what the page shows.
type screen struct {
	Form   portal.Form
	Kinds  []portal.Choice // that can be refused
	Always []string        // names of the others
}

// page shows which e-mails are sent to a subscriber who has refused some kinds.
func page(v portal.Visit, version int64, off []notify.Kind) portal.Page {
	is := screen{Form: v.View.Form(path, version)}
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

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, err := m.Preferences.Preferences(r.Context(), v.Caller(r))
	if err != nil {
		return err
	}
	return v.Answer(w, page(v, p.Version, p.Off))
}

// refused returns the kinds that a form does not want.
func refused(r *http.Request) []notify.Kind {
	return slices.DeleteFunc(slices.Clone(notify.OptionalKinds), func(k notify.Kind) bool { return slices.Contains(r.PostForm[wanted], string(k)) })
}

func (m room) set(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	err := v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		is, err := m.Preferences.Preferences(ctx, v.Caller(r))
		if err != nil {
			return "", err
		}
		is.Off, is.Version = refused(r), v.Version(r)
		_, err = m.Preferences.SetPreferences(ctx, v.Caller(r), is)
		return path + "?done=preferences", err
	})
	return v.Again(err, func() error {
		is, failed := m.Preferences.Preferences(r.Context(), v.Caller(r))
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, page(v, is.Version, is.Off), err)
	})
}
