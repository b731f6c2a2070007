package loyalty

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tx is one transaction on one shop's loyalty programme. Rows that it reads are
// locked until it ends, except where a method says otherwise. Lists may be empty;
// unknown ids are left out of the answer.
type Tx interface {
	ProgramTx
	AccountTx
	LedgerTx
	FactTx
	RewardTx
	LogTx
}

// ReadTx is one read-only transaction on one shop's loyalty programme. It reads one snapshot
// and locks nothing.
type ReadTx interface {
	shop.Reader
	AccountReader
	LedgerReader
	RewardReader
}

// ProgramTx reads the shop and reads and writes its programme.
type ProgramTx interface {
	shop.Reader
	// Program returns the store's programme without locking it. Version is 0 when the
	// store never had one.
	Program(ctx context.Context) (Program, error)
	PutProgram(ctx context.Context, p Program) error
}

// AccountReader reads members and finds customers.
type AccountReader interface {
	// AccountsOf returns the members among customers, ordered by account id.
	AccountsOf(ctx context.Context, customers []int64) ([]Account, error)
	// Accounts returns members by id, ordered by id.
	Accounts(ctx context.Context, ids []AccountID) ([]Account, error)
	// CustomerByEmail finds a customer among the store's members and contracts, without
	// locking. Customer is 0 when the address is unknown.
	CustomerByEmail(ctx context.Context, email string) (Person, error)
	// CustomerByID does the same by the customer's id on the platform.
	CustomerByID(ctx context.Context, id int64) (Person, error)
}

// AccountTx reads and writes members.
type AccountTx interface {
	AccountReader
	// DueAccounts returns at most limit members whose DueAt is not after now. It skips
	// members that another transaction has locked.
	DueAccounts(ctx context.Context, now time.Time, limit int) ([]Account, error)
	// AddAccounts inserts members. Customers that are already members stay unchanged.
	AddAccounts(ctx context.Context, accounts []Account) error
	// PutAccounts writes members. It fails with a Conflict when a Version has changed
	// since it was read.
	PutAccounts(ctx context.Context, accounts []Account) error
}

// LedgerReader reads what was posted to members.
type LedgerReader interface {
	// OpenLots returns the lots of members that are pending or have points remaining.
	OpenLots(ctx context.Context, accounts []AccountID) ([]Lot, error)
	// Lots returns lots of one member by the Seq of the entries that created them.
	Lots(ctx context.Context, of AccountID, seqs []int64) ([]Lot, error)
	// Posted returns the entries that were posted for sources.
	Posted(ctx context.Context, sources []Source) ([]Entry, error)
	// EntriesBetween returns what was posted to a member from an instant on and before another
	// one, in order.
	EntriesBetween(ctx context.Context, of AccountID, from, to time.Time) ([]Entry, error)
	// UsesOf returns the uses of one entry.
	UsesOf(ctx context.Context, of AccountID, seq int64) ([]Use, error)
	// Ledger returns all entries, uses and lots of a member, in order.
	Ledger(ctx context.Context, of AccountID) ([]Entry, []Use, []Lot, error)
}

// LedgerTx reads and writes what was posted to members.
type LedgerTx interface {
	LedgerReader
	// Post inserts entries, sets their IDs, inserts uses and writes lots.
	Post(ctx context.Context, entries []Entry, uses []Use, lots []Lot) error
}

// FactTx reads and writes the orders that may earn points.
type FactTx interface {
	// Facts returns at most limit facts that are due, oldest first. It skips facts that
	// another transaction has locked.
	Facts(ctx context.Context, now time.Time, limit int) ([]Fact, error)
	// FinishFacts marks facts as processed. Their rows stay.
	FinishFacts(ctx context.Context, facts []Fact) error
	// DeleteFacts deletes facts that the programme does not count now. AddPastFacts can
	// add them again.
	DeleteFacts(ctx context.Context, facts []Fact) error
	// ProgramActive reports whether the programme is active. Until the transaction ends, no
	// other one can start the programme.
	ProgramActive(ctx context.Context) (bool, error)
	// AddFacts adds the facts of charged attempts and created contracts, skips those that
	// exist, and enqueues Work when it added any.
	AddFacts(ctx context.Context, attempts, contracts []int64) error
	// AddPastFacts adds the first orders and renewals since an instant for which no
	// fact exists yet. It waits for the transactions that called ProgramActive.
	AddPastFacts(ctx context.Context, since, now time.Time) error
}

// RewardReader reads rewards.
type RewardReader interface {
	Rewards(ctx context.Context, ids []RewardID) ([]Reward, error)
	// RewardByCode returns the reward with a discount code. Its ID is 0 when there is none.
	RewardByCode(ctx context.Context, code string) (Reward, error)
	// RewardsOf returns the rewards of members that are in one of the given states.
	RewardsOf(ctx context.Context, of []AccountID, in ...State) ([]Reward, error)
}

// RewardTx reads and writes rewards and store credit.
type RewardTx interface {
	RewardReader
	// DueRewards returns at most limit rewards whose DueAt is not after now. It skips
	// rewards that another transaction has locked.
	DueRewards(ctx context.Context, now time.Time, limit int) ([]Reward, error)
	// PutReward inserts a reward whose Version is 0 and otherwise updates it under the
	// version rule of PutAccounts.
	PutReward(ctx context.Context, r Reward) error
	// AddCredit inserts store credit and sets its ID.
	AddCredit(ctx context.Context, c *Credit) error
}

// LogTx records and publishes what a transaction did.
type LogTx interface {
	// ClaimRequest stores an idempotency key for as long as the request may be repeated, and
	// reports whether the key was stored before.
	ClaimRequest(ctx context.Context, key string, now time.Time) (bool, error)
	// Number returns a number that is unique within the database.
	Number(ctx context.Context) (int64, error)
	// PublishMemberEvents publishes events to the shop's subscribers, in order.
	PublishMemberEvents(ctx context.Context, events ...Event) error
	activity.Recorder
	notify.Outbox
}

// Store runs transactions. Update commits when fn returns nil; View is for what only reads.
// Both may run fn more than once, when the database reports a conflict.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Reader reads outside of a transaction.
type Reader interface {
	// LoyaltyProgram returns a store's programme.
	LoyaltyProgram(ctx context.Context, of shop.ID) (Program, error)
	// LoyaltyMember returns a member with its open lots, or NotFound.
	LoyaltyMember(ctx context.Context, of shop.ID, who CustomerRef) (Account, []Lot, error)
	// LoyaltyRewards returns a member's rewards with a status (empty: any), newest first.
	LoyaltyRewards(ctx context.Context, of shop.ID, member AccountID, status RewardStatus) ([]Reward, error)
	// LoyaltyEntries returns a page of a member's entries and their total number, newest
	// first unless the page has a sort order.
	LoyaltyEntries(ctx context.Context, of shop.ID, member AccountID, p page.Request) ([]Entry, int, error)
	// LoyaltyEntry returns an entry, or NotFound.
	LoyaltyEntry(ctx context.Context, of shop.ID, id EntryID) (Entry, error)
	// LoyaltyCredit returns store credit, or NotFound.
	LoyaltyCredit(ctx context.Context, of shop.ID, id CreditID) (Credit, error)
	// TopMembers returns a page of the active members and their total number, by points
	// earned unless the page has a sort order.
	TopMembers(ctx context.Context, of shop.ID, p page.Request) ([]Account, int, error)
}

// Fields by which top members can be sorted.
const (
	FieldCustomer   = "customerId"
	FieldFirstName  = "firstName"
	FieldLastName   = "lastName"
	FieldEarned     = "pointsEarned"
	FieldActivities = "activitiesCompleted"
)
