// Package mover carries out moves: it reads contracts, compares what each service charges, and hands
// the contracts over one by one.
package mover

import (
	"context"
	"log/slog"
	"sync"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/parts"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Origin is the service that contracts leave.
type Origin interface {
	// List returns a page of the contracts, by their numbers.
	List(ctx context.Context, of shop.Shop, q moving.Query) (moving.Page, error)
	// Contract returns a contract as it is now, or NotFound.
	Contract(ctx context.Context, of shop.Shop, line shop.Line, id int64) (moving.Contract, error)
	// Stop has no order of a contract charged any more. Repeating it changes nothing.
	Stop(ctx context.Context, of shop.Shop, line shop.Line, id int64) error
	// Resume takes Stop back: the next order of a contract that ran is charged on a date, or as
	// soon as possible when that is past.
	Resume(ctx context.Context, of shop.Shop, c moving.Contract) error
	// Cancel ends a contract for good. Repeating it changes nothing.
	Cancel(ctx context.Context, of shop.Shop, line shop.Line, id int64) error
}

// Target is the service that contracts come to.
type Target interface {
	// Create creates a contract that is charged once it is opened, and returns its number. Under
	// the same key it is the same contract, wherever the first call was interrupted.
	Create(ctx context.Context, of shop.Shop, c moving.Contract, key string) (int64, error)
	// Contract returns a contract as it is now, or NotFound.
	Contract(ctx context.Context, of shop.Shop, line shop.Line, id int64) (moving.Contract, error)
	// Adjust makes orders to come what they were at the other service. Repeating it changes nothing.
	Adjust(ctx context.Context, of shop.Shop, line shop.Line, id int64, edits []moving.Edit) error
	// Open has a contract charged from its next date on, at once when that is past. Repeating it
	// changes nothing.
	Open(ctx context.Context, of shop.Shop, c moving.Contract, id int64) error
	// Discard cancels what was created of a contract under a key, also what is still created of it: id is 0 when
	// no answer said which contract that is. Repeating it changes nothing.
	Discard(ctx context.Context, of shop.Shop, c moving.Contract, id int64, key string) error
}

// End is a service that contracts leave or come to.
type End interface {
	Origin
	Target
}

// Platform knows what the store has.
type Platform interface {
	Variants(ctx context.Context, at platform.Shop, ids []int64) ([]platform.Variant, error)
	platform.Finder
}

// Service starts and works moves.
type Service struct {
	Store    moving.Store
	Platform Platform
	Imports  moving.Imports
	Here     func(m moving.Move) End // this service
	Peer     func(p moving.Peer) End // another one
	Parts    *parts.Service          // what moves beside contracts
	Known    func(plan int64) bool   // reports whether a selling plan is one of ours; nil: none is
	Clock    clock.Clock
	Log      *slog.Logger
	Parallel int // contracts that are worked on at once; 0: one

	mu    sync.Mutex
	known map[moving.ID]*known
}

// ends returns the services of a move. A file is left as it is: from is nil.
func (s *Service) ends(m moving.Move) (from, to End) {
	switch {
	case m.Direction == moving.Out:
		return s.Here(m), s.Peer(m.Peer)
	case m.File != nil:
		return nil, s.Here(m)
	}
	return s.Peer(m.Peer), s.Here(m)
}
