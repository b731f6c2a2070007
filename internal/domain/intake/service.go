package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Waits of the inbox, in the domain's time.
const (
	// lease is how long events belong to whoever took them.
	lease = 5 * time.Minute
	// batchSize is how many events are worked together.
	batchSize = 200
	// maxFailures is how often working an event may fail before it is given up.
	maxFailures = 12
	// remember is how long a worked event stays known.
	remember = 7 * 24 * time.Hour
)

// Platform is what intake needs of the commerce platform.
type Platform interface {
	platform.Stores
	platform.Contracts
	platform.Charger
}

// Settler writes the ends of charges that the platform tells of.
type Settler interface {
	Settle(ctx context.Context, tx billing.Tx, found []platform.Attempt) error
}

// Service takes in what the platform says.
type Service struct {
	Store    Store
	Inbox    Inbox
	Webhooks platform.Webhooks
	Platform Platform
	Billing  Settler
	Clock    clock.Clock
	Log      *slog.Logger
	// Callback is the address to which the platform delivers webhooks.
	Callback string
	// ReconcileEvery is the time between two reconciliations of a store.
	ReconcileEvery time.Duration

	known sync.Map // domain to shop.ID, which never changes
}

// Work is the task of working a shop's events.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "intake_work" }

// Receive checks a webhook and stores it. When it returns nil the event is
// durable and the platform need not send it again.
func (s *Service) Receive(ctx context.Context, header func(name string) string, body []byte) error {
	e, err := s.Webhooks.Open(header, body)
	if err != nil {
		return err
	}
	of, err := s.shopOf(ctx, e.Shop)
	if err != nil {
		return err
	}
	if err := s.Inbox.Add(ctx, of, e, s.Clock.Now()); err != nil {
		return fault.Because(fault.Unavailable, err, "the event %s could not be stored", e.ID)
	}
	return nil
}

func (s *Service) shopOf(ctx context.Context, domain string) (shop.ID, error) {
	if id, ok := s.known.Load(domain); ok {
		return id.(shop.ID), nil
	}
	found, err := s.Store.ShopByDomain(ctx, domain)
	if err != nil {
		return 0, err
	}
	s.known.Store(domain, found.ID)
	return found.ID, nil
}

// backoff is the wait after an event failed for the n-th time.
func backoff(failures int) time.Duration {
	return min(time.Minute<<min(failures, 9), 6*time.Hour)
}
