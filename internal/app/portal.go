package app

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	service "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/boxes"
	"github.com/perennialhq/perennial/internal/web/portal/cancelling"
	"github.com/perennialhq/perennial/internal/web/portal/delivery"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/orders"
	"github.com/perennialhq/perennial/internal/web/portal/payment"
	"github.com/perennialhq/perennial/internal/web/portal/preferences"
	"github.com/perennialhq/perennial/internal/web/portal/products"
	"github.com/perennialhq/perennial/internal/web/portal/rewards"
	"github.com/perennialhq/perennial/internal/web/portal/schedule"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
	"github.com/perennialhq/perennial/internal/web/shopper"
)

// portal builds the pages of customers, at their store's domain and on our own.
func (a *App) portal(frame web.Frame) (portal.Portal, error) {
	settings := a.options.Settings
	var seen sync.Map
	proxy := func(secret string) web.Shoppers {
		return seenProxy{login.ProxyAuthenticator{Proxy: shopify.Proxy{Secret: secret}, Shops: a.Store.Shops(), Clock: a.options.Clock}, a.Store, &seen}
	}
	return portal.New(portal.Options{
		Frame: frame, Login: a.Login, Texts: a.Wording.Catalogue, Wordings: &wordings{Service: a.Wording}, Languages: a.Portal, Repeats: a.Portal, Clock: a.options.Clock, Secure: frame.Secure, Key: a.keyFor("forms of the portal"), Mails: a.Portal, Looks: &looks{app: a}, Logos: a.Designs, Rooms: a.portalRooms(),
		Proxies: map[string]web.Shoppers{
			"subscriptions": proxy(string(settings.AppSecret)), "memberships": proxy(string(cmp.Or(settings.MembershipsAppSecret, settings.AppSecret))),
		},
	})
}

// keyFor returns a key for one purpose.
func (a *App) keyFor(purpose string) []byte {
	key := hmac.New(sha256.New, []byte(a.options.Settings.AppSecret))
	key.Write([]byte(purpose))
	return key.Sum(nil)
}

// portalRooms returns the parts of the portal, in the order of its navigation.
func (a *App) portalRooms() []portal.Room {
	rewarding := a.hasProgram()
	return []portal.Room{
		home.New(home.Options{Homes: a.Overview}),
		subscription.New(subscription.Options{Sheets: a.Overview, Changes: a.Portal, Boxes: a.isBox()}),
		orders.New(orders.Options{Orders: a.Overview, Changes: a.Portal}),
		schedule.New(schedule.Options{Sheets: a.Overview, Changes: a.Portal}),
		products.New(products.Options{Sheets: a.Overview, Changes: a.Portal}),
		boxes.New(boxes.Options{Changes: a.Portal}),
		delivery.New(delivery.Options{Sheets: a.Overview, Changes: a.Portal}),
		payment.New(payment.Options{Sheets: a.Overview, Changes: a.Portal}),
		rewards.New(rewards.Options{Points: a.Loyalty, Runs: rewarding}),
		preferences.New(preferences.Options{Preferences: a.Portal, Consents: a.Consents, Languages: a.Wording.Catalogue.Languages(), Rewards: rewarding}),
		cancelling.New(cancelling.Options{Sessions: a.Cancelling}),
	}
}

// sampler draws the portal for merchants who choose how it looks.
func (a *App) sampler(frame web.Frame) (*portal.Sampler, error) {
	homes := sampleOrders{a.options.Clock}
	return portal.NewSampler(
		portal.Options{Frame: frame, Texts: a.Wording.Catalogue, Wordings: a.Wording, Clock: a.options.Clock, Rooms: a.portalRooms()},
		portal.SampleScreen{Room: home.New(home.Options{Homes: homes}), Pattern: "GET "},
		portal.SampleScreen{
			Room: orders.New(orders.Options{Orders: homes}), Pattern: "GET /s/{contract}/orders/{attempt}/skip", Path: map[string]string{"contract": "1", "attempt": "1"},
		},
	)
}

// sampleOrders has the subscription of a made-up customer.
type sampleOrders struct{ clock clock.Clock }

// Home returns their first screen.
func (s sampleOrders) Home(_ context.Context, who service.Caller) (overview.Home, error) {
	return overview.Sample(who.Shop, s.clock.Now())
}

// Sheet returns the subscription.
func (s sampleOrders) Sheet(ctx context.Context, who service.Caller, _ contract.ID, _ int) (overview.Sheet, error) {
	h, err := s.Home(ctx, who)
	if err != nil {
		return overview.Sheet{}, err
	}
	return h.Sheets[0], nil
}

// Past returns the subscription, which has no past orders.
func (s sampleOrders) Past(ctx context.Context, who service.Caller, id contract.ID, _ int) (overview.Sheet, error) {
	return s.Sheet(ctx, who, id, 0)
}

// Order returns the order that comes next.
func (s sampleOrders) Order(ctx context.Context, who service.Caller, id contract.ID, _ billing.AttemptID) (overview.Sheet, overview.Order, error) {
	sheet, err := s.Sheet(ctx, who, id, 0)
	next, _ := sheet.Next()
	return sheet, next, err
}

// lookLife is for how long a process remembers how the portal of a store presents itself.
const lookLife = 30 * time.Second

// remembered keeps what every page of the portal asks for and what seldom changes, for lookLife.
type remembered[K comparable, V any] struct{ seen sync.Map }

type seenUntil[V any] struct {
	is    V
	until time.Time
}

// get returns what is remembered under a key, or reads it.
func (m *remembered[K, V]) get(key K, now time.Time, read func() (V, error)) (V, error) {
	if known, ok := m.seen.Load(key); ok && now.Before(known.(seenUntil[V]).until) {
		return known.(seenUntil[V]).is, nil
	}
	is, err := read()
	if err == nil {
		m.seen.Store(key, seenUntil[V]{is, now.Add(lookLife)})
	}
	return is, err
}

// isBox returns the function that reports whether a contract is a box.
func (a *App) isBox() func(context.Context, shop.ID, contract.Contract) (bool, error) {
	type key struct {
		of   shop.ID
		line shop.Line
	}
	var known remembered[key, []bundle.Settings]
	return func(ctx context.Context, of shop.ID, c contract.Contract) (bool, error) {
		list, err := known.get(key{of, c.Line}, a.options.Clock.Now(), func() ([]bundle.Settings, error) {
			list, _, err := a.Store.Bundles(ctx, of, c.Line, page.Request{})
			return list, err
		})
		_, boxed := bundle.Of(list, c)
		return boxed, err
	}
}

// hasProgram returns the function that reports whether a store has a loyalty programme that runs.
func (a *App) hasProgram() func(context.Context, shop.Shop) (bool, error) {
	var known remembered[shop.ID, bool]
	return func(ctx context.Context, of shop.Shop) (bool, error) {
		return known.get(of.ID, a.options.Clock.Now(), func() (bool, error) {
			p, err := a.Loyalty.Program(ctx, of.ID)
			return p.Active, err
		})
	}
}

// looks knows how the portals of stores present themselves.
type looks struct {
	app   *App
	known remembered[shop.ID, portal.Look]
}

// Look returns that of a store.
func (l *looks) Look(ctx context.Context, of shop.Shop) (portal.Look, error) {
	return l.known.get(of.ID, l.app.options.Clock.Now(), func() (portal.Look, error) { return l.read(ctx, of) })
}

func (l *looks) read(ctx context.Context, of shop.Shop) (portal.Look, error) {
	settings, err := l.app.Portal.Settings(ctx, of.ID)
	if err != nil {
		return portal.Look{}, err
	}
	look := portal.LookOf(of)
	if look.Design, err = l.app.Designs.Design(ctx, of.ID); err != nil {
		return portal.Look{}, err
	}
	look.Account = settings.AccountClient != "" && l.app.Login.Accounts != nil
	look.Help = helpOf(settings.Support)
	return look, nil
}

// helpOf returns the address of a store's help: its page, or else its e-mail address or telephone.
func helpOf(s service.Support) string {
	switch {
	case s.URL != "":
		return s.URL
	case s.Email != "":
		return "mailto:" + s.Email
	case s.Phone != "":
		return "tel:" + strings.Map(dialled, s.Phone)
	}
	return ""
}

// dialled keeps what of a number is dialled.
func dialled(c rune) rune {
	if c == '+' || c >= '0' && c <= '9' {
		return c
	}
	return -1
}

// withPages answers the pages at a store's domain, and leaves the interface below them to another
// handler.
func withPages(pages, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, below, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, shopper.Path), "/")
		if strings.HasPrefix(r.URL.Path, shopper.Path) && below != "cp/api" && !strings.HasPrefix(below, "cp/api/") {
			pages.ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}
