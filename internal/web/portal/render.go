package portal

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"math"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// renderer answers with pages.
type renderer struct {
	pages       *template.Template // of this package
	assets      assets
	texts       map[string]bool  // keys of the catalogue
	unavailable func(error) bool // nil: no failure says so
}

// policy returns the Content-Security-Policy.
func policy(v View) string {
	frames, style := "'self'", "style-src 'self'"
	if v.Own {
		frames = "'none'"
	}
	if rule := v.rule(); rule != "" {
		sum := sha256.Sum256([]byte(rule))
		style += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	pictures := strings.TrimSpace("img-src 'self' https: data: " + v.pictures)
	return strings.Join([]string{
		"default-src 'none'", style, "script-src 'self'", "connect-src 'self'", pictures,
		"form-action 'self'", "base-uri 'none'", "frame-ancestors " + frames,
	}, "; ")
}

// render answers with a page.
func (p *renderer) render(w http.ResponseWriter, status int, name string, v View) error {
	v.assets = p.assets
	if v.pages == nil {
		v.pages = p.pages
	}
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	if v.Own {
		h.Set("X-Frame-Options", "DENY")
	}
	h.Set("Content-Language", v.Lang())
	return web.Render(w, v.pages, status, name, policy(v), v)
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
	case fault.Invalid, fault.FailedPrecondition:
	case fault.Conflict:
		status = http.StatusConflict
	case fault.RateLimited:
		status = http.StatusTooManyRequests
		web.SetRetryAfter(w, f)
	default:
		return err
	}
	web.Note(r.Context(), err)
	v.Problem = p.sentence(v, f)
	if r.PostForm.Has(f.Param) && f.Kind != fault.Conflict { // what the reader has not entered is not theirs to correct
		v.Field = f.Param
	}
	return p.render(w, status, name, v)
}

// sentence returns what a failure says to its reader: the catalogue's text for its code or, where
// there is none, the message of the interface.
func (p *renderer) sentence(v View, f *fault.Error) string {
	switch {
	case f.Kind == fault.RateLimited && f.Wait > 0:
		return v.T("error.rateLimited.wait", "n", int(math.Ceil(f.Wait.Minutes())))
	case p.texts["problem."+f.ErrorKey]:
		return v.T("problem." + f.ErrorKey)
	case f.Kind == fault.Conflict:
		return v.T("error.conflict.text")
	case v.Lang() == "en":
		return web.Sentence(f)
	}
	return v.T("error.refused.text")
}

// problem is the page of a kind of failure: its status, and its texts in the catalogue.
type problem struct {
	status int
	texts  string // what the keys of its title and text begin with
}

var problems = map[fault.Kind]problem{
	fault.Invalid:            {http.StatusBadRequest, "error.refused"},
	fault.Unauthenticated:    {http.StatusUnauthorized, "error.signedOut"},
	fault.FailedPrecondition: {http.StatusConflict, "error.refused"},
	fault.Conflict:           {http.StatusConflict, "error.conflict"},
	fault.NotFound:           {http.StatusNotFound, "error.notFound"},
	fault.Forbidden:          {http.StatusForbidden, "error.forbidden"},
	fault.RateLimited:        {http.StatusTooManyRequests, "error.rateLimited"},
	fault.TooLarge:           {http.StatusRequestEntityTooLarge, "error.tooLarge"},
	fault.Unavailable:        {http.StatusServiceUnavailable, "error.unavailable"},
	fault.DependencyFailed:   {http.StatusServiceUnavailable, "error.unavailable"},
}

// fail answers with a page that says what went wrong, as far as its reader can do something
// about it.
func (p *renderer) fail(w http.ResponseWriter, r *http.Request, v View, err error) {
	web.Note(r.Context(), err)
	shown, known := problems[fault.KindOf(err)]
	if p.unavailable != nil && p.unavailable(err) {
		shown, known = problems[fault.Unavailable], true
	}
	if !known {
		shown = problem{http.StatusInternalServerError, "error.internal"}
	}
	v.Title, v.Lead, v.Done, v.Page = v.T(shown.texts+".title"), v.T(shown.texts+".text"), "", nil
	v.RequestID = w.Header().Get("X-Request-Id")
	if f, ok := errors.AsType[*fault.Error](err); ok {
		web.SetRetryAfter(w, f)
		switch f.Kind {
		case fault.Invalid, fault.FailedPrecondition, fault.RateLimited, fault.Forbidden:
			v.Lead = cmp.Or(p.explain(v, f), v.Lead)
		}
	}
	if err := p.render(w, shown.status, "problem", v); err != nil {
		web.WriteError(w, r, err)
	}
}

// explain is sentence, but "" where it would only say that something was refused.
func (p *renderer) explain(v View, f *fault.Error) string {
	text := p.sentence(v, f)
	if f.Kind == fault.Forbidden && !p.texts["problem."+f.ErrorKey] || text == v.T("error.refused.text") {
		return ""
	}
	return text
}

// forward sends the reader to a page that may be read again. On the store's domain a page does
// it: the platform follows redirects itself, and what it follows is not signed.
func (p *renderer) forward(w http.ResponseWriter, v View, to string) error {
	if v.Own {
		redirect(w, to)
		return nil
	}
	v.Title, v.Page = v.T("forward.title"), to
	return p.render(w, http.StatusOK, "forward", v)
}

// redirect sends the reader on, to a page that may be read again.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
