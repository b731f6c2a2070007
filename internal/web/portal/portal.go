// Package portal is the shell of the pages on which customers look after their subscriptions: at
// their store's own domain, through the platform's app proxy, or on the service's own. It lets
// customers in, and has the layout and the parts that screens share. The screens are rooms,
// packages below it.
package portal

import (
	"context"
	"embed"
	"io/fs"
	"maps"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Path is what the paths of all pages on our own domain begin with. A store's handle follows.
const Path = "/p/"

// Proxied is the path below which the platform's app proxy reaches the pages of a line, by the
// line's name: /apps/subscriptions/cp.
func Proxied(line string) string { return "/apps/" + line + "/cp" }

// Login lets customers in. Failures are faults.
type Login interface {
	Shop(ctx context.Context, handle string) (shop.Shop, error)
	CheckLink(ctx context.Context, of shop.ID, link string) error
	Enter(ctx context.Context, of shop.ID, link string) (string, error)
	RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error
	Authenticate(ctx context.Context, of shop.ID, value string, via login.Via) (login.Principal, error)
	SignOut(ctx context.Context, of shop.ID, value string) error
}

// Options are what the pages need.
type Options struct {
	Frame    web.Frame
	Login    Login
	Proxies  map[string]web.Shoppers // by the name of a line in paths: "subscriptions"
	Looks    Looks                   // nil: of no store anything is set
	Wordings Wordings                // nil: no merchant has texts of their own
	Texts    *locale.Catalogue
	Repeats  Repeats
	Clock    clock.Clock
	Key      []byte // signs forms
	Pictures string // origin of pictures that are not reached over HTTPS; empty: all are
	Secure   bool   // the pages of our own domain are reached over HTTPS
	Rooms    []Room
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

//go:embed texts/*.json
var texts embed.FS

// Texts returns the texts of the pages in every language.
func Texts() (*locale.Catalogue, error) {
	files, err := fs.Sub(texts, "texts")
	if err != nil {
		return nil, err
	}
	return locale.Load(files)
}

// New returns the handlers of the pages.
func New(o Options) (Portal, error) {
	p := &portal{Options: o, key: o.Key, styles: styles, said: map[string]string{}, known: map[string]bool{}}
	pages, err := parsePages()
	if err != nil {
		return Portal{}, err
	}
	p.renderer = &renderer{pages: pages, unavailable: o.Frame.Unavailable, texts: map[string]bool{}}
	for _, key := range o.Texts.Keys() {
		p.renderer.texts[key] = true
	}
	own, proxied := http.NewServeMux(), http.NewServeMux()
	p.handleEntrance(own)
	for _, room := range o.Rooms {
		if err := p.furnish(own, proxied, room); err != nil {
			return Portal{}, err
		}
	}
	p.renderer.assets = newAssets(p.styles)
	for _, file := range p.renderer.assets.all() {
		own.Handle("GET "+Path+"assets/"+file.name, file)
		proxied.Handle("GET "+Proxied("{line}")+"/assets/"+file.name, file)
	}
	proxied.HandleFunc("GET /apps/{line}", p.entrance)
	own.HandleFunc("/", p.unknown)
	proxied.HandleFunc("/", p.unknownProxied)
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.renderer.fail(w, r, p.blank(r), fault.New(fault.Forbidden, "another site sent this form, so nothing was done").Code("crossOrigin"))
	}))
	return Portal{
		Own:     withoutLink(o.Frame.Around(cross.Handler(web.Tidy(web.Mux(own), p.unknown)))),
		Proxied: o.Frame.Around(web.Tidy(web.Mux(proxied), p.unknownProxied)),
	}, nil
}

// furnish adds a room: its routes are registered at both places, and what its pages need is kept.
func (p *portal) furnish(own, proxied *http.ServeMux, room Room) error {
	pages, err := p.renderer.pages.Clone()
	if err != nil {
		return err
	}
	if room.Pages != nil {
		if pages, err = pages.ParseFS(room.Pages, "pages/*.html"); err != nil {
			return err
		}
	}
	p.styles += room.Styles
	p.tabs = append(p.tabs, room.Tabs...)
	maps.Copy(p.said, room.Said)
	for _, route := range room.Routes {
		method, path := route.split()
		p.known[path] = true
		own.HandleFunc(method+" "+Path+"{shop}"+path, p.own(pages, route))
		proxied.HandleFunc(method+" "+Proxied("{line}")+path, p.proxied(pages, route))
	}
	return nil
}
