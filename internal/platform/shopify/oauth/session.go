package oauth

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// sessionLeeway is how far the platform's clock may be from ours.
const sessionLeeway = 10 * time.Second

// maxSession is the longest session token that is read, in bytes.
const maxSession = 4096

// claims are what a session token says. Audience is one text: a list, which JWT permits,
// is never the platform's.
type claims struct {
	Issuer      string   `json:"iss"`
	Destination string   `json:"dest"`
	Client      string   `json:"aud"`
	User        string   `json:"sub"`
	ExpiresAt   *seconds `json:"exp"`
	NotBefore   *seconds `json:"nbf"`
	IssuedAt    *seconds `json:"iat"`
}

// seconds are an instant, in seconds since 1970: a number, and never a number in a text.
type seconds float64

// maxSeconds is far after every instant of a token.
const maxSeconds = 1 << 40

func (s *seconds) date() (*jwt.NumericDate, error) {
	switch {
	case s == nil:
		return nil, nil //nolint:nilnil // the interface of the library says so
	case math.Abs(float64(*s)) > maxSeconds:
		return nil, errors.New("an instant beyond all time")
	}
	return jwt.NewNumericDate(time.Unix(int64(*s), 0)), nil
}

func (c claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.ExpiresAt.date() }
func (c claims) GetNotBefore() (*jwt.NumericDate, error)      { return c.NotBefore.date() }
func (c claims) GetIssuedAt() (*jwt.NumericDate, error)       { return c.IssuedAt.date() }
func (c claims) GetIssuer() (string, error)                   { return c.Issuer, nil }
func (c claims) GetSubject() (string, error)                  { return c.User, nil }
func (c claims) GetAudience() (jwt.ClaimStrings, error)       { return jwt.ClaimStrings{c.Client}, nil }

// OpenSession checks a session token: signed with HS256 by the app's secret, for this
// app, valid now, and of one store.
func (a *App) OpenSession(token string, now time.Time) (platform.Session, error) {
	if a.secret == "" || a.id == "" || len(token) > maxSession {
		return platform.Session{}, sessionInvalid("the session token is missing or too long")
	}
	var c claims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(), jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(),
		jwt.WithAudience(a.id), jwt.WithLeeway(sessionLeeway), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	parsed, err := parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return []byte(a.secret), nil })
	if err != nil {
		f := sessionInvalid("the session token is not valid")
		f.Cause = err
		return platform.Session{}, f
	}
	if _, extended := parsed.Header["crit"]; extended {
		return platform.Session{}, sessionInvalid("the session token has an unknown extension")
	}
	shop, ok := strings.CutPrefix(c.Destination, "https://")
	switch {
	case !ok || !platform.ValidDomain(shop):
		return platform.Session{}, sessionInvalid("the session token is not of a store")
	case c.Issuer != c.Destination+"/admin":
		return platform.Session{}, sessionInvalid("the session token was issued by another store than the one it is for")
	}
	return platform.Session{Shop: shop, User: c.User, Token: token, ExpiresAt: time.Unix(int64(*c.ExpiresAt), 0)}, nil
}

func sessionInvalid(message string) *fault.Error {
	return notGenuine("%s", message).Code("sessionTokenInvalid")
}
