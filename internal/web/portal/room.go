package portal

import (
	"context"
	"io/fs"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Show answers a request of a customer who is signed in. A failure that it returns is shown on a
// page of its own; a form that its reader can mend is shown again with [Visit.Refuse].
type Show func(w http.ResponseWriter, r *http.Request, v Visit) error

// Route is a screen, or an action on one.
type Route struct {
	Pattern string // method and path below that of the portal: "GET /s/{contract}"
	Show    Show
}

// split returns the method and the path of a route's pattern.
func (r Route) split() (method, path string) {
	method, path, _ = strings.Cut(r.Pattern, " ")
	return method, path
}

// Tab is an entry of the navigation at the top of every screen.
type Tab struct {
	Text string // key of its name
	Path string // below that of the portal; empty: the first screen
	// When reports whether a store has the entry; nil: every one has. Every page asks.
	When func(ctx context.Context, of shop.Shop) (bool, error)
}

// Room is a part of the portal in a package of its own: screens that belong together, with what
// only they need.
type Room struct {
	// Routes are the screens and actions.
	Routes []Route
	// Tabs are the entries in the navigation.
	Tabs []Tab
	// Pages are the room's templates, files pages/*.html. They are parsed beside the shell's,
	// whose definitions they use.
	Pages fs.FS
	// Styles are rules that only the room needs. They are appended to the one style sheet.
	Styles string
	// Said are the keys of the sentences of what a form has done, by the name that [Visit.Go] is
	// given.
	Said map[string]string
}
