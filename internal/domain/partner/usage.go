package partner

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Calls are what an application called in a shop on a day.
type Calls struct {
	App        access.AppID
	Connection ConnectionID // 0: with a merchant's key
	Day        time.Time    // midnight UTC
	Count      int
	Errors     int // answered with 400 or more
	LastAt     time.Time
}

// usage is what has been called and not yet written down.
type usage struct {
	mu      sync.Mutex
	pending map[useKey]Calls
	writing bool
	touched map[access.AppID]time.Time // when the use of an application was last written down
}

type useKey struct {
	shop       shop.ID
	app        access.AppID
	connection ConnectionID
	day        time.Time
}

// How often an application's use is noted with it, and how long writing down
// calls may take.
const (
	touchEvery = time.Minute
	countTime  = 5 * time.Second
)

// Used counts a call of an application. Counts are written down while requests
// go on, those that came meanwhile in one go; what a dying process has not
// written is lost, and nothing but a statistic with it.
func (s *Service) Used(ctx context.Context, of shop.ID, app access.AppID, connection ConnectionID, failed bool) {
	now := s.Clock.Now()
	key := useKey{of, app, connection, now.Truncate(24 * time.Hour)}
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	if s.usage.pending == nil {
		s.usage.pending, s.usage.touched = map[useKey]Calls{}, map[access.AppID]time.Time{}
	}
	c := s.usage.pending[key]
	c.App, c.Connection, c.Day, c.LastAt = app, connection, key.day, now
	c.Count++
	if failed {
		c.Errors++
	}
	s.usage.pending[key] = c
	if s.usage.writing {
		return
	}
	s.usage.writing = true
	s.flush.Go(func() { s.writeUsage(context.WithoutCancel(ctx)) })
}

// writeUsage writes down what has been called until nothing is left.
func (s *Service) writeUsage(ctx context.Context) {
	for {
		s.usage.mu.Lock()
		batch := s.usage.pending
		s.usage.pending = map[useKey]Calls{}
		s.usage.writing = len(batch) > 0
		s.usage.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		byShop := map[shop.ID][]Calls{}
		apps := map[access.AppID]time.Time{}
		for key, calls := range batch {
			byShop[key.shop] = append(byShop[key.shop], calls)
			apps[key.app] = calls.LastAt
		}
		for of, calls := range byShop {
			s.counted(ctx, of, calls)
		}
		for app, at := range apps {
			if at.Sub(s.usage.touched[app]) >= touchEvery { // read and written by this goroutine alone
				s.touched(ctx, app, at)
			}
		}
	}
}

func (s *Service) counted(ctx context.Context, of shop.ID, calls []Calls) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	if err := s.Store.CountCalls(ctx, of, calls); err != nil {
		s.Log.Warn("calls of applications could not be counted", "shop", of, "error", err)
	}
}

func (s *Service) touched(ctx context.Context, app access.AppID, at time.Time) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	if err := s.Store.TouchApp(ctx, app, at); err != nil {
		s.Log.Warn("the use of an application could not be noted", "app", app, "error", err)
		return
	}
	s.usage.touched[app] = at
}

// Wait returns when nothing is being written down any more. Nothing may be
// counted meanwhile.
func (s *Service) Wait() { s.flush.Wait() }
