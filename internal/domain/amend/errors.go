package amend

import (
	"errors"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// ChangedMeanwhile returns the Conflict of a change that was based on an older revision.
func ChangedMeanwhile() error {
	return fault.New(fault.Conflict, "The subscription contract has changed").Entity(Entity).Code("changedMeanwhile")
}

// RefusedWith reports whether the platform refused with a code.
func RefusedWith(err error, code string) bool {
	refused, ok := errors.AsType[*platform.Refusal](err)
	return ok && refused.Code == code
}

// PlatformError converts an error of the platform to the error that the caller gets. A
// pickup location that the store does not have is NotFound.
func PlatformError(err error) error {
	explained := platform.Explain(err, Entity, "subscription contract")
	refused, definite := errors.AsType[*platform.Refusal](err)
	if !definite {
		return explained
	}
	at := refused.Field[strings.LastIndexByte(refused.Field, '.')+1:]
	switch at {
	case "locationId":
		return fault.Because(fault.NotFound, err, "the platform refuses the change: %s", refused.Message).Entity("location").Code("locationNotFound").Field(at)
	case "redeemCode":
		at = "discountCode"
	}
	if f, ok := errors.AsType[*fault.Error](explained); ok && f.Param != "" {
		f.Param = at
	}
	return explained
}

// Permanent reports whether trying again would fail in the same way.
func Permanent(err error) bool {
	return fault.Is(err, fault.FailedPrecondition) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid)
}

// Failure is the details of an entry about a failure.
type Failure struct {
	Reason string `json:"reason"`
}
