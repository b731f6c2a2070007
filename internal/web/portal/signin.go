package portal

import (
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// cookie is the cookie that holds a session.
func (p *portal) cookie() web.SessionCookie {
	return web.SessionCookie{Name: "portal", Life: login.SessionLife, Secure: p.Secure}
}

// principal returns the subscriber who sends a request: by a token in the header, or by a session.
func (p *portal) principal(r *http.Request, of shop.Shop) (login.Principal, error) {
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return p.Login.Authenticate(r.Context(), of.ID, token, login.ByToken)
	}
	return p.Login.Authenticate(r.Context(), of.ID, p.cookie().Read(r), login.ByLink)
}

// look shows what a link does. It does nothing yet: programs that scan mail
// follow links too.
func (p *portal) look(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error {
	v.Link = linkOf(r.Context())
	if err := p.Login.CheckLink(r.Context(), of.ID, v.Link); err != nil {
		return err
	}
	v.Title = "Continue to your subscriptions"
	return p.render(w, http.StatusOK, "continue", v)
}

// enter uses the link up.
func (p *portal) enter(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error {
	value, err := p.Login.Enter(r.Context(), of.ID, linkOf(r.Context()))
	if err != nil {
		return err
	}
	http.SetCookie(w, p.cookie().Of(value))
	redirect(w, v.Home)
	return nil
}

func (p *portal) signIn(w http.ResponseWriter, _ *http.Request, _ shop.Shop, v view) error {
	v.Title = "Sign in"
	return p.render(w, http.StatusOK, "signin", v)
}

// sendLink answers the same whether anybody has the address or not.
func (p *portal) sendLink(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error {
	if err := r.ParseForm(); err != nil {
		return fault.Because(fault.Invalid, err, "the form could not be read")
	}
	email := strings.TrimSpace(r.PostForm.Get("email"))
	if err := web.CheckText("the address", "email", email); err != nil {
		return err
	}
	err := p.Login.RequestLink(r.Context(), of.ID, email, web.ClientIP(r.Context()))
	if err != nil {
		return err
	}
	v.Title, v.Sent = "Look into your mail", true
	return p.render(w, http.StatusOK, "signin", v)
}

func (p *portal) signOut(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error {
	if err := p.Login.SignOut(r.Context(), of.ID, p.cookie().Read(r)); err != nil {
		return err
	}
	http.SetCookie(w, p.cookie().Of(""))
	redirect(w, v.Home+"/signin")
	return nil
}

// redirect sends the reader on, to a page that may be read again.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
