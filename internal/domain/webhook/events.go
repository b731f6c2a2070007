package webhook

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limits of reading events.
const (
	DefaultEvents = 100 // in a page
	MaxEvents     = 250
	// eventsPerStep is how many events one page looks at to find those of the types asked for.
	eventsPerStep = 10_000
)

const (
	// unreadFor is for how long events are kept for a shop that does not read them.
	unreadFor = Retention
	// noteReads is how often it is noted that a shop reads its events.
	noteReads = 24 * time.Hour
	// openingRetry is when a reader may try again that must wait for transactions.
	openingRetry = time.Second
)

// EventQuery asks for events.
type EventQuery struct {
	After string // cursor; empty: from the first that is kept
	Types []Type // empty: all
	Limit int    // 1 to MaxEvents
}

// EventPage is a page of events. Next is the cursor to go on with; a page may be empty though More
// follow, when none of those that it looked at has a type that was asked for.
type EventPage struct {
	Events []Message
	Next   string
	More   bool
}

// Events returns the events of a shop after a cursor. The first call has them kept from then on,
// and returns none. They are no longer kept after 30 days without a call.
func (s *Service) Events(ctx context.Context, of shop.ID, q EventQuery) (EventPage, error) {
	now := s.Clock.Now()
	at, err := parseCursor(q.After)
	if err != nil {
		return EventPage{}, err
	}
	var p EventPage
	var f Feed
	err = s.Store.View(ctx, of, func(tx FeedReader) error {
		var err error
		if f, err = tx.Feed(ctx); err != nil {
			return err
		}
		if q.After != "" {
			if err := at.check(ctx, tx, f, now); err != nil {
				return err
			}
		}
		if !f.read(now) {
			return nil
		}
		if q.After == "" {
			at.position = f.Floor
		}
		p, err = readEvents(ctx, tx, f, at.position, q)
		return err
	})
	if err != nil {
		return EventPage{}, err
	}
	if !f.read(now) {
		return s.beginEvents(ctx, of)
	}
	if f.CloseAt.Sub(now) < unreadFor-noteReads {
		err = s.Store.Update(ctx, of, func(tx Tx) error {
			f, err := tx.LockFeed(ctx)
			if err != nil || f.ended(now) {
				return err
			}
			f.CloseAt = now.Add(unreadFor)
			return tx.PutFeed(ctx, f)
		})
	}
	return p, err
}

// readEvents reads a page of the events after a position.
func readEvents(ctx context.Context, tx FeedReader, f Feed, after int64, q EventQuery) (EventPage, error) {
	upTo := min(f.Position, after+eventsPerStep)
	list, err := tx.EventsAfter(ctx, after, upTo, q.Types, q.Limit+1)
	if err != nil {
		return EventPage{}, err
	}
	p := EventPage{Events: list, More: upTo < f.Position}
	next := cursor{f.Generation, upTo, ""}
	if len(list) > q.Limit {
		p.Events, p.More = list[:q.Limit], true
		next.position = list[q.Limit-1].Position
	}
	id, err := tx.EventAt(ctx, next.position)
	next.tag = tagOf(id)
	p.Next = next.String()
	return p, err
}

// beginEvents has the events of a shop kept from now on. It returns once every transaction that
// may not know of that has ended.
func (s *Service) beginEvents(ctx context.Context, of shop.ID) (EventPage, error) {
	var f Feed
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		var err error
		if f, err = tx.LockFeed(ctx); err != nil || f.read(now) {
			return err
		}
		if f.Generation == 0 || f.ended(now.Add(readMargin)) {
			f.Generation++
			f.Ready, f.Floor = false, f.Position
			if err := tx.ForgetUnplaced(ctx); err != nil {
				return err
			}
		}
		f.CloseAt = now.Add(unreadFor)
		return tx.PutFeed(ctx, f)
	})
	if err != nil {
		return EventPage{}, err
	}
	if ended, err := s.Store.AwaitWriters(ctx); err != nil {
		return EventPage{}, err
	} else if !ended {
		return EventPage{}, fault.New(fault.Unavailable, "events are kept once the changes that are being made have ended: try again").Entity(eventEntity).Code("eventsOpening").RetryAfter(openingRetry)
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		var err error
		if f, err = tx.LockFeed(ctx); err != nil || f.Ready {
			return err
		}
		f.Ready = true
		return tx.PutFeed(ctx, f)
	})
	return EventPage{Next: cursor{f.Generation, f.Floor, ""}.String()}, err
}

// Place makes events of the messages that committed, and removes events that are no longer kept.
// One node does it for a shop at a time.
func (s *Service) Place(ctx context.Context, of shop.ID) error {
	var f Feed
	err := s.Store.View(ctx, of, func(tx FeedReader) error {
		var err error
		f, err = tx.Feed(ctx)
		return err
	})
	for more := err == nil && f.Generation != 0; more && ctx.Err() == nil; {
		err = s.Store.Update(ctx, of, func(tx Tx) error {
			var err error
			if f, err = tx.LockFeed(ctx); err != nil {
				return err
			}
			was := f
			if more, err = place(ctx, tx, &f, s.Clock.Now()); err != nil || f == was {
				return err
			}
			return tx.PutFeed(ctx, f)
		})
		if err != nil {
			return fmt.Errorf("place events: %w", err)
		}
	}
	return err
}

// placedAtOnce is how many events one transaction numbers or removes.
const placedAtOnce = 2000

// place carries out a step of Place, and reports whether there may be another one.
func place(ctx context.Context, tx Tx, f *Feed, now time.Time) (more bool, err error) {
	ended := f.ended(now)
	if ended {
		if err := tx.ForgetUnplaced(ctx); err != nil {
			return false, err
		}
	} else {
		n, err := tx.PlaceMessages(ctx, f.Position, placedAtOnce)
		if err != nil {
			return false, err
		}
		f.Position += int64(n)
		if more = n == placedAtOnce; !more { // what is left waits for the body of one before it
			if err := tx.PostponePlacing(ctx, "", now.Add(renderRetry)); err != nil {
				return false, err
			}
		}
	}
	floor, err := tx.ForgetEvents(ctx, now, f.Floor, ended, placedAtOnce)
	if err != nil {
		return false, err
	}
	f.Floor = max(f.Floor, floor)
	if ended && f.Floor == f.Position {
		f.CloseAt = time.Time{}
		return false, nil
	}
	return more || ended, nil
}

const eventEntity = "event"

// cursor is a place among the events of a shop: after a position.
type cursor struct {
	generation int64
	position   int64
	tag        string // part of the id of the event there; empty: there was none
}

// tagOf returns the part of an event's id by which a cursor knows the event again, in whatever
// state the database was restored.
func tagOf(id MessageID) string {
	_, hash, _ := strings.Cut(string(id), "_")
	return hash[:min(len(hash), 8)]
}

// String returns the cursor as integrations have it.
func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d.%s", c.generation, c.position, c.tag))
}

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	var c cursor
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		head, tag, _ := strings.Cut(string(raw), ".")
		middle, rest, _ := strings.Cut(tag, ".")
		_, err = fmt.Sscanf(head+" "+middle, "%d %d", &c.generation, &c.position)
		c.tag = rest
	}
	if err != nil || c.String() != text || c.generation < 1 || c.position < 0 {
		return cursor{}, unknownCursor()
	}
	return c, nil
}

// check returns an error when the cursor does not name a place in the feed after which every
// event is kept.
func (c cursor) check(ctx context.Context, tx FeedReader, f Feed, now time.Time) error {
	switch {
	case c.generation > f.Generation || c.position > f.Position:
		return unknownCursor()
	case c.generation < f.Generation || f.ended(now.Add(readMargin)):
		return fault.New(fault.Gone, "no events were read for %d days, so that they were no longer kept: read the records that you need, and begin without 'after'", int(unreadFor.Hours()/24)).
			Entity(eventEntity).Code("eventsNotKept").Field("after")
	case c.position < f.Floor:
		return fault.New(fault.Gone, "events after 'after' are older than %d days and no longer kept: read the records that you need, and begin without 'after'", int(Retention.Hours()/24)).
			Entity(eventEntity).Code("eventsExpired").Field("after")
	}
	id, err := tx.EventAt(ctx, c.position)
	if err == nil && id != "" && c.tag != "" && tagOf(id) != c.tag {
		err = unknownCursor()
	}
	return err
}

func unknownCursor() error {
	return fault.New(fault.Invalid, "'after' is not a cursor of this store: send the 'next' of an answer, or nothing to begin with the oldest event").Entity(eventEntity).Code("eventCursor").Field("after")
}
