package dashboard

import (
	"maps"
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// New returns the handler of Path and everything below it.
func New(o Options) (http.Handler, error) {
	d := &dashboard{Options: o, styles: styles, said: maps.Clone(said)}
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	d.renderer = &renderer{pages: pages, embed: o.Embed, unavailable: o.Frame.Unavailable}
	if o.Embed != nil {
		u, err := url.Parse(o.Embed.Bridge)
		if err != nil {
			return nil, err
		}
		d.renderer.bridge = u.Scheme + "://" + u.Host
	}
	mux := http.NewServeMux()
	d.handleEntrance(mux)
	for _, room := range o.Rooms {
		if err := d.furnish(mux, room); err != nil {
			return nil, err
		}
	}
	d.renderer.assets = newAssets(d.styles)
	d.renderer.assets.register(mux)
	unknown := func(w http.ResponseWriter, r *http.Request) { d.renderer.fail(w, r, d.outside(r), PathNotFound()) }
	mux.HandleFunc("/", unknown)
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.renderer.fail(w, r, d.outside(r), fault.New(fault.Forbidden, "another site sent this form, so nothing was done").Code("crossOrigin"))
	}))
	return withoutSecret(o.Frame.Around(cross.Handler(web.Tidy(mux, unknown)))), nil
}

// handleEntrance registers the pages of people who are not signed in.
func (d *dashboard) handleEntrance(mux *http.ServeMux) {
	mux.HandleFunc("GET /admin", d.page(d.start))
	mux.HandleFunc("GET /admin/signin", d.page(d.showSignIn))
	mux.HandleFunc("POST /admin/signin", d.page(d.signIn))
	mux.HandleFunc("GET /admin/code", d.page(d.showCode))
	mux.HandleFunc("POST /admin/code", d.page(d.enterCode))
	mux.HandleFunc("POST /admin/signout", d.page(d.signOut))
	mux.HandleFunc("GET /admin/reset", d.page(d.showReset))
	mux.HandleFunc("POST /admin/reset", d.page(d.requestReset))
	mux.HandleFunc("GET /admin/reset/link", d.page(d.showNewPassword))
	mux.HandleFunc("POST /admin/reset/link", d.page(d.setNewPassword))
	mux.HandleFunc("GET /admin/invitation/{shop}", d.page(d.showInvitation))
	mux.HandleFunc("POST /admin/invitation/{shop}", d.page(d.acceptInvitation))
}

// findPath is that of the page that searches the whole store.
const findPath = "/find"

// furnish adds a room: its routes are registered, and what its pages need is kept.
func (d *dashboard) furnish(mux *http.ServeMux, room Room) error {
	pages, err := d.renderer.pages.Clone()
	if err != nil {
		return err
	}
	if room.Pages != nil {
		if pages, err = pages.ParseFS(room.Pages, "pages/*.html"); err != nil {
			return err
		}
	}
	d.styles += room.Styles
	maps.Copy(d.said, room.Said)
	d.menu = append(d.menu, room.Menu...)
	for _, route := range room.Routes {
		method, path := route.split()
		d.finds = d.finds || path == findPath
		mux.HandleFunc(method+" "+Path+"/stores/{shop}"+path, d.inStore(pages, route))
	}
	return nil
}
