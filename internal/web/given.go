package web

import (
	"net/url"

	"github.com/danielgtaylor/huma/v2"
)

// Given tells a parameter that is empty from one that is absent, where the two
// mean different things. Embed it in the operation's input.
type Given struct {
	query url.Values
}

// Resolve keeps the query.
func (g *Given) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	g.query = u.Query()
	return nil
}

// Has reports whether the query names the parameter, with a value or without.
func (g *Given) Has(param string) bool { return g.query.Has(param) }

// RepeatKey is the request's Idempotency-Key, for an operation that cannot leave
// it to the kept answers alone because what it does must never be done twice.
// Embed it in the operation's input.
type RepeatKey struct {
	key string
}

// Resolve keeps the key.
func (k *RepeatKey) Resolve(ctx huma.Context) []error {
	k.key = ctx.Header(repeatHeader)
	return nil
}

// Key returns the key, empty when none was sent.
func (k *RepeatKey) Key() string { return k.key }
