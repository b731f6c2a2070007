package prove

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// The kinds of faults on the way from one service to the other.
const (
	PeerLost        Kind = "peer_lost"         // not carried out, no answer
	PeerAnswerLost  Kind = "peer_answer_lost"  // carried out, no answer
	PeerLate        Kind = "peer_late"         // no answer, and carried out up to 10 minutes after we gave up
	PeerErrorBefore Kind = "peer_error_before" // HTTP 5xx, not carried out
	PeerErrorAfter  Kind = "peer_error_after"  // HTTP 5xx, carried out
	PeerThrottled   Kind = "peer_throttled"    // HTTP 429
	PeerReset       Kind = "peer_reset"        // the connection ends, carried out
	PeerTorn        Kind = "peer_torn"         // carried out, half of the answer arrives
	PeerOutage      Kind = "peer_outage"       // for hours from the instant a change was carried out
)

// between are the usual rates of the faults between the services.
var between = map[Kind]float64{
	PeerLost: 0.005, PeerAnswerLost: 0.01, PeerLate: 0.003, PeerErrorBefore: 0.005, PeerErrorAfter: 0.005, PeerThrottled: 0.005, PeerReset: 0.005, PeerTorn: 0.005,
	PeerOutage: 0.003,
}

// peerTransport is the way from a node to the other service, in memory.
type peerTransport struct{ n *node }

// RoundTrip carries one request, as the seed has it.
func (y peerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return y.n.w.carryToPeer(r, body)
}

func (w *world) carryToPeer(r *http.Request, body []byte) (*http.Response, error) {
	there := w.pair.at(r.URL.Host)
	w.pair.requests++
	w.sleep(w.between(time.Millisecond, 40*time.Millisecond))
	switch {
	case w.cut.After(w.now):
		return nil, errRefused
	case w.hit(PeerLost):
		return w.timeout()
	case w.hit(PeerLate):
		w.after(callTimeout+w.between(0, 10*time.Minute), func() { there.begin(r, body, func(*exchange) {}) })
		return w.timeout()
	case w.hit(PeerErrorBefore):
		return answer(500+w.chance.IntN(5), nil, []byte("<html>")), nil
	case w.hit(PeerThrottled):
		return answer(http.StatusTooManyRequests, http.Header{"Retry-After": {"5"}}, nil), nil
	}
	x := w.exchange(there, r, body)
	switch {
	case x.failed != nil:
		return nil, x.failed
	case r.Method != http.MethodGet && w.hit(PeerOutage):
		w.cut = w.now.Add(w.between(time.Hour, 20*time.Hour))
		return nil, errReset
	case w.hit(PeerAnswerLost):
		return w.timeout()
	case w.hit(PeerErrorAfter):
		return answer(500+w.chance.IntN(5), nil, nil), nil
	case w.hit(PeerReset):
		return nil, errReset
	case w.hit(PeerTorn):
		text := x.out.body.Bytes()
		return answer(http.StatusOK, x.out.header, text[:len(text)/2]), nil
	}
	w.sleep(w.between(time.Millisecond, 40*time.Millisecond))
	return x.out.response(), nil
}

// exchange is a request that a node of the other service answers.
type exchange struct {
	out    recorder
	failed error // the node died before it answered, or no answer comes in time
	over   bool
}

// exchange has the other service answer a request while the fiber that runs waits.
func (w *world) exchange(there *world, r *http.Request, body []byte) *exchange {
	caller := w.fiber
	awake := func(*exchange) { w.at(w.now, func() { caller.node.w.resume(caller) }) }
	x := there.begin(r, body, awake)
	w.after(callTimeout, func() {
		if !x.over {
			x.end(context.DeadlineExceeded, awake)
		}
	})
	w.park()
	return x
}

// end ends an exchange once.
func (x *exchange) end(failed error, ended func(*exchange)) {
	if !x.over {
		x.over, x.failed = true, failed
		ended(x)
	}
}

// begin has a node of the service carry out a request. What it answers after the end of the exchange
// is lost.
func (w *world) begin(r *http.Request, body []byte, ended func(*exchange)) *exchange {
	x := &exchange{out: recorder{header: make(http.Header)}}
	n := w.anyNode()
	if n == nil {
		x.end(errRefused, ended)
		return x
	}
	n.spawn("serve", func(ctx context.Context, a *app.App) {
		defer func() {
			if n.app != a {
				x.end(errReset, ended)
			}
			x.end(nil, ended)
		}()
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		a.Subscriptions.ServeHTTP(&x.out, again)
	})
	return x
}

// keys knows the key with which the other service calls for a store.
type keys struct{ n *node }

// keyOf is the API key of a store.
func keyOf(domain string) string { return "key of " + domain }

// Authenticate returns the store that a key opens.
func (k keys) Authenticate(ctx context.Context, value, _ string) (access.Caller, error) {
	for _, s := range k.n.w.shops {
		if keyOf(s.plan.Domain) == value {
			known, err := k.n.app.Store.Shops().Shop(ctx, s.id)
			return access.Caller{Key: access.Key{ID: 1, Shop: s.id, Scopes: []access.Scope{access.All}}, Shop: known}, err
		}
	}
	return access.Caller{}, fault.New(fault.Unauthenticated, "the API key is not valid")
}
