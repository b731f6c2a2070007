package web

import (
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/domain/login"
)

// SessionCookie is the cookie that holds a session of a host's pages. Over HTTPS the browser
// takes it only from this very host.
type SessionCookie struct {
	Name   string        // without the prefix
	Life   time.Duration // for which the browser keeps it
	Secure bool          // the pages are reached over HTTPS
}

// PortalCookie is the cookie of subscribers who signed in with a link.
func PortalCookie(secure bool) SessionCookie {
	return SessionCookie{Name: "portal", Life: login.SessionLife, Secure: secure}
}

func (c SessionCookie) name() string {
	if c.Secure {
		return "__Host-" + c.Name
	}
	return c.Name + "-dev"
}

// Of returns the cookie with a value; the browser deletes it when that is empty.
func (c SessionCookie) Of(value string) *http.Cookie {
	age := int(c.Life.Seconds())
	if value == "" {
		age = -1
	}
	return &http.Cookie{Name: c.name(), Value: value, Path: "/", HttpOnly: true, Secure: c.Secure, SameSite: http.SameSiteLaxMode, MaxAge: age}
}

// Read returns the value that a request carries, or "".
func (c SessionCookie) Read(r *http.Request) string {
	found, err := r.Cookie(c.name())
	if err != nil {
		return ""
	}
	return found.Value
}
