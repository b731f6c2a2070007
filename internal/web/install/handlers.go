package install

import (
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/domain/connection"
)

// cookieLife is how long a browser keeps the proof that it has started an installation,
// in seconds.
const cookieLife = int(connection.StateLife / 1e9)

// cookieName returns the name of that proof. The prefix keeps other hosts of the domain
// from setting it.
func (h *handler) cookieName() string {
	if h.Secure {
		return "__Host-perennial-install"
	}
	return "perennial-install"
}

func (h *handler) setCookie(w http.ResponseWriter, value string, life int) {
	http.SetCookie(w, &http.Cookie{
		Name: h.cookieName(), Value: value, Path: "/", MaxAge: life, Secure: h.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// begin sends a merchant to the consent page of a store, or asks for the store.
func (h *handler) begin(w http.ResponseWriter, r *http.Request) {
	shop := r.URL.Query().Get("shop")
	if shop == "" {
		h.show(w, r, http.StatusOK, "ask", "", view{Title: "Install the app", App: appOf(r)})
		return
	}
	consent, cookie, err := h.Service.Begin(appOf(r), shop)
	if err != nil {
		h.fail(w, r, "", err)
		return
	}
	h.setCookie(w, cookie, cookieLife)
	http.Redirect(w, r, consent, http.StatusFound)
}

// finish takes a merchant in who comes back from the consent page, and sends them to the
// app in their admin. Nothing in the request but the store decides where.
func (h *handler) finish(w http.ResponseWriter, r *http.Request) {
	proof := ""
	if c, err := r.Cookie(h.cookieName()); err == nil {
		proof = c.Value
	}
	h.setCookie(w, "", -1)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		query = nil // it is not signed
	}
	domain, err := h.Service.Finish(r.Context(), appOf(r), query, proof)
	if err == nil {
		var address string
		if address, err = h.Service.AppURL(appOf(r), domain); err == nil {
			http.Redirect(w, r, address, http.StatusFound)
			return
		}
	}
	h.fail(w, r, "", err)
}

// enter is the app's address at the platform. In the admin's frame the page has the
// platform's script bring a session token; elsewhere the installation begins.
func (h *handler) enter(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		query = url.Values{}
	}
	switch {
	case query.Get("id_token") != "":
		h.letIn(w, r, query)
	case query.Get("embedded") == "1":
		domain, err := connection.Domain(query.Get("shop")) // the page has nothing of the store: its signature does not matter
		if err != nil {
			h.fail(w, r, "", err)
			return
		}
		h.show(w, r, http.StatusOK, "bring", domain, view{Title: "Opening the app", App: appOf(r), Bridge: h.Bridge, Script: Path + "/enter.js", Address: r.URL.Path})
	default:
		http.Redirect(w, r, h.beginAt(appOf(r), query.Get("shop")), http.StatusFound)
	}
}

// beginAt returns the path at which the installation of a store begins.
func (h *handler) beginAt(app connection.AppName, shop string) string {
	q := url.Values{}
	if shop != "" {
		q.Set("shop", shop)
	}
	if app != connection.Primary {
		q.Set("app", string(app))
	}
	if len(q) == 0 {
		return Path
	}
	return Path + "?" + q.Encode()
}

// letIn lets a merchant in who brings a session token, or has them agree to what the app
// needs now. A consent page is never shown in a frame.
func (h *handler) letIn(w http.ResponseWriter, r *http.Request, query url.Values) {
	e, err := h.Service.Enter(r.Context(), appOf(r), query.Get("id_token"))
	if err != nil {
		h.fail(w, r, "", err)
		return
	}
	v := view{App: appOf(r), Bridge: h.Bridge}
	for _, s := range e.Connection.Missing() {
		v.Missing = append(v.Missing, s.Why)
	}
	switch {
	case e.Ask:
		v.Title, v.Script, v.Address = "The app needs your permission", Path+"/leave.js", h.beginAt(v.App, e.Shop)
		h.show(w, r, http.StatusOK, "leave", e.Shop, v)
	case h.Home == "" || v.App != connection.Primary:
		v.Title = "The app is installed"
		h.show(w, r, http.StatusOK, "home", e.Shop, v)
	default:
		query.Del("hmac")
		http.Redirect(w, r, h.Home+"?"+query.Encode(), http.StatusFound)
	}
}
