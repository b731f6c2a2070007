package app

import (
	"context"
	"log/slog"
	"strings"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	service "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard/mails"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/letters"
)

// writeLetters has what is sent to customers written as the portal says it, or as the merchant has
// it.
func (a *App) writeLetters() error {
	visits, err := portal.NewAbsent(portal.Options{
		Frame: web.Frame{Log: a.options.Log}, Texts: a.Wording.Catalogue, Wordings: &wordings{Service: a.Wording}, Clock: a.options.Clock, Looks: &looks{app: a}, Rooms: a.portalRooms(),
	}, a.portalAddress)
	if err != nil {
		return err
	}
	a.Templates = &mailtemplate.Service{Store: a.Store.MailTemplates(), Languages: a.Wording.Catalogue.Languages(), Clock: a.options.Clock}
	a.Letters = letters.New(letters.Options{
		Shops: a.Store.Shops(), Sheets: a.Overview, Points: a.Loyalty, Languages: a.Portal, Visits: visits, Unsubscribe: a.unsubscribe, Templates: a.Templates, Log: a.options.Log,
	})
	a.Templates.Check, a.Notify.Write = a.Letters.Check, a.write
	return nil
}

// write writes a letter: to a customer, or the digest to the owner of a store.
func (a *App) write(ctx context.Context, of shop.ID, messages []notify.Message) (notify.Letter, error) {
	first := messages[0]
	if first.Facts.Digest == nil {
		return a.Letters.Write(ctx, of, messages)
	}
	store, err := a.Store.Shops().Shop(ctx, of)
	if err != nil {
		return notify.Letter{}, err
	}
	cases, err := a.Store.CasesSince(ctx, of, first.Facts.Digest.Since)
	if err != nil {
		return notify.Letter{}, err
	}
	if len(cases) == 0 {
		return notify.Letter{LeftOut: map[notify.MessageID]string{first.ID: notify.NoLongerTrue}}, nil
	}
	var l notify.Letter
	dashboard := strings.TrimSuffix(a.options.Settings.PublicURL, "/")
	if dashboard != "" {
		dashboard += staff.Path
	}
	l.Content, err = notify.WriteDigest(*first.Facts.Digest, store, cases, dashboard)
	return l, err
}

// portalAddress returns the address of a store's portal: on our own domain, or at the store's while
// ours is not set.
func (a *App) portalAddress(of shop.Shop) string {
	if public := strings.TrimSuffix(a.options.Settings.PublicURL, "/"); public != "" {
		return public + portal.Path + login.Handle(of.Domain)
	}
	return "https://" + of.Domain + portal.Proxied("subscriptions")
}

// unsubscribe returns the address at which a customer ends messages of a kind; "" while our own domain
// is not set.
func (a *App) unsubscribe(of shop.Shop, customer int64, kind notify.Kind) string {
	if a.options.Settings.PublicURL == "" {
		return ""
	}
	return a.portalAddress(of) + portal.UnsubscribePath + a.Portal.UnsubscribeToken(of.ID, service.Unsubscription{Customer: customer, Kind: kind})
}

// WithLetters opens a database and lets fn preview the e-mails of a store, in its words and look.
// Without a store's domain they are those of a store that has changed nothing, and no database is
// opened.
func WithLetters(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*letters.Writer, shop.Shop) error) error {
	texts, err := portal.Texts()
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	if domain == "" {
		visits, err := portal.NewAbsent(portal.Options{Frame: web.Frame{Log: quiet}, Texts: texts, Looks: plain{}, Clock: c}, (&App{}).portalAddress)
		if err != nil {
			return err
		}
		made := shop.Shop{Domain: "your-store.myshopify.com", TimeZone: "UTC", Currency: "USD"}
		return fn(letters.New(letters.Options{Visits: visits, Unsubscribe: (&App{}).unsubscribe, Log: quiet}), made)
	}
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	a := &App{
		Store: db, options: Options{Clock: c, Log: quiet}, Wording: &wording.Service{Store: db.Wording(), Catalogue: texts, Clock: c}, Portal: &service.Service{Store: db.Portal(), Clock: c},
		Designs: &design.Service{Store: db.PortalDesigns(), Clock: c}, Login: &login.Service{Store: db.Login(), Clock: c}, Notify: &notify.Service{},
	}
	return withStore(ctx, db, domain, func(of ShopRef) error {
		if err := a.writeLetters(); err != nil {
			return err
		}
		store, err := db.Shops().Shop(ctx, of.ID)
		if err != nil {
			return err
		}
		return fn(a.Letters, store)
	})
}

// previews draws e-mails for the dashboard.
type previews struct{ *letters.Writer }

// Preview returns an e-mail by a template to a made-up customer or, with a contract, to its customer.
func (p previews) Preview(ctx context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields, about contract.Contract) (mails.Preview, error) {
	var shown mails.Preview
	var err error
	if about.ID == 0 {
		shown.Letter, shown.Problems, err = p.Writer.Preview(ctx, of, k, f)
	} else {
		shown.Letter, shown.Problems, err = p.PreviewOf(ctx, of, k, f, about.ID, about.Customer.ID)
	}
	shown.Dark = letters.Dark(shown.HTML)
	shown.Sheets = []string{letters.Sheet(shown.HTML), letters.Sheet(shown.Dark)}
	return shown, err
}

// Values lists what templates of a kind may name.
func (p previews) Values(ctx context.Context, of shop.Shop, k mailtemplate.Key) ([]mails.Value, error) {
	known, err := p.Writer.Values(ctx, of, k)
	list := make([]mails.Value, len(known))
	for i, v := range known {
		list[i] = mails.Value(v)
	}
	return list, err
}

// plain is how the portal of a store looks that has changed nothing.
type plain struct{}

// Look returns it.
func (plain) Look(_ context.Context, of shop.Shop) (portal.Look, error) {
	return portal.LookOf(of), nil
}
