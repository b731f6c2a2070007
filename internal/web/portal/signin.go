package portal

import (
	"errors"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// entrance is what the pages of the sign-in show.
type entrance struct {
	Email   string // as it was entered
	Link    string // secret of the link that the page continues with
	Minutes int    // for how long a link works
}

func newEntrance() entrance { return entrance{Minutes: int(login.LinkLife.Minutes())} }

func (p *portal) showSignIn(w http.ResponseWriter, _ *http.Request, _ shop.Shop, v View) error {
	return p.renderer.render(w, http.StatusOK, "signin", signInView(v, newEntrance()))
}

func signInView(v View, e entrance) View {
	v.Title, v.Lead, v.Page = v.T("signin.title"), v.T("signin.text"), e
	return v
}

// sendLink answers the same whether anybody has the address or not.
func (p *portal) sendLink(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	e := newEntrance()
	e.Email = strings.TrimSpace(r.PostForm.Get("email"))
	if err := p.Login.RequestLink(r.Context(), of.ID, e.Email, web.ClientIP(r.Context())); err != nil {
		return p.renderer.again(w, r, "signin", signInView(v, e), err)
	}
	v.Title, v.Lead, v.Page = v.T("signin.sent.title"), v.T("signin.sent.text", "email", e.Email, "n", e.Minutes), e
	return p.renderer.render(w, http.StatusOK, "sent", v)
}

// look shows what a link does. It does nothing yet: programs that scan mail follow links too.
func (p *portal) look(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	e := newEntrance()
	e.Link = linkOf(r.Context())
	if err := p.Login.CheckLink(r.Context(), of.ID, e.Link); err != nil {
		return p.endedLink(w, r, v, err)
	}
	v.Title, v.Lead, v.Page = v.T("signin.link.title"), v.T("signin.link.text", "store", v.Look.Name), e
	return p.renderer.render(w, http.StatusOK, "continue", v)
}

// useLink uses the link up, and leads to the screen that its reader wanted.
func (p *portal) useLink(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	value, err := p.Login.Enter(r.Context(), of.ID, linkOf(r.Context()))
	if err != nil {
		return p.endedLink(w, r, v, err)
	}
	p.enter(w, r, v, value)
	return nil
}

// enter gives the browser a new session, and leads to the screen that its reader wanted.
func (p *portal) enter(w http.ResponseWriter, r *http.Request, v View, session string) {
	http.SetCookie(w, web.PortalCookie(p.Secure).Of(session))
	to := ""
	if path := p.next().Read(r); returnable.MatchString(path) {
		to = path
		http.SetCookie(w, p.next().Of(""))
	}
	redirect(w, v.At(to))
}

// endedLink answers a link that opens nothing with the form that asks for another one.
func (p *portal) endedLink(w http.ResponseWriter, r *http.Request, v View, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.NotFound && f.Kind != fault.FailedPrecondition {
		return err
	}
	web.Note(r.Context(), err)
	status := http.StatusGone
	if f.Kind == fault.NotFound {
		status = http.StatusNotFound
	}
	v = signInView(v, newEntrance())
	v.Problem = p.renderer.sentence(v, f)
	return p.renderer.render(w, status, "signin", v)
}

// signOut ends the session. Who signed in with an account at the store is asked whether to sign out there
// too: in this browser it would sign them in again.
func (p *portal) signOut(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	elsewhere, err := p.Login.SignOut(r.Context(), of, web.PortalCookie(p.Secure).Read(r))
	if err != nil {
		return err
	}
	http.SetCookie(w, web.PortalCookie(p.Secure).Of(""))
	if elsewhere == "" {
		redirect(w, v.At("/signin"))
		return nil
	}
	v.Title, v.Lead, v.Page = v.T("signin.accountOut.title"), v.T("signin.accountOut.text", "store", v.Look.Name), elsewhere
	return p.renderer.render(w, http.StatusOK, "accountOut", v)
}
