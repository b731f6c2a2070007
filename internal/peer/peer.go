// Package peer calls another service with the same interface, as one end of a move. It reads only
// what a move needs, and takes what the interface leaves open in any form.
package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// root is where the operations are, and loyaltyRoot where those of loyalty are.
	root        = "/api/external/v2"
	loyaltyRoot = "/api/external"
	// maxAnswer is the size of the largest answer that is read.
	maxAnswer = 32 << 20
	// maxReason is how many characters of a refusal are kept.
	maxReason = 300
	// burst is how many requests may follow each other at once.
	burst = 2
)

// Services calls other services, each within its rate.
type Services struct {
	client *http.Client
	clock  clock.Clock
	pace   clock.Clock // refills the rates
	wait   func(ctx context.Context, least, most time.Duration) error

	mu       sync.Mutex
	limiters map[string]*rate.Limiter // by address
}

// Options are what other services are called with.
type Options struct {
	Transport http.RoundTripper
	Timeout   time.Duration // of one request
	Clock     clock.Clock
	// Wait lets time pass in a simulation, whose clock refills the rates then; nil: the machine's does.
	Wait func(ctx context.Context, least, most time.Duration) error
}

// New returns the caller of other services. No redirect is followed: keys go nowhere else.
func New(o Options) *Services {
	s := &Services{
		clock: o.Clock, pace: o.Clock, wait: o.Wait,
		client: &http.Client{
			Transport: o.Transport, Timeout: o.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		limiters: make(map[string]*rate.Limiter),
	}
	if s.wait == nil {
		s.pace, s.wait = clock.System{}, sleep
	}
	return s
}

// sleep waits as the machine's time passes.
func sleep(ctx context.Context, _, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// CloseIdleConnections closes the connections that no request uses now.
func (s *Services) CloseIdleConnections() { s.client.CloseIdleConnections() }

// End returns a service.
func (s *Services) End(p moving.Peer) *End { return &End{s, p} }

// turn waits until the rate of a service allows another request. It fails at once when that is
// after the context's end.
func (s *Services) turn(ctx context.Context, p moving.Peer) error {
	now := s.pace.Now()
	r := s.limiter(p).ReserveN(now, 1)
	d := r.DelayFrom(now)
	if end, ends := ctx.Deadline(); ends && end.Sub(clock.System{}.Now()) < d {
		r.CancelAt(now)
		return context.DeadlineExceeded
	}
	if d == 0 {
		return ctx.Err()
	}
	if err := s.wait(ctx, d, d); err != nil {
		r.CancelAt(s.pace.Now())
		return err
	}
	return nil
}

func (s *Services) limiter(p moving.Peer) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.limiters[p.Address]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(p.Rate), burst)
		s.limiters[p.Address] = l
	}
	if l.Limit() != rate.Limit(p.Rate) {
		l.SetLimit(rate.Limit(p.Rate))
	}
	return l
}

// End is one service.
type End struct {
	services *Services
	peer     moving.Peer
}

// call is a request.
type call struct {
	method, path string
	line         shop.Line
	loyalty      bool // of the service's loyalty
	query        url.Values
	body         any    // nil: none
	key          string // idempotency key; empty: none
	silent       bool   // the answer may be empty
}

// send sends a request and reads the answer as JSON into a value; nil: it is not read.
func (e *End) send(ctx context.Context, c call, into any) (http.Header, error) {
	address, err := e.address(c)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if c.body != nil {
		text, err := json.Marshal(c.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, c.method, address+c.path+"?"+c.query.Encode(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-API-Key", e.peer.Key)
	r.Header.Set("Accept", "application/json")
	if c.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		r.Header.Set("Idempotency-Key", c.key)
	}
	if err := e.services.turn(ctx, e.peer); err != nil {
		return nil, fault.Because(fault.Unavailable, err, "the rate of the other service was not free in time")
	}
	answer, err := e.services.client.Do(r)
	if err != nil {
		return nil, fault.Because(fault.Unavailable, withoutAddress(err), "the other service does not answer")
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fault.Because(fault.Unavailable, err, "the answer of the other service broke off")
	case len(text) > maxAnswer:
		return nil, fault.New(fault.Unavailable, "an answer of the other service is larger than %d MiB", maxAnswer>>20)
	case answer.StatusCode >= http.StatusMultipleChoices:
		return answer.Header, refusal(answer, text)
	case into == nil, c.silent && len(text) == 0:
		return answer.Header, nil
	case len(bytes.TrimSpace(text)) == 0 || string(bytes.TrimSpace(text)) == "null":
		return nil, fault.New(fault.Unavailable, "the answer of the other service to %s %s is empty", c.method, c.path)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fault.Because(fault.Unavailable, err, "an answer of the other service to %s %s cannot be read", c.method, c.path)
	}
	return answer.Header, nil
}

// address returns where the operations of a call are.
func (e *End) address(c call) (string, error) {
	switch {
	case c.loyalty:
		return e.peer.Loyalty + loyaltyRoot, nil
	case c.line != shop.Memberships:
		return e.peer.Address + root, nil
	case e.peer.Memberships == "":
		return "", fault.New(fault.FailedPrecondition, "the address of the other service's memberships is not known").Entity("move").Code("membershipsUnknown")
	}
	return e.peer.Memberships + root, nil
}

// withoutAddress drops the address from an error: it is in the log already.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// refusal turns an answer that is no success into a failure.
func refusal(answer *http.Response, text []byte) error {
	var said struct {
		Title, Detail, Message, ErrorKey string
	}
	isJSON := json.Unmarshal(text, &said) == nil // an answer in another form has no reason
	why := said.Detail
	for _, other := range []string{said.Title, said.Message} {
		if why == "" {
			why = other
		}
	}
	why = shorten.Text(why, maxReason)
	status := answer.StatusCode
	f := func(kind fault.Kind, format string, args ...any) *fault.Error {
		return fault.New(kind, format, args...).Entity("move").Code(said.ErrorKey)
	}
	switch {
	case status < http.StatusBadRequest:
		return f(fault.Unavailable, "the other service redirects to another address (%d), which is not followed: name the base address that it answers at", status)
	case status == http.StatusNotFound && !isJSON:
		return f(fault.Unavailable, "what answered %d in place of the other service is not its interface", status).Code(interfaceMissing)
	case status == http.StatusNotFound:
		return f(fault.NotFound, "the other service does not know it: %s", why)
	case status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		return f(fault.FailedPrecondition, "the other service does not have the operation (%d)", status).Code(operationMissing)
	case status == http.StatusUnauthorized: // of the move, like the next one, not of one contract
		return f(fault.Unavailable, "the other service refuses the key (401): %s", why).Code("keyRefused")
	case status == http.StatusForbidden:
		return f(fault.Unavailable, "the key may not do that at the other service (403): %s", why).Code(scopeMissing)
	case status == http.StatusTooManyRequests:
		return f(fault.RateLimited, "the other service asks to wait").RetryAfter(retryAfter(answer))
	case status == http.StatusConflict || status == http.StatusRequestTimeout || status >= http.StatusInternalServerError:
		return f(fault.Unavailable, "the other service answered %d: %s", status, why).RetryAfter(retryAfter(answer))
	}
	return f(fault.FailedPrecondition, "the other service refused (%d): %s", status, why)
}

// retryAfter returns how long the service asks to wait; 0: it does not say.
func retryAfter(answer *http.Response) time.Duration {
	text := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), longestWait)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		if sent, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			return min(max(at.Sub(sent), 0), longestWait*time.Second)
		}
	}
	return 0
}

// longestWait is how many seconds a service may ask to wait.
const longestWait = 3600

// about adds what was done to a failure.
func about(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// number returns the number at the end of a number or graph id; 0: there is none.
func number(text string) int64 {
	text = strings.Trim(text, `"`)
	text = text[strings.LastIndexByte(text, '/')+1:]
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// lacks reports whether a service has refused a request because it does not have the operation.
func lacks(err error) bool {
	f, is := errors.AsType[*fault.Error](err)
	return is && (f.ErrorKey == operationMissing || f.ErrorKey == interfaceMissing)
}
