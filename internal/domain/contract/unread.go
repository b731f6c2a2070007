package contract

import "time"

// Unread is a contract of the platform's that cannot be taken over: something of it
// is not what a contract may be here, or the platform refuses to tell all of it.
type Unread struct {
	ID     ID
	Reason string
	Since  time.Time // when that was seen first
	SeenAt time.Time // and last
}
