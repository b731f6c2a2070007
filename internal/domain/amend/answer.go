package amend

import (
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// refusedWith reports whether the platform refused with a code.
func refusedWith(err error, code string) bool {
	refused, ok := errors.AsType[*platform.Refusal](err)
	return ok && refused.Code == code
}

// unanswered turns what the platform answered instead of what was asked of it
// into the failure that the caller reads.
func unanswered(err error) error {
	if refused, ok := errors.AsType[*platform.Refusal](err); ok {
		message := refused.Message
		if message == "" {
			message = refused.Code
		}
		return fault.Because(fault.Refused, err, "the platform refuses the change: %s", message).On(entity).Keyed("platformRefused").At(refused.Field)
	}
	switch {
	case errors.Is(err, platform.ErrNotFound):
		return fault.Because(fault.NotFound, err, "the platform does not know the subscription contract any more").On(entity).Keyed("contractNotFound")
	case errors.Is(err, platform.ErrDisconnected):
		return fault.Because(fault.Refused, err, "the store's connection to the platform is gone").On(entity).Keyed("connectionGone")
	case errors.Is(err, platform.ErrThrottled):
		return fault.Because(fault.Unavailable, err, "the platform is busy: nothing was changed, try again in a moment").On(entity).Keyed("platformThrottled")
	}
	return fault.Because(fault.Unavailable, err, "the platform does not answer: try again in a moment").On(entity).Keyed("platformUnavailable")
}
