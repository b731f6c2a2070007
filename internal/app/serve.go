package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/store"
)

// Serve runs the service until ctx ends. Then it answers what it has begun to answer,
// finishes the work that runs, and returns. It binds its addresses before it does
// anything else, and ends with the error when one cannot be bound or fails later.
func Serve(ctx context.Context, o Options) (err error) {
	ports, err := bind(ctx, o.Settings)
	if err != nil {
		return err
	}
	defer ports.close()
	traces, err := telemetry.NewTraces(ctx, o.Version, o.Log)
	if err != nil {
		return err
	}
	defer closeTraces(ctx, o.Log, traces)
	o.Tracer = traces.Tracer()
	a, err := New(ctx, o)
	if err != nil {
		return err
	}
	defer a.Close()
	only, err := onlyNode(o.Settings.Database.Data.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, only.Close()) }()
	running, end := context.WithCancel(ctx)
	defer end()
	var sweeping sync.WaitGroup
	if o.Settings.Work {
		working, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		if err := a.Start(working); err != nil {
			return err
		}
		sweeping.Go(func() { a.Sweep.Run(running, o.Settings.SweepEvery) })
	}
	failed := ports.serve(a, o)
	select {
	case <-ctx.Done():
	case err = <-failed:
		o.Log.Error("an address is no longer served", "error", err)
	}
	end()
	o.Log.Info("draining")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Settings.DrainTimeout)
	defer cancel()
	for _, p := range ports {
		err = errors.Join(err, p.server.Shutdown(drain))
	}
	sweeping.Wait()
	return errors.Join(err, a.Stop(drain))
}

// tracesTime is how long the last traces may take to be sent.
const tracesTime = 5 * time.Second

// closeTraces sends what has not been sent. A collector that is away is no failure.
func closeTraces(ctx context.Context, log *slog.Logger, traces telemetry.Traces) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesTime)
	defer cancel()
	if err := traces.Close(last); err != nil {
		log.Warn("the last traces are lost", "error", err)
	}
}

// port is an address that is bound, and what answers there.
type port struct {
	listener net.Listener
	handler  func(*App) http.Handler
	server   *Server
}

type ports []*port

// bind binds every address of the settings, or none.
func bind(ctx context.Context, s config.Server) (ports, error) {
	var bound ports
	for _, p := range []struct {
		wanted  bool
		setting string
		address string
		handler func(*App) http.Handler
	}{
		{s.Web, "--listen", s.Listen, func(a *App) http.Handler { return a.Subscriptions }},
		{s.Web, "--memberships-listen", s.MembershipsListen, func(a *App) http.Handler { return a.Memberships }},
		{true, "--ops-listen", s.OpsListen, func(a *App) http.Handler { return a.Ops }},
	} {
		if !p.wanted || p.address == "" {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.address)
		if err != nil {
			bound.close()
			return nil, fmt.Errorf("%s %s: %w", p.setting, p.address, err)
		}
		bound = append(bound, &port{listener: l, handler: p.handler})
	}
	return bound, nil
}

// close closes the listeners; one that a server has closed already stays closed.
func (all ports) close() {
	for _, p := range all {
		p.listener.Close()
	}
}

// serve answers on every port. What fails is sent to the channel.
func (all ports) serve(a *App, o Options) <-chan error {
	failed := make(chan error, len(all))
	for _, p := range all {
		p.server = NewServer(p.handler(a))
		o.Log.Info("listening", "address", p.listener.Addr().String())
		go func() {
			if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve on %s: %w", p.listener.Addr(), err)
			}
		}()
	}
	return failed
}

// onlyNode keeps a second node off a SQLite database: jobs, limits and caches of two would
// not know of each other. PostgreSQL serves as many as there are. The lock ends with the
// process, however that ends.
func onlyNode(database string) (*flock.Flock, error) {
	path, ok, err := store.SQLitePath(database)
	if err != nil {
		return nil, err
	}
	if !ok {
		return flock.New(""), nil
	}
	lock := flock.New(path+"-serve", flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the database %s: %w", path, err)
	case !held:
		return nil, fault.New(fault.Conflict, "another perennial serve runs on %s: stop it first, or use PostgreSQL for several nodes", path)
	}
	return lock, nil
}
