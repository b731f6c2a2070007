package connection

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Policy says when tokens are refreshed. The zero value is DefaultPolicy.
type Policy struct {
	Margin   time.Duration // before its expiry an access token is refreshed
	Work     time.Duration // a refresh may take
	Lease    time.Duration // one process refreshes alone; longer than Work
	Poll     time.Duration // between looks whether another process is done
	Backoff  time.Duration // after the first failure; doubled with each
	MaxPause time.Duration // after many failures, and after a refusal
}

// DefaultPolicy is that of production.
func DefaultPolicy() Policy {
	return Policy{
		Margin: 5 * time.Minute, Work: 40 * time.Second, Lease: time.Minute, Poll: 100 * time.Millisecond, Backoff: 2 * time.Second, MaxPause: 5 * time.Minute,
	}
}

// Service gets into stores. It implements platform.Tokens and is safe for concurrent use.
type Service struct {
	Store     Store
	Apps      map[AppName]platform.Authorizer
	Registrar Registrar
	Clock     clock.Clock
	Log       *slog.Logger
	Policy    Policy
	// PublicURL is the address of the service, to which the platform sends browsers back.
	PublicURL string
	// StateKeys sign the state of an installation, by app.
	StateKeys map[AppName][]byte
	// Wait waits; nil: as the machine's time passes.
	Wait func(ctx context.Context, d time.Duration) error

	flights singleflight.Group
	cache   sync.Map // domain → cached
}

var _ platform.Tokens = (*Service)(nil)

// cached is what this process knows of a store's access token.
type cached struct {
	token     platform.Token
	freshTill time.Time // zero: for ever
	given     bool      // the store has no connection, and callers have its token
}

// keepGiven is how long a process does not look again whether a store has a connection. A
// token that is not accepted any more makes it look at once.
const keepGiven = time.Minute

func (s *Service) policy() Policy {
	if s.Policy == (Policy{}) {
		return DefaultPolicy()
	}
	return s.Policy
}

// Connections returns the connections of a store. A store that an operator connected with
// a token of its own has none.
func (s *Service) Connections(ctx context.Context, of shop.ID) ([]Connection, error) {
	return s.Store.Connections(ctx, of)
}

// Require returns nil when the store has granted what a feature needs, or when it is not
// known what it granted, and else a fault of kind FailedPrecondition.
func (s *Service) Require(ctx context.Context, of shop.ID, f platform.Feature) error {
	list, err := s.Store.Connections(ctx, of)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.App == Primary {
			return c.Require(f)
		}
	}
	return nil
}

func (s *Service) wait(ctx context.Context, d time.Duration) error {
	if s.Wait != nil {
		return s.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
