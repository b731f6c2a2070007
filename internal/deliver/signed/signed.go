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
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/domain/partner"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 64 << 10

// Sender sends messages. Its methods may be called from many goroutines.
type Sender struct{ client *http.Client }

// New returns a sender. Unless private is set it refuses to connect to loopback,
// private, link-local and other addresses that are not public, after names have
// been resolved: a name that resolves differently the next time gains nothing.
func New(private bool) *Sender {
	dialer := &net.Dialer{Timeout: partner.CallTime}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	return &Sender{&http.Client{
		Timeout: partner.CallTime,
		Transport: &http.Transport{
			// No proxy: it would connect in our place and check nothing.
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: partner.CallTime,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var errPrivate = errors.New("the address is not public")

// special are the ranges that are neither private in the usual sense nor public.
func special() []netip.Prefix {
	var list []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// public reports whether an address may be connected to.
func public(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errPrivate
	}
	ip := at.Addr().Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return errPrivate
	}
	for _, p := range special() {
		if p.Contains(ip) {
			return errPrivate
		}
	}
	return nil
}

// Post sends a message to a path below the application's address and returns the
// body of the answer. Redirects are not followed.
func (s *Sender) Post(ctx context.Context, to partner.App, path string, m partner.Message) ([]byte, error) {
	signature, err := Sign(to.Signing, m)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.BaseURL+"/"+path, bytes.NewReader(m.Body))
	if err != nil {
		return nil, errors.New("the address of the application cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Perennial/1")
	r.Header.Set("Webhook-Id", m.ID)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(m.At.Unix(), 10))
	r.Header.Set("Webhook-Signature", signature)
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, why(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, why(err)
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return nil, fmt.Errorf("it answered %d", answer.StatusCode)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return body, nil
}

// why puts a failure to reach a server into words that tell nothing of our side.
func why(err error) error {
	var network net.Error
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("there was no answer within %s", partner.CallTime)
	}
	return errors.New("there was no answer")
}

// secretPrefix begins a signing secret; the rest is base64.
const secretPrefix = "whsec_"

// Sign returns the signature of a message: HMAC-SHA256 of its id, its instant in
// seconds and its body, with dots between.
func Sign(secret string, m partner.Message) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) == 0 {
		return "", errors.New("the application has no signing secret")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", m.ID, m.At.Unix(), m.Body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
