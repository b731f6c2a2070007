package intake

import (
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// AuthoredChange is a change of a contract of which we know who made it, because we
// carried it to the platform.
type AuthoredChange struct {
	Entries      []activity.Entry         // in place of those that a reading owes
	Update       func(*contract.Contract) // what the change alters of what only we keep; may be nil
	StatusChange *contract.Move           // the change of status that was made; nil: none
}
