package portal

import (
	"embed"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"sync"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/web"
)

//go:embed texts/*.json
var texts embed.FS

// TextFiles returns the files of the texts of the pages: one for each language.
func TextFiles() (fs.FS, error) { return fs.Sub(texts, "texts") }

// Texts returns the texts of the pages in every language. They are read once.
var Texts = sync.OnceValues(func() (*locale.Catalogue, error) {
	files, err := TextFiles()
	if err != nil {
		return nil, err
	}
	return locale.Load(files)
})

// New returns the handlers of the pages.
func New(o Options) (Portal, error) {
	own, proxied := http.NewServeMux(), http.NewServeMux()
	p, err := furnished(o, own, proxied)
	if err != nil {
		return Portal{}, err
	}
	p.handleEntrance(own)
	for _, file := range p.renderer.assets.all() {
		own.Handle("GET "+Path+"assets/"+file.name, file)
		proxied.Handle("GET "+Proxied("{line}")+"/assets/"+file.name, file)
	}
	own.HandleFunc("GET /p/{shop}"+logoPath+"{file}", p.ownLogo)
	proxied.HandleFunc("GET "+Proxied("{line}")+logoPath+"{file}", p.proxiedLogo)
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

// furnished returns the portal with all rooms, whose routes are registered at both places.
func furnished(o Options, own, proxied *http.ServeMux) (*portal, error) {
	p := &portal{Options: o, key: o.Key, styles: styles, said: map[string]string{}, known: map[string]bool{}}
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	p.renderer = &renderer{pages: pages, unavailable: o.Frame.Unavailable, texts: map[string]bool{}}
	for _, key := range o.Texts.Keys() {
		p.renderer.texts[key] = true
	}
	for _, room := range o.Rooms {
		if err := p.furnish(own, proxied, room); err != nil {
			return nil, err
		}
	}
	p.renderer.assets = newAssets(p.styles)
	return p, nil
}

// handleEntrance registers the pages of people who are not signed in.
func (p *portal) handleEntrance(mux *http.ServeMux) {
	mux.HandleFunc("GET /p/{shop}/signin", p.open(p.showSignIn))
	mux.HandleFunc("POST /p/{shop}/signin", p.open(p.sendLink))
	mux.HandleFunc("GET /p/{shop}"+accountPath, p.open(p.beginAccount))
	mux.HandleFunc("GET /p/{shop}"+login.AccountReturnPath, p.open(p.finishAccount))
	mux.HandleFunc("GET /p/{shop}/l", p.open(p.look))
	mux.HandleFunc("POST /p/{shop}/l", p.open(p.useLink))
	mux.HandleFunc("POST /p/{shop}/signout", p.open(p.signOut))
	if p.Mails != nil {
		mux.HandleFunc("GET /p/{shop}/u", p.open(p.askToUnsubscribe))
		mux.HandleFunc("POST /p/{shop}/u", p.open(p.unsubscribe))
	}
}

// furnish adds a room: its routes are registered at both places, and what its pages need is kept.
func (p *portal) furnish(own, proxied *http.ServeMux, room Room) error {
	pages, err := p.pagesOf(room)
	if err != nil {
		return err
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

// pagesOf returns the templates of a room, beside the shell's.
func (p *portal) pagesOf(room Room) (*template.Template, error) {
	pages, err := p.renderer.pages.Clone()
	if err != nil || room.Pages == nil {
		return pages, err
	}
	return pages.ParseFS(room.Pages, "pages/*.html")
}
