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
