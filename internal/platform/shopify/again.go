package shopify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// pauses returns about how long to wait before each repetition of what may be
// repeated. A person is spared an error that would be gone in a moment. Whatever
// runs in the background is tried again by its caller, with more patience than
// is right here, and in an order that a pause in between would upset.
func pauses(ctx context.Context) []time.Duration {
	if platform.IsInteractive(ctx) {
		return []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond}
	}
	return nil
}

// again does what does no harm when it is done twice, until it is answered or
// the waits are used up or the context ends. It returns the last error, and whether an answer
// was lost before that. What took all the time of a request is repeated once, and
// not after another failure: no caller waits longer than that.
func (s session) again(ctx context.Context, waits []time.Duration, do func() error) (lost bool, err error) {
	err = do()
	for i, about := range waits {
		if !passing(err) || ctx.Err() != nil || i > 0 && errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if s.client.wait(ctx, about/2, about+about/2) != nil {
			break
		}
		lost, err = true, do()
	}
	return lost, err
}

// passing reports whether err may be gone the next time.
func passing(err error) bool {
	if _, ok := errors.AsType[lasting](err); ok {
		return false
	}
	return errors.Is(err, platform.ErrUnknown)
}

// lasting is an error that the same request would meet again.
type lasting struct{ error }

func (l lasting) Unwrap() error { return l.error }

// unsettled returns what the error of a change means when an earlier answer to
// the same change was lost: only a refusal tells that nothing was done.
func unsettled(err error) error {
	if _, refused := errors.AsType[*platform.Refusal](err); refused || err == nil || errors.Is(err, platform.ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w: an earlier answer was lost: %w", platform.ErrUnknown, err)
}
