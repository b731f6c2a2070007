package billing

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Tx is one transaction on one shop's data. Rows that it reads are locked until
// it ends, save where a method says otherwise. Lists may be empty; unknown ids
// are left out.
type Tx interface {
	notify.Outbox

	Shop(ctx context.Context) (shop.Shop, error)
	// ShopToCharge is Shop, and keeps others from changing the shop until the
	// transaction ends: who freezes it waits, or is seen.
	ShopToCharge(ctx context.Context) (shop.Shop, error)
	PutShop(ctx context.Context, s shop.Shop) error

	// DueAttempts returns at most limit attempts whose DueAt is at or before
	// now, earliest first, passing over those that another transaction holds.
	DueAttempts(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// DueInFlight does the same for those in flight alone.
	DueInFlight(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// UnpublishedAttempts does the same by PublishAt, and passes over those of
	// contracts of which somebody is telling the platform.
	UnpublishedAttempts(ctx context.Context, now time.Time, limit int) ([]Attempt, error)
	// ClaimNews lets the caller alone tell the platform of attempts until an
	// instant. It returns those of contracts of which nobody else is telling, with
	// their versions raised. The contracts must be locked.
	ClaimNews(ctx context.Context, news []Attempt, now, until time.Time) ([]Attempt, error)
	// Waits says, without locking, what else of the shop waits.
	Waits(ctx context.Context, now time.Time) (Waits, error)
	Attempts(ctx context.Context, ids []AttemptID) ([]Attempt, error)
	AttemptsByKey(ctx context.Context, keys []string) ([]Attempt, error)
	// AttemptsOf returns the contracts' attempts in any of the statuses (none:
	// all), ordered by contract and cycle.
	AttemptsOf(ctx context.Context, contracts []contract.ID, in ...Status) ([]Attempt, error)
	// OpenAttempts returns the contracts' attempts that are in flight, or QUEUED
	// for a date at or before now, ordered by contract and cycle.
	OpenAttempts(ctx context.Context, contracts []contract.ID, now time.Time) ([]Attempt, error)
	// PutAttempts inserts attempts whose ID is 0, giving them one, and writes
	// the others if their Version is still what was read; otherwise it fails
	// with a Conflict. It raises the versions in the slice. A second attempt
	// for one cycle is a Conflict too.
	PutAttempts(ctx context.Context, attempts []Attempt) error
	DeleteAttempts(ctx context.Context, ids []AttemptID) error
	// Queues says, without locking, how far each contract's queue reaches.
	Queues(ctx context.Context, contracts []contract.ID) (map[contract.ID]Queue, error)

	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// PutProgress writes what billing owns of the contracts (the series, the
	// next date, orders, last payment, dunning, versions and UpdatedAt), when the
	// contract is to be changed, what is on its way to the platform, and the
	// revision that was read, under the same version rule as PutAttempts. Nothing
	// else of the contract is written.
	PutProgress(ctx context.Context, contracts []contract.Contract) error
	// PutContracts inserts or replaces contracts with their lines, under the
	// version rule of PutAttempts; a Version of 0 inserts.
	PutContracts(ctx context.Context, contracts []contract.Contract) error

	// AddRun adds to what is counted of the store's charges in a slot of time, and
	// forgets slots that are a day old. RunSince sums the slots that begin at or
	// after an instant.
	AddRun(ctx context.Context, slot time.Time, r ChargeStats) error
	RunSince(ctx context.Context, slot time.Time) (ChargeStats, error)

	// CountTriggers counts the contract's immediate charges since an instant;
	// AddTrigger notes one more.
	CountTriggers(ctx context.Context, c contract.ID, since time.Time) (int, error)
	AddTrigger(ctx context.Context, c contract.ID, at time.Time) error

	// CardTries returns, unlocked and by payment method, the tries since an instant
	// that count against it. AddCardTries notes more, and may forget what is older
	// than dunning.TryWindow.
	CardTries(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error)
	AddCardTries(ctx context.Context, tries []CardTry) error
	// SentWith returns, unlocked and by payment method, when charges of contracts
	// that have it were sent last, if that was at or after an instant.
	SentWith(ctx context.Context, methods []string, since time.Time) (map[string][]time.Time, error)
	// MailsUnder says, without locking, what became of e-mails, by the keys under
	// which they are kept. Keys of none are left out.
	MailsUnder(ctx context.Context, keys []string) (map[string]notify.Status, error)
	// ContractsInDunning returns the contracts with an open case.
	ContractsInDunning(ctx context.Context) ([]contract.Contract, error)

	// OneOffs returns the one-time products of contracts whose orders are not
	// made yet, by contract, cycle and ID.
	OneOffs(ctx context.Context, contracts []contract.ID) ([]OneOff, error)
	// PutOneOffs inserts and writes as PutAttempts does. A second one of a
	// variant for one cycle is a Conflict.
	PutOneOffs(ctx context.Context, list []OneOff) error
	DeleteOneOffs(ctx context.Context, ids []OneOffID) error

	// SwapRules returns all rules of the shop, unlocked.
	SwapRules(ctx context.Context) ([]swap.Rule, error)
	// SwapUses says, without locking, which rules that act once for a contract
	// have acted.
	SwapUses(ctx context.Context, contracts []contract.ID) (map[contract.ID]map[swap.ID]bool, error)
	// AddSwapUses notes that rules have acted. Those that are noted already stay.
	AddSwapUses(ctx context.Context, uses []SwapUse) error

	// PlanGroups returns the groups to which selling plans belong, by selling
	// plan. Plans that no group of ours has are left out.
	PlanGroups(ctx context.Context, sellingPlans []int64) (map[int64]plan.Group, error)
	// DueMarks returns marks as DueAttempts does attempts. PutMarks inserts and
	// writes as PutAttempts does.
	DueMarks(ctx context.Context, now time.Time, limit int) ([]Annotation, error)
	PutMarks(ctx context.Context, marks []Annotation) error
	DeleteMarks(ctx context.Context, ids []AnnotationID) error
	// Subscribed returns the selling plans that ACTIVE contracts of customers have.
	Subscribed(ctx context.Context, customers []int64) ([]Subscribed, error)

	Record(ctx context.Context, entries ...activity.Entry) error
}

// Waits says what of a shop waits besides due attempts.
type Waits struct {
	News  bool // attempts of which the platform is to be told
	Marks bool // orders and customers to be marked
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

// Store runs transactions. Update commits when fn returns nil and runs fn again
// when the database asks for it.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Book reads attempts without a transaction.
type Book interface {
	// Attempt returns one attempt of the line, or NotFound.
	Attempt(ctx context.Context, of shop.ID, line shop.Line, id AttemptID) (Record, error)
	// AttemptsWhere returns a page of the attempts of a contract, or of all
	// contracts of a customer, in the question's order unless the page has one,
	// and how many there are. A contract that the line does not have is
	// NotFound, and so is one that is not the question's customer's.
	AttemptsWhere(ctx context.Context, of shop.ID, q Question, p page.Request) ([]Record, int, error)
}

// Question selects attempts. At least one of Contract and Customer is set. With
// both, the contract must be the customer's.
type Question struct {
	Line     shop.Line
	Contract contract.ID
	Customer int64
	Upcoming bool // QUEUED ones, soonest first; otherwise those that are past, newest first
}

// Record is an attempt and the contract that it belongs to.
type Record struct {
	Attempt
	Of contract.Contract

	OneOffs []OneOff                      // what the order carries besides its lines, while it has not been prepared
	Ahead   int                           // orders of the contract that come before it
	Mails   map[notify.Kind]notify.Status // what became of the last e-mail of a kind about the attempt

	shop     shop.Shop       // while a command works on the record
	restarts contract.Series // with which the contract's calendar begins anew; none: it goes on
	opens    opening         // of its cycle, where that was asked
}

// CountAhead notes how many orders of the contract come before the record's, by the
// attempts of contracts that are open. One that could not be charged comes first, for as
// long as it may be.
func (r *Record) CountAhead(open []Attempt) {
	r.Ahead = 0
	for _, a := range open {
		if a.Contract == r.Of.ID && a.Precedes(r.Attempt) {
			r.Ahead++
		}
	}
	if unpaid := r.Of.Dunning; unpaid != nil && !r.Of.EndsAfterDunning() && r.Status == Queued && unpaid.Cycle != r.Cycle {
		r.Ahead++
	}
}

// Cost returns what the attempt charged or, before that, what its order would come
// to today, before taxes. That of an order which is left out stays what it was then.
func (r Record) Cost() money.Amount {
	if r.Amount != (money.Amount{}) {
		return r.Amount
	}
	return r.Of.Cost(r.LinesOf(), r.Cycle, r.Ahead)
}

// LinesOf returns what the attempt charged or left out or, before that, what it
// would charge today.
func (r Record) LinesOf() []contract.Line {
	if r.settled() {
		return r.Attempt.Lines
	}
	lines := slices.Clip(r.Of.Lines)
	for _, o := range r.OneOffs {
		lines = append(lines, o.Line())
	}
	return lines
}

// settled reports whether the attempt's own lines count: those that were sent, or
// that its order was given for the contract as it is.
func (r Record) settled() bool {
	switch {
	case len(r.Attempt.Lines) == 0:
		return false
	case r.Status != Queued && r.Status != Failure:
		return true
	}
	return r.Prep.Stage == Ready && r.Prep.Contract == fingerprintOf(r.Of.Lines)
}
