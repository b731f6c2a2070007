package store

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
)

// blockSize is how many numbers a process takes from the database at once. What
// it does not use by its end is lost, of 2^53.
const blockSize = 1000

// lowWater is how many numbers should be at hand when a transaction begins.
const lowWater = blockSize / 2

// ids hands out numbers of rows. It is filled between transactions and never
// inside one: on SQLite there is no second connection to write with.
type ids struct {
	reserve func(ctx context.Context, n int) (first int64, err error)

	mu        sync.Mutex
	next, end int64 // numbers at hand are next ≤ n < end

	filling sync.Mutex
}

// shortOfIDs says that a transaction needs more numbers than are at hand.
type shortOfIDs struct{ wanted int }

func (e *shortOfIDs) Error() string {
	return fmt.Sprintf("%d numbers are wanted and not at hand", e.wanted)
}

// take returns the first of n numbers in a row.
func (s *ids) take(n int) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end-s.next < int64(n) {
		return 0, &shortOfIDs{n}
	}
	first := s.next
	s.next += int64(n)
	return first, nil
}

func (s *ids) left() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end - s.next
}

// topUp makes sure that an ordinary transaction will not run short.
func (s *ids) topUp(ctx context.Context) error {
	if s.left() >= lowWater {
		return nil
	}
	return s.fill(ctx, lowWater)
}

// fill makes sure that at least n numbers are at hand.
func (s *ids) fill(ctx context.Context, n int) error {
	s.filling.Lock()
	defer s.filling.Unlock()
	if s.left() >= int64(n) {
		return nil
	}
	size := max(n, blockSize)
	first, err := s.reserve(ctx, size)
	if err != nil {
		return fmt.Errorf("reserve %d numbers: %w", size, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == first { // no other node took a block: the two are contiguous
		s.end += int64(size)
	} else {
		s.next, s.end = first, first+int64(size)
	}
	return nil
}

// reserve takes a block of numbers in a transaction of its own. Whenever the
// numbers have doubled, so have the tables, and the database is asked to analyze them:
// until then it plans as for empty ones. In the first two blocks there is too little to
// analyze.
func (db *DB) reserve(ctx context.Context, n int) (int64, error) {
	first, err := db.takeBlock(ctx, n)
	if err == nil && first >= 2*blockSize && bits.Len64(uint64(first)) != bits.Len64(uint64(first)+uint64(n)) {
		_ = db.engine.analyze(ctx) // for speed only; the database does it automatically later
	}
	return first, err
}

func (db *DB) takeBlock(ctx context.Context, n int) (int64, error) {
	var first int64
	for run := 1; ; run++ {
		again, err := db.once(ctx, scope{}, true, func(tx *Tx) error {
			var err error
			first, err = tx.block(ctx, "row", n)
			return err
		})
		if err == nil || !again || run == maxRuns {
			return first, err
		}
		pause(ctx, run)
	}
}

// block takes n numbers of a kind.
func (tx *Tx) block(ctx context.Context, name string, n int) (int64, error) {
	var next int64
	if err := tx.q.NewRaw("UPDATE id_blocks SET next = next + ? WHERE name = ? RETURNING next", n, name).Scan(ctx, &next); err != nil {
		return 0, fmt.Errorf("take %d numbers: %w", n, err)
	}
	return next - int64(n), nil
}

// drop forgets the numbers at hand.
func (s *ids) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.end = 0, 0
}
