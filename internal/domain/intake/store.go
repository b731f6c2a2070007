// Package intake takes in what the platform says: webhooks wait in an inbox,
// each once, and are worked by reading the platform anew; what no webhook told
// is found by reconciliation.
package intake

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/partner"
	offers "github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// InboxEvent is an event that waits to be worked.
type InboxEvent struct {
	platform.Event
	Failures   int // times that working it failed
	ReceivedAt time.Time
}

// happened returns when the event happened. The platform does not sign that: it is the
// arrival at the latest.
func (p InboxEvent) happened() time.Time {
	if p.TriggeredAt.After(p.ReceivedAt) {
		return p.ReceivedAt
	}
	return p.TriggeredAt
}

// Tx is one transaction on one shop's data: billing's, and what intake owns.
type Tx interface {
	billing.Tx
	partner.Tx
	// ReadContracts returns contracts, unlocked, by id: what they say may have changed
	// by the time that it is acted on.
	ReadContracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// ContractsPaidWith returns the ids of contracts that use a payment method.
	ContractsPaidWith(ctx context.Context, paymentMethod string) ([]contract.ID, error)

	// ContractsOfCustomer returns the ids of a customer's contracts, of both lines.
	ContractsOfCustomer(ctx context.Context, customer int64) ([]contract.ID, error)
	// CustomersAfter returns at most limit customers who have contracts or points, by
	// number, after one.
	CustomersAfter(ctx context.Context, after int64, limit int) ([]int64, error)
	// Redact erases who a customer is, and what they said, from everything but their
	// contracts, which are given as they are until then. Who is in their portal is out.
	Redact(ctx context.Context, customer int64, contracts []contract.Contract) error

	// MergeCustomer lets a customer have what another one was and said, who is none any more,
	// save their contracts. Who is in the portal of that one is out.
	MergeCustomer(ctx context.Context, gone, kept int64) error

	// ContractsWithSeries returns at most limit contracts that have a calendar, by id, after one.
	ContractsWithSeries(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error)
	// ActiveContractsInDunning returns at most limit ACTIVE contracts with an open case of dunning, by
	// id, after one.
	ActiveContractsInDunning(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error)

	// PlansReadyAt returns, unlocked, when the last of the plan groups is looked at next
	// that are being made or changed; zero when none is.
	PlansReadyAt(ctx context.Context) (time.Time, error)

	// RemovedOptions returns, by selling plan, those of selling plans that were options
	// of ours once, as they were last.
	RemovedOptions(ctx context.Context, sellingPlans []int64) (map[int64]offers.Option, error)

	// PutUnread notes contracts that cannot be taken over. One that was noted before
	// keeps since when.
	PutUnread(ctx context.Context, list []contract.Unread) error
	// UnreadContracts returns at most limit of them, by id, after one.
	UnreadContracts(ctx context.Context, after contract.ID, limit int) ([]contract.Unread, error)
	// ForgetUnread removes those of contracts which were seen last before an instant.
	ForgetUnread(ctx context.Context, ids []contract.ID, before time.Time) error

	// ClaimEvents returns at most limit events that are due, oldest first,
	// passing over those that another transaction holds, and makes them due
	// again at until: whoever takes them has that long to work them.
	ClaimEvents(ctx context.Context, now, until time.Time, limit int) ([]InboxEvent, error)
	// FinishEvents marks events as worked. They stay known for a while, so
	// that a late duplicate is recognised.
	FinishEvents(ctx context.Context, ids []string, now time.Time) error
	// DeferEvents lets events wait until a later instant, with how often they
	// failed and why they did last. An event with a zero instant is given up: it stays, is
	// shown, and is not worked again.
	DeferEvents(ctx context.Context, ids []string, until time.Time, failures int, reason string) error
	// ForgetEvents removes events that were worked before an instant.
	ForgetEvents(ctx context.Context, before time.Time) error
	// ForgetSignatures removes the signatures of events that were received before an
	// instant.
	ForgetSignatures(ctx context.Context, before time.Time) error
}

// Store runs transactions and reads which stores there are.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// ShopByDomain returns a store, or NotFound.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	// AddShop inserts a store and gives it its ID. A domain that is taken is a
	// Conflict.
	AddShop(ctx context.Context, s *shop.Shop) error
}

// Inbox keeps events until they are worked.
type Inbox interface {
	// Add stores an event of a shop and asks for it to be worked, in one
	// commit. An event that was added before changes nothing. When Add
	// returns nil the event is durable.
	Add(ctx context.Context, of shop.ID, e platform.Event, at time.Time) error
}
