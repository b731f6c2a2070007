package intake

import (
	"context"
	"log/slog"
	"sync"
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
	// batchSize is how many events are worked together.
	batchSize = 200
	// maxFailures is how often working an event may fail before it is given up.
	maxFailures = 12
	// outageFailures is how many of them may be those of a platform that did not
	// answer, or not to us: the waits grow to an hour.
	outageFailures = 6
	// remember is how long a worked event stays known.
	remember = 7 * 24 * time.Hour
	// rememberSignatures is how long it stays known as what a signed body was received.
	rememberSignatures = 90 * 24 * time.Hour
	// maxDoublings is how often the wait after a failure doubles.
	maxDoublings = 9
)

// Policy is how long intake waits for what, in the domain's time.
type Policy struct {
	// Lease is how long events belong to whoever took them.
	Lease time.Duration
	// Retry is the wait after an event failed for the first time. It doubles
	// with every further failure, up to LongestRetry.
	Retry, LongestRetry time.Duration
	// Yield is the first wait of an event for a change of ours that is on its
	// way to the platform. It doubles with every further one.
	Yield time.Duration
	// Reconcile is the time after which a failed reconciliation is tried again.
	Reconcile time.Duration
}

// DefaultPolicy returns the waits of the service in earnest.
func DefaultPolicy() Policy {
	return Policy{Lease: 5 * time.Minute, Retry: time.Minute, LongestRetry: 6 * time.Hour, Yield: 5 * time.Second, Reconcile: 10 * time.Minute}
}

// Divided returns the policy with every wait divided by n, which is positive.
func (p Policy) Divided(n float64) Policy {
	one := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	return Policy{Lease: one(p.Lease), Retry: one(p.Retry), LongestRetry: one(p.LongestRetry), Yield: one(p.Yield), Reconcile: one(p.Reconcile)}
}

// backoff is the wait of an event that had failed so many times before.
func (p Policy) backoff(failures int) time.Duration {
	return min(p.Retry<<min(failures, maxDoublings), p.LongestRetry)
}

// Platform is what intake needs of the commerce platform.
type Platform interface {
	platform.Stores
	platform.Contracts
	platform.Charger
	// Customers returns the customers with the given ids, at most MaxIDs. Ids that the
	// platform does not know are left out.
	Customers(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Customer, error)
}

// Points does what intake leaves to loyalty.
type Points interface {
	// Merge lets a member have the points of another one, who is no customer any more.
	// Done again it does nothing more.
	Merge(ctx context.Context, of shop.ID, gone, kept int64) error
}

// Biller does what intake leaves to billing.
type Biller interface {
	// Settle writes the ends of charges that the platform tells of.
	Settle(ctx context.Context, tx billing.Tx, found []platform.Attempt) error
}

// Pricer knows the prices of plans.
type Pricer interface {
	// PlanPrices returns what plans of ours say of the prices of contracts' lines.
	PlanPrices(ctx context.Context, of shop.Shop, contracts []contract.Contract) (map[contract.ID]map[string]contract.Pricing, error)
}

// Service takes in what the platform says.
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

	known sync.Map // domain to shop.ID, which never changes
}

// ProcessEvents is the task of working a shop's events.
type ProcessEvents struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (ProcessEvents) Kind() string { return "intake_work" }

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
