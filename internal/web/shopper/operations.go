package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Path is what the paths of all operations begin with. The line's own name follows.
const Path = "/apps/"

// Docs is where the document and its page are, on the service's own domain.
const Docs = "/portal"

// Base returns the path under which a line's operations live.
func Base(l shop.Line) string { return Path + prefixes[l] + "/cp/api" }

// prefixes are the names of the lines at the stores' domains.
var prefixes = map[shop.Line]string{shop.Subscriptions: "subscriptions", shop.Memberships: "memberships"}

// operation describes an operation of the line.
func (o Options) operation(id, method, path, tag, summary, description string) web.Operation {
	op := web.Operation{ID: id, Method: method, Path: Base(o.Line) + path, Tag: tag, Summary: summary, Description: description}
	if method != http.MethodGet {
		op.Errors = []int{http.StatusNotFound, http.StatusConflict}
	}
	return op
}

// who returns the caller as the domain knows it.
func (o Options) who(ctx context.Context) portal.Caller {
	caller := web.CallerOf(ctx)
	return portal.Caller{Shop: caller.Shop, Line: o.Line, Actor: caller.Actor}
}
