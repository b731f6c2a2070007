package intake

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of the inbox.
const (
	// batchSize is how many events are processed together.
	batchSize = 200
	// maxFailures is how often processing an event may fail before it is given up.
	maxFailures = 12
	// outageFailures is how many of them may be failures of the platform to
	// answer: the waits grow to an hour.
	outageFailures = 6
	// keepEvents is how long a processed event stays stored.
	keepEvents = 7 * 24 * time.Hour
	// keepSignatures is how long the signature of an event stays stored.
	keepSignatures = 90 * 24 * time.Hour
	// maxDoublings is how often the wait after a failure doubles.
	maxDoublings = 9
)

// Policy is the waits of intake, in the domain's time.
type Policy struct {
	// Lease is how long events belong to the worker that claimed them.
	Lease time.Duration
	// Retry is the wait after an event failed for the first time. It doubles
	// with every further failure, up to LongestRetry.
	Retry, LongestRetry time.Duration
	// Yield is the first wait of an event for an edit of ours that is in
	// flight. It doubles with every further one.
	Yield time.Duration
	// Reconcile is the time after which a failed reconciliation is tried again.
	Reconcile time.Duration
	// SyncLease is how long a node has a first sync after its last progress.
	SyncLease time.Duration
}

// DefaultPolicy returns the waits in production.
func DefaultPolicy() Policy {
	return Policy{Lease: 5 * time.Minute, Retry: time.Minute, LongestRetry: 6 * time.Hour, Yield: 5 * time.Second, Reconcile: 10 * time.Minute, SyncLease: 2 * time.Minute}
}

// Divided returns the policy with every wait divided by n, which is positive.
func (p Policy) Divided(n float64) Policy {
	one := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	return Policy{Lease: one(p.Lease), Retry: one(p.Retry), LongestRetry: one(p.LongestRetry), Yield: one(p.Yield), Reconcile: one(p.Reconcile), SyncLease: one(p.SyncLease)}
}

// backoff is the wait of an event after so many failures.
func (p Policy) backoff(failures int) time.Duration {
	return min(p.Retry<<min(failures, maxDoublings), p.LongestRetry)
}

// Platform is the part of the commerce platform that intake needs.
type Platform interface {
	platform.Stores
	platform.Contracts
	platform.Charger
	// Customers returns the customers with the given ids, at most MaxIDs. Ids that the
	// platform does not have are left out.
	Customers(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Customer, error)
}

// Points is the part of loyalty that intake needs.
type Points interface {
	// Merge moves the points of a customer who no longer exists to another one.
	// Repeating it changes nothing.
	Merge(ctx context.Context, of shop.ID, gone, kept int64) error
}

// Biller is the part of billing that intake needs.
type Biller interface {
	// Settle stores the results of charges that the platform reports.
	Settle(ctx context.Context, tx billing.Tx, found []platform.Attempt) error
}

// Pricer reads the prices of selling plans.
type Pricer interface {
	// PlanPrices returns the plan prices of contracts' lines.
	PlanPrices(ctx context.Context, of shop.Shop, contracts []contract.Contract) (map[contract.ID]map[string]contract.Pricing, error)
}

// Service stores what the platform reports.
type Service struct {
	Store    Store
	Inbox    Inbox
	Webhooks platform.Webhooks
	Platform Platform
	Billing  Biller
	Prices   Pricer
	Points   Points
	Clock    clock.Clock
	Log      *slog.Logger
	Policy   Policy
	// Callback is the address to which the platform delivers webhooks.
	Callback string
	// ReconcileEvery is the time between two reconciliations of a store.
	ReconcileEvery time.Duration
	// Node is the name of this process, which no other one has.
	Node string

	runs  atomic.Int64 // first syncs that this process has begun
	known sync.Map     // domain to shop.ID, which never changes
}

// ProcessEvents is the task of processing a shop's events.
type ProcessEvents struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (ProcessEvents) Kind() string { return "intake_work" }

// Receive verifies a webhook and stores it. When it returns nil the event is durable and
// the platform need not send it again.
func (s *Service) Receive(ctx context.Context, header func(name string) string, body []byte) error {
	e, err := s.Webhooks.Open(header, body)
	if err != nil {
		return err
	}
	of, err := s.shopOf(ctx, e.Shop)
	if err != nil {
		return err
	}
	err = s.Inbox.Add(ctx, of, e, s.Clock.Now())
	switch {
	case fault.Is(err, fault.Unauthenticated):
		s.Log.WarnContext(ctx, "a webhook was refused", "shop", e.Shop, "topic", e.Topic, "event", e.ID, "error", err)
		return err
	case err != nil:
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
