// Package dashboard is the pages on which the people of a store look after it: on the
// service's own domain with a session of theirs, or in the platform's admin with its session
// tokens. Who may do what is decided by package staff.
package dashboard

import (
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// Path is what the paths of all pages begin with.
const Path = staff.Path

// RoleName returns a role as pages name it.
func RoleName(r staff.Role) string {
	if r == "" {
		return ""
	}
	return string(r[:1]) + strings.ToLower(string(r[1:]))
}

// Embedding is what pages in the platform's admin need.
type Embedding struct {
	// Verify returns the store's domain and the platform's id of the user of a session token,
	// or Unauthenticated.
	Verify func(token string) (domain, user string, err error)
	// ClientID is the public id of the app.
	ClientID string
	// Bridge is the address of the platform's script.
	Bridge string
	// Ancestors returns the origins whose pages may have a store's pages in a frame.
	Ancestors func(domain string) []string
}

// Options are what the pages need.
type Options struct {
	Frame  web.Frame
	Staff  *staff.Service
	Clock  clock.Clock
	Secure bool       // the pages are reached over HTTPS
	Embed  *Embedding // nil: the pages are not shown in the platform's admin
	Rooms  []Room     // the pages of stores
	// Notice is shown on every page of a store, in its zone; empty: nothing is. nil: nothing is.
	Notice func(zone *time.Location) string
}

// dashboard answers with pages.
type dashboard struct {
	Options
	renderer *renderer
	styles   string            // of all rooms
	said     map[string]string // sentences of what a form has done
	menu     []Entry
	finds    bool // a room searches the whole store
}
