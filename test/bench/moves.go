package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
)

// moveRate is how many requests a second the service that contracts leave allows. A real one allows
// fewer: the ratio says how much of what is allowed is used.
const moveRate = 50

// moves measures how much of the rate of another service is used until its contracts are read, with the
// heap at a fifth of the way and at the end, and how much of the platform's budget while they are moved.
// Both services share one budget here, because both are the same app of the platform.
func moves(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.movesOn(ctx, kind, s.moves); err != nil {
			return fmt.Errorf("%d contracts on %s: %w", s.moves, kind, err)
		}
	}
	return nil
}

func (s settings) movesOn(ctx context.Context, kind string, n int) error {
	o := stockOptions{Shops: 1, Still: n, Due: clock.System{}.Now().Truncate(time.Minute), Maximum: 20 * s.syncRestore, Restore: s.syncRestore}
	left, err := s.stage(ctx, kind, o)
	if err != nil {
		return err
	}
	defer left.end()
	log := slog.New(slog.DiscardHandler)
	there, err := app.New(ctx, app.Options{Settings: left.set, Clock: clock.System{}, Log: log, Kind: app.Production})
	if err != nil {
		return err
	}
	defer there.Close()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		there.Subscriptions.ServeHTTP(w, r)
	}))
	defer server.Close()
	of, err := there.Store.Shops().ShopByDomain(ctx, shopDomain(0))
	if err != nil {
		return err
	}
	key, _, err := there.Access.Create(ctx, of.ID, access.NewKey{Name: "bench", Scopes: []access.Scope{access.All}, Actor: activity.Operator})
	if err != nil {
		return err
	}
	db, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer db.drop()
	set := s.serverSettings(db, left.there, "127.0.0.1:1")
	set.PrivatePartners = true // the other service is on this machine
	here, err := app.New(ctx, app.Options{Settings: set, Clock: clock.System{}, Log: log, Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer here.Close()
	known, err := here.Intake.Register(ctx, wire.Shop{Domain: shopDomain(0), Token: wire.Token(shopToken(0))}, 9, 0, shop.Settings{})
	if err != nil {
		return err
	}
	m := movement{here, known.ID, 0}
	begun := clock.System{}.Now()
	started, err := here.Moves.Start(ctx, known.ID, mover.New{Direction: moving.In, Peer: moving.Peer{Address: server.URL, Key: key, Rate: moveRate}, By: activity.Operator})
	if err != nil {
		return err
	}
	m.id = started.ID
	var early uint64
	err = m.until(ctx, func(p mover.Progress) bool {
		if early == 0 && p.Read >= n/5 {
			early = heap()
		}
		return p.Move.Status == moving.Ready
	})
	if err != nil {
		return err
	}
	took := clock.System{}.Now().Sub(begun).Seconds()
	s.print("moves_read db=%s n=%d allowed_per_second=%d seconds=%.1f requests=%d requests_each=%.2f used=%.3f goal=0.950 heap_early_mb=%.1f heap_end_mb=%.1f",
		kind, n, moveRate, took, asked.Load(), float64(asked.Load())/float64(n), float64(asked.Load())/(moveRate*took), float64(early)/(1<<20), float64(heap())/(1<<20))
	return s.cutOver(ctx, kind, n, left.there, m)
}

// cutOver moves all contracts and compares what the platform was asked for with what it allowed.
func (s settings) cutOver(ctx context.Context, kind string, n int, there platform, m movement) error {
	if _, err := m.Moves.DeclineParts(ctx, m.of, m.id, activity.Operator); err != nil {
		return err
	}
	if err := m.Store.Moves().Update(ctx, m.of, func(tx moving.Tx) error { // the platform's budget is the limit, not the other service's
		move, err := tx.Move(ctx, m.id)
		if err != nil {
			return err
		}
		move.Peer.Rate = 1000
		return tx.PutMove(ctx, &move)
	}); err != nil {
		return err
	}
	if err := there.limit(ctx); err != nil {
		return err
	}
	begun, err := there.purse(ctx)
	if err != nil {
		return err
	}
	if _, err := m.Moves.SetWave(ctx, m.of, m.id, activity.Operator, 100); err != nil {
		return err
	}
	if err := m.until(ctx, func(p mover.Progress) bool { return p.Moved == n }); err != nil {
		return err
	}
	ended, err := there.purse(ctx)
	if err != nil {
		return err
	}
	window := ended.At.Sub(begun.At).Seconds()
	spent, had := ended.Spent-begun.Spent, begun.Level+window*s.syncRestore
	s.print("moves_cut_over db=%s n=%d restore_per_second=%.0f seconds=%.1f per_second=%.1f points=%.0f points_each=%.1f used=%.3f goal=0.900",
		kind, n, s.syncRestore, window, float64(n)/window, spent, spent/float64(n), spent/had)
	return nil
}

// movement is a move that is worked on here.
type movement struct {
	*app.App

	of shop.ID
	id moving.ID
}

// until works on the move until something holds.
func (m movement) until(ctx context.Context, holds func(mover.Progress) bool) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	working := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := m.Moves.Work(ctx, m.of); err != nil && ctx.Err() == nil {
				working <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
		working <- nil
	}()
	for {
		p, err := m.Moves.Progress(context.WithoutCancel(ctx), m.of, m.id)
		if err != nil {
			return err
		}
		if holds(p) {
			stop()
			return <-working
		}
		select {
		case err := <-working:
			return errors.Join(err, fmt.Errorf("the move is %s: %v, %s", p.Move.Status, p.Stages, p.Move.Failure))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
