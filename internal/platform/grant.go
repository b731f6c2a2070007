package platform

import (
	"context"
	"net/url"
	"time"
)

// Grant is a merchant's permission for an app to use a store: the tokens of one answer
// of the platform belong together and are stored together.
type Grant struct {
	Access           Token
	ExpiresAt        time.Time // of Access; zero: never
	Refresh          Token     // gets the next grant; "": there is none, and Access does not expire
	RefreshExpiresAt time.Time // zero: not known
	Scopes           []string  // granted access scopes, as the platform listed them
}

// Callback is what the platform confirms when a merchant has agreed to an installation.
type Callback struct {
	Shop  string // domain of the store
	Code  string // exchanged for a Grant, once
	State string // what Authorize was given
}

// Session is a user of a store who has an embedded page of the app open.
type Session struct {
	Shop      string // domain of the store
	User      string // the platform's id of the user
	Token     string // the session token itself, which can be exchanged for a Grant
	ExpiresAt time.Time
}

// Refused codes of a *Refusal of an Authorizer.
const (
	// CodeInvalidGrant says that the code, session token or refresh token is not, or is no
	// longer, accepted: another one is needed.
	CodeInvalidGrant = "INVALID_GRANT"
	// CodeInvalidClient says that the platform does not accept the app's client id and
	// secret: the settings are wrong, and the grant may be good.
	CodeInvalidClient = "INVALID_CLIENT"
)

// Authorizer gets an app into stores. What is checked without the platform and is not
// genuine is a fault of kind Unauthenticated. What the platform does not accept is a
// *Refusal; ErrUnknown says that the platform may have issued a grant that was lost.
type Authorizer interface {
	// ConsentURL returns the address in the platform's admin at which a merchant agrees to
	// the scopes. The platform then sends the browser to the redirect address.
	ConsentURL(shop string, scopes []string, redirect, state string) string
	// AppURL returns the address of the app in the store's admin.
	AppURL(shop string) string
	// OpenCallback checks the query with which the platform sends the browser back.
	OpenCallback(query url.Values, now time.Time) (Callback, error)
	// OpenSession checks a session token.
	OpenSession(token string, now time.Time) (Session, error)

	// ExchangeCode returns the grant of a callback's code.
	ExchangeCode(ctx context.Context, shop, code string) (Grant, error)
	// ExchangeSession returns a grant for a session token. It replaces earlier grants.
	ExchangeSession(ctx context.Context, s Session) (Grant, error)
	// Refresh returns the grant that follows one. The refresh token can be used again
	// until the one of the new grant has been used.
	Refresh(ctx context.Context, shop string, refresh Token) (Grant, error)
	// Migrate returns an expiring grant for an access token that never expires, which the
	// platform then accepts only here.
	Migrate(ctx context.Context, shop string, access Token) (Grant, error)
}

// Tokens knows the current access token of stores. The client asks it before each call.
type Tokens interface {
	// Token returns the access token with which a store is called now. A store that it
	// knows no grant of has the token that the caller gave.
	Token(ctx context.Context, of Shop) (Token, error)
	// Replace returns the access token to use after the platform did not accept one:
	// a newer one, or ErrDisconnected when there is none.
	Replace(ctx context.Context, of Shop, refused Token) (Token, error)
}
