package portal

import (
	"errors"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// accountPath begins a sign-in with an account at the store.
const accountPath = "/signin/account"

// account is the cookie by which a browser that comes back from the platform is known.
func (p *portal) account() web.SessionCookie {
	return web.SessionCookie{Name: "portal-account", Life: login.AccountLife, Secure: p.Secure}
}

// beginAccount sends the browser to the platform. It is a link: the policy of the page lets no form lead
// to another site.
func (p *portal) beginAccount(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	to, kept, err := p.Login.BeginAccount(r.Context(), of, p.account().Read(r), web.ClientIP(r.Context()))
	if err != nil {
		return p.accountFailed(w, r, v, err)
	}
	http.SetCookie(w, p.account().Of(kept))
	w.Header().Set("Cache-Control", "no-store")
	redirect(w, to)
	return nil
}

// finishAccount signs in the customer who comes back from the platform.
func (p *portal) finishAccount(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	query := r.URL.Query()
	value, err := p.Login.FinishAccount(r.Context(), of, login.AccountReturn{
		State: query.Get("state"), Code: query.Get("code"), Problem: query.Get("error"), Browser: p.account().Read(r),
	})
	if err != nil {
		return p.accountFailed(w, r, v, err)
	}
	w.Header().Set("Cache-Control", "no-store")
	p.enter(w, r, v, value)
	return nil
}

// accountFailed shows the sign-in again, with the reason of the failure.
func (p *portal) accountFailed(w http.ResponseWriter, r *http.Request, v View, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	shown, known := problems[f.Kind]
	if !known {
		return err
	}
	web.Note(r.Context(), err)
	web.SetRetryAfter(w, f)
	v = signInView(v, newEntrance())
	v.Problem = p.renderer.sentence(v, f)
	return p.renderer.render(w, shown.status, "signin", v)
}
