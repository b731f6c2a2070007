package dashboard

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/staff"
)

// Show answers a request of a user who is in a store and may do what the route is for. What it
// returns as a failure is shown on a page of its own: a form that its reader can mend is shown
// again with [Visit.Refuse].
type Show func(w http.ResponseWriter, r *http.Request, v Visit) error

// Route is a page of a store, or an action on one.
type Route struct {
	Pattern string           // method and path below that of the store: "GET /contracts/{contract}"
	Need    staff.Permission // what a user must be permitted
	Upload  Upload           // the file that its form may bring; zero: none
	Show    Show
}

// Room is a part of the dashboard in a package of its own: pages that belong together, with
// what only they need.
type Room struct {
	// Routes are the pages and actions.
	Routes []Route
	// Menu are the entries in the main navigation.
	Menu []Entry
	// Pages are the room's templates, files pages/*.html. They are parsed beside the shell's,
	// whose definitions they use.
	Pages fs.FS
	// Styles are rules that only the room needs. They are appended to the one style sheet.
	Styles string
	// Said are the sentences of what a form has done, by the name that [Visit.Go] is given.
	Said map[string]string
}

// split returns the method and the path of a route's pattern.
func (r Route) split() (method, path string) {
	method, path, _ = strings.Cut(r.Pattern, " ")
	return method, path
}
