// Package mailtemplate keeps what merchants write in place of the product's e-mails, for each kind
// and language, with every version that was published. What a template may say, the writer of the
// e-mails knows.
package mailtemplate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limits of a template, in characters and bytes.
const (
	MaxLine = 500       // of each field but the body, in characters
	MaxBody = 100 << 10 // bytes
	// MaxHistory is how many versions of a template are kept.
	MaxHistory = 50
)

const entity = "mailTemplate"

// Key names a template of a store.
type Key struct {
	Kind     notify.Kind
	Language string // a language of the catalogue
}

// Fields are what a merchant writes, in Liquid. An empty one is as the product has it.
type Fields struct {
	Subject   string
	Preheader string // what mail programs show beside the subject
	Heading   string
	Body      string // HTML
	Button    string
}

// Fields by name, with their limits.
func (f Fields) list() []struct{ name, text string } {
	return []struct{ name, text string }{{"subject", f.Subject}, {"preheader", f.Preheader}, {"heading", f.Heading}, {"button", f.Button}}
}

// Empty reports whether all is as the product has it.
func (f Fields) Empty() bool { return f == Fields{} }

// Template is a version of what is sent in place of the product's e-mails.
type Template struct {
	Key
	Fields

	Version     int64 // from 1
	Live        bool  // it is sent
	Author      string
	PublishedAt time.Time
}

// Problem is what is wrong with a template.
type Problem struct {
	Field   string // as the form names it
	Line    int    // of the field, from 1; 0: of none in particular
	Text    string // a sentence
	Warning bool   // the template can be published all the same
}

// Check returns what is wrong with a template.
type Check func(ctx context.Context, of shop.Shop, k Key, f Fields) ([]Problem, error)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	shop.Reader
	// LiveTemplates returns the templates that are sent, by kind and language.
	LiveTemplates(ctx context.Context) ([]Template, error)
	// TemplateHistory returns the versions of a template, newest first.
	TemplateHistory(ctx context.Context, k Key) ([]Template, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	activity.Recorder
	// RetireTemplate makes no version of a template live.
	RetireTemplate(ctx context.Context, k Key) error
	AddTemplate(ctx context.Context, t Template) error
	// DropTemplates deletes the versions of a template up to one.
	DropTemplates(ctx context.Context, k Key, upTo int64) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service keeps templates.
type Service struct {
	Store     Store
	Check     Check
	Languages []string // of the catalogue
	Clock     clock.Clock
}

// Live returns the templates that are sent, by kind and language.
func (s *Service) Live(ctx context.Context, of shop.ID) (list []Template, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = tx.LiveTemplates(ctx)
		return err
	})
	return list, err
}

// History returns the versions of a template, newest first.
func (s *Service) History(ctx context.Context, of shop.ID, k Key) (list []Template, err error) {
	if err := s.checkKey(k); err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = tx.TemplateHistory(ctx, k)
		return err
	})
	return list, err
}

func (s *Service) checkKey(k Key) error {
	if !slices.Contains(notify.CustomerKinds(), k.Kind) || !slices.Contains(s.Languages, k.Language) {
		return fault.New(fault.NotFound, "there is no e-mail %q in the language %q", k.Kind, k.Language).Entity(entity).Code("mailTemplateUnknown")
	}
	return nil
}

// Draft is what a user makes of a template.
type Draft struct {
	Key
	Fields

	Seen int64 // the newest version that the user has seen; a draft over a newer one is a Conflict
}

// note is the details of an entry about a template.
type note struct {
	Kind     notify.Kind `json:"kind"`
	Language string      `json:"language"`
	Version  int64       `json:"version,omitempty"`
}

// Publish makes a draft the version that is sent. A draft with problems is Invalid; one that is
// empty has the product's e-mail sent again.
func (s *Service) Publish(ctx context.Context, of shop.ID, d Draft, by activity.Actor) error {
	if err := s.checkKey(d.Key); err != nil {
		return err
	}
	d.Fields = d.Fields.trimmed()
	if err := d.Fields.Check(); err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		problems, err := s.Check(ctx, store, d.Key, d.Fields)
		if err != nil {
			return err
		}
		for _, p := range problems {
			if !p.Warning {
				return fault.New(fault.Invalid, "%s", p.sentence()).Entity(entity).Code("mailTemplateInvalid").Field(p.Field)
			}
		}
		versions, err := tx.TemplateHistory(ctx, d.Key)
		if err != nil {
			return err
		}
		newest := int64(0)
		if len(versions) > 0 {
			newest = versions[0].Version
		}
		if d.Seen != newest {
			return fault.New(fault.Conflict, "another user has published a version meanwhile").Entity(entity).Code("changedMeanwhile")
		}
		if err := tx.RetireTemplate(ctx, d.Key); err != nil {
			return err
		}
		now, event, n := s.Clock.Now(), activity.Deleted, note{d.Kind, d.Language, 0}
		if !d.Empty() {
			event, n.Version = activity.Updated, newest+1
			if err := tx.AddTemplate(ctx, Template{Key: d.Key, Fields: d.Fields, Version: n.Version, Live: true, Author: by.By, PublishedAt: now}); err != nil {
				return err
			}
			if err := tx.DropTemplates(ctx, d.Key, n.Version-MaxHistory); err != nil {
				return err
			}
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityEmailTemplate, Event: event, Status: activity.Success, Actor: by, At: now, Info: activity.Details(n),
		})
	})
}

func (p Problem) sentence() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s, line %d: %s", p.Field, p.Line, p.Text)
	}
	return p.Field + ": " + p.Text
}

func (f Fields) trimmed() Fields {
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return Fields{clean(f.Subject), clean(f.Preheader), clean(f.Heading), clean(f.Body), clean(f.Button)}
}

// Check says what is too long, or has line breaks where there may be none.
func (f Fields) Check() error {
	bad := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("bodyField").Field(field)
	}
	for _, one := range f.list() {
		switch n := utf8.RuneCountInString(one.text); {
		case n > MaxLine:
			return bad(one.name, "the %s has %d characters: up to %d are allowed", one.name, n, MaxLine)
		case strings.ContainsAny(one.text, "\n\r"):
			return bad(one.name, "the %s has more than one line", one.name)
		}
	}
	if len(f.Body) > MaxBody {
		return bad("body", "the text has %d bytes: up to %d are allowed", len(f.Body), MaxBody)
	}
	return nil
}
