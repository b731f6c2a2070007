package intake

import (
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// AuthoredChange is a change of a contract with a known author, because this service
// sent it to the platform.
type AuthoredChange struct {
	Entries      []activity.Entry         // instead of those that a reading records
	Update       func(*contract.Contract) // changes fields that only Perennial stores; may be nil
	StatusChange *contract.Move           // the status change that was made; nil: none
}
