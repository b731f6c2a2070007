// Package portal is the shell of the pages on which customers look after their subscriptions: at
// their store's own domain, through the platform's app proxy, or on the service's own. It lets
// customers in, and has the layout and the parts that screens share. The screens are rooms,
// packages below it.
package portal

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Login lets customers in. Failures are faults.
type Login interface {
	Shop(ctx context.Context, handle string) (shop.Shop, error)
	CheckLink(ctx context.Context, of shop.ID, link string) error
	Enter(ctx context.Context, of shop.ID, link string) (string, error)
	RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error
	Authenticate(ctx context.Context, of shop.ID, value string, via login.Via) (login.Principal, error)
	SignOut(ctx context.Context, of shop.Shop, value string) (elsewhere string, err error)
	BeginAccount(ctx context.Context, of shop.Shop, browser, clientIP string) (to, kept string, err error)
	FinishAccount(ctx context.Context, of shop.Shop, back login.AccountReturn) (string, error)
}

// Languages knows in which languages customers have asked to read.
type Languages interface {
	// Language returns that of a customer, BCP 47; empty: none.
	Language(ctx context.Context, of shop.ID, customer int64) (string, error)
}

// Options are what the pages need.
type Options struct {
	Frame     web.Frame
	Login     Login
	Proxies   map[string]web.Shoppers // by the name of a line in paths: "subscriptions"
	Looks     Looks                   // nil: of no store anything is set
	Logos     Logos                   // nil: no store has one
	Wordings  Wordings                // nil: no merchant has texts of their own
	Texts     *locale.Catalogue
	Languages Languages // nil: at the store's domain pages are in the browser's language
	Repeats   Repeats
	Mails     Unsubscribing // nil: no e-mail has a link that ends e-mails
	Clock     clock.Clock
	Key       []byte // signs forms
	Pictures  string // origin of pictures that are not reached over HTTPS; empty: all are
	Secure    bool   // the pages of our own domain are reached over HTTPS
	Rooms     []Room
}

// Portal is the pages at both places.
type Portal struct {
	Own     http.Handler // everything below Path
	Proxied http.Handler // everything below Proxied of each line
}

// portal answers with pages.
type portal struct {
	Options
	key      formKey
	renderer *renderer
	styles   string            // of all rooms
	said     map[string]string // keys of the sentences of what a form has done
	tabs     []Tab
	known    map[string]bool // paths of screens
}
