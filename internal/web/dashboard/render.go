package dashboard

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// View is what every page shows.
type View struct {
	Title    string
	Lead     string // a sentence below the title
	Shop     string // the store's domain; empty outside of a store
	Base     string // path of the store's first page
	Query    string // what the addresses of embedded pages end with
	User     string
	Role     staff.Role
	Stores   int // that the user belongs to
	Nav      []part
	Crumb    *Crumb // nil: the page belongs to none
	Finds    bool   // the store can be searched as a whole
	Sought   string // what was searched for
	Embedded bool
	ClientID string
	Bridge   string

	Notice    string // about the installation
	Done      string // what the form before has done
	Problem   string // what is wrong with the form
	Field     string // the field that it is about; empty: none
	RequestID string
	Page      any // what the page alone shows
	Assets    assets

	pages   *template.Template // nil: those of this package
	sheets  []string           // see Page
	letters bool               // see Page
}

// Crumb is the page that another one belongs to.
type Crumb struct{ Name, Path string }

// At returns the address of a page, whose path is below that of the store and may have a query.
func (v View) At(path string) string {
	if v.Query != "" && strings.Contains(path, "?") {
		return v.Base + path + "&" + v.Query[1:]
	}
	return v.Base + path + v.Query
}

// Wrong returns the problem of a field, or "".
func (v View) Wrong(field string) string {
	if v.Field != field {
		return ""
	}
	return v.Problem
}

// Banner returns the problem that is about no field, or "".
func (v View) Banner() string {
	if v.Field != "" {
		return ""
	}
	return v.Problem
}

// renderer answers with pages.
type renderer struct {
	pages       *template.Template // of this package
	assets      assets
	embed       *Embedding       // nil: no page is shown in the platform's admin
	bridge      string           // origin of the platform's script
	unavailable func(error) bool // nil: no failure says so
}

// policy returns the Content-Security-Policy. A page in the platform's admin may run the
// platform's script, and may be in a frame.
func (p *renderer) policy(v View) string {
	style := "style-src 'self'"
	for _, sheet := range v.sheets {
		sum := sha256.Sum256([]byte(sheet))
		style += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	pictures := "img-src 'self' data:"
	if v.letters {
		style += "; style-src-attr 'unsafe-inline'"
		pictures += " https:"
	}
	rules := []string{"default-src 'none'", style, pictures, "form-action 'self'", "base-uri 'none'"}
	if v.Embedded {
		return strings.Join(append(rules, "script-src 'self' "+p.bridge, "connect-src 'self' "+p.bridge, "frame-ancestors "+strings.Join(p.embed.Ancestors(v.Shop), " ")), "; ")
	}
	return strings.Join(append(rules, "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"), "; ")
}

// render answers with a page.
func (p *renderer) render(w http.ResponseWriter, status int, name string, v View) error {
	v.Assets = p.assets
	if v.Embedded {
		v.ClientID, v.Bridge = p.embed.ClientID, p.embed.Bridge
	}
	if v.pages == nil {
		v.pages = p.pages
	}
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	if !v.Embedded {
		h.Set("X-Frame-Options", "DENY")
	}
	return web.Render(w, v.pages, status, name, p.policy(v), v)
}

// again shows a form again, with what is wrong. Failures that the form cannot mend are
// returned.
func (p *renderer) again(w http.ResponseWriter, r *http.Request, name string, v View, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	status := http.StatusUnprocessableEntity
	switch f.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Conflict, fault.FailedPrecondition, fault.Forbidden:
	case fault.TooLarge:
		status = http.StatusRequestEntityTooLarge
	case fault.RateLimited:
		status = http.StatusTooManyRequests
		web.SetRetryAfter(w, f)
	default:
		return err
	}
	web.Note(r.Context(), err)
	v.Problem, v.Field = sentence(f), f.Param
	return p.render(w, status, name, v)
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

// PathNotFound returns the failure of a page that does not exist.
func PathNotFound() error { return fault.New(fault.NotFound, "no such page").Code("pathNotFound") }

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
func (p *renderer) fail(w http.ResponseWriter, r *http.Request, v View, err error) {
	web.Note(r.Context(), err)
	shown, known := problems[fault.KindOf(err)]
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case known && ok:
		v.Problem = sentence(f)
		shown.title = cmp.Or(ended[f.ErrorKey], shown.title)
		web.SetRetryAfter(w, f)
	case fault.KindOf(err) == fault.Unavailable || p.unavailable != nil && p.unavailable(err):
		shown.status, shown.title, v.Problem = http.StatusServiceUnavailable, "The service cannot answer now", "Try again in a minute. Nothing was changed."
	default:
		shown.status, shown.title, v.Problem = http.StatusInternalServerError, "Something is wrong on our side", "Try again in a minute."
	}
	v.Title, v.Lead, v.Done, v.RequestID = shown.title, "", "", w.Header().Get("X-Request-Id")
	name := "problem"
	if isPart(r) {
		name, v.Page = "problem-part", partProblemOf(r, shown.status)
	}
	if err := p.render(w, shown.status, name, v); err != nil {
		web.WriteError(w, r, err)
	}
}

// partProblem is what can be done about a part of a page that could not be read.
type partProblem struct {
	Again  string // address of the part; empty: it cannot be read again
	SignIn bool
}

// isPart reports whether a script asks for a part of a page that is open.
func isPart(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

func partProblemOf(r *http.Request, status int) partProblem {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return partProblem{SignIn: status == http.StatusUnauthorized}
	}
	if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, Path+"/") {
		return partProblem{}
	}
	return partProblem{Again: r.URL.RequestURI()}
}

// Redirect sends the reader on, to a page that may be read again.
func Redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
