package shopify

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/tracing"
)

// Call is a call that has ended: a document, with the requests that were made for it.
type Call struct {
	Document string
	Points   float64       // that the platform counted
	Took     time.Duration // with the time that it waited for the store's limit
	Result   Result
}

// Result is how a call has ended.
type Result string

// The results.
const (
	Answered     Result = "answered"
	Refused      Result = "refused"
	NotFound     Result = "not_found"
	Throttled    Result = "throttled"
	Disconnected Result = "disconnected"
	Unknown      Result = "unknown" // the answer was lost
	Failed       Result = "failed"
)

func resultOf(err error) Result {
	_, refused := errors.AsType[*platform.Refusal](err)
	switch {
	case err == nil:
		return Answered
	case refused:
		return Refused
	case errors.Is(err, platform.ErrNotFound):
		return NotFound
	case errors.Is(err, platform.ErrThrottled):
		return Throttled
	case errors.Is(err, platform.ErrDisconnected):
		return Disconnected
	case errors.Is(err, platform.ErrUnknown):
		return Unknown
	}
	return Failed
}

type pointsKey struct{}

// observe begins a call. What it returns ends it.
func (c *Client) observe(ctx context.Context, document string) (context.Context, func(error)) {
	ctx, span := tracing.Call(ctx, document)
	if c.report == nil && !span.Recording() {
		return ctx, func(error) {}
	}
	var points float64
	start := c.clock.Now()
	return context.WithValue(ctx, pointsKey{}, &points), func(err error) {
		span.Set(tracing.Points(points))
		span.End(err)
		if c.report != nil {
			c.report(Call{document, points, c.clock.Now().Sub(start), resultOf(err)})
		}
	}
}

// charged adds what an answer cost.
func charged(ctx context.Context, c cost) {
	if points, ok := ctx.Value(pointsKey{}).(*float64); ok && c.Actual != nil {
		*points += *c.Actual
	}
}
