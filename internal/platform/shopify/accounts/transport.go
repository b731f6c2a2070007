package accounts

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/base/network"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// maxAnswer is the longest answer that is read, in bytes. What is cut off is no JSON.
	maxAnswer = 256 << 10
	// userAgent is who asks: the platform refuses requests that do not say so.
	userAgent = "Perennial/1"
)

// guarded returns the client for all requests: it follows no redirect, since that would carry a code
// or a token to whatever host it names, reads answers of a limited length, and connects to public
// addresses only, unless private is set.
func guarded(o Options, private bool) *http.Client {
	own := &http.Client{Timeout: o.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if o.HTTP != nil {
		own.Transport = o.HTTP.Transport
	} else {
		dialer := &net.Dialer{Timeout: o.Timeout}
		if !private {
			dialer.Control = func(_, address string, _ syscall.RawConn) error { return network.CheckPublic(address) }
		}
		own.Transport = &http.Transport{ // no proxy: it would connect in our place and check nothing
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: o.Timeout,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
		}
	}
	own.Transport = limited{next: own.Transport}
	return own
}

// limited limits what is read of answers, and says who asks.
type limited struct {
	next   http.RoundTripper // nil: the default one
	origin string            // empty: none is said
}

// RoundTrip sends a request.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", userAgent)
	if l.origin != "" {
		r.Header.Set("Origin", l.origin)
	}
	next := l.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		answer.Body = cut{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

// CloseIdleConnections closes the connections that no request uses now.
func (l limited) CloseIdleConnections() {
	if next, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// cut is the beginning of a body.
type cut struct {
	io.Reader
	io.Closer
}

// from returns the HTTP client for requests of a client of customer accounts. The platform wants a
// public one to name its origin, one of those that the merchant has registered.
func (c *Client) from(of platform.AccountClient, redirect string) *http.Client {
	if of.Secret != "" {
		return c.http
	}
	at, err := url.Parse(redirect)
	if err != nil {
		return c.http
	}
	own := *c.http
	own.Transport = limited{next: c.http.Transport, origin: at.Scheme + "://" + at.Host}
	return &own
}
