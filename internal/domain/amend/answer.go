package amend

import (
	"errors"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// refusedWith reports whether the platform refused with a code.
func refusedWith(err error, code string) bool {
	refused, ok := errors.AsType[*platform.Refusal](err)
	return ok && refused.Code == code
}

// unanswered turns what the platform answered instead of what was asked of it
// into the failure that the caller reads. A place to pick up at that the store does
// not have is NotFound.
func unanswered(err error) error {
	if refused, definite := errors.AsType[*platform.Refusal](err); definite && strings.HasSuffix(refused.Field, ".locationId") {
		return fault.Because(fault.NotFound, err, "the platform refuses the change: %s", refused.Message).On("location").Keyed("locationNotFound").At("locationId")
	}
	return platform.Explain(err, entity, "subscription contract")
}
