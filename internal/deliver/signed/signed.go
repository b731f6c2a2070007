// Package signed sends JSON to other people's servers: signed by the webhook
// standard, in bounded time, and never to where only this machine can reach.
package signed

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/network"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 64 << 10

// maxIdle is how many connections to a host are kept: as many as webhooks use at the same time.
const maxIdle = 8

// connectTime is how long it may take to reach a server at all.
const connectTime = 10 * time.Second

// Sender sends messages. Its methods may be called from many goroutines.
type Sender struct{ client *http.Client }

// New returns a sender on a Transport.
func New(private bool) *Sender {
	return &Sender{&http.Client{
		Transport: Transport(private), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Transport returns what connects to other people's servers. Unless private is set it refuses to
// connect to loopback, private, link-local and other addresses that are not public, after names have
// been resolved: a name that resolves differently the next time gains nothing.
func Transport(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTime}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return network.CheckPublic(address) }
	}
	return &http.Transport{
		// No proxy: it would connect in our place and check nothing.
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTime,
		MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
	}
}

// CloseIdleConnections closes the connections that no message uses now.
func (s *Sender) CloseIdleConnections() { s.client.CloseIdleConnections() }

// request is a message on its way to an address.
type request struct {
	to      string
	secrets []string // each signs it
	id      string
	at      time.Time
	body    []byte
	within  time.Duration
}

// reply is what a server answered.
type reply struct {
	code  int
	head  http.Header
	body  []byte // at most maxAnswer and one byte more
	ended error  // why there is no more of the body
}

// post sends a signed request. An error says why there was no response, without details
// of our network.
func (s *Sender) post(ctx context.Context, l request, also ...string) (reply, error) {
	signature, err := signatures(l)
	if err != nil {
		return reply{}, err
	}
	limited, cancel := context.WithTimeout(ctx, l.within)
	defer cancel()
	r, err := http.NewRequestWithContext(limited, http.MethodPost, l.to, bytes.NewReader(l.body))
	if err != nil {
		return reply{}, errors.New("the address cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Perennial/1")
	for _, prefix := range append([]string{"Webhook"}, also...) {
		r.Header.Set(prefix+"-Id", l.id)
		r.Header.Set(prefix+"-Timestamp", strconv.FormatInt(l.at.Unix(), 10))
		r.Header.Set(prefix+"-Signature", signature)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return reply{}, why(err, l.within)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		err = why(err, l.within)
	}
	return reply{answer.StatusCode, answer.Header, body, err}, nil
}

func (r reply) ok() bool { return r.code >= 200 && r.code <= 299 }

// Post sends a message to a path below the application's address and returns the
// body of the answer. Redirects are not followed.
func (s *Sender) Post(ctx context.Context, to partner.App, path string, m partner.Message) ([]byte, error) {
	got, err := s.post(ctx, request{to: to.BaseURL + "/" + path, secrets: []string{to.Signing}, id: m.ID, at: m.At, body: m.Body, within: partner.CallTimeout})
	switch {
	case err != nil:
		return nil, err
	case got.ended != nil:
		return nil, got.ended
	case !got.ok():
		return nil, answered(got.code)
	case len(got.body) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return got.body, nil
}

// Send sends a webhook and keeps the first bytes of the response for the merchant. The
// headers are sent under both their current and their older names.
func (s *Sender) Send(ctx context.Context, c webhook.Call) webhook.Answer {
	began := clock.System{}.Now()
	got, err := s.post(ctx, request{to: c.URL, secrets: c.Secrets, id: string(c.ID), at: c.At, body: c.Body, within: webhook.CallTimeout}, "Svix")
	a := webhook.Answer{Code: got.code, Took: clock.System{}.Now().Sub(began)}
	switch {
	case err != nil:
		a.Failed = err.Error()
		return a
	case !got.ok():
		a.Failed, a.RetryAfter = answered(got.code).Error(), retryAfter(got.head)
	}
	a.Head = strings.ToValidUTF8(string(got.body[:min(len(got.body), webhook.MaxAnswer)]), "\uFFFD")
	return a
}

func answered(code int) error { return fmt.Errorf("it answered %d", code) }

// retryAfter returns how long an answer asks to wait: it says so in seconds, or
// as a date, which counts from the answer's own.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, until.Sub(from))
}

// why puts a failure to reach a server into words that tell nothing of our side.
func why(err error, within time.Duration) error {
	var failed net.Error
	switch {
	case errors.Is(err, network.ErrNotPublic):
		return network.ErrNotPublic
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &failed) && failed.Timeout():
		return fmt.Errorf("there was no answer within %s", within)
	}
	return errors.New("there was no answer")
}

// secretPrefix begins a signing secret; the rest is base64.
const secretPrefix = "whsec_"

// signatures returns the signatures of a letter by each of its secrets.
func signatures(l request) (string, error) {
	list := make([]string, len(l.secrets))
	for i, secret := range l.secrets {
		var err error
		if list[i], err = Sign(secret, partner.Message{ID: l.id, At: l.at, Body: l.body}); err != nil {
			return "", err
		}
	}
	return strings.Join(list, " "), nil
}

// Sign returns the signature of a message: HMAC-SHA256 of its id, its instant in
// seconds and its body, with dots between.
func Sign(secret string, m partner.Message) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) == 0 {
		return "", errors.New("there is no signing secret")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", m.ID, m.At.Unix(), m.Body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
