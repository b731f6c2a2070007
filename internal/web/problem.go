package web

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Problem is the body of every answer that is not a success. It is a superset
// of RFC 9457, so that clients written for either shape find what they look for.
type Problem struct {
	Type       string   `json:"type" format:"uri" doc:"Stable URI of the kind of problem." example:"urn:perennial:problem:bodyField"`
	Title      string   `json:"title" doc:"The kind of problem in words." example:"The request is not valid"`
	Status     int      `json:"status" doc:"HTTP status." example:"400"`
	Detail     string   `json:"detail" doc:"What went wrong this time." example:"field 'quantity' is 0 and must be at least 1"`
	Message    string   `json:"message" doc:"The same as detail." example:"field 'quantity' is 0 and must be at least 1"`
	Reason     string   `json:"error" doc:"The status's reason phrase." example:"Bad Request"`
	ErrorKey   string   `json:"errorKey" doc:"Stable code of the broken rule." example:"bodyField"`
	EntityName *string  `json:"entityName" doc:"What the problem is about." example:"subscriptionContract"`
	Params     *string  `json:"params" doc:"The parameter or field at fault." example:"quantity"`
	Path       string   `json:"path" doc:"Path of the request." example:"/api/external/v2/subscription-contracts"`
	RequestID  string   `json:"requestId" doc:"Identifies the request, as X-Request-Id does." example:"0198f3a2-7c1e-7d53-9d6f-2f1b8c3a4e5d"`
	Required   []string `json:"required,omitempty" doc:"The scopes that the operation needs, when the key lacks one." example:"[\"contracts:write\"]"`

	retryAfter int    // seconds; 0: no advice
	media      string // content type of the answer
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type that the client asked for.
func (p *Problem) ContentType(string) string {
	if p.media == "" {
		return mediaJSON
	}
	return p.media
}

// kindAnswer is how a kind of failure is spoken in HTTP.
type kindAnswer struct {
	status     int
	title      string
	retryAfter int // seconds
}

// answers is the only place where a kind of failure becomes a status.
var answers = map[fault.Kind]kindAnswer{
	fault.Internal:             {http.StatusInternalServerError, "Internal error", 0},
	fault.Invalid:              {http.StatusBadRequest, "The request is not valid", 0},
	fault.Unauthenticated:      {http.StatusUnauthorized, "A valid API key is required", 0},
	fault.Forbidden:            {http.StatusForbidden, "The request is not permitted", 0},
	fault.NotFound:             {http.StatusNotFound, "Not found", 0},
	fault.Gone:                 {http.StatusGone, "No longer kept", 0},
	fault.FailedPrecondition:   {http.StatusBadRequest, "The operation is not allowed in the current state", 0},
	fault.Conflict:             {http.StatusConflict, "Conflict with another change", 1},
	fault.TooLarge:             {http.StatusRequestEntityTooLarge, "The body is too large", 0},
	fault.UnsupportedMediaType: {http.StatusUnsupportedMediaType, "The body must be JSON", 0},
	fault.RateLimited:          {http.StatusTooManyRequests, "Too many requests", 1},
	fault.Unavailable:          {http.StatusServiceUnavailable, "Temporarily unavailable", 5},
	fault.DependencyFailed:     {http.StatusFailedDependency, "A system of the caller's failed", 0},
}

const internalDetail = "The request could not be carried out because of an error on our side. The request id identifies it in the log."

// problemOf puts a failure into the words of the interface and notes it for the
// access log. What is not a fault is a bug and shows nothing of itself.
func problemOf(r *http.Request, err error) *Problem {
	t := traceOf(r.Context())
	t.failed(err)
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		f = fault.New(fault.Unavailable, "The request was given up before it was done.")
	case (!ok || f.Kind == fault.Internal) && t.unavailable != nil && t.unavailable(err):
		f = fault.New(fault.Unavailable, "The database does not answer now. Send the same request again.").Code("databaseUnavailable")
	case !ok, f.Kind == fault.Internal:
		f = fault.New(fault.Internal, internalDetail)
	}
	a, ok := answers[f.Kind]
	if !ok {
		a = answers[fault.Internal]
	}
	return newProblem(r, a, f)
}

func newProblem(r *http.Request, a kindAnswer, f *fault.Error) *Problem {
	key := f.ErrorKey
	if key == "" {
		key = f.Kind.String()
	}
	return &Problem{
		Type:  "urn:perennial:problem:" + key,
		Title: a.title, Status: a.status, Detail: f.Message, Message: f.Message, Reason: http.StatusText(a.status),
		ErrorKey: key, EntityName: Some(f.EntityName), Params: Some(f.Param),
		Path: r.URL.EscapedPath(), RequestID: traceOf(r.Context()).id,
		retryAfter: max(a.retryAfter, seconds(f.Wait)), media: problemMedia(r),
	}
}

func problemMedia(r *http.Request) string {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(one)
		if err != nil || media != mediaProblem {
			continue
		}
		if q, err := strconv.ParseFloat(params["q"], 64); err != nil || q > 0 { // q=0: anything but this
			return mediaProblem
		}
	}
	return mediaJSON
}

// headers adds what belongs to the problem outside its body.
func (p *Problem) headers(h http.Header) {
	if p.Status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `ApiKey realm="perennial"`)
	}
	if p.retryAfter > 0 && h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
}

// WriteError answers a request with a failure.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	writeProblem(w, problemOf(r, err))
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	p.headers(w.Header())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(p) // the client is gone
}

// speakProblems makes the library answer with our problems. It keeps its
// constructor in package variables, which are set once.
var speakProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, _ ...error) huma.StatusError {
		return &Problem{Status: status, Detail: message}
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		r, w := humago.Unwrap(ctx)
		p := problemOf(r, complaint(status, message, errs))
		p.headers(w.Header())
		return p
	}
})

// complaint finds the failure in what the library reports: ours, or its own
// about a request that it could not read.
func complaint(status int, message string, errs []error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*fault.Error](err); ok {
			return err
		}
	}
	switch {
	case status >= http.StatusInternalServerError && len(errs) > 0:
		return errs[0]
	case status >= http.StatusInternalServerError:
		return errors.New(message)
	case len(errs) > 0:
		return fault.New(fault.Invalid, "%s: %s", message, errs[0])
	}
	return fault.New(fault.Invalid, "%s", message)
}
