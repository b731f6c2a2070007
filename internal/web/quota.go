package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// withRateHeaders sets the rate limit headers of every answer to a full bucket, until the
// caller is known.
func (g Gate) withRateHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Limits.Full().headers(w.Header())
		next.ServeHTTP(w, r)
	})
}

// limit lets only as many requests through as the caller's rate allows.
func (g Gate) limit(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	allowance, err := g.Limits.Take(r.Context(), g.bucket(ctx.Context()))
	if err != nil {
		WriteError(w, r, err)
		return
	}
	allowance.headers(w.Header())
	if !allowance.Granted {
		WriteError(w, r, fault.New(fault.RateLimited, "the rate limit is used up: wait %d s, and longer each time it happens again", seconds(allowance.RetryAfter)).Code("rateLimit"))
		return
	}
	next(ctx)
}

// bucket returns the bucket of a request's caller.
func (g Gate) bucket(ctx context.Context) access.Bucket {
	if g.Apps {
		return access.AppBucket(AppOf(ctx).ID)
	}
	caller := CallerOf(ctx)
	if g.Shoppers != nil {
		return access.ShopperBucket(caller.Shop, caller.Actor.Customer)
	}
	return access.Bucket{Shop: caller.Shop.ID, Key: caller.Key.ID, Rate: access.RateOf(caller.Shop.Settings)}
}
