package webhook

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ToEvents is the recipient that stands for the events of a shop, which integrations read with a
// cursor. It wants every type.
const ToEvents EndpointID = 0

// readMargin is how much earlier a reader finds that events are no longer kept than the
// transactions that would keep them.
const readMargin = time.Hour

// Feed is how far the events of a shop are numbered. A message becomes an event when it has
// committed and has its body: it gets the position after the last one. So a reader who has read up
// to a position never misses what commits later.
type Feed struct {
	Generation int64     // how often the shop began to read; 0: never
	Ready      bool      // what began before the shop did has ended: no event is missing
	Position   int64     // of the last event; 0: there was none
	Floor      int64     // events up to this position are no longer kept
	CloseAt    time.Time // when it ends unless it is read; zero: it has ended
}

// ended reports whether events are no longer kept.
func (f Feed) ended(now time.Time) bool { return !now.Before(f.CloseAt) }

// read reports whether the feed can be read and kept.
func (f Feed) read(now time.Time) bool { return f.Ready && !f.ended(now.Add(readMargin)) }

// FeedReader reads the events of a shop.
type FeedReader interface {
	// Feed returns the feed; the zero one when the shop never read events.
	Feed(ctx context.Context) (Feed, error)
	// EventsAfter returns at most limit events after a position and up to another one, of the
	// types, or of all when there are none, in the order of their positions.
	EventsAfter(ctx context.Context, after, upTo int64, types []Type, limit int) ([]Message, error)
	// EventAt returns the id of the event at a position; empty when it is not kept.
	EventAt(ctx context.Context, position int64) (MessageID, error)
}

// FeedTx numbers the events of a shop.
type FeedTx interface {
	// LockFeed returns the feed under its lock: one transaction at a time numbers events.
	LockFeed(ctx context.Context) (Feed, error)
	// PutFeed inserts or replaces the feed.
	PutFeed(ctx context.Context, f Feed) error
	// PlaceMessages gives at most limit messages that committed and have a body the positions after
	// one: those about one contract or customer in the order of their sequence, and others in
	// that in which their transactions began. Only a message whose body could not be rendered at
	// once comes later. It returns how many it gave one.
	PlaceMessages(ctx context.Context, after int64, limit int) (int, error)
	// PlaceWithoutBody lets a message become an event without a body, if it is to become one.
	PlaceWithoutBody(ctx context.Context, id MessageID) error
	// PostponePlacing lets a message wait until an instant, if it is to become an event; without
	// an id all of them.
	PostponePlacing(ctx context.Context, id MessageID, until time.Time) error
	// ForgetEvents removes at most limit events from the first on that expired or are not after
	// floor, or, with all, any. It returns the position of the last one, floor if there was none.
	// Messages that were also sent to endpoints stay as long as those.
	ForgetEvents(ctx context.Context, now time.Time, floor int64, all bool, limit int) (int64, error)
	// ForgetUnplaced lets no message that waits become an event.
	ForgetUnplaced(ctx context.Context) error
}

// FeedStore reads events outside of transactions that write.
type FeedStore interface {
	View(ctx context.Context, of shop.ID, fn func(FeedReader) error) error
	// AwaitWriters waits for a moment for all transactions that run now to end, and reports
	// whether they did.
	AwaitWriters(ctx context.Context) (bool, error)
}

// ResendTx restarts deliveries in order.
type ResendTx interface {
	// CountDeliveries returns how many deliveries to an endpoint have an event from one instant
	// to another one.
	CountDeliveries(ctx context.Context, to EndpointID, since, until time.Time) (int, error)
	// RestartDeliveries makes at most limit deliveries to an endpoint due with all their tries,
	// except those that are being sent, and returns what is left.
	RestartDeliveries(ctx context.Context, to EndpointID, r Resend, now time.Time, limit int) (Resend, error)
}
