// Package intake reads what the platform reports: it stores webhooks in an inbox, each
// once, and processes them by reading the platform again. Reconciliation finds what no
// webhook reported.
package intake

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// InboxEvent is an event in the inbox that has not been processed.
type InboxEvent struct {
	platform.Event
	Failures   int // how often processing it failed
	ReceivedAt time.Time
}

// Tx is one transaction on one shop's data.
type Tx interface {
	billing.Tx
	partner.Tx
	privacy.Tx
	EventTx
	ContractReader
	CustomerTx
	UnreadTx
	SyncTx
	PlanReader
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	billing.ReadTx
	ContractReader
	CustomerReader
	UnreadReader
	PlanReader
	SyncReader
}

// EventTx reads and writes the inbox.
type EventTx interface {
	// ClaimEvents returns at most limit events that are due, oldest first, without those
	// that another transaction holds, and makes them due again at until: the caller has
	// that long to process them.
	ClaimEvents(ctx context.Context, now, until time.Time, limit int) ([]InboxEvent, error)
	// FinishEvents marks events as processed. They stay stored for a while, so that a
	// late duplicate is recognised.
	FinishEvents(ctx context.Context, ids []string, now time.Time) error
	// DeferEvents makes events due at a later instant and stores how often they failed
	// and the last reason. An event with a zero instant is not processed again; it stays
	// stored and is shown.
	DeferEvents(ctx context.Context, ids []string, until time.Time, failures int, reason string) error
	// DeleteEvents removes events that were processed before an instant.
	DeleteEvents(ctx context.Context, before time.Time) error
	// DeleteSignatures removes the signatures of events that were received before an
	// instant.
	DeleteSignatures(ctx context.Context, before time.Time) error
}

// ContractReader finds contracts.
type ContractReader interface {
	// ReadContracts returns contracts by id, unlocked: they may change before the caller
	// acts on them.
	ReadContracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// ContractsPaidWith returns the ids of contracts that use a payment method.
	ContractsPaidWith(ctx context.Context, paymentMethod string) ([]contract.ID, error)
	// ContractsOfCustomer returns the ids of a customer's contracts, of both lines.
	ContractsOfCustomer(ctx context.Context, customer int64) ([]contract.ID, error)
	// ContractsWithSeries returns at most limit contracts that have a series, by id,
	// after one.
	ContractsWithSeries(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error)
	// ActiveContractsInDunning returns at most limit ACTIVE contracts with an open
	// dunning case, by id, after one.
	ActiveContractsInDunning(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error)
}

// CustomerReader lists customers.
type CustomerReader interface {
	// CustomersAfter returns at most limit customers who have contracts or points, by
	// number, after one.
	CustomersAfter(ctx context.Context, after int64, limit int) ([]int64, error)
}

// CustomerTx lists, merges and erases customers.
type CustomerTx interface {
	CustomerReader
	// MergeCustomer moves everything but the contracts of a customer who no longer exists
	// to another one and ends the first one's portal sessions.
	MergeCustomer(ctx context.Context, gone, kept int64) error
	// Redact erases a customer's personal data from everything but their contracts, which
	// are passed as they are stored, and ends the customer's portal sessions.
	Redact(ctx context.Context, customer int64, contracts []contract.Contract) error
	// RedactMailsTo erases the recipient and the words of the e-mails to an address.
	RedactMailsTo(ctx context.Context, address string) error
}

// UnreadReader reads which contracts could not be read.
type UnreadReader interface {
	// UnreadContracts returns at most limit of them, by id, after one.
	UnreadContracts(ctx context.Context, after contract.ID, limit int) ([]contract.Unread, error)
}

// UnreadTx stores contracts that could not be read.
type UnreadTx interface {
	UnreadReader
	// PutUnread stores contracts that could not be read. One that is stored already keeps
	// its Since.
	PutUnread(ctx context.Context, list []contract.Unread) error
	// DeleteUnread removes those of the contracts that last failed before an instant.
	DeleteUnread(ctx context.Context, ids []contract.ID, before time.Time) error
}

// PlanReader reads selling plans.
type PlanReader interface {
	// PlansReadyAt returns, unlocked, the latest instant at which a plan group that is
	// being created or changed is checked next; zero when there is none.
	PlansReadyAt(ctx context.Context) (time.Time, error)
	// RemovedOptions returns, by selling plan, the options that were removed, as they
	// were last.
	RemovedOptions(ctx context.Context, sellingPlans []int64) (map[int64]plan.Option, error)
}

// Store runs transactions and finds stores. View is for what only reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// ShopByDomain returns a store, or NotFound.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	// AddShop inserts a store and gives it its ID. A domain that is taken is a Conflict.
	AddShop(ctx context.Context, s *shop.Shop) error
}

// Inbox stores events.
type Inbox interface {
	// Add stores an event of a shop and enqueues its processing, in one commit. Adding an
	// event again changes nothing. When Add returns nil the event is durable.
	Add(ctx context.Context, of shop.ID, e platform.Event, at time.Time) error
}
