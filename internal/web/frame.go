package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/tracing"
)

// Frame is what every request passes first and last: it gets an id, its body a
// limit, its end a line in the log, and its panic an answer.
type Frame struct {
	Log            *slog.Logger
	Clock          clock.Clock    // measures; zero: the system's
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	Secure         bool           // clients come over TLS, also where a proxy ends it
	// Unavailable reports whether an error is that of something without which nothing can
	// be served, such as the database. Such a request is answered 503. nil: none is.
	Unavailable func(error) bool
	Tracer      tracing.Tracer // marks requests
	// Observe is given each request that was answered. The route is a pattern; "": none
	// fits. nil: none is.
	Observe func(method, route string, status int, took time.Duration)
	// Answered is given each request of an API key that was answered. nil: none is.
	Answered func(Answered)
}

// Around returns the handler inside the frame.
func (f Frame) Around(next http.Handler) http.Handler {
	if f.Clock == nil {
		f.Clock = clock.System{}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := f.Clock.Now()
		t := &trace{id: requestID(r), clientIP: clientIP(r, f.TrustedProxies), url: f.askedFor(r), body: r.Body, unavailable: f.Unavailable}
		rec := &recorder{ResponseWriter: w}
		header := rec.Header()
		header.Set(requestIDHeader, t.id)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		if f.Secure {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		ctx := r.Context()
		if trusts(r, f.TrustedProxies) {
			ctx = tracing.Continue(ctx, r.Header.Get("traceparent"))
		}
		ctx, t.span = f.Tracer.Request(ctx)
		r = withTrace(r.WithContext(ctx), t)
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		defer f.finish(rec, r, t, start)
		next.ServeHTTP(rec, r)
	})
}

// finish answers a panic and writes the request's line in the log. The line
// holds ids and never a key, a query or a body.
func (f Frame) finish(w *recorder, r *http.Request, t *trace, start time.Time) {
	cause := recover()
	if cause != nil && !aborted(cause) {
		f.Log.Error("panic while serving a request", "requestId", t.id, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if w.status == 0 {
			WriteError(w, r, fmt.Errorf("panic: %v", cause))
			cause = nil
		}
	}
	took := f.Clock.Now().Sub(start)
	f.report(w, r, t, took)
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("requestId", t.id), slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", w.answered()),
		slog.Int64("ms", took.Milliseconds()), slog.Int64("bytes", w.bytes),
		slog.Int64("shop", int64(t.shop)), slog.Int64("key", int64(t.key)),
	}
	if t.err != nil {
		attrs = append(attrs, slog.String("error", t.err.Error()))
		if w.answered() >= http.StatusInternalServerError {
			level = slog.LevelError
		}
	}
	f.Log.LogAttrs(r.Context(), level, "request", attrs...)
	if cause != nil {
		panic(http.ErrAbortHandler) // the answer has begun: only a cut connection says that it is not whole
	}
}

// aborted reports whether a handler panicked to cut the connection.
func aborted(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// withTrace returns the request with its trace, and without the slashes at the
// end of its path.
func withTrace(r *http.Request, t *trace) *http.Request {
	r = r.WithContext(contextWith(r.Context(), t))
	if p := r.URL.Path; len(p) > 1 && strings.HasSuffix(p, "/") {
		u := *r.URL
		u.Path, u.RawPath = "/"+strings.Trim(p, "/"), ""
		if r.URL.RawPath != "" {
			u.RawPath = "/" + strings.Trim(r.URL.RawPath, "/")
		}
		r.URL = &u
	}
	return r
}

// askedFor returns the address of the request as the client knows it, without the key.
func (f Frame) askedFor(r *http.Request) *url.URL {
	u := &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	switch {
	case r.Host == "":
		u.Scheme = ""
	case f.Secure || r.TLS != nil:
		u.Scheme = "https"
	}
	query := r.URL.Query()
	query.Del(keyParam)
	u.RawQuery = query.Encode()
	return u
}
