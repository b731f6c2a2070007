package dashboard

import (
	"net/http"
	"net/url"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// ClientOf returns the browser that sent a request.
func ClientOf(r *http.Request) staff.Client {
	return staff.Client{IP: web.ClientIP(r.Context()), Agent: r.UserAgent()}
}

// Visit is a user in a store.
type Visit struct {
	User staff.Principal
	Role staff.Role
	Shop shop.Shop
	Zone *time.Location // of the store
	View View
	// Upload is the file that the form has brought; nil: none.
	Upload *File

	renderer *renderer
}

// Acting returns the user as services of users know who acts.
func (v Visit) Acting(r *http.Request) staff.Acting { return v.User.Acting(ClientOf(r)) }

// Actor returns the user as the activity log names them.
func (v Visit) Actor(r *http.Request) activity.Actor { return v.User.Actor(ClientOf(r)) }

// May reports whether the user is permitted something in the store.
func (v Visit) May(p staff.Permission) bool { return v.Role.May(p) }

// RequestPath returns the path of the API log with the request that made an entry; "" when no
// request did, the log no longer keeps it, or the user may not read the log.
func (v Visit) RequestPath(e activity.Entry, now time.Time) string {
	if e.Actor.Request == "" || now.Sub(e.At) >= requestlog.Retention || !v.May(staff.ManageKeys) {
		return ""
	}
	return "/api-log?" + url.Values{"request": {e.Actor.Request}}.Encode()
}

// Day returns a day in the zone of the store, or "–" for no instant.
func (v Visit) Day(t time.Time) string { return v.format(t, DayLayout) }

// Instant returns a day and a time in the zone of the store, or "–" for no instant.
func (v Visit) Instant(t time.Time) string { return v.format(t, InstantLayout) }

func (v Visit) format(t time.Time, layout string) string {
	if t.IsZero() {
		return "–"
	}
	return t.In(v.Zone).Format(layout)
}
