package shopify

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/platform"
)

// errUnauthorized says that the answer was HTTP 401: nothing was done, because the access
// token was not accepted.
var errUnauthorized = errors.New("HTTP status 401")

// credential is the access token of one call.
type credential struct {
	tokens   platform.Tokens // nil: the caller's token is the only one
	shop     platform.Shop
	token    platform.Token
	replaced bool
}

// credential returns the token with which a store is called now.
func (c *Client) credential(ctx context.Context, shop platform.Shop) (credential, error) {
	k := credential{tokens: c.tokens, shop: shop, token: shop.Token}
	if k.tokens == nil {
		return k, nil
	}
	var err error
	if k.token, err = k.tokens.Token(ctx, shop); err != nil {
		return k, fmt.Errorf("find the access token of %s: %w", shop.Domain, err)
	}
	return k, nil
}

// replace gets another token after one was not accepted, once: a token may have been
// refreshed by another node since it was read.
func (k *credential) replace(ctx context.Context) (replaced bool, err error) {
	if k.tokens == nil || k.replaced {
		return false, nil
	}
	next, err := k.tokens.Replace(ctx, k.shop, k.token)
	if err != nil {
		return false, fmt.Errorf("replace the access token of %s: %w", k.shop.Domain, err)
	}
	k.token, k.replaced = next, true
	return true, nil
}
