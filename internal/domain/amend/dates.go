package amend

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// maxYearsAhead is how far ahead a date may be.
const maxYearsAhead = 5

// CheckTooFar refuses a date of a field that is further ahead than dates may be.
func CheckTooFar(t, now time.Time, field string) error {
	if t.After(now.AddDate(maxYearsAhead, 0, 0)) {
		return fault.New(fault.Invalid, "%s %s is more than %d years ahead", field, t.UTC().Format(time.RFC3339), maxYearsAhead).Entity(Entity).Code("dateTooFar").Field(field)
	}
	return nil
}
