package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Tx is one transaction on one shop's data. Rows that it reads are locked until it ends,
// unless a method says otherwise. Lists may be empty; unknown ids are left out.
type Tx interface {
	notify.Outbox
	ShopTx
	AttemptTx
	DueTx
	ContractTx
	LimitTx
	OneOffTx
	SwapTx
	BoxReader
	AnnotationTx

	// MailsByKey returns what became of e-mails by their deduplication keys, without locking.
	// Keys without an e-mail are left out.
	MailsByKey(ctx context.Context, keys []string) (map[string]notify.Result, error)
	activity.Recorder
}

// ReadTx is one read-only transaction on one shop's data. It reads one snapshot and locks
// nothing.
type ReadTx interface {
	shop.Reader
	AttemptReader
	ContractReader
	LimitReader
	InputReader
	PlanReader
}

// ShopTx reads and writes the shop.
type ShopTx interface {
	shop.Tx
	// ShopToCharge is Shop, and keeps other transactions from changing the shop until this
	// one ends: a freeze waits for it, or is seen by it.
	ShopToCharge(ctx context.Context) (shop.Shop, error)
}

// AttemptReader reads attempts.
type AttemptReader interface {
	Attempts(ctx context.Context, ids []AttemptID) ([]Attempt, error)
	AttemptsByKey(ctx context.Context, keys []string) ([]Attempt, error)
	// AttemptsOf returns the contracts' attempts in any of the statuses (none: all), by
	// contract and cycle.
	AttemptsOf(ctx context.Context, contracts []contract.ID, in ...Status) ([]Attempt, error)
	// OpenAttempts returns the contracts' attempts that are in flight, or QUEUED for a date at
	// or before now, by contract and cycle.
	OpenAttempts(ctx context.Context, contracts []contract.ID, now time.Time) ([]Attempt, error)
	// Queues returns how far each contract's queue reaches, without locking.
	Queues(ctx context.Context, contracts []contract.ID) (map[contract.ID]Queue, error)
}

// AttemptTx reads and writes attempts.
type AttemptTx interface {
	AttemptReader
	// PutAttempts inserts attempts whose ID is 0, giving them one, and writes the others if
	// their Version is still what was read; otherwise it fails with a Conflict. It raises the
	// versions in the slice. A second attempt for one cycle is a Conflict too.
	PutAttempts(ctx context.Context, attempts []Attempt) error
	DeleteAttempts(ctx context.Context, ids []AttemptID) error
}

// DueTx finds what a worker acts on next.
type DueTx interface {
	// DueAttempts returns at most limit attempts whose DueAt is at or before now, earliest
	// first, and skips those that another transaction has locked.
	DueAttempts(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// DueInFlight is DueAttempts for attempts in flight.
	DueInFlight(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// UnpublishedAttempts is DueAttempts by PublishAt. It skips attempts of contracts that
	// another worker is publishing.
	UnpublishedAttempts(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// LeasePublishing leases attempts to the caller for publishing until an instant. It
	// returns those of contracts that no other worker is publishing, with their versions
	// raised. The contracts must be locked.
	LeasePublishing(ctx context.Context, attempts []Attempt, now, until time.Time) ([]Attempt, error)
	// PendingWork returns what else of the shop waits, without locking.
	PendingWork(ctx context.Context, now time.Time) (PendingWork, error)
	// RepriceNext prices the upcoming orders of at most limit contracts of those that wait for it,
	// and reports whether more of them wait.
	RepriceNext(ctx context.Context, now time.Time, limit int) (more bool, err error)
}

// ContractReader reads contracts.
type ContractReader interface {
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// ContractsInDunning returns the contracts with an open case.
	ContractsInDunning(ctx context.Context) ([]contract.Contract, error)
}

// ContractTx reads contracts and writes what billing owns of them.
type ContractTx interface {
	ContractReader
	// PutProgress writes what billing owns of the contracts (the series, the next date,
	// orders, last payment, dunning, versions and UpdatedAt), when the contract must be
	// changed, the change under way at the platform, and the revision that was read, under
	// the version rule of PutAttempts. It writes nothing else of the contract.
	PutProgress(ctx context.Context, contracts []contract.Contract) error
	// PutContracts inserts or replaces contracts with their lines, under the version rule of
	// PutAttempts; a Version of 0 inserts.
	PutContracts(ctx context.Context, contracts []contract.Contract) error
}

// LimitReader reads how often was charged, without locking.
type LimitReader interface {
	// ChargeStatsSince sums the slots of time that begin at or after an instant.
	ChargeStatsSince(ctx context.Context, slot time.Time) (ChargeStats, error)
	// CountTriggers counts the contract's immediate charges since an instant.
	CountTriggers(ctx context.Context, c contract.ID, since time.Time) (int, error)
	// CardTries returns, by payment method, the tries since an instant that count against it.
	CardTries(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error)
	// ChargesByCard returns, by payment method, when the last charges of its contracts were
	// sent, if that was at or after an instant.
	ChargesByCard(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error)
}

// LimitTx counts charges.
type LimitTx interface {
	LimitReader
	// AddChargeStats adds to the statistics of the store's charges in a slot of time, and deletes
	// slots older than a day.
	AddChargeStats(ctx context.Context, slot time.Time, r ChargeStats) error
	// AddTrigger adds an immediate charge of a contract.
	AddTrigger(ctx context.Context, c contract.ID, at time.Time) error
	// AddCardTries adds tries, and may delete those older than dunning.TryWindow.
	AddCardTries(ctx context.Context, tries []CardTry) error
}

// OneOffReader reads one-time products.
type OneOffReader interface {
	// OneOffs returns the one-time products of contracts whose orders are not made yet, by
	// contract, cycle and ID.
	OneOffs(ctx context.Context, contracts []contract.ID) ([]OneOff, error)
}

// OneOffTx reads and writes one-time products.
type OneOffTx interface {
	OneOffReader
	// PutOneOffs inserts and writes as PutAttempts does. A second one of a variant for one
	// cycle is a Conflict.
	PutOneOffs(ctx context.Context, list []OneOff) error
	DeleteOneOffs(ctx context.Context, ids []OneOffID) error
}

// InputReader reads what decides about upcoming orders beside their contracts.
type InputReader interface {
	OneOffReader
	SwapReader
	BoxReader
}

// BoxReader reads bundles.
type BoxReader interface {
	// Boxes returns the shop's bundles, by line. Others have the same slices: they must not be
	// changed.
	Boxes(ctx context.Context, of shop.Shop) (map[shop.Line][]bundle.Settings, error)
}

// SwapReader reads swap rules.
type SwapReader interface {
	// SwapRules returns all rules of the shop, unlocked.
	SwapRules(ctx context.Context) ([]swap.Rule, error)
	// SwapUses returns which rules that act once for a contract have acted, without locking.
	SwapUses(ctx context.Context, contracts []contract.ID) (map[contract.ID]map[swap.ID]bool, error)
	// SwapNotices returns the notices of higher prices by swap rules, by contract, without locking.
	SwapNotices(ctx context.Context, contracts []contract.ID) (map[contract.ID][]swap.Notice, error)
	// PlansFor returns the options that are selling plans, by selling plan, with those of the
	// variants that they sell.
	PlansFor(ctx context.Context, sellingPlans []int64, variants map[int64]platform.Variant) (map[int64]order.Plan, error)
}

// SwapTx reads swap rules and records their use.
type SwapTx interface {
	SwapReader
	// AddSwapUses records that rules have acted. Recorded ones stay.
	AddSwapUses(ctx context.Context, uses []SwapUse) error
	// KeepSold stores of the rules what the shop sells of the products that they name.
	KeepSold(ctx context.Context, rules []swap.Rule, sold map[int64]platform.Variant) error
}

// PlanReader reads plan groups.
type PlanReader interface {
	// PlanGroups returns the groups of selling plans, by selling plan. Plans of no group of
	// ours are left out.
	PlanGroups(ctx context.Context, sellingPlans []int64) (map[int64]plan.Group, error)
}

// AnnotationTx reads and writes annotations and the plans that ask for them.
type AnnotationTx interface {
	PlanReader
	// DueAnnotations returns annotations as DueAttempts does attempts. PutAnnotations inserts
	// and writes as PutAttempts does.
	DueAnnotations(ctx context.Context, now time.Time, limit int) ([]Annotation, error)
	PutAnnotations(ctx context.Context, list []Annotation) error
	DeleteAnnotations(ctx context.Context, ids []AnnotationID) error
	// Subscribed returns the selling plans that ACTIVE contracts of customers have.
	Subscribed(ctx context.Context, customers []int64) ([]Subscribed, error)
}

// PendingWork is what of a shop waits other than due attempts.
type PendingWork struct {
	Unpublished bool // attempts to publish
	Annotations bool // orders and customers to annotate
	Prices      bool // orders to price again
}

// CardTry is a try that counts against a payment method.
type CardTry struct {
	PaymentMethod string // graph id
	At            time.Time
}

// Queue is how far a contract's attempts reach.
type Queue struct {
	Waiting   int       // attempts that are QUEUED
	LastCycle int       // highest cycle of any attempt
	Open      bool      // an order may still be made of an attempt that does not wait: one in flight, or one that failed and is not given up
	Unpaid    bool      // the attempt of the highest cycle failed, given up or not; only of contracts that have an end
	Next      time.Time // earliest billing date of the QUEUED ones; zero when none
	Latest    time.Time // latest billing date of those

	Dates []time.Time // of those, where some may be behind an order that has no attempt yet; else none
}

// Store runs transactions. Update commits when fn returns nil; View is for what only reads.
// Both run fn again when the database asks for it.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}
