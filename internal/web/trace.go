package web

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/tracing"
)

// trace follows one request. It belongs to the goroutine that serves it.
type trace struct {
	id       string
	clientIP string
	url      *url.URL // as asked for, without the key; of a shopper relative to the store
	shop     shop.ID  // 0 before authentication
	key      access.KeyID
	keyName  string
	app      access.AppID    // of a partner; empty: none
	known    map[string]bool // parameters of the query that the operation has; nil before it is known
	route    string          // pattern of the path; "": none fits
	span     tracing.Span
	err      error // why it failed; nil when it did not

	body        io.ReadCloser    // without a limit
	unavailable func(error) bool // see Frame
}

func (t *trace) failed(err error) { t.err = err }

// Note adds to the access log an error of a request that
// is answered with success all the same.
func Note(ctx context.Context, err error) { traceOf(ctx).failed(err) }

// ClientIP returns the address of the client whose request the context belongs to.
func ClientIP(ctx context.Context) string { return traceOf(ctx).clientIP }

type traceKey struct{}

// traceOf returns the request's trace, or a blank one outside a Frame.
func traceOf(ctx context.Context) *trace {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		return t
	}
	return &trace{url: &url.URL{}}
}

func contextWith(ctx context.Context, t *trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// MaxRequestID is the longest X-Request-Id that is taken over from a client, in bytes.
const MaxRequestID = 128

// requestID returns the client's id when it is safe to repeat, or a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	if id == "" || len(id) > MaxRequestID || strings.ContainsFunc(id, func(c rune) bool { return !plain(c) }) {
		return strings.ToLower(rand.Text())
	}
	return id
}

func plain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.:", c)
}

// clientIP returns the address of the client: the nearest one that is not a
// proxy that the operator trusts.
func clientIP(r *http.Request, trusted []netip.Prefix) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	addr := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && contains(trusted, addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap()
	}
	return addr.WithZone("").String()
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
