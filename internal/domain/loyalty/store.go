package loyalty

import (
	"context"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tx is one transaction on one shop's members. Rows that it reads are locked
// until it ends, save where a method says otherwise. Lists may be empty; unknown
// ids are left out.
type Tx interface {
	// Shop is not locked.
	Shop(ctx context.Context) (shop.Shop, error)
	// Program returns the store's programme without locking it; one that was
	// never set up has a Version of 0.
	Program(ctx context.Context) (Program, error)
	PutProgram(ctx context.Context, p Program) error

	// AccountsOf returns the members among customers, and Accounts members by
	// their ids, in the order of their ids.
	AccountsOf(ctx context.Context, customers []int64) ([]Account, error)
	Accounts(ctx context.Context, ids []AccountID) ([]Account, error)
	// DueAccounts returns at most limit members whose DueAt is at or before
	// now, passing over those that another transaction holds.
	DueAccounts(ctx context.Context, now time.Time, limit int) ([]Account, error)
	// AddAccounts inserts members, save those who are members already.
	AddAccounts(ctx context.Context, accounts []Account) error
	// PutAccounts writes members whose Version is still what was read;
	// otherwise it fails with a Conflict.
	PutAccounts(ctx context.Context, accounts []Account) error
	// CustomerByEmail returns, without locking, a customer of whom the store's
	// members or contracts know the address. Unknown ones have no number.
	CustomerByEmail(ctx context.Context, email string) (Person, error)
	// CustomerByID does the same by the platform's number.
	CustomerByID(ctx context.Context, id int64) (Person, error)

	// OpenLots returns the lots of members that are pending or have a rest.
	OpenLots(ctx context.Context, accounts []AccountID) ([]Lot, error)
	// Lots returns lots of one member by the Seq of the entries that made them.
	Lots(ctx context.Context, of AccountID, seqs []int64) ([]Lot, error)
	// Post adds entries, to which it gives their IDs, and uses, and writes lots.
	Post(ctx context.Context, entries []Entry, uses []Use, lots []Lot) error
	// Posted returns the entries that sources have led to.
	Posted(ctx context.Context, sources []Source) ([]Entry, error)
	// UsesOf returns the uses of one entry.
	UsesOf(ctx context.Context, of AccountID, seq int64) ([]Use, error)
	// Ledger returns everything that was posted to a member, in order, and all
	// lots.
	Ledger(ctx context.Context, of AccountID) ([]Entry, []Use, []Lot, error)

	// Facts returns at most limit facts that wait to be worked, oldest first,
	// passing over those that another transaction holds.
	Facts(ctx context.Context, now time.Time, limit int) ([]Fact, error)
	// FinishFacts marks facts as worked. They stay known.
	FinishFacts(ctx context.Context, facts []Fact) error
	// ForgetFacts forgets facts that do not count as the programme is: AddPastFacts
	// notes them again.
	ForgetFacts(ctx context.Context, facts []Fact) error
	// AddPastFacts notes the first orders and renewals since an instant that
	// were not noted when they were made.
	AddPastFacts(ctx context.Context, since, now time.Time) error

	Rewards(ctx context.Context, ids []RewardID) ([]Reward, error)
	// RewardByCode returns the reward with a discount code; none has no ID.
	RewardByCode(ctx context.Context, code string) (Reward, error)
	// RewardsOf returns the rewards of members that are in one of some states.
	RewardsOf(ctx context.Context, of []AccountID, in ...State) ([]Reward, error)
	// DueRewards is to rewards what DueAccounts is to members.
	DueRewards(ctx context.Context, now time.Time, limit int) ([]Reward, error)
	// PutReward inserts a reward whose ID has a Version of 0 and writes another
	// under the rule of PutAccounts.
	PutReward(ctx context.Context, r Reward) error
	// AddCredit notes store credit that was given, in minor units, and gives it its ID.
	AddCredit(ctx context.Context, c *Credit) error

	// PublishMemberEvents owes news to whoever listens for them, in their order.
	PublishMemberEvents(ctx context.Context, news ...Event) error

	// Repeats notes that a request is carried out, for as long as it may come again,
	// and reports whether one of this name was before.
	Repeats(ctx context.Context, request string, now time.Time) (bool, error)

	// Number returns a number that nothing else has.
	Number(ctx context.Context) (int64, error)

	Record(ctx context.Context, entries ...activity.Entry) error
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Store runs transactions. Update commits when fn returns nil and runs fn again
// when the database asks for it.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Reader reads without a transaction.
type Reader interface {
	// LoyaltyProgram returns a store's programme.
	LoyaltyProgram(ctx context.Context, of shop.ID) (Program, error)
	// LoyaltyMember returns a member with the lots that are open, or NotFound.
	LoyaltyMember(ctx context.Context, of shop.ID, who CustomerRef) (Account, []Lot, error)
	// LoyaltyRewards returns a member's rewards in the given standing (empty:
	// all), newest first.
	LoyaltyRewards(ctx context.Context, of shop.ID, member AccountID, standing RewardStatus) ([]Reward, error)
	// LoyaltyEntries returns a page of a member's entries, newest first unless
	// the page says otherwise, and how many there are.
	LoyaltyEntries(ctx context.Context, of shop.ID, member AccountID, p page.Request) ([]Entry, int, error)
	// LoyaltyEntry returns an entry, or NotFound, and LoyaltyCredit store credit that
	// was given.
	LoyaltyEntry(ctx context.Context, of shop.ID, id EntryID) (Entry, error)
	LoyaltyCredit(ctx context.Context, of shop.ID, id CreditID) (Credit, error)
	// TopMembers returns a page of the members who take part, by what they have
	// earned unless the page says otherwise, and how many there are.
	TopMembers(ctx context.Context, of shop.ID, p page.Request) ([]Account, int, error)
}

// CustomerRef names a customer: by number, or else by e-mail address. Where both are
// given the number says who it is, and the address must not say otherwise.
type CustomerRef struct {
	Customer int64
	Email    string
}

// checkEmail refuses a number and an address of which it is known that they are not
// of the same customer.
func (w CustomerRef) checkEmail(p Person) error {
	if w.Customer == 0 || w.Email == "" || p.Email == "" || strings.EqualFold(w.Email, p.Email) {
		return nil
	}
	return fault.New(fault.Invalid, "customer %d has another e-mail address than %q", w.Customer, w.Email).Entity(entity).Code("emailMismatch").Field("customerEmail")
}

// Fields by which top members can be sorted.
const (
	FieldCustomer   = "customerId"
	FieldFirstName  = "firstName"
	FieldLastName   = "lastName"
	FieldEarned     = "pointsEarned"
	FieldActivities = "activitiesCompleted"
)
