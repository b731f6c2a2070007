package storefront

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
)

const sessionCookie = "storefront_session"

// login signs a shopper in without asking for a password: the sandbox believes
// everybody.
func (s *Store) login(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("customer_id")
	if id == "" {
		s.refused(w, r, fault.New(fault.Invalid, "say who signs in: /account/login?customer_id=7001").Field("customer_id"), s.showList)
		return
	}
	number, err := gid.Parse("Customer", id)
	if err != nil || strings.HasPrefix(id, "gid:") {
		s.refused(w, r, fault.New(fault.Invalid, "%q is not a customer's number", id).Field("customer_id"), s.showList)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: id + "." + s.seal(id), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	s.done(w, r, back(r), session{number})
}

func (s *Store) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1})
	s.done(w, r, back(r), session{})
}

// back is the page of the store on which a shopper signed in or out, or to which the app wants them
// to come back.
func back(r *http.Request) string {
	if to := cmp.Or(r.FormValue("return_to"), r.FormValue("return_url")); strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\r\n") {
		return to
	}
	return "/"
}

// session is who is signed in.
type session struct {
	Customer int64 `json:"customerId,omitempty"` // 0: signed out
}

// session returns the number of the customer who is signed in, or "".
func (s *Store) session(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	id, seal, _ := strings.Cut(c.Value, ".")
	if !hmac.Equal([]byte(seal), []byte(s.seal(id))) {
		return ""
	}
	return id
}

func (s *Store) seal(id string) string {
	mac := hmac.New(sha256.New, []byte(s.AppSecret))
	mac.Write([]byte("storefront session of " + id))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
