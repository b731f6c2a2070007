package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/test/process"
)

// patience is how long n renewals may take before something must be wrong.
func patience(n int) time.Duration { return time.Minute + time.Duration(n)*10*time.Millisecond }

// renewals lets many contracts fall due at once and measures how fast, and with
// how much work, the service charges them all.
func renewals(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		for _, n := range s.renewals {
			if err := s.renew(ctx, kind, n); err != nil {
				return fmt.Errorf("%d on %s: %w", n, kind, err)
			}
		}
	}
	return nil
}

// usage is what a process has used.
type usage struct {
	cpu time.Duration // user and system
	rss int64         // resident bytes
}

// service is a running node that can be measured.
type service struct {
	usage func() (usage, error)
	stop  func(ctx context.Context) error
}

// stage is a platform, and a database that knows what it has: due, but not charged.
type stage struct {
	db      database
	there   platform
	address string // of the service to start
	set     config.Server
}

func (s settings) stage(ctx context.Context, kind string, o stockOptions) (st stage, err error) {
	if st.db, err = s.fresh(ctx, kind); err != nil {
		return stage{}, err
	}
	defer func() {
		if err != nil {
			st.end()
		}
	}()
	if st.there, err = startPlatform(ctx, o); err != nil {
		return st, err
	}
	if st.address, err = process.FreeAddress(ctx); err != nil {
		return st, err
	}
	st.set = s.serverSettings(st.db, st.there, st.address)
	if err := importAll(ctx, st.set, o); err != nil {
		return st, err
	}
	return st, st.db.analyze(ctx)
}

func (st stage) end() {
	if st.there.end != nil {
		st.there.end()
	}
	st.db.drop()
}

func (s settings) renew(ctx context.Context, kind string, n int) error {
	st, err := s.stage(ctx, kind, stockOptions{
		Shops: shops, Contracts: n, Due: clock.System{}.Now().Truncate(time.Minute),
	})
	if err != nil {
		return err
	}
	defer st.end()
	db, there := st.db, st.there
	before, err := attemptCount(ctx, db, "QUEUED")
	if err != nil {
		return err
	}
	node, err := s.serve(ctx, st)
	if err != nil {
		return err
	}
	begun := clock.System{}.Now()
	idle, err := measureSides(ctx, node, there, db)
	if err != nil {
		return err
	}
	if err := charged(ctx, db, n); err != nil {
		return err
	}
	used, err := measureSides(ctx, node, there, db)
	if err != nil {
		return err
	}
	if err := node.stop(ctx); err != nil {
		return err
	}
	var ended int64
	if err := db.bare.QueryRowContext(ctx, "SELECT MAX(updated_at) FROM attempts WHERE status = 'SUCCESS'").Scan(&ended); err != nil {
		return err
	}
	books, err := there.verdict(ctx)
	if err != nil {
		return err
	}
	if books != (verdict{Orders: n, Contracts: n}) {
		return fmt.Errorf("%d contracts were due and the platform's books say %+v: every one must have one order", n, books)
	}
	limit, err := db.limit(ctx, n, together)
	if err != nil {
		return fmt.Errorf("measure the limit: %w", err)
	}
	alone, err := db.limit(ctx, n, single)
	if err != nil {
		return fmt.Errorf("measure the limit of one renewal at a time: %w", err)
	}
	rate := float64(n) / time.UnixMilli(ended).Sub(begun).Seconds()
	each := func(before, after time.Duration) float64 { return ms(after-before) / float64(n) }
	s.print("renewals db=%s n=%d shops=%d per_second=%.0f cpu_ms_each=%.2f limit_per_second=%.0f ratio=%.3f single_limit_per_second=%.0f single_ratio=%.3f platform_cpu_ms_each=%.2f database_cpu_ms_each=%.2f",
		kind, n, shops, rate, each(idle.cpu, used.cpu), limit, rate/limit, alone, rate/alone, each(idle.platform, used.platform), each(idle.database, used.database))
	after, err := attemptCount(ctx, db, "QUEUED")
	if err != nil {
		return err
	}
	s.print("memory db=%s n=%d at_start_mb=%.0f after_renewals_mb=%.0f queued_before=%d queued_after=%d",
		kind, n, float64(idle.rss)/(1<<20), float64(used.rss)/(1<<20), before, after)
	return nil
}

// sides are what everybody who has a part in a renewal has used.
type sides struct {
	usage    // of the service
	platform time.Duration
	database time.Duration // of its server
}

func measureSides(ctx context.Context, node service, there platform, db database) (sides, error) {
	of, err := node.usage()
	if err != nil {
		return sides{}, err
	}
	played, err := usageOf(there.pid)
	if err != nil {
		return sides{}, err
	}
	stored, err := db.cpu(ctx)
	return sides{of, played.cpu, stored}, err
}

func attemptCount(ctx context.Context, db database, status string) (n int, err error) {
	err = db.bare.QueryRowContext(ctx, "SELECT COUNT(*) FROM attempts WHERE status = $1", status).Scan(&n)
	return n, err
}

// charged waits until the service knows of n orders. It does not ask often: every
// answer counts all orders, at the cost of what is measured.
func charged(ctx context.Context, db database, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience(n))
	defer cancel()
	return until(ctx, n, time.Second, func(ctx context.Context) (int, error) { return attemptCount(ctx, db, "SUCCESS") })
}

// until waits until n contracts are charged, by a count that is asked for again and
// again, for as long as its context allows.
func until(ctx context.Context, n int, every time.Duration, count func(context.Context) (int, error)) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		done, err := count(ctx)
		if err != nil {
			return err
		}
		if done >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d are charged: %w", done, n, ctx.Err())
		case <-ticks.C:
		}
	}
}

// serverSettings are those of `serve`, for what is assembled in this process.
func (s settings) serverSettings(db database, there platform, address string) config.Server {
	return config.Server{
		Database: config.Database{Data: config.Data{Database: db.url}, SecretKey: config.Secret(process.SecretKeyText)},
		Platform: config.Platform{
			PlatformURL: there.url, APIVersion: schema.Version, AppSecret: appSecret, PublicURL: "http://" + address, CallTimeout: 15 * time.Second,
		},
		Listen: address, Web: true, Work: true, Workers: 8, JobPoll: 500 * time.Millisecond, SweepEvery: 2 * time.Second, ReconcileEvery: time.Hour,
		RatePerSecond: 1e6, RateBurst: 1e6, DrainTimeout: 30 * time.Second,
	}
}

// importAll brings the contracts in, due but not charged.
func importAll(ctx context.Context, set config.Server, there stockOptions) error {
	a, err := app.New(ctx, app.Options{Settings: set, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer a.Close()
	zone, err := process.NoonZone(there.Due)
	if err != nil {
		return err
	}
	local := there.Due.In(zone)
	for i := range there.Shops {
		at := wire.Shop{Domain: shopDomain(i), Token: wire.Token(shopToken(i))}
		known, err := a.Intake.Connect(ctx, at, local.Hour(), local.Minute(), shop.Settings{})
		if err != nil {
			return err
		}
		if _, err := a.Confirm.ConfirmUnseen(ctx, known.ID, activity.Operator); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the service and returns when it answers: as a process of its own, or in
// this one for a profile.
func (s settings) serve(ctx context.Context, st stage) (service, error) {
	if s.cpuProfile != "" {
		return s.serveHere(ctx, st.set)
	}
	program, err := process.Build(ctx, s.folder, process.Settings{
		Database: st.db.url, PlatformURL: st.there.url, PublicURL: "http://" + st.address, AppSecret: appSecret,
	})
	if err != nil {
		return service{}, err
	}
	log, err := os.Create(filepath.Join(s.folder, "serve.log"))
	if err != nil {
		return service{}, err
	}
	node, err := program.Serve(st.address, log, "--log-level", "WARN")
	if err != nil {
		return service{}, err
	}
	return service{
		usage: func() (usage, error) { return usageOf(node.PID()) },
		stop: func(ctx context.Context) error {
			defer log.Close()
			code, err := node.Stop(ctx)
			if err == nil && code != 0 {
				err = fmt.Errorf("the node ended with exit code %d", code)
			}
			return err
		},
	}, node.Ready(ctx)
}

// serveHere runs the service in this process under a profiler. The figures then
// hold this program's work too.
func (s settings) serveHere(ctx context.Context, set config.Server) (service, error) {
	file, err := os.Create(s.cpuProfile)
	if err != nil {
		return service{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	if err := pprof.StartCPUProfile(file); err != nil {
		cancel()
		return service{}, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	go func() {
		ended <- app.Serve(ctx, app.Options{Settings: set, Clock: clock.System{}, Log: log, Kind: app.Production})
	}()
	return service{
		usage: func() (usage, error) { return usageOf(os.Getpid()) },
		stop: func(context.Context) error {
			pprof.StopCPUProfile()
			cancel()
			_ = file.Close()
			return <-ended
		},
	}, nil
}
