package amend

import (
	"errors"

	"github.com/perennialhq/perennial/internal/platform"
)

// refusedWith reports whether the platform refused with a code.
func refusedWith(err error, code string) bool {
	refused, ok := errors.AsType[*platform.Refusal](err)
	return ok && refused.Code == code
}

// unanswered turns what the platform answered instead of what was asked of it
// into the failure that the caller reads.
func unanswered(err error) error { return platform.Explain(err, entity, "subscription contract") }
