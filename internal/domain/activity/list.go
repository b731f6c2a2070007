package activity

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Largest pages of the trail.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// Fields of an entry by which the trail can be filtered and sorted, in our
// spelling.
const (
	FieldID         = "id"
	FieldEntityID   = "entityId"
	FieldEntityType = "entityType"
	FieldSource     = "eventSource"
	FieldEvent      = "eventType"
	FieldStatus     = "status"
	FieldAt         = "createAt"
	FieldInfo       = "additionalInfo"
	FieldBy         = "activityBy"
	FieldClientIP   = "clientIp"
)

// Recorder writes entries in a transaction.
type Recorder interface {
	Record(ctx context.Context, entries ...Entry) error
}

// Trail reads entries.
type Trail interface {
	// Entries returns the page of a shop's entries that meet every criterion,
	// newest first unless the page says otherwise, and how many there are.
	Entries(ctx context.Context, of shop.ID, where []page.Criterion, p page.Request) ([]Entry, int, error)
}

// LineTrail reads the entries that concern one line.
type LineTrail interface {
	// EntriesOf is Entries without those about what belongs to the other line.
	EntriesOf(ctx context.Context, of shop.ID, line shop.Line, where []page.Criterion, p page.Request) ([]Entry, int, error)
}

// Older reads entries from the newest to the oldest, in steps whose work is bounded.
type Older interface {
	// OlderEntries looks at a bounded number of a shop's entries after a cursor and returns at
	// most limit of them that meet every criterion, newest first. Next is where to go on; it is
	// zero when nothing is left to look at.
	OlderEntries(ctx context.Context, of shop.ID, where []page.Criterion, after page.Cursor, limit int) (list []Entry, next page.Cursor, err error)
}
