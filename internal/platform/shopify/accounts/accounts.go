// Package accounts is the platform's side of a sign-in with a customer account: the endpoints that a
// store publishes, the exchange of a code, the checks of an ID token, and the question which customer
// it is. It keeps nothing but the endpoints, for a while.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// Options are what a Client needs to know. The zero value of a field has a default.
type Options struct {
	BaseURL string        // where a store answers; {shop} stands for its domain
	HTTP    *http.Client  // nil: one that connects to public addresses only, unless BaseURL is of another place
	Timeout time.Duration // of one request
	Clock   clock.Clock   // by which ID tokens expire; nil: the machine's
}

// Client implements platform.Accounts and is safe for concurrent use.
type Client struct {
	baseURL string
	http    *http.Client
	clock   clock.Clock
	plain   bool // endpoints may be without TLS, as BaseURL is

	mu    sync.Mutex
	known map[string]endpoints // by domain
}

var _ platform.Accounts = (*Client)(nil)

// What an Options field means when it is left empty.
const (
	defaultBaseURL = "https://{shop}"
	defaultTimeout = 10 * time.Second
)

// New returns a client.
func New(o Options) *Client {
	c := &Client{baseURL: o.BaseURL, clock: o.Clock, known: map[string]endpoints{}}
	if c.baseURL == "" {
		c.baseURL = defaultBaseURL
	}
	if c.clock == nil {
		c.clock = clock.System{}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	c.plain = strings.HasPrefix(c.baseURL, "http://")
	c.http = guarded(o, !strings.HasPrefix(c.baseURL, defaultBaseURL))
	return c
}

// CloseIdleConnections closes the connections that no request uses now.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// scopes are what a sign-in asks for: to know who it is, and to ask the API for the customer.
var scopes = []string{oidc.ScopeOpenID, "email", "customer-account-api:full"}

// config returns what OAuth needs to know of a client. A public client says who it is in the form, a
// confidential one in a header.
func (e endpoints) config(c platform.AccountClient, r platform.AccountRequest) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if c.Secret != "" {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: string(c.Secret), RedirectURL: r.Redirect, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: e.Authorize, TokenURL: e.Token, AuthStyle: style},
	}
}

// SignInURL returns the address at which a customer signs in.
func (c *Client) SignInURL(ctx context.Context, of platform.AccountClient, r platform.AccountRequest) (string, error) {
	e, err := c.endpoints(ctx, of.Shop)
	if err != nil {
		return "", err
	}
	return e.config(of, r).AuthCodeURL(r.State, oidc.Nonce(r.Nonce), oauth2.S256ChallengeOption(r.Verifier)), nil
}

// SignOutURL returns the address at which a customer who has signed in signs out.
func (c *Client) SignOutURL(ctx context.Context, of platform.AccountClient, idToken platform.Token, back string) (string, error) {
	e, err := c.endpoints(ctx, of.Shop)
	if err != nil {
		return "", err
	}
	to, err := url.Parse(e.SignOut)
	if err != nil {
		return "", err
	}
	q := to.Query()
	q.Set("id_token_hint", string(idToken))
	q.Set("post_logout_redirect_uri", back)
	to.RawQuery = q.Encode()
	return to.String(), nil
}

// Account returns the customer who came back from the platform with a code.
func (c *Client) Account(ctx context.Context, of platform.AccountClient, r platform.AccountRequest, code string) (platform.Account, error) {
	e, err := c.endpoints(ctx, of.Shop)
	if err != nil {
		return platform.Account{}, err
	}
	ctx = oidc.ClientContext(ctx, c.from(of, r.Redirect))
	config := e.config(of, r)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(r.Verifier), oauth2.SetAuthURLParam("client_id", of.ID))
	if err != nil {
		return platform.Account{}, exchangeFailure(err)
	}
	idToken, _ := tokens.Extra("id_token").(string)
	if err := c.check(ctx, e, of, r, idToken, tokens.AccessToken); err != nil {
		return platform.Account{}, err
	}
	customer, err := c.customer(ctx, e, of, r, tokens.AccessToken)
	return platform.Account{Customer: customer, IDToken: platform.Token(idToken)}, err
}

// exchangeFailure returns what a failure of the token endpoint means. The answer's text is in no
// error: what it holds is not known.
func exchangeFailure(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if unreached, is := errors.AsType[*url.Error](err); is {
		return fmt.Errorf("%w: exchange a code of customer accounts: %w", platform.ErrUnknown, unreached)
	}
	if !ok {
		return fmt.Errorf("%w: an answer of the token endpoint of customer accounts that cannot be read", platform.ErrUnknown)
	}
	status := refused.Response.StatusCode
	switch {
	case status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: the token endpoint of customer accounts", platform.ErrThrottled)
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: HTTP status %d of the token endpoint of customer accounts", platform.ErrUnknown, status)
	case refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client" || status == http.StatusUnauthorized:
		return &platform.Refusal{Code: platform.CodeInvalidClient, Message: fmt.Sprintf("the platform does not accept the client of customer accounts (HTTP status %d)", status)}
	}
	return &platform.Refusal{Code: platform.CodeInvalidGrant, Message: fmt.Sprintf("the platform does not accept the code of a customer account (HTTP status %d)", status)}
}

// notGenuine is the failure of what cannot be the platform's.
func notGenuine(format string, args ...any) error {
	return fault.New(fault.Unauthenticated, format, args...).Entity("customer").Code("accountForged")
}
