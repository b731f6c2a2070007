package requestlog

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How entries are written.
const (
	mostPending = 10_000                 // entries that wait; more are dropped
	gather      = 500 * time.Millisecond // how long the first one waits for others
	writeTime   = 5 * time.Second
	perWrite    = 500  // entries in one statement
	perClean    = 1000 // entries that one transaction deletes
)

// Service writes requests down in batches, beside the requests.
type Service struct {
	Store Store
	Clock clock.Clock
	Log   *slog.Logger
	// Dropped is given how many requests were left out. nil: it is not counted.
	Dropped func(n int)

	mutex   sync.Mutex
	pending map[shop.ID][]Entry
	count   int // entries in pending
	running bool
	next    uint32
	closing chan struct{} // closed: what waits is written at once
	writes  sync.WaitGroup
}

// Add notes a request. It never blocks: when too many wait to be written, the request is left
// out and counted.
func (s *Service) Add(of shop.ID, e Entry) {
	e = e.trimmed()
	e.At = s.Clock.Now()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.count >= mostPending {
		s.drop(1)
		return
	}
	if s.pending == nil {
		s.pending, s.closing, s.next = map[shop.ID][]Entry{}, make(chan struct{}), rand.Uint32() //nolint:gosec // tells nodes apart
	}
	s.next++
	e.ID = numbered(e.At, s.next)
	s.pending[of] = append(s.pending[of], e)
	s.count++
	if s.running {
		return
	}
	s.running = true
	s.writes.Go(s.write)
}

// numberBits is how many bits of an id tell apart what was answered in one millisecond.
const numberBits = 20

// numbered returns an id that grows with time.
func numbered(at time.Time, n uint32) int64 {
	return at.UnixMilli()<<numberBits | int64(n&(1<<numberBits-1))
}

// drop counts what is left out.
func (s *Service) drop(n int) {
	if s.Dropped != nil {
		s.Dropped(n)
	}
}

// write writes what waits until nothing does.
func (s *Service) write() {
	wait := time.NewTimer(gather)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
			wait.Reset(gather)
		case <-s.closing:
		}
		s.mutex.Lock()
		batch := s.pending
		s.pending, s.count = map[shop.ID][]Entry{}, 0
		s.running = len(batch) > 0
		s.mutex.Unlock()
		if len(batch) == 0 {
			return
		}
		for of, list := range batch {
			for len(list) > 0 {
				n := min(len(list), perWrite)
				s.put(of, list[:n])
				list = list[n:]
			}
		}
	}
}

func (s *Service) put(of shop.ID, list []Entry) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	if err := s.Store.AddRequests(ctx, of, list); err != nil {
		s.Log.Warn("requests could not be written to the API log", "shop", of, "requests", len(list), "error", err)
		s.drop(len(list))
	}
}

// Wait writes what waits and returns when nothing does. No request may be noted afterwards.
func (s *Service) Wait() {
	s.mutex.Lock()
	if s.closing != nil {
		select {
		case <-s.closing:
		default:
			close(s.closing)
		}
	}
	s.mutex.Unlock()
	s.writes.Wait()
}

// List returns at most limit requests of a shop, newest first, after a cursor.
func (s *Service) List(ctx context.Context, of shop.ID, f Filter, after page.Cursor, limit int) ([]Entry, error) {
	return s.Store.Requests(ctx, of, f, s.Clock.Now().Add(-Retention), after, limit)
}

// Refused counts the requests of a shop that were refused.
func (s *Service) Refused(ctx context.Context, of shop.ID) (Refused, error) {
	return s.Store.Refused(ctx, of, s.Clock.Now().Add(-Retention))
}

// Clean deletes the requests of a shop that have expired.
func (s *Service) Clean(ctx context.Context, of shop.ID) error {
	now := s.Clock.Now()
	for {
		n, err := s.Store.ForgetRequests(ctx, of, now, perClean)
		if err != nil || n < perClean {
			return err
		}
	}
}
