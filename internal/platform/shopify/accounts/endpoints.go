package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// knownFor is for how long the endpoints of a store are not asked for again.
const knownFor = 10 * time.Minute

// endpoints are where customers of a store sign in. The platform publishes them at the store's
// domain; they are at another one.
type endpoints struct {
	Issuer     string   `json:"issuer"`
	Authorize  string   `json:"authorization_endpoint"`
	Token      string   `json:"token_endpoint"`
	SignOut    string   `json:"end_session_endpoint"`
	Keys       string   `json:"jwks_uri"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
	GraphQL    string   `json:"graphql_api"` // from the API's own document

	algorithms []string
	keys       *oidc.RemoteKeySet
	until      time.Time
}

// signatures are the algorithms with which an ID token may be signed: those with a key that only the
// platform has.
var signatures = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// endpoints returns those of a store.
func (c *Client) endpoints(ctx context.Context, shop string) (endpoints, error) {
	if !platform.ValidDomain(shop) {
		return endpoints{}, fault.New(fault.Invalid, "%.255q is not the domain of a store", shop)
	}
	now := c.clock.Now()
	c.mu.Lock()
	e, known := c.known[shop]
	c.mu.Unlock()
	if known && now.Before(e.until) {
		return e, nil
	}
	e = endpoints{until: now.Add(knownFor)}
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/customer-account-api"} {
		if err := c.read(ctx, strings.ReplaceAll(c.baseURL, "{shop}", shop)+path, &e); err != nil {
			return endpoints{}, err
		}
	}
	for _, at := range []string{e.Issuer, e.Authorize, e.Token, e.SignOut, e.Keys, e.GraphQL} {
		if !c.acceptable(at) {
			return endpoints{}, fmt.Errorf("%w: %s publishes %.255q as an address of customer accounts", platform.ErrUnknown, shop, at)
		}
	}
	e.algorithms = slices.DeleteFunc(slices.Clone(e.Algorithms), func(name string) bool { return !slices.Contains(signatures, name) })
	e.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), c.http), e.Keys)
	c.mu.Lock()
	c.known[shop] = e
	c.mu.Unlock()
	return e, nil
}

// acceptable reports whether requests may be sent to an address: over TLS, unless the whole platform
// is without.
func (c *Client) acceptable(at string) bool {
	u, err := url.Parse(at)
	return err == nil && u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || c.plain && u.Scheme == "http")
}

// read reads a document that a store publishes.
func (c *Client) read(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return fmt.Errorf("make a request to %s: %w", at, err)
	}
	req.Header.Set("Accept", "application/json")
	return answered(c.http, req, into)
}

// answered sends a request and reads the answer, which must be JSON. Failures say that the platform
// does not answer as it should: nothing of the answer is in them.
func answered(client *http.Client, req *http.Request, into any) error {
	at := req.URL.Redacted()
	answer, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", platform.ErrUnknown, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	switch {
	case answer.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s", platform.ErrThrottled, at)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: HTTP status %d of %s", platform.ErrUnknown, answer.StatusCode, at)
	}
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%w: the answer of %s cannot be read", platform.ErrUnknown, at)
	}
	return nil
}
