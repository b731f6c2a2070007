package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// AppSettings are what an app's developer sets at the platform.
type AppSettings struct {
	ClientID string
	Secret   string // client secret; default: the Options' AppSecret
	Name     string
	URL      string // opened in the frame of a store's admin
	// Redirects are the addresses to which browsers may be sent after a consent.
	Redirects []string
	// Withheld are scopes that the platform has not approved for the app: it grants them to
	// no store, whatever a merchant agrees to.
	Withheld []string
	// OwnContracts has the tokens of an app beside the first open the API, with contracts,
	// plans, profiles and webhook subscriptions of its own.
	OwnContracts bool
}

// TokenRules are how the platform treats tokens where its documentation leaves a choice.
type TokenRules struct {
	// AccessEndsEarly ends an access token when the next one is issued, and not when it
	// expires.
	AccessEndsEarly bool
	// RetryIssuesAnother issues another pair when a refresh token is used again, and
	// forgets the pair of the first time.
	RetryIssuesAnother bool
}

// SetApp sets the first app. It lasts until the platform is closed.
func (s *Simulator) SetApp(a AppSettings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.app = a
}

// App returns the first app.
func (s *Simulator) App() AppSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.app
}

// grantsOf is what a store has granted to the app, beside the token that never expires.
type grantsOf struct {
	Count   int64         // of what was issued
	Scopes  []string      `json:",omitempty"`
	Codes   []authCode    `json:",omitempty"`
	Access  []accessToken `json:",omitempty"`
	Refresh refreshToken  `json:",omitzero"`
	// Before is the refresh token that Refresh replaced. It is accepted until Refresh is
	// used.
	Before refreshToken `json:",omitzero"`
	// Migrated is the token that never expired, and was exchanged at MigratedAt for a pair
	// that was not refreshed since.
	Migrated   string    `json:",omitempty"`
	MigratedAt time.Time `json:",omitzero"`
	Retired    bool      `json:",omitempty"` // the token that never expires opens nothing
}

type authCode struct {
	Code      string
	Scopes    []string
	ExpiresAt time.Time
}

type accessToken struct {
	Token     string
	ExpiresAt time.Time
}

type refreshToken struct {
	Token     string
	UsedAt    time.Time `json:",omitzero"`
	ExpiresAt time.Time
}

// How long what is issued lasts.
const (
	codeLife      = 10 * time.Minute
	accessLife    = time.Hour
	refreshLife   = 90 * 24 * time.Hour
	retryLife     = 30 * 24 * time.Hour // of a refresh token from its first use
	migrationLife = 7 * 24 * time.Hour
	sessionLife   = time.Minute
)

// issued returns a new text for a store.
func (sh *store) issued(kind string) string {
	sh.Grants.Count++
	return kind + "_" + hexOf(kind, sh.Domain, sh.ID, sh.Grants.Count)
}

// SessionToken returns what App Bridge gives an embedded page of the first app: a token of
// the store for the user, valid for a minute.
func (s *Simulator) SessionToken(shop string, user int64) (string, error) {
	return s.SessionTokenOf(s.App().ClientID, shop, user)
}

// SessionTokenOf returns the same for the app with a client id.
func (s *Simulator) SessionTokenOf(client, shop string, user int64) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return "", err
	}
	i, known := s.at(sh, client)
	if !known || !i.installed() {
		return "", fault.New(fault.FailedPrecondition, "%s does not have the app", shop)
	}
	now := s.opts.Clock.Now().Unix()
	sh.Grants.Count++
	claims, err := json.Marshal(map[string]any{
		"iss": "https://" + shop + "/admin", "dest": "https://" + shop, "aud": client, "sub": itoa(user),
		"exp": now + int64(sessionLife.Seconds()), "nbf": now, "iat": now, "jti": uuidOf("jti", shop, user, sh.Grants.Count), "sid": uuidOf("sid", shop, user, 0),
	})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(mac(s.secret(i.app), text)), nil
}

// mac signs with an app's secret.
func mac(secret, text string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sessionShop returns the store of a session token that the platform has issued for an app.
func (s *Simulator) sessionShop(app AppSettings, token string) (string, bool) {
	text, signature, _ := cutLast(token, ".")
	sum, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(sum, mac(s.secret(app), text)) {
		return "", false
	}
	_, body, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return "", false
	}
	var claims struct {
		Dest string `json:"dest"`
		Aud  string `json:"aud"`
		Exp  int64  `json:"exp"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil || claims.Aud != app.ClientID || s.opts.Clock.Now().Unix() >= claims.Exp {
		return "", false
	}
	return strings.CutPrefix(claims.Dest, "https://")
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// signed adds the platform's parameters, and its signature for an app, to a query.
func (s *Simulator) signed(app AppSettings, shop string, q url.Values) url.Values {
	q.Set("shop", shop)
	q.Set("host", base64.StdEncoding.EncodeToString([]byte("admin.shopify.com/store/"+strings.TrimSuffix(shop, ".myshopify.com"))))
	q.Set("timestamp", strconv.FormatInt(s.opts.Clock.Now().Unix(), 10))
	// Encode sorts by name, and differs from the platform's form only in what occurs in no
	// parameter.
	q.Set("hmac", hex.EncodeToString(mac(s.secret(app), strings.ReplaceAll(q.Encode(), "+", "%20"))))
	return q
}
