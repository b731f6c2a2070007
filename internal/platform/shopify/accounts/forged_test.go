package accounts_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/accounts"
)

var now = time.Date(2027, time.February, 26, 12, 0, 0, 0, time.UTC)

const (
	store    = "first.myshopify.com"
	clientID = "shp_1"
	access   = "shcat_1"
)

var request = platform.AccountRequest{Redirect: "https://subs.example/p/first/signin/account/return", State: "st4te", Nonce: "n0nce", Verifier: strings.Repeat("v", 43)}

// issuer is a platform that issues whatever ID token a test wants, and answers with whatever status.
type issuer struct {
	*httptest.Server
	key     *rsa.PrivateKey
	token   string
	down    string // end of a path that answers 503
	away    string // end of a path that redirects to another host
	long    string // end of a path whose answer does not end
	wrong   map[string]string
	visited []string // paths that were asked, beyond this server
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.Server = httptest.NewServer(http.HandlerFunc(i.answer))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case i.down != "" && strings.HasSuffix(r.URL.Path, i.down):
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case i.away != "" && strings.HasSuffix(r.URL.Path, i.away):
		http.Redirect(w, r, i.URL+"/elsewhere", http.StatusTemporaryRedirect)
		return
	case i.long != "" && strings.HasSuffix(r.URL.Path, i.long):
		_, _ = w.Write([]byte(`{"issuer":"` + strings.Repeat("x", 1<<20) + `"}`))
		return
	}
	answer := map[string]any{}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		for name, path := range map[string]string{"issuer": "", "authorization_endpoint": "/authorize", "token_endpoint": "/token", "end_session_endpoint": "/logout", "jwks_uri": "/keys"} {
			answer[name] = i.URL + path
		}
		for name, at := range i.wrong {
			answer[name] = at
		}
		answer["id_token_signing_alg_values_supported"] = []string{"RS256", "HS256", "none"}
	case "/.well-known/customer-account-api":
		answer["graphql_api"] = i.URL + "/graphql"
	case "/token":
		answer = map[string]any{"access_token": access, "token_type": "bearer", "expires_in": 7200, "id_token": i.token}
	case "/keys":
		answer["keys"] = []map[string]string{{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": text(i.key.N.Bytes()), "e": text(big.NewInt(int64(i.key.E)).Bytes()),
		}}
	case "/graphql":
		if r.Header.Get("Authorization") != access {
			w.WriteHeader(http.StatusUnauthorized)
		}
		answer["data"] = map[string]any{"customer": map[string]any{"id": "gid://shopify/Customer/7001"}}
	default:
		i.visited = append(i.visited, r.URL.Path)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// genuine returns the claims of a token that is what it should be.
func (i *issuer) genuine() map[string]any {
	sum := sha256.Sum256([]byte(access))
	return map[string]any{
		"iss": i.URL, "aud": clientID, "sub": "someone", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": request.Nonce, "at_hash": text(sum[:16]),
	}
}

// signed returns a token of claims with a signature of a key.
func signed(t *testing.T, key *rsa.PrivateKey, head map[string]string, claims map[string]any) string {
	t.Helper()
	first, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	message := text(first) + "." + text(second)
	if key == nil {
		return message + "."
	}
	digest := sha256.Sum256([]byte(message))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return message + "." + text(signature)
}

func (i *issuer) client() *accounts.Client {
	return accounts.New(accounts.Options{BaseURL: i.URL, Clock: clock.NewManual(now), Timeout: 5 * time.Second})
}

func (i *issuer) account(t *testing.T) (platform.Account, error) {
	t.Helper()
	return i.client().Account(t.Context(), platform.AccountClient{Shop: store, ID: clientID}, request, "c0de")
}

var rs256 = map[string]string{"alg": "RS256", "kid": "1"}

func TestIDTokenMustBeGenuine(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	another, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string, value any) string {
		claims := i.genuine()
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
		return signed(t, i.key, rs256, claims)
	}
	good := signed(t, i.key, rs256, i.genuine())
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	for _, row := range []struct {
		name, token string
	}{
		{"none at all", ""},
		{"not signed, and says so", signed(t, nil, map[string]string{"alg": "none"}, i.genuine())},
		{"without its signature", head + "." + body + "."},
		{"signed with another key of the same name", signed(t, another, rs256, i.genuine())},
		{"signed with a key that the platform does not have", signed(t, another, map[string]string{"alg": "RS256", "kid": "2"}, i.genuine())},
		{"signed with an algorithm that the client's secret would make", signed(t, i.key, map[string]string{"alg": "HS256", "kid": "1"}, i.genuine())},
		{"with other claims than were signed", head + "." + text([]byte(`{"iss":"x"}`)) + "." + signature},
		{"of another store's issuer", with("iss", "https://shopify.com/authentication/2")},
		{"for another client", with("aud", "shp_2")},
		{"for two clients", with("aud", []string{clientID, "shp_2"})},
		{"for no client", with("aud", nil)},
		{"of another sign-in", with("nonce", "other")},
		{"of no sign-in", with("nonce", nil)},
		{"expired", with("exp", now.Add(-time.Second).Unix())},
		{"without an end", with("exp", nil)},
		{"of the future", with("iat", now.Add(time.Hour).Unix())},
		{"of another access token", with("at_hash", text(make([]byte, 16)))},
		{"no token", "a.b"},
		{"too long", strings.Repeat("a", 1<<15)},
	} {
		i.token = row.token
		_, err := i.account(t)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unauthenticated || f.ErrorKey != "accountForged" {
			t.Errorf("%s: %v", row.name, err)
		}
		if err != nil && row.token != "" && strings.Contains(err.Error(), row.token) {
			t.Errorf("%s: the error has the token", row.name)
		}
	}
	i.token = good
	if got, err := i.account(t); err != nil || got != (platform.Account{Customer: 7001, IDToken: platform.Token(good)}) {
		t.Errorf("a genuine one: %d, %v", got.Customer, err)
	}
}

// What the platform does not answer, or not as it should, is no verdict on who signs in.
func TestPlatformThatDoesNotAnswerSignsNobodyIn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.token = signed(t, i.key, rs256, i.genuine())
	for _, path := range []string{"openid-configuration", "customer-account-api", "/token", "/keys", "/graphql"} {
		for name, fails := range map[string]*string{"is down": &i.down, "redirects": &i.away, "does not end": &i.long} {
			*fails = path
			got, err := i.account(t)
			*fails = ""
			if err == nil || got.Customer != 0 || fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s %s: %+v, %v", path, name, got, err)
			}
			if name == "is down" && !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("%s %s: %v", path, name, err)
			}
		}
	}
	if len(i.visited) > 0 {
		t.Errorf("redirects were followed: %s", i.visited)
	}
}

func TestEndpointsAreReachedOverTLSAndInPublicOnly(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	for name, at := range map[string]string{
		"token_endpoint": "file:///etc/passwd", "jwks_uri": "//127.0.0.1/keys", "authorization_endpoint": "javascript:alert(1)", "end_session_endpoint": "https://user@host/logout", "issuer": "",
	} {
		i.wrong = map[string]string{name: at}
		if _, err := i.account(t); !errors.Is(err, platform.ErrUnknown) {
			t.Errorf("%s %q: %v", name, at, err)
		}
	}
	i.wrong = nil
	real := accounts.New(accounts.Options{Clock: clock.NewManual(now)})
	for _, domain := range []string{"127.0.0.1", "first.myshopify.com@evil.example", "evil.example", "first.myshopify.com/x"} {
		if _, err := real.SignInURL(t.Context(), platform.AccountClient{Shop: domain, ID: clientID}, request); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", domain, err)
		}
	}
	inside := accounts.New(accounts.Options{BaseURL: "https://{shop}@" + strings.TrimPrefix(i.URL, "http://"), Clock: clock.NewManual(now)})
	if _, err := inside.SignInURL(t.Context(), platform.AccountClient{Shop: store, ID: clientID}, request); err == nil || !strings.Contains(err.Error(), "not public") {
		t.Errorf("an address of this machine: %v", err)
	}
}

func TestRefusalsOfTokenEndpointAreToldApart(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		code   string
		want   string
	}{
		{http.StatusBadRequest, "invalid_grant", platform.CodeInvalidGrant},
		{http.StatusUnauthorized, "invalid_client", platform.CodeInvalidClient},
		{http.StatusForbidden, "", platform.CodeInvalidGrant},
	} {
		i := newIssuer(t)
		documents := i.Config.Handler
		i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(row.status)
				fmt.Fprintf(w, `{"error":%q,"error_description":"secret words"}`, row.code)
				return
			}
			documents.ServeHTTP(w, r)
		})
		_, err := i.account(t)
		if refused, ok := errors.AsType[*platform.Refusal](err); !ok || refused.Code != row.want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s: %v", row.status, row.code, err)
		}
	}
}
