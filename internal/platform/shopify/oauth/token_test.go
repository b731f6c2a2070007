package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// answering returns an app whose platform gives one answer, and what it was asked.
func answering(t *testing.T, status int, body string) (*App, *map[string]string) {
	t.Helper()
	asked := &map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			t.Error("a redirect was followed")
		}
		if r.Method != http.MethodPost || r.URL.Path != "/some-shop.myshopify.com/admin/oauth/access_token" {
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
		if err := json.NewDecoder(r.Body).Decode(asked); err != nil {
			t.Error(err)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return New(Options{ClientID: client, Secret: secret, BaseURL: server.URL + "/{shop}", Clock: clock.NewManual(publishedAt())}), asked
}

const granted = `{"access_token":"shpat_1","scope":"write_orders, read_products","expires_in":3600,"refresh_token":"shprt_1","refresh_token_expires_in":7776000}`

func TestTokenEndpointIsAskedAsDocumented(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		ask  func(*App) (platform.Grant, error)
		want map[string]string
	}{
		{
			name: "code", ask: func(a *App) (platform.Grant, error) { return a.ExchangeCode(t.Context(), store, "c0de") },
			want: map[string]string{"code": "c0de", "expiring": "1"},
		},
		{
			name: "session token",
			ask: func(a *App) (platform.Grant, error) {
				return a.ExchangeSession(t.Context(), platform.Session{Shop: store, Token: "a.b.c"})
			},
			want: map[string]string{
				"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "a.b.c", "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
				"requested_token_type": "urn:shopify:params:oauth:token-type:offline-access-token", "expiring": "1",
			},
		},
		{
			name: "refresh token", ask: func(a *App) (platform.Grant, error) { return a.Refresh(t.Context(), store, "shprt_0") },
			want: map[string]string{"grant_type": "refresh_token", "refresh_token": "shprt_0"},
		},
		{
			name: "token that never expires", ask: func(a *App) (platform.Grant, error) { return a.Migrate(t.Context(), store, "shpat_0") },
			want: map[string]string{
				"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "shpat_0", "subject_token_type": "urn:shopify:params:oauth:token-type:offline-access-token",
				"requested_token_type": "urn:shopify:params:oauth:token-type:offline-access-token", "expiring": "1",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, asked := answering(t, http.StatusOK, granted)
			g, err := tt.ask(a)
			if err != nil || g.Access != "shpat_1" || g.Refresh != "shprt_1" || strings.Join(g.Scopes, " ") != "read_products write_orders" ||
				!g.ExpiresAt.Equal(publishedAt().Add(time.Hour)) || !g.RefreshExpiresAt.Equal(publishedAt().Add(90*24*time.Hour)) {
				t.Errorf("got %v %q %q, %v", g, string(g.Access), string(g.Refresh), err)
			}
			tt.want["client_id"], tt.want["client_secret"] = client, secret
			if fmt.Sprint(*asked) != fmt.Sprint(tt.want) {
				t.Errorf("asked %v, want %v", *asked, tt.want)
			}
		})
	}
}

func TestFailuresOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()
	refusal := func(code string) func(error) bool {
		return func(err error) bool {
			r, ok := errors.AsType[*platform.Refusal](err)
			return ok && r.Code == code
		}
	}
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	neither := func(err error) bool {
		return err != nil && !platform.Definite(err) && !errors.Is(err, platform.ErrUnknown)
	}
	tests := []struct {
		name   string
		status int
		body   string
		want   func(error) bool
	}{
		{"refused refresh token", 400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, refusal(platform.CodeInvalidGrant)},
		{"refused session token", 400, `{"error":"invalid_subject_token"}`, refusal(platform.CodeInvalidGrant)},
		{"used code", 400, `{"error":"invalid_request","error_description":"The authorization code was not found or was already used"}`, refusal(platform.CodeInvalidGrant)},
		{"wrong secret", 401, `{"error":"invalid_client"}`, refusal(platform.CodeInvalidClient)},
		{"deleted app", 400, `{"error":"application_cannot_be_found"}`, refusal(platform.CodeInvalidClient)},
		{"an HTML page with 400", 400, `<html>Oops</html>`, neither},
		{"a frozen store", 402, `{"errors":"Unavailable Shop"}`, neither},
		{"a redirect", 302, ``, neither},
		{"throttled", 429, ``, is(platform.ErrThrottled)},
		{"500", 500, `{"error":"invalid_grant"}`, is(platform.ErrUnknown)},
		{"503", 503, ``, is(platform.ErrUnknown)},
		{"half an answer", 200, granted[:40], is(platform.ErrUnknown)},
		{"no token", 200, `{"scope":"read_products"}`, is(platform.ErrUnknown)},
		{"a token with a line break", 200, `{"access_token":"a\nb"}`, is(platform.ErrUnknown)},
		{"a token that expires and cannot be refreshed", 200, `{"access_token":"a","expires_in":3600}`, is(platform.ErrUnknown)},
		{"too long", 200, strings.Repeat(" ", maxTokenResponse) + granted, is(platform.ErrUnknown)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, _ := answering(t, tt.status, tt.body)
			_, err := a.Refresh(t.Context(), store, "shprt_0")
			if !tt.want(err) {
				t.Errorf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "shp") || strings.Contains(err.Error(), secret)) {
				t.Errorf("a secret is in the error: %v", err)
			}
		})
	}
	if _, err := newApp().Refresh(t.Context(), "evil.example/", "shprt_0"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a host that is no store's: %v", err)
	}
}

func TestTokenThatNeverExpires(t *testing.T) {
	t.Parallel()
	a, _ := answering(t, http.StatusOK, `{"access_token":"shpat_1","scope":"read_products"}`)
	g, err := a.ExchangeCode(t.Context(), store, "c0de")
	if err != nil || !g.ExpiresAt.IsZero() || g.Refresh != "" {
		t.Errorf("got %+v, %v", g, err)
	}
}

func FuzzTokenResponse(f *testing.F) {
	f.Add([]byte(granted))
	f.Add([]byte(`{"access_token":"a","expires_in":9223372036854775807,"refresh_token":"b","refresh_token_expires_in":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := grantOf(text, publishedAt())
		if err != nil {
			return
		}
		if !tokenLike(string(g.Access)) || !g.ExpiresAt.IsZero() && g.ExpiresAt.Before(publishedAt()) || !g.ExpiresAt.IsZero() && g.Refresh == "" {
			t.Fatalf("%q is read as %+v", text, g)
		}
	})
}
