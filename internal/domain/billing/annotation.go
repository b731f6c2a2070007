package billing

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// AnnotationID is the service's number of an annotation, unique within a shop.
type AnnotationID int64

// Annotation is a tag or a note that an order or a customer does not have yet. Either Tags or
// Note is set. The tags of a customer are only named: whether they are added or removed is
// decided when the call is made. With neither, the lines of the attempt's order must be read.
type Annotation struct {
	ID       AnnotationID
	Target   string // graph id of an order or a customer
	Contract contract.ID
	Attempt  AttemptID // 0: not about an attempt's order
	Tags     []string
	Note     string
	DueAt    time.Time // when to call the platform
	Failures int
	Version  int64
}

// Subscribed is a selling plan of an ACTIVE contract of a customer.
type Subscribed struct {
	Customer int64
	Contract contract.ID
	Plan     int64
}
