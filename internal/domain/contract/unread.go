package contract

import "time"

// Unread is a contract that cannot be read: it breaks a rule of this service, or the
// platform refuses to return all of it.
type Unread struct {
	ID     ID
	Reason string
	Since  time.Time // first failure
	SeenAt time.Time // last failure
}
