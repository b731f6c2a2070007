package portal

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// prefixes are the paths that an app proxy can have at a store's domain. Nothing in one means
// anything to Liquid or HTML.
var prefixes = regexp.MustCompile(`^(/[A-Za-z0-9_-]{1,100}){2}$`)

// proxied answers with a screen on the store's own domain. Every request carries its own proof:
// the platform's signature says which store and which customer it is. There is no session and no
// cookie of ours.
func (p *portal) proxied(pages *template.Template, route Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, v, err := p.fromStore(r)
		v.pages = pages
		switch {
		case err != nil:
		case v.Look.Design.InTheme && r.Method == http.MethodGet && !v.Part && who.Query.Get(pageParam) == "":
			err = shell(w, who.Prefix+"/cp", p.renderer.assets)
		case who.Customer == 0:
			err = p.signedOut(w, r, v)
		default:
			err = p.showProxied(w, r, who, v, route)
		}
		if err != nil {
			p.renderer.fail(w, r, v, err)
		}
	}
}

// showProxied answers a customer's request.
func (p *portal) showProxied(w http.ResponseWriter, r *http.Request, who login.Visitor, v View, route Route) error {
	if r.Method != http.MethodGet && !fromPageOf(r, who.Store.Domain) {
		return fault.New(fault.Forbidden, "another site sent this form, so nothing was done").Code("crossOrigin")
	}
	if err := parseForm(r); err != nil {
		return err
	}
	visit, err := p.visit(r, who.Principal, who.Store, v)
	if err != nil {
		return err
	}
	if err := route.Show(w, r, visit); err != nil {
		p.renderer.fail(w, r, visit.View, err)
	}
	return nil
}

// fromStore returns who sends a request that the platform has handed on, and the view of the page.
// The query is the customer's own afterwards.
func (p *portal) fromStore(r *http.Request) (login.Visitor, View, error) {
	v := p.blank(r)
	v.Own = false
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return login.Visitor{}, v, fault.Because(fault.Invalid, err, "the query is not well formed")
	}
	proxy, known := p.Proxies[r.PathValue("line")]
	if !known {
		return login.Visitor{}, v, PathNotFound()
	}
	who, err := proxy.Enter(r, query, false)
	if err != nil && !(fault.Is(err, fault.Unauthenticated) && who.Store.ID != 0) {
		return who, v, err
	}
	if !prefixes.MatchString(who.Prefix) {
		return who, v, fault.New(fault.Unauthenticated, "the request's path_prefix is not the path of an app proxy").Code("proxyParameter")
	}
	r.URL.RawQuery = who.Query.Encode()
	if who.Customer != 0 && p.Languages != nil {
		if who.Language, err = p.Languages.Language(r.Context(), who.Store.ID, who.Customer); err != nil {
			return who, v, err
		}
	}
	v, err = p.view(r, who.Store, lines[r.PathValue("line")], who.Prefix+"/cp", strings.TrimPrefix(r.URL.Path, Proxied(r.PathValue("line"))), who.Language)
	v.Part = r.URL.Query().Get(partParam) != ""
	return who, v, err
}

// entrance leads from the path of the app proxy itself to the first screen.
func (p *portal) entrance(w http.ResponseWriter, r *http.Request) {
	_, v, err := p.fromStore(r)
	if err == nil {
		err = p.renderer.forward(w, v, v.At(""))
	}
	if err != nil {
		p.renderer.fail(w, r, v, err)
	}
}

// shell answers with what the platform renders within the store's theme. It is constant: the
// platform evaluates Liquid in it, so nothing that anybody has entered may be in it. Its script
// reads the screen, which is HTML.
func shell(w http.ResponseWriter, base string, a assets) error {
	w.Header().Set("Content-Type", "application/liquid; charset=utf-8")
	_, err := w.Write([]byte(`<link rel="stylesheet" href="` + base + "/assets/" + a.scoped.name + `">
<div class="portal" data-portal aria-busy="true"><noscript><p><a href="?` + pageParam + `=1">Your subscriptions</a></p></noscript></div>
<script src="` + base + "/assets/" + a.script.name + `" defer></script>
`))
	return err
}

// signedOut leads a visitor to the sign-in of their store, and back.
func (p *portal) signedOut(w http.ResponseWriter, r *http.Request, v View) error {
	back := v.Base + strings.TrimPrefix(r.URL.Path, Proxied(r.PathValue("line")))
	v.Title, v.Lead = v.T("signedOut.title"), v.T("signedOut.text", "store", v.Look.Name)
	v.Page = "/account/login?return_url=" + url.QueryEscape(back)
	return p.renderer.render(w, http.StatusUnauthorized, "signedOut", v)
}

func (p *portal) unknownProxied(w http.ResponseWriter, r *http.Request) {
	v := p.blank(r)
	v.Own = false
	p.renderer.fail(w, r, v, PathNotFound())
}
