package app

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	service "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
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
		Shops: a.Store.Shops(), Sheets: a.Overview, Languages: a.Portal, Visits: visits, Unsubscribe: a.unsubscribe, Templates: a.Templates, Log: a.options.Log,
	})
	a.Templates.Check, a.Notify.Write = a.Letters.Check, a.Letters.Write
	return nil
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
