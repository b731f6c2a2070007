package portal

import (
	"context"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// shopOf returns the store that a path names.
func (p *portal) shopOf(r *http.Request) (shop.Shop, error) {
	handle := strings.ToLower(r.PathValue("shop"))
	if !login.IsHandle(handle) {
		return shop.Shop{}, fault.New(fault.NotFound, "store not found").Code("shopNotFound")
	}
	return p.Login.Shop(r.Context(), handle)
}

// ownView returns the view of a page of a store on our own domain, in the language that its reader has
// chosen; empty: the browser's.
func (p *portal) ownView(r *http.Request, of shop.Shop, chosen string) (View, error) {
	base := Path + login.Handle(of.Domain)
	v, err := p.view(r, of, "", base, strings.TrimPrefix(r.URL.Path, base), chosen)
	v.Own = true
	return v, err
}

// open answers with a page of people who need not be signed in.
func (p *portal) open(show func(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := p.blank(r)
		of, err := p.shopOf(r)
		if err == nil {
			v, err = p.ownView(r, of, "")
		}
		if err == nil {
			err = parseForm(r)
		}
		if err == nil {
			err = show(w, r, of, v)
		}
		if err != nil {
			p.renderer.fail(w, r, v, err)
		}
	}
}

// own answers with a screen on our own domain.
func (p *portal) own(pages *template.Template, route Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := p.blank(r)
		if err := p.showOwn(w, r, &v, pages, route); err != nil {
			p.renderer.fail(w, r, v, err)
		}
	}
}

// showOwn answers a customer's request, or leads to the sign-in. It sets the view with which a failure is
// shown.
func (p *portal) showOwn(w http.ResponseWriter, r *http.Request, v *View, pages *template.Template, route Route) error {
	of, err := p.shopOf(r)
	if err != nil {
		return err
	}
	who, signedOut := p.principal(r, of)
	if signedOut != nil && !fault.Is(signedOut, fault.Unauthenticated) {
		return signedOut
	}
	if *v, err = p.ownView(r, of, who.Language); err != nil {
		return err
	}
	if signedOut != nil {
		if path := strings.TrimPrefix(r.URL.Path, v.Base); r.Method == http.MethodGet && returnable.MatchString(path) {
			http.SetCookie(w, p.next().Of(path))
		}
		redirect(w, v.At("/signin"))
		return nil
	}
	if err := parseForm(r); err != nil {
		return err
	}
	visit, err := p.visit(r, who, of, *v)
	visit.View.pages = pages
	if err != nil {
		return err
	}
	*v = visit.View
	return route.Show(w, r, visit)
}

// nextLife is how long the cookie keeps where its reader wanted to go.
const nextLife = time.Hour

// next is the cookie that keeps which screen a visitor wanted who has to sign in first.
func (p *portal) next() web.SessionCookie {
	return web.SessionCookie{Name: "portal-next", Life: nextLife, Secure: p.Secure}
}

// returnable is the path of a screen that a visitor is led back to.
var returnable = regexp.MustCompile(`^(/[A-Za-z0-9_-]{1,40}){1,6}$`)

// principal returns the customer who sends a request: by a token in the header, or by a session.
func (p *portal) principal(r *http.Request, of shop.Shop) (login.Principal, error) {
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return p.Login.Authenticate(r.Context(), of.ID, token, login.ByToken)
	}
	return p.Login.Authenticate(r.Context(), of.ID, web.PortalCookie(p.Secure).Read(r), login.ByLink)
}

func (p *portal) unknown(w http.ResponseWriter, r *http.Request) {
	p.renderer.fail(w, r, p.blank(r), PathNotFound())
}

type linkKey struct{}

// withoutLink takes the secret of a link, or of one that ends e-mails, out of the path before anybody
// writes the path down.
func withoutLink(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, mark := range []string{"/l/", UnsubscribePath} {
			before, secret, found := strings.Cut(r.URL.Path, mark)
			if !found {
				continue
			}
			u := *r.URL
			u.Path, u.RawPath = before+strings.TrimSuffix(mark, "/"), ""
			r = r.WithContext(context.WithValue(r.Context(), linkKey{}, strings.TrimSuffix(secret, "/")))
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

func linkOf(ctx context.Context) string {
	secret, _ := ctx.Value(linkKey{}).(string)
	return secret
}
