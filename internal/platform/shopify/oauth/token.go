package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// Names of the platform's token endpoint.
const (
	grantExchange    = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantRefresh     = "refresh_token"
	subjectSession   = "urn:ietf:params:oauth:token-type:id_token"
	offlineToken     = "urn:shopify:params:oauth:token-type:offline-access-token" //nolint:gosec // a name
	expiringToken    = "1"
	maxTokenResponse = 64 << 10 // bytes
	maxToken         = 2048     // bytes of a token
	maxLife          = 10 * 365 * 24 * time.Hour
)

// tokenRequest is a request to the token endpoint.
type tokenRequest struct {
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret"`
	GrantType     string `json:"grant_type,omitempty"`
	Code          string `json:"code,omitempty"`
	RefreshToken  string `json:"refresh_token,omitempty"`
	SubjectToken  string `json:"subject_token,omitempty"`
	SubjectType   string `json:"subject_token_type,omitempty"`
	RequestedType string `json:"requested_token_type,omitempty"`
	Expiring      string `json:"expiring,omitempty"`
}

// tokenResponse is an answer of the token endpoint.
type tokenResponse struct {
	AccessToken      string `json:"access_token"`
	Scope            string `json:"scope"`
	ExpiresIn        int64  `json:"expires_in"` // s
	RefreshToken     string `json:"refresh_token"`
	RefreshExpiresIn int64  `json:"refresh_token_expires_in"` // s
}

// ExchangeCode returns the grant of a callback's code.
func (a *App) ExchangeCode(ctx context.Context, shop, code string) (platform.Grant, error) {
	return a.request(ctx, shop, tokenRequest{Code: code, Expiring: expiringToken})
}

// ExchangeSession returns a grant for a session token.
func (a *App) ExchangeSession(ctx context.Context, s platform.Session) (platform.Grant, error) {
	return a.request(ctx, s.Shop, tokenRequest{
		GrantType: grantExchange, SubjectToken: s.Token, SubjectType: subjectSession, RequestedType: offlineToken, Expiring: expiringToken,
	})
}

// Refresh returns the grant that follows the one of a refresh token.
func (a *App) Refresh(ctx context.Context, shop string, refresh platform.Token) (platform.Grant, error) {
	return a.request(ctx, shop, tokenRequest{GrantType: grantRefresh, RefreshToken: string(refresh)})
}

// Migrate returns an expiring grant for an access token that never expires.
func (a *App) Migrate(ctx context.Context, shop string, access platform.Token) (platform.Grant, error) {
	return a.request(ctx, shop, tokenRequest{
		GrantType: grantExchange, SubjectToken: string(access), SubjectType: offlineToken, RequestedType: offlineToken, Expiring: expiringToken,
	})
}

// request asks the token endpoint of a store. Expiry is counted from before the request,
// so that a slow answer makes it too early and never too late.
func (a *App) request(ctx context.Context, shop string, r tokenRequest) (platform.Grant, error) {
	if !platform.ValidDomain(shop) {
		return platform.Grant{}, fault.New(fault.Invalid, "%.255q is not the domain of a store", shop)
	}
	r.ClientID, r.ClientSecret = a.id, a.secret
	body, err := json.Marshal(r)
	if err != nil {
		return platform.Grant{}, fmt.Errorf("encode a token request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.at(shop, "/admin/oauth/access_token"), bytes.NewReader(body))
	if err != nil {
		return platform.Grant{}, fmt.Errorf("make a token request: %w", err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	began := a.clock.Now()
	res, err := a.http.Do(req)
	if err != nil {
		return platform.Grant{}, fmt.Errorf("%w: %w", platform.ErrUnknown, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxTokenResponse+1))
	if err != nil || len(text) > maxTokenResponse {
		return platform.Grant{}, fmt.Errorf("%w: an answer of the token endpoint that cannot be read: %w", platform.ErrUnknown, err)
	}
	if res.StatusCode != http.StatusOK {
		return platform.Grant{}, tokenFailure(res.StatusCode, text)
	}
	return grantOf(text, began)
}

// grantOf reads a granted answer. Its text is in no error: it holds tokens.
func grantOf(text []byte, began time.Time) (platform.Grant, error) {
	var t tokenResponse
	if err := json.Unmarshal(text, &t); err != nil {
		return platform.Grant{}, fmt.Errorf("%w: an answer of the token endpoint that is not JSON", platform.ErrUnknown)
	}
	if !tokenLike(t.AccessToken) || t.RefreshToken != "" && !tokenLike(t.RefreshToken) {
		return platform.Grant{}, fmt.Errorf("%w: an answer of the token endpoint without a token", platform.ErrUnknown)
	}
	if t.RefreshToken == "" && t.ExpiresIn > 0 {
		return platform.Grant{}, fmt.Errorf("%w: an answer of the token endpoint with a token that expires and cannot be refreshed", platform.ErrUnknown)
	}
	g := platform.Grant{Access: platform.Token(t.AccessToken), Refresh: platform.Token(t.RefreshToken), Scopes: platform.ParseScopes(t.Scope)}
	g.ExpiresAt, g.RefreshExpiresAt = after(began, t.ExpiresIn), after(began, t.RefreshExpiresIn)
	return g, nil
}

func after(began time.Time, seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return began.Add(time.Duration(min(seconds, int64(maxLife/time.Second))) * time.Second)
}

// tokenLike reports whether a text can be a token in a header.
func tokenLike(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// tokenError is a refusal of the token endpoint.
type tokenError struct {
	Code string `json:"error"`
}

// errTokenEndpoint is a status of the token endpoint that says nothing of the grant.
var errTokenEndpoint = errors.New("the token endpoint does not issue tokens now")

// tokenFailure returns what a status other than 200 means. Only what names the grant as
// the cause refuses it: a grant that is given up wrongly would lock the store out.
func tokenFailure(status int, text []byte) error {
	var e tokenError
	_ = json.Unmarshal(text, &e) // a body that is not JSON names no cause
	switch {
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w: HTTP status %d", platform.ErrUnknown, errTokenEndpoint, status)
	case status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w: HTTP status %d", platform.ErrThrottled, errTokenEndpoint, status)
	}
	switch e.Code {
	case "invalid_grant", "invalid_subject_token", "invalid_request", "invalid_token":
		return &platform.Refusal{Code: platform.CodeInvalidGrant, Message: fmt.Sprintf("the platform does not accept the grant (HTTP status %d, %s)", status, e.Code)}
	case "invalid_client", "unauthorized_client", "application_cannot_be_found":
		return &platform.Refusal{Code: platform.CodeInvalidClient, Message: fmt.Sprintf("the platform does not accept the app's client id and secret (HTTP status %d, %s)", status, e.Code)}
	}
	return fmt.Errorf("%w: HTTP status %d", errTokenEndpoint, status)
}
