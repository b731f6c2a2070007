package platform

import (
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Explain turns what the platform answered instead of what was asked of it into
// the failure that the caller reads: entity is what the request was about, in the
// interface's words, and thing the same in people's.
func Explain(err error, entity, thing string) error {
	kind, key, words := fault.Unavailable, "platformUnavailable", "the platform does not answer: try again in a moment"
	refused, definite := errors.AsType[*Refusal](err)
	switch {
	case definite && refused.Code == CodeCharging:
		return fault.Because(fault.Conflict, err, "Another billing operation is already in progress").Entity(entity).Code("billingInProgress")
	case definite:
		message := refused.Message
		if message == "" {
			message = refused.Code
		}
		return fault.Because(fault.FailedPrecondition, err, "the platform refuses the change: %s", message).Entity(entity).Code("platformRefused").Field(refused.Field)
	case errors.Is(err, ErrUnknown):
		key, words = fault.InDoubt, "the platform does not say whether it was done: look before you try again"
	case errors.Is(err, ErrNotFound):
		return fault.Because(fault.NotFound, err, "the platform does not know the %s any more", thing).Entity(entity).Code("notAtPlatform")
	case errors.Is(err, ErrDisconnected):
		kind, key, words = fault.FailedPrecondition, "connectionGone", "the store's connection to the platform is gone"
	case errors.Is(err, ErrThrottled):
		key, words = "platformThrottled", "the platform is busy: nothing was changed, try again in a moment"
	}
	return fault.Because(kind, err, "%s", words).Entity(entity).Code(key)
}
