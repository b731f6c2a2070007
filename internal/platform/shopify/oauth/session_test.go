package oauth

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/perennialhq/perennial/internal/base/fault"
)

const sessionAt = 1_780_000_000

// session returns the claims of a good session token, changed.
func session(change func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": "https://" + store + "/admin", "dest": "https://" + store, "aud": client, "sub": "42",
		"exp": sessionAt + 60, "nbf": sessionAt, "iat": sessionAt, "jti": "f8912129", "sid": "aaea182f",
	}
	if change != nil {
		change(c)
	}
	return c
}

func sign(t testing.TB, m jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(m, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func set(name string, value any) func(jwt.MapClaims) {
	return func(c jwt.MapClaims) { c[name] = value }
}

func without(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }

func TestSessionTokenIsOpened(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"now": sessionAt, "within the leeway before": sessionAt - 10, "within the leeway after": sessionAt + 69} {
		text := sign(t, jwt.SigningMethodHS256, []byte(secret), session(nil))
		got, err := newApp().OpenSession(text, time.Unix(at, 0))
		if err != nil || got.Shop != store || got.User != "42" || got.Token != text || got.ExpiresAt.Unix() != sessionAt+60 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestInvalidSessionTokenIsRefused(t *testing.T) {
	t.Parallel()
	hs256 := func(c jwt.MapClaims) string { return sign(t, jwt.SigningMethodHS256, []byte(secret), c) }
	valid := hs256(session(nil))
	parts := strings.Split(valid, ".")
	header := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	signedParts := func(head, body string) string {
		sum, err := jwt.SigningMethodHS256.Sign(head+"."+body, []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return head + "." + body + "." + base64.RawURLEncoding.EncodeToString(sum)
	}
	tests := []struct {
		name, token string
	}{
		{"empty", ""},
		{"not a token", "a.b.c"},
		{"two parts", parts[0] + "." + parts[1]},
		{"four parts", valid + ".x"},
		{"alg none", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, session(nil))},
		{"alg none with a signature", header(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + "." + parts[2]},
		{"alg None", signedParts(header(`{"alg":"None"}`), parts[1])},
		{"HS512", sign(t, jwt.SigningMethodHS512, []byte(secret), session(nil))},
		{"HS384", sign(t, jwt.SigningMethodHS384, []byte(secret), session(nil))},
		{"an extension that must be understood", signedParts(header(`{"alg":"HS256","crit":["b64"],"b64":false}`), parts[1])},
		{"signature of another secret", sign(t, jwt.SigningMethodHS256, []byte("other"), session(nil))},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"padded signature", valid + "="},
		{"changed claims", parts[0] + "." + strings.Split(hs256(session(set("sub", "43"))), ".")[1] + "." + parts[2]},
		{"token of another app", hs256(session(set("aud", "another")))},
		{"token of several apps", hs256(session(set("aud", []string{client, "another"})))},
		{"token of a list with the app", hs256(session(set("aud", []string{client})))},
		{"no audience", hs256(session(without("aud")))},
		{"issued by another store", hs256(session(set("iss", "https://other.myshopify.com/admin")))},
		{"for another store", hs256(session(set("dest", "https://other.myshopify.com")))},
		{"issuer without the admin", hs256(session(set("iss", "https://"+store)))},
		{"no issuer", hs256(session(without("iss")))},
		{"no destination", hs256(session(without("dest")))},
		{"destination of another platform", hs256(session(func(c jwt.MapClaims) { c["iss"], c["dest"] = "https://evil.example/admin", "https://evil.example" }))},
		{"destination without TLS", hs256(session(func(c jwt.MapClaims) { c["iss"], c["dest"] = "http://"+store+"/admin", "http://"+store }))},
		{"destination with a path", hs256(session(func(c jwt.MapClaims) { c["iss"], c["dest"] = "https://"+store+"/x/admin", "https://"+store+"/x" }))},
		{"expired", hs256(session(set("exp", sessionAt-10)))},
		{"never expires", hs256(session(without("exp")))},
		{"from the future", hs256(session(set("nbf", sessionAt+11)))},
		{"no beginning", hs256(session(without("nbf")))},
		{"expiry as a text", hs256(session(set("exp", "1780000060")))},
		{"beginning as a text", hs256(session(set("nbf", "1780000000")))},
		{"expiry beyond all time", hs256(session(set("exp", 1e300)))},
		{"expiry in words", hs256(session(set("exp", "tomorrow")))},
		{"long", hs256(session(set("jti", strings.Repeat("x", maxSession))))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if s, err := newApp().OpenSession(tt.token, time.Unix(sessionAt, 0)); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	if _, err := New(Options{ClientID: client}).OpenSession(sign(t, jwt.SigningMethodHS256, []byte(""), session(nil)), time.Unix(sessionAt, 0)); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("an app without a secret: %v", err)
	}
}

func FuzzSessionToken(f *testing.F) {
	a := newApp()
	f.Add(sign(f, jwt.SigningMethodHS256, []byte(secret), session(nil)), []byte(`{"iss":"https://a.myshopify.com/admin"}`))
	f.Add("a.b.c", []byte(`{}`))
	f.Fuzz(func(t *testing.T, token string, payload []byte) {
		now := time.Unix(sessionAt, 0)
		if s, err := a.OpenSession(token, now); err == nil && s.Shop != store {
			t.Fatalf("%q opens %+v", token, s)
		}
		text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
		sum, err := jwt.SigningMethodHS256.Sign(text, []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.OpenSession(text+"."+base64.RawURLEncoding.EncodeToString(sum), now)
		if err == nil && (!strings.HasSuffix(s.Shop, ".myshopify.com") || s.ExpiresAt.Before(now.Add(-sessionLeeway))) {
			t.Fatalf("%q opens %+v", payload, s)
		}
	})
}
