package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/web"
)

// noneFrozen is the check of readiness: with a store frozen requests are served,
// and its orders wait.
func (a *App) noneFrozen(ctx context.Context) error {
	n, err := a.Store.Shops().Frozen(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %d stores are frozen: run perennial doctor", web.ErrDegraded, n)
	}
	return err
}

// probeEvery is how long it stays known that the database can be written to.
const probeEvery = 5 * time.Second

// writable returns the check of readiness that the database can be written to, which
// writes every so often at most.
func (a *App) writable() func(context.Context) error {
	var mutex sync.Mutex
	var last time.Time
	return func(ctx context.Context) error {
		mutex.Lock()
		defer mutex.Unlock()
		now := clock.System{}.Now()
		if now.Sub(last) < probeEvery {
			return nil
		}
		err := a.Store.Writable(ctx, now)
		if err == nil {
			last = now
		}
		return err
	}
}
