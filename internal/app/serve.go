package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// Serve runs the service until ctx ends. Then it answers what it has begun to
// answer, finishes the work that runs, and returns.
func Serve(ctx context.Context, o Options) error {
	a, err := New(ctx, o)
	if err != nil {
		return err
	}
	defer a.Close()
	if o.Settings.Work {
		working, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		if err := a.Start(working); err != nil {
			return err
		}
	}
	var sweeping sync.WaitGroup
	if o.Settings.Work {
		sweeping.Go(func() { a.Sweep.Run(ctx, o.Settings.SweepEvery) })
	}
	failed := make(chan error, 3)
	var servers []*Server
	listen := func(address string, h http.Handler) error {
		if address == "" {
			return nil
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", address, err)
		}
		s := NewServer(h)
		servers = append(servers, s)
		o.Log.Info("listening", "address", l.Addr().String())
		go func() {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
		return nil
	}
	if o.Settings.Web {
		err = errors.Join(listen(o.Settings.Listen, a.Subscriptions), listen(o.Settings.MembershipsListen, a.Memberships))
	}
	err = errors.Join(err, listen(o.Settings.OpsListen, a.Ops))
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	o.Log.Info("draining")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Settings.DrainTimeout)
	defer cancel()
	for _, s := range servers {
		err = errors.Join(err, s.Shutdown(drain))
	}
	sweeping.Wait()
	return errors.Join(err, a.Stop(drain))
}
