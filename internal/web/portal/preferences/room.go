// Package preferences is the screen on which subscribers choose which e-mails and SMS they get, and in
// which language they read the portal.
package preferences

import (
	"context"
	"embed"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Preferences reads and changes what subscribers have set. Failures are faults.
type Preferences interface {
	Preferences(ctx context.Context, who do.Caller) (do.Preferences, error)
	SetPreferences(ctx context.Context, who do.Caller, want do.Preferences) (do.Preferences, error)
}

// Consents reads and changes to which phone number subscribers agreed to SMS. Failures are faults.
type Consents interface {
	Consent(ctx context.Context, of shop.ID, customer int64) (optin.Consent, error)
	Set(ctx context.Context, of shop.ID, w optin.Wish) (optin.Consent, error)
}

// Options are what the room needs.
type Options struct {
	Preferences Preferences
	Consents    Consents
	Languages   []string // tags of those that the pages have
	// Rewards reports whether a store has a loyalty programme that runs. Without one the e-mails to its
	// members are no choice.
	Rewards func(ctx context.Context, of shop.Shop) (bool, error)
}

//go:embed pages/*.html
var pages embed.FS

const path = "/preferences"

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{{Pattern: "GET " + path, Show: r.show}, {Pattern: "POST " + path, Show: r.set}, {Pattern: "POST " + smsPath, Show: r.setSMS}},
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
	SMS    *smsForm        // nil: the store sends none
}

// page shows the language of a subscriber, and which e-mails are sent to them.
func (m room) page(v portal.Visit, p do.Preferences, offered []notify.Kind, sms *smsForm) portal.Page {
	is := screen{Form: v.View.Form(path, p.Version), Lang: m.languages(v, p.Language), SMS: sms}
	off := p.Off
	for _, k := range offered {
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

// read returns the page as it is now.
func (m room) read(r *http.Request, v portal.Visit) (portal.Page, error) {
	p, err := m.Preferences.Preferences(r.Context(), v.Caller(r))
	if err != nil {
		return portal.Page{}, err
	}
	offered, err := m.offered(r.Context(), v.Shop)
	if err != nil {
		return portal.Page{}, err
	}
	sms, err := m.smsForm(r, v)
	return m.page(v, p, offered, sms), err
}

// offered returns the kinds that subscribers of a store choose from.
func (m room) offered(ctx context.Context, of shop.Shop) ([]notify.Kind, error) {
	runs, err := m.Rewards(ctx, of)
	if err != nil || runs {
		return notify.OptionalKinds, err
	}
	return slices.DeleteFunc(slices.Clone(notify.OptionalKinds), func(k notify.Kind) bool { return slices.Contains(notify.MemberKinds, k) }), nil
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	page, err := m.read(r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, page)
}

// refused returns the kinds that a form does not want. Of those that were not offered the choice stays.
func refused(r *http.Request, was, offered []notify.Kind) (off []notify.Kind) {
	for _, k := range notify.OptionalKinds {
		stays := !slices.Contains(offered, k) && slices.Contains(was, k)
		if stays || slices.Contains(offered, k) && !slices.Contains(r.PostForm[wanted], string(k)) {
			off = append(off, k)
		}
	}
	return off
}

func (m room) set(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	err := v.InChosenLanguage().Do(w, r, func(ctx context.Context, _ string) (string, error) {
		is, err := m.Preferences.Preferences(ctx, v.Caller(r))
		if err != nil {
			return "", err
		}
		offered, err := m.offered(ctx, v.Shop)
		if err != nil {
			return "", err
		}
		is.Off, is.Version = refused(r, is.Off, offered), v.Version(r)
		if r.PostForm.Has(language) {
			is.Language = r.PostForm.Get(language)
		}
		_, err = m.Preferences.SetPreferences(ctx, v.Caller(r), is)
		return path + "?done=preferences", err
	})
	return v.Again(err, func() error {
		page, failed := m.read(r, v)
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, page, err)
	})
}
