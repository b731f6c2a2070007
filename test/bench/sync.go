package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/test/process"
)

// syncLook is how often the heap of a first sync is measured.
const syncLook = 2 * time.Second

// firstSync connects a store that has many contracts and measures how much of its point
// budget is used until all are read, and the heap at a fifth of the way and at the end.
func firstSync(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.syncOn(ctx, kind, s.syncs); err != nil {
			return fmt.Errorf("%d contracts on %s: %w", s.syncs, kind, err)
		}
	}
	return nil
}

func (s settings) syncOn(ctx context.Context, kind string, n int) (err error) {
	db, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer db.drop()
	there, err := startPlatform(ctx, stockOptions{Shops: 1, Contracts: n, Due: clock.System{}.Now().AddDate(0, 0, 14), Maximum: 20 * s.syncRestore, Restore: s.syncRestore})
	if err != nil {
		return err
	}
	defer there.end()
	address, err := process.FreeAddress(ctx)
	if err != nil {
		return err
	}
	a, err := app.New(ctx, app.Options{Settings: s.serverSettings(db, there, address), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer a.Close()
	if err := there.limit(ctx); err != nil {
		return err
	}
	begun, err := there.purse(ctx)
	if err != nil {
		return err
	}
	known, err := a.Intake.Register(ctx, wire.Shop{Domain: shopDomain(0), Token: wire.Token(shopToken(0))}, 9, 0, shop.Settings{})
	if err != nil {
		return err
	}
	var early uint64 // bytes of the heap at a fifth of the way
	reading, done := context.WithCancel(ctx)
	defer done()
	g, reading := errgroup.WithContext(reading)
	g.Go(func() error {
		ticks := time.NewTicker(syncLook)
		defer ticks.Stop()
		for {
			select {
			case <-reading.Done():
				return nil
			case <-ticks.C:
			}
			y, _, err := a.Intake.Progress(context.WithoutCancel(reading), known.ID)
			if err != nil {
				return err
			}
			if y.Total > 0 && y.Done >= y.Total/5 {
				early = heap()
				return nil
			}
		}
	})
	err = a.Intake.Reconcile(ctx, known.ID)
	done()
	if failed := g.Wait(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	late := heap()
	ended, err := there.purse(ctx)
	if err != nil {
		return err
	}
	y, _, err := a.Intake.Progress(ctx, known.ID)
	if err != nil {
		return err
	}
	if y.FinishedAt.IsZero() || y.Done != n {
		return fmt.Errorf("%d of %d contracts were read: %s", y.Done, n, y.Failure)
	}
	window := ended.At.Sub(begun.At)
	spent, had := ended.Spent-begun.Spent, begun.Level+window.Seconds()*s.syncRestore
	s.print("sync db=%s n=%d restore_per_second=%.0f seconds=%.1f per_second=%.0f points=%.0f points_each=%.2f used=%.3f goal=0.950 heap_early_mb=%.1f heap_end_mb=%.1f",
		kind, n, s.syncRestore, window.Seconds(), float64(n)/window.Seconds(), spent, spent/float64(n), spent/had, float64(early)/(1<<20), float64(late)/(1<<20))
	return nil
}

// heap returns the bytes of the heap that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
