package dashboard

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// view is what every page shows.
type view struct {
	Title    string
	Lead     string // a sentence below the title
	Shop     string // the store's domain; empty outside of a store
	Base     string // path of the store's first page
	Query    string // what the addresses of embedded pages end with
	User     string
	Role     staff.Role
	Stores   int // that the user belongs to
	Nav      []section
	Embedded bool
	ClientID string
	Bridge   string

	Done      string // what the form before has done
	Problem   string // what is wrong with the form
	Field     string // the field that it is about; empty: none
	RequestID string
	Page      any // what the page alone shows
}

// Styles returns the path of the style sheet.
func (view) Styles() string { return stylesPath }

// Script returns the path of the script of embedded pages.
func (view) Script() string { return scriptPath }

// Wrong returns the problem of a field, or "".
func (v view) Wrong(field string) string {
	if v.Field != field {
		return ""
	}
	return v.Problem
}

// Banner returns the problem that is about no field, or "".
func (v view) Banner() string {
	if v.Field != "" {
		return ""
	}
	return v.Problem
}

// policy returns the Content-Security-Policy. Only a page in the platform's admin has
// scripts, and may be in a frame.
func (d *dashboard) policy(v view) string {
	rules := []string{"default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action 'self'", "base-uri 'none'"}
	if v.Embedded {
		return strings.Join(append(rules, "script-src 'self' "+d.bridge, "connect-src 'self' "+d.bridge, "frame-ancestors "+strings.Join(d.Embed.Ancestors(v.Shop), " ")), "; ")
	}
	return strings.Join(append(rules, "frame-ancestors 'none'"), "; ")
}

// render answers with a page.
func (d *dashboard) render(w http.ResponseWriter, status int, name string, v view) error {
	if v.Embedded {
		v.ClientID, v.Bridge = d.Embed.ClientID, d.Embed.Bridge
	}
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	if !v.Embedded {
		h.Set("X-Frame-Options", "DENY")
	}
	return web.Render(w, d.pages, status, name, d.policy(v), v)
}

// again shows a form again, with what is wrong. Failures that the form cannot mend are
// returned.
func (d *dashboard) again(w http.ResponseWriter, r *http.Request, name string, v view, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	status := http.StatusUnprocessableEntity
	switch f.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Conflict, fault.FailedPrecondition, fault.Forbidden:
	case fault.RateLimited:
		status = http.StatusTooManyRequests
		web.SetRetryAfter(w, f)
	default:
		return err
	}
	web.Note(r.Context(), err)
	v.Problem, v.Field = sentence(f), f.Param
	return d.render(w, status, name, v)
}

// sentence returns the message of a failure as it is read.
func sentence(f *fault.Error) string {
	text := web.Sentence(f)
	if f.Kind == fault.RateLimited && f.Wait > 0 {
		minutes := int(math.Ceil(f.Wait.Minutes()))
		text = "Too many attempts. Try again in " + strconv.Itoa(minutes) + " minutes."
		if minutes == 1 {
			text = "Too many attempts. Try again in a minute."
		}
	}
	return text
}

func pathNotFound() error { return fault.New(fault.NotFound, "no such page").Code("pathNotFound") }

// problems are the titles of the page of a failure, by its kind.
var problems = map[fault.Kind]struct {
	status int
	title  string
}{
	fault.Invalid:            {http.StatusBadRequest, "That did not work"},
	fault.Unauthenticated:    {http.StatusUnauthorized, "You are not signed in"},
	fault.FailedPrecondition: {http.StatusConflict, "That did not work"},
	fault.Conflict:           {http.StatusConflict, "That did not work"},
	fault.NotFound:           {http.StatusNotFound, "Not found"},
	fault.Forbidden:          {http.StatusForbidden, "You may not do that"},
	fault.RateLimited:        {http.StatusTooManyRequests, "Too many attempts"},
	fault.TooLarge:           {http.StatusRequestEntityTooLarge, "That did not work"},
}

// ended are the titles of the page of a link that no longer works, by the code of the
// failure.
var ended = map[string]string{"invitationEnded": "The invitation has ended", "resetEnded": "The link has ended"}

// fail answers with a page that says what went wrong, as far as its reader can do something
// about it.
func (d *dashboard) fail(w http.ResponseWriter, r *http.Request, v view, err error) {
	web.Note(r.Context(), err)
	shown, known := problems[fault.KindOf(err)]
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case known && ok:
		v.Problem = sentence(f)
		shown.title = cmp.Or(ended[f.ErrorKey], shown.title)
		web.SetRetryAfter(w, f)
	case fault.KindOf(err) == fault.Unavailable || d.Frame.Unavailable != nil && d.Frame.Unavailable(err):
		shown.status, shown.title, v.Problem = http.StatusServiceUnavailable, "The service cannot answer now", "Try again in a minute. Nothing was changed."
	default:
		shown.status, shown.title, v.Problem = http.StatusInternalServerError, "Something is wrong on our side", "Try again in a minute."
	}
	v.Title, v.Lead, v.Done, v.RequestID = shown.title, "", "", w.Header().Get("X-Request-Id")
	if err := d.render(w, shown.status, "problem", v); err != nil {
		web.WriteError(w, r, err)
	}
}

// redirect sends the reader on, to a page that may be read again.
func redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
