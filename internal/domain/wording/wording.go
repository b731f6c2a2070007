// Package wording keeps the texts that merchants have written in place of the product's own,
// for each language. What the product's texts are, and which of a merchant's fit, is the
// catalogue's business.
package wording

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limits of a merchant's texts.
const (
	// MaxText is the length of a text in characters.
	MaxText = 1000
	// maxLanguage is how many bytes the texts of a language have together: every page of the
	// portal reads them.
	maxLanguage = 64 << 10
)

// entity is what failures are about.
const entity = "portalText"

// Text is a merchant's text for one form of a key.
type Text struct {
	Language  string // a language of the catalogue
	Key       string
	Form      string // plural form; empty: the text has none
	Text      string
	ChangedAt time.Time
}

// Forms are the texts of a key by plural form, or one text under "".
type Forms map[string]string

// Draft is what a user makes of the texts of a key.
type Draft struct {
	Language, Key string
	// Was is what the user has seen. A draft over texts that have changed since is a Conflict.
	Was Forms
	// Now has the texts to store. A form that is empty or absent has the product's text again.
	Now Forms
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	// PortalTexts returns the merchant's texts of a language, or of all languages when it is
	// empty, by language, key and form. A Tx locks them.
	PortalTexts(ctx context.Context, language string) ([]Text, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	activity.Recorder
	// PutPortalText writes a text in place of the one that its form has.
	PutPortalText(ctx context.Context, t Text) error
	// DeletePortalText deletes the text of a form, if there is one.
	DeletePortalText(ctx context.Context, language, key, form string) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service keeps texts.
type Service struct {
	Store     Store
	Catalogue *locale.Catalogue
	Clock     clock.Clock
}

// List returns the merchant's texts of all languages, by language, key and form.
func (s *Service) List(ctx context.Context, of shop.ID) ([]Text, error) { return s.read(ctx, of, "") }

// Wording returns the merchant's texts for a reader with a tag such as "de-AT", as
// locale.Printer takes them. It is one query of one index.
func (s *Service) Wording(ctx context.Context, of shop.ID, tag string) (map[string]string, error) {
	list, err := s.read(ctx, of, s.Catalogue.Language(tag))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	texts := make(map[string]string, len(list))
	for _, t := range list {
		texts[locale.FormKey(t.Key, t.Form)] = t.Text
	}
	return texts, nil
}

// read returns the merchant's texts of a language, or of all.
func (s *Service) read(ctx context.Context, of shop.ID, language string) (list []Text, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = tx.PortalTexts(ctx, language)
		return err
	})
	return list, err
}

// Save stores the texts of a key. The catalogue has to accept each of them; texts that the
// catalogue no longer knows can only be deleted.
func (s *Service) Save(ctx context.Context, of shop.ID, d Draft, by activity.Actor) error {
	now := make(Forms)
	for _, form := range slices.Sorted(maps.Keys(d.Now)) {
		text := strings.TrimSpace(strings.ReplaceAll(d.Now[form], "\r\n", "\n"))
		if text == "" {
			continue
		}
		if err := s.check(d.Language, d.Key, form, text); err != nil {
			return err
		}
		now[form] = text
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		list, err := tx.PortalTexts(ctx, d.Language)
		if err != nil {
			return err
		}
		stored, size := Forms{}, 0
		for _, t := range list {
			if t.Key == d.Key {
				stored[t.Form] = t.Text
				continue
			}
			size += len(t.Key) + len(t.Text)
		}
		if !maps.Equal(stored, given(d.Was)) {
			return fault.New(fault.Conflict, "another user has changed this text: look at it and save again").Entity(entity).Code("portalTextChanged")
		}
		if maps.Equal(stored, now) {
			return nil
		}
		for _, text := range now {
			size += len(d.Key) + len(text)
		}
		if size > maxLanguage && len(now) > 0 {
			return fault.New(fault.FailedPrecondition, "the texts of a language have at most %d KB together: reset others first", maxLanguage>>10).
				Entity(entity).Code("portalTextLimit")
		}
		return s.write(ctx, tx, of, d, stored, now, by)
	})
}

// write stores the forms of a key and the entry that says so.
func (s *Service) write(ctx context.Context, tx Tx, of shop.ID, d Draft, stored, now Forms, by activity.Actor) error {
	at := s.Clock.Now()
	for form, text := range now {
		if stored[form] == text {
			continue
		}
		if err := tx.PutPortalText(ctx, Text{d.Language, d.Key, form, text, at}); err != nil {
			return err
		}
	}
	for form := range stored {
		if _, kept := now[form]; kept {
			continue
		}
		if err := tx.DeletePortalText(ctx, d.Language, d.Key, form); err != nil {
			return err
		}
	}
	return tx.Record(ctx, activity.Entry{
		EntityID: int64(of), EntityType: activity.EntityCustomerPortalSettings, Event: activity.Updated, Status: activity.Success, Actor: by, At: at,
		Info: activity.Details(note{d.Language, d.Key, stored.list(), now.list()}),
	})
}

// note is the additional information of the entry about a change.
type note struct {
	Language string   `json:"language"`
	Key      string   `json:"textKey"`
	Before   []string `json:"before,omitempty"` // by form; absent: the product's own
	After    []string `json:"after,omitempty"`
}

// list returns the texts by form.
func (f Forms) list() []string {
	var texts []string
	for _, form := range slices.Sorted(maps.Keys(f)) {
		texts = append(texts, f[form])
	}
	return texts
}

// given returns the forms that have a text.
func given(f Forms) Forms {
	has := maps.Clone(f)
	maps.DeleteFunc(has, func(_, text string) bool { return text == "" })
	return has
}

// Field is the name of the field that holds the text of a form, in failures and in forms.
func Field(form string) string {
	if form == "" {
		return "text"
	}
	return "text." + form
}

// check says why a text cannot be stored. The failure names the field of the form.
func (s *Service) check(language, key, form, text string) error {
	if err := s.Catalogue.CheckOverride(language, key, form, text); err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Param == "text" {
			return f.Entity(entity).Field(Field(form))
		}
		return err
	}
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("text").Field(Field(form))
	}
	if n := utf8.RuneCountInString(text); n > MaxText {
		return bad("a text has at most %d characters, and this one has %d", MaxText, n)
	}
	if strings.ContainsFunc(text, unseen) {
		return bad("the text contains a character that cannot be shown")
	}
	return nil
}

// unseen reports whether a character is a control character other than a line break.
func unseen(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == utf8.RuneError }
