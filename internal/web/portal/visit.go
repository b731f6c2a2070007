package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/login"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Visit is a customer at the portal of a store, or a user of the dashboard in their place.
type Visit struct {
	Who      login.Principal
	Shop     shop.Shop
	Calendar cadence.Calendar // of the store
	Now      time.Time
	Words    *locale.Printer // in the reader's language
	View     View

	renderer *renderer
	repeats  Repeats
}

// Repeats keeps what forms have done, so that one that is sent again does nothing more.
type Repeats interface {
	// Once carries out a form, or returns what it has done when it is sent again.
	Once(ctx context.Context, who do.Caller, f do.Form, work func(ctx context.Context, name string) (string, error)) (string, error)
}

// Actor returns who acts, as the activity log names them.
func (v Visit) Actor(r *http.Request) activity.Actor { return v.Who.Actor(web.ClientIP(r.Context())) }

// Caller returns who acts, as the domain's services of the portal know them.
func (v Visit) Caller(r *http.Request) do.Caller { return do.Caller{Shop: v.Shop, Actor: v.Actor(r)} }

// Customer returns the platform's number of the customer.
func (v Visit) Customer() int64 { return v.Who.Customer }

// Local returns an instant in the zone of the store, in which days are named.
func (v Visit) Local(t time.Time) time.Time { return t.In(v.Calendar.Zone) }

// near is how far away a day may be that is named without its year.
const near = 300 * 24 * time.Hour

// isNear reports whether the year of a day goes without saying.
func (v Visit) isNear(t time.Time) bool { return t.Sub(v.Now).Abs() < near }

// Day returns the day of an instant, written out, with its year when that is not near; "" for no
// instant.
func (v Visit) Day(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case v.isNear(t):
		return v.Words.Day(v.Local(t))
	}
	return v.Words.Date(v.Local(t))
}

// ShortDay returns the day of an instant briefly, likewise; "" for no instant.
func (v Visit) ShortDay(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case v.isNear(t):
		return v.Words.ShortDay(v.Local(t))
	}
	return v.Words.ShortDate(v.Local(t))
}

// InChosenLanguage returns the visit with addresses that name no language: the screens that follow are in
// the one that their reader has chosen.
func (v Visit) InChosenLanguage() Visit {
	kept, _ := url.ParseQuery(strings.TrimPrefix(v.View.Query, "?")) // which this package wrote
	kept.Del(localeParam)
	v.View.Query = ""
	if len(kept) > 0 {
		v.View.Query = "?" + kept.Encode()
	}
	return v
}

// membership is the variant of texts that speak of a membership and not of a subscription.
const membership = "membership"

// About returns the visit in the words for a contract of a line.
func (v Visit) About(line shop.Line) Visit {
	v.Words = inWordsFor(line, v.Words)
	v.View.words = v.Words
	return v
}

func inWordsFor(line shop.Line, p *locale.Printer) *locale.Printer {
	if line == shop.Memberships {
		return p.For(membership)
	}
	return p
}

// T returns a text of the catalogue, as [View.T] does.
func (v Visit) T(key string, args ...any) string { return v.Words.Text(key, args...) }
