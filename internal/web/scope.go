package web

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// require lets only keys through that carry every scope that an operation needs
// on this host.
func (g Gate) require(op Operation) func(huma.Context, func(huma.Context)) {
	needed := access.Required(op.Scope, g.Line, op.Method != http.MethodGet)
	return func(ctx huma.Context, next func(huma.Context)) {
		if !g.keyed() {
			next(ctx)
			return
		}
		key := CallerOf(ctx.Context()).Key
		var missing []string
		for _, scope := range needed {
			if !key.Allows(scope) {
				missing = append(missing, string(scope))
			}
		}
		if len(missing) == 0 {
			next(ctx)
			return
		}
		r, w := humago.Unwrap(ctx)
		list := strings.Join(missing, " ")
		p := problemOf(r, fault.New(fault.Forbidden, "the API key lacks the scope %s", strings.Join(missing, " and ")).Code("insufficientScope").Field(list))
		for _, scope := range needed {
			p.Required = append(p.Required, string(scope))
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+list+`"`)
		writeProblem(w, p)
	}
}

// extensions names the scope that an operation asks of a key.
func (g Gate) extensions(scope access.Scope) map[string]any {
	if !g.keyed() {
		return nil
	}
	return map[string]any{"x-scope": scope}
}
