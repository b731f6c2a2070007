package accounts

import (
	"context"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/perennialhq/perennial/internal/platform"
)

// maxToken is the longest ID token that is read, in bytes.
const maxToken = 16 << 10

// leeway is how far the platform's clock may be from ours.
const leeway = time.Minute

// check refuses an ID token that is not the platform's, of this store, for this client, for this very
// sign-in and for the access token that came with it.
func (c *Client) check(ctx context.Context, e endpoints, of platform.AccountClient, r platform.AccountRequest, idToken, access string) error {
	if idToken == "" || len(idToken) > maxToken {
		return notGenuine("the ID token is missing or too long")
	}
	keys := &watchedKeys{keys: e.keys}
	verifier := oidc.NewVerifier(e.Issuer, keys, &oidc.Config{ClientID: of.ID, SupportedSigningAlgs: e.algorithms, Now: c.clock.Now})
	token, err := verifier.Verify(ctx, idToken)
	switch {
	case err != nil && keys.unread:
		return fmt.Errorf("%w: read the keys of customer accounts", platform.ErrUnknown)
	case err != nil:
		return notGenuine("the ID token is not accepted: %s", strings.ReplaceAll(err.Error(), idToken, "…")) // a log may keep it
	case len(token.Audience) != 1:
		return notGenuine("the ID token is for %d clients", len(token.Audience))
	case r.Nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(r.Nonce)) != 1:
		return notGenuine("the ID token is of another sign-in: its nonce differs")
	case token.IssuedAt.After(c.clock.Now().Add(leeway)):
		return notGenuine("the ID token was issued in the future")
	case token.AccessTokenHash != "" && token.VerifyAccessToken(access) != nil:
		return notGenuine("the ID token belongs to another access token")
	}
	return nil
}

// watchedKeys tells a signature that is wrong from keys that could not be read. The library says which
// in the text of its error only.
type watchedKeys struct {
	keys   oidc.KeySet
	unread bool
}

// VerifySignature returns the content of a token that one of the keys has signed.
func (k *watchedKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	content, err := k.keys.VerifySignature(ctx, token)
	k.unread = err != nil && strings.HasPrefix(err.Error(), "fetching keys")
	return content, err
}
