// Package letters writes what is sent to customers, in the words in which the portal says the same.
package letters

import (
	"context"
	"log/slog"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Options are what letters are written from.
type Options struct {
	Shops interface {
		Shop(ctx context.Context, id shop.ID) (shop.Shop, error)
	}
	Sheets interface {
		Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
		Order(ctx context.Context, who do.Caller, id contract.ID, attempt billing.AttemptID) (overview.Sheet, overview.Order, error)
	}
	// Points returns what a message to a loyalty member reports, and whether that still holds.
	Points interface {
		Notice(ctx context.Context, of shop.Shop, m notify.Message) (n loyalty.Notice, holds bool, err error)
	}
	Languages portal.Languages
	Visits    *portal.Absent
	// Unsubscribe returns the address at which a customer ends messages of a kind.
	Unsubscribe func(of shop.Shop, customer int64, kind notify.Kind) string
	Templates   Templates
	Log         *slog.Logger
}

// Templates knows what merchants have written in place of the product's e-mails.
type Templates interface {
	Live(ctx context.Context, of shop.ID) ([]mailtemplate.Template, error)
}

// Writer writes letters.
type Writer struct{ Options }

// New returns a writer.
func New(o Options) *Writer { return &Writer{o} }

// matter is what one message is about, as it is when the letter is written.
type matter struct {
	notify.Message

	visit portal.Visit
	sheet overview.Sheet
	order *overview.Order // nil: of no order in particular

	notice *loyalty.Notice // nil: it is about no loyalty member, or what it reports holds no longer
}

// Write returns the letter that reports messages to one person, in their language.
func (w *Writer) Write(ctx context.Context, of shop.ID, messages []notify.Message) (notify.Letter, error) {
	store, err := w.Shops.Shop(ctx, of)
	if err != nil {
		return notify.Letter{}, err
	}
	first := messages[0]
	language := ""
	if first.Customer != 0 {
		if language, err = w.Languages.Language(ctx, of, first.Customer); err != nil {
			return notify.Letter{}, err
		}
	}
	var matters []matter
	for _, m := range messages {
		is, err := w.read(ctx, store, m, language)
		if err != nil {
			return notify.Letter{}, err
		}
		matters = append(matters, is)
	}
	l := notify.Letter{LeftOut: map[notify.MessageID]string{}}
	told := matters[:0]
	for i, m := range matters {
		why := m.untrue()
		if why == "" && m.replaced(matters[i+1:]) {
			why = notify.NoLongerTrue
		}
		if why != "" {
			l.LeftOut[m.ID] = why
			continue
		}
		told = append(told, m)
	}
	if len(told) == 0 {
		return l, nil
	}
	out := l.LeftOut
	if first.Channel == notify.BySMS {
		return notify.Letter{Content: text(told), LeftOut: out}, nil
	}
	p := w.page(told)
	if len(told) == 1 { // several matters are reported in the product's words
		if p, err = w.custom(ctx, told[0], p); err != nil {
			return l, err
		}
	}
	l, err = p.letter()
	l.LeftOut = out
	return l, err
}

// page returns the product's letter about matters that belong together.
func (w *Writer) page(list []matter) page {
	m := list[0]
	p := compose(list)
	if !notify.Required(m.Kind) {
		p.Unsubscribe, p.Stop = w.Unsubscribe(m.visit.Shop, m.Customer, m.Kind), m.visit.T("mail.stop")
	}
	return p
}

// custom returns a letter as the merchant has written it. A template that fails with the values of
// this letter gives way to the product's.
func (w *Writer) custom(ctx context.Context, m matter, p page) (page, error) {
	live, err := w.Templates.Live(ctx, m.visit.Shop.ID)
	if err != nil {
		return p, err
	}
	for _, t := range live {
		if t.Kind != m.Kind || t.Language != language(m.visit) {
			continue
		}
		own := p
		if bad := own.customise(t.Fields, m.values(p)); bad != nil {
			w.Log.WarnContext(ctx, "a store's template failed, and the product's e-mail is sent", "shop", m.visit.Shop.Domain, "kind", t.Kind, "language", t.Language, "version", t.Version, "line", bad.line, "error", bad)
			return p, nil
		}
		return own, nil
	}
	return p, nil
}

// Sender returns the name that letters to customers of a store come from, and the address that replies
// go to; empty: the sender's.
func (w *Writer) Sender(ctx context.Context, of shop.Shop) (name, reply string, err error) {
	v, err := w.Visits.Visit(ctx, of, shop.Subscriptions, 0, "")
	if err != nil {
		return "", "", err
	}
	return storeOf(v).Name, replyTo(v.View.Look.Help), nil
}

// replyTo returns the e-mail address of a store's help; empty: it has another one, or none.
func replyTo(help string) string {
	address, isMail := strings.CutPrefix(help, "mailto:")
	if !isMail || notify.CheckAddress("", address) != nil {
		return ""
	}
	return address
}

func (p page) letter() (l notify.Letter, err error) {
	l.FromName, l.ReplyTo, l.Unsubscribe = p.Store.Name, replyTo(p.visit.View.Look.Help), p.Unsubscribe
	l.Content, err = p.written()
	return l, err
}

// read reads what a message is about. A contract that is gone or belongs to another customer now has
// an empty sheet.
func (w *Writer) read(ctx context.Context, store shop.Shop, m notify.Message, language string) (matter, error) {
	is := matter{Message: m}
	var err error
	if m.Contract != 0 && m.Facts.Link == nil {
		who := do.Caller{Shop: store, Actor: activity.Actor{Customer: m.Customer}}
		if m.Attempt == 0 {
			is.sheet, err = w.Sheets.Sheet(ctx, who, m.Contract, 0)
		} else {
			is.order = &overview.Order{}
			is.sheet, *is.order, err = w.Sheets.Order(ctx, who, m.Contract, billing.AttemptID(m.Attempt))
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return is, err
		}
	}
	if m.Facts.Points != nil {
		n, holds, err := w.Points.Notice(ctx, store, m)
		if err != nil {
			return is, err
		}
		if holds {
			is.ofMember(n)
		}
	}
	line := is.sheet.Contract.Line
	if line == "" {
		line = shop.Subscriptions
	}
	is.visit, err = w.Visits.Visit(ctx, store, line, m.Customer, language)
	return is, err
}

// ofMember makes a matter one of a loyalty member, who may have no contract.
func (m *matter) ofMember(n loyalty.Notice) {
	m.notice = &n
	who := n.Person
	m.sheet.Contract.Customer = contract.Customer{ID: who.Customer, Email: who.Email, FirstName: who.FirstName, LastName: who.LastName, Name: strings.TrimSpace(who.FirstName + " " + who.LastName)}
}
