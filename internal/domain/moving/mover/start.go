package mover

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limits of the pace at which another service is called, in requests per second.
const (
	DefaultRate = 10
	maxRate     = 1000
)

// New is a move to be started.
type New struct {
	Direction moving.Direction
	Peer      moving.Peer
	Plans     map[int64]int64
	By        activity.Actor
}

func (n *New) check() error {
	bad := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity("move").Code("moveInvalid").Field(field)
	}
	if n.Direction != moving.In && n.Direction != moving.Out {
		return bad("direction", "direction is IN or OUT, not %q", n.Direction)
	}
	for _, a := range []struct {
		field   string
		address *string
		must    bool
	}{{"address", &n.Peer.Address, true}, {"memberships", &n.Peer.Memberships, false}, {"loyalty", &n.Peer.Loyalty, false}} {
		*a.address = strings.TrimRight(strings.TrimSpace(*a.address), "/")
		if *a.address == "" && !a.must {
			continue
		}
		u, err := url.Parse(*a.address)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return bad(a.field, "%s must be the base address of the other service, such as https://subscriptions.example.com, not %q", a.field, *a.address)
		}
	}
	if n.Peer.Key = strings.TrimSpace(n.Peer.Key); n.Peer.Key == "" {
		return bad("key", "the API key of the other service is missing")
	}
	if n.Peer.Rate == 0 {
		n.Peer.Rate = DefaultRate
	}
	if n.Peer.Rate < 0 || n.Peer.Rate > maxRate {
		return bad("rate", "the rate must be from 0.1 to %d requests per second", maxRate)
	}
	return nil
}

// Start starts a move: its contracts are listed and read, and nothing is changed anywhere. It is a
// Conflict while another move in the same direction is open.
func (s *Service) Start(ctx context.Context, of shop.ID, n New) (moving.Move, error) {
	if err := n.check(); err != nil {
		return moving.Move{}, err
	}
	m := moving.Move{Direction: n.Direction, Peer: n.Peer, Plans: n.Plans, Status: moving.Listing, Line: shop.Subscriptions, By: n.By}
	err := s.Store.Update(ctx, of, func(tx moving.Tx) error {
		m.DueAt = s.Clock.Now()
		if _, err := s.add(ctx, tx, of, &m); err != nil {
			return err
		}
		return tx.Enqueue(ctx, moving.Work{Shop: of})
	})
	return m, err
}

// add adds a move, and returns the earlier ones. It is a Conflict while one of these is open.
func (s *Service) add(ctx context.Context, tx moving.Tx, of shop.ID, m *moving.Move) ([]moving.Move, error) {
	earlier, err := tx.Moves(ctx)
	if err != nil {
		return nil, err
	}
	for _, other := range earlier {
		if other.Open() {
			return nil, fault.New(fault.Conflict, "move %d is open: end it first", other.ID).Entity("move").Code("moveOpen")
		}
	}
	m.CreatedAt = s.Clock.Now()
	return earlier, s.put(ctx, tx, of, m, "the move was started")
}

// put writes a move with an entry that says what happened to it. The file of a move that has ended,
// or whose contracts are being moved, is removed.
func (s *Service) put(ctx context.Context, tx moving.Tx, of shop.ID, m *moving.Move, what string) error {
	if m.File != nil && m.File.Parts > 0 && (!m.Open() || m.Wave > 0) {
		m.File.Parts = 0
		if err := tx.RemoveMoveFile(ctx, m.ID); err != nil {
			return err
		}
	}
	if err := tx.PutMove(ctx, m); err != nil {
		return err
	}
	return tx.Record(ctx, entry(of, *m, s.Clock.Now(), what))
}

// SetPaused pauses a move or lets it go on. Contracts that are between the services come to their
// end all the same: a contract that waits there is charged by neither.
func (s *Service) SetPaused(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, paused bool) (moving.Move, error) {
	what := "the move goes on"
	if paused {
		what = "the move was paused"
	}
	return s.change(ctx, of, id, by, what, func(_ moving.Tx, m *moving.Move) error {
		m.Paused = paused
		return nil
	})
}

// SetWave lets so many percent of the contracts that go be moved.
func (s *Service) SetWave(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, percent int) (moving.Move, error) {
	return s.change(ctx, of, id, by, fmt.Sprintf("%d percent of the contracts are moved", percent), func(tx moving.Tx, m *moving.Move) error {
		if err := partsFirst(ctx, tx, *m); err != nil {
			return err
		}
		return m.SetWave(percent)
	})
}

// ReadAgain lists and reads all contracts again that are not moved, and what the store has beside them.
func (s *Service) ReadAgain(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error) {
	return s.change(ctx, of, id, by, "all contracts are read again", func(_ moving.Tx, m *moving.Move) error {
		switch {
		case m.Status == moving.Mapping:
			return fault.New(fault.FailedPrecondition, "the columns of the file have no fields yet").Entity("move").Code("mappingMissing")
		case m.File != nil && m.File.Parts == 0:
			return fault.New(fault.FailedPrecondition, "the file was removed: end the move, then upload the file again").Entity("move").Code("moveFileRemoved")
		}
		m.ListAgain()
		m.Parts.ReadAgain()
		return nil
	})
}

// End ends a move: nothing is compared or moved any more. It is a FailedPrecondition while
// contracts are between the services.
func (s *Service) End(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error) {
	return s.change(ctx, of, id, by, "the move was ended", func(tx moving.Tx, m *moving.Move) error {
		counts, err := tx.MoveCounts(ctx, id)
		if err != nil {
			return err
		}
		for _, c := range counts {
			if c.Stage.UnderWay() {
				return fault.New(fault.FailedPrecondition, "%d contracts are %s, between the services: pause the move and wait until they have arrived", c.N, c.Stage).Entity("move").Code("moveUnderWay")
			}
		}
		m.Status, m.EndedAt = moving.Ended, s.Clock.Now()
		return nil
	})
}

// change changes a move and has workers go on with it.
func (s *Service) change(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, what string, fn func(tx moving.Tx, m *moving.Move) error) (moving.Move, error) {
	var m moving.Move
	err := s.Store.Update(ctx, of, func(tx moving.Tx) (err error) {
		if m, err = tx.Move(ctx, id); err != nil {
			return err
		}
		if !m.Open() {
			return fault.New(fault.FailedPrecondition, "move %d has ended", id).Entity("move").Code("moveEnded")
		}
		if err := fn(tx, &m); err != nil {
			return err
		}
		now := s.Clock.Now()
		m.By, m.DueAt = by, now
		if !m.Open() {
			m.DueAt = time.Time{}
		}
		if err := s.put(ctx, tx, of, &m, what); err != nil {
			return err
		}
		return tx.Enqueue(ctx, moving.Work{Shop: of})
	})
	return m, err
}

// note is the additional information of an entry about a move.
type note struct {
	Move      moving.ID        `json:"move"`
	Direction moving.Direction `json:"direction"`
	Peer      string           `json:"service,omitempty"`
	File      string           `json:"file,omitempty"`
	Reason    string           `json:"reason"`
}

// entry is an entry about a move.
func entry(of shop.ID, m moving.Move, now time.Time, what string) activity.Entry {
	n := note{Move: m.ID, Direction: m.Direction, Peer: m.Peer.Address, Reason: what}
	if m.File != nil {
		n.File = m.File.Name
	}
	return activity.Entry{
		EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Success, Actor: m.By, At: now,
		Info: activity.Details(n),
	}
}
