// Package platform is what the service needs of the commerce platform: the
// promises, and the values that cross the boundary. shopify keeps the promises
// with the real API; simulator plays the other side of it.
package platform

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Shop is a store's address at the platform and the token that opens it.
type Shop struct {
	Domain string // <store>.myshopify.com
	Token  Token
}

// Token opens a store. It prints as dots.
type Token string

// String hides the token.
func (Token) String() string { return "•••" }

// GoString hides the token from %#v.
func (Token) GoString() string { return "•••" }

// LogValue hides the token from structured logs.
func (Token) LogValue() slog.Value { return slog.StringValue("•••") }

// What a call can fail with, in addition to the context's own errors. A *Refusal is a
// definite "no"; everything else but ErrUnknown means that nothing was done.
var (
	// ErrUnknown says that the platform may or may not have done what was
	// asked: the answer was lost, late or unreadable.
	ErrUnknown = errors.New("the platform's answer is unknown")
	// ErrThrottled says that nothing was done because a limit is used up.
	ErrThrottled = errors.New("the platform throttles this store")
	// ErrDisconnected says that the store's token no longer opens it.
	ErrDisconnected = errors.New("the store's connection is gone")
	// ErrNotFound says that the platform has no such object for this store.
	ErrNotFound = errors.New("not found at the platform")
)

// Refusal is the platform's definite answer that it did not do what was asked.
type Refusal struct {
	Code    string // the platform's error code, upper case; may be empty
	Field   string // dotted path of the input at fault; may be empty
	Message string
}

// Error returns the code and the message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// Definite reports whether the platform has said that it will not do what was asked:
// asked again, it says so again.
func Definite(err error) bool {
	_, refused := errors.AsType[*Refusal](err)
	return refused || errors.Is(err, ErrNotFound)
}

// Limits of one call. Longer lists are an error of the caller's.
const (
	MaxCharges = 25 // charges, and cycle questions, in one call
	MaxIDs     = 50 // objects read by id in one call
	MaxMethods = 10 // payment methods of each customer, where many customers' are read

	MaxProducts        = 20 // products whose variants are read in one call
	MaxProductVariants = 50 // variants of each that are read then
)

// Stores reads what the store itself is.
type Stores interface {
	// Store returns the store's own facts.
	Store(ctx context.Context, shop Shop) (Store, error)
	// Subscribe makes sure that every topic is delivered to the address. It
	// may be called again at any time and never makes a second subscription.
	Subscribe(ctx context.Context, shop Shop, address string, topics []Topic) error
}

// Contracts reads contracts and the objects around them.
type Contracts interface {
	// Contracts returns the contracts with the given numeric ids, at most
	// MaxIDs. Ids that the platform does not know are left out.
	Contracts(ctx context.Context, shop Shop, ids []int64) ([]Contract, error)
	// ContractsUpdatedSince returns a page of contract ids that changed at or
	// after since, oldest change first, and the cursor of the next page, or "".
	ContractsUpdatedSince(ctx context.Context, shop Shop, since time.Time, cursor string) (ids []int64, next string, err error)
	// Cycles returns the billing cycles with from ≤ index ≤ to, in order. The
	// platform may know fewer.
	Cycles(ctx context.Context, shop Shop, contract int64, from, to int) ([]Cycle, error)
	// ContractsPaidWith returns the ids of contracts that use the payment method.
	ContractsPaidWith(ctx context.Context, shop Shop, paymentMethod string) ([]int64, error)
	// CustomerContracts returns the ids of the customer's contracts, or ErrNotFound.
	CustomerContracts(ctx context.Context, shop Shop, customer int64) ([]int64, error)
}

// Scheduler changes one billing cycle. Repeating a call changes nothing more.
type Scheduler interface {
	SkipCycle(ctx context.Context, shop Shop, contract int64, cycle int) error
	UnskipCycle(ctx context.Context, shop Shop, contract int64, cycle int) error
	// MoveCycle sets the date on which the cycle is expected to be charged.
	MoveCycle(ctx context.Context, shop Shop, contract int64, cycle int, at time.Time) error
	// SetNextBillingDate writes the date that the platform shows to people. It
	// has no effect on when anything is charged.
	SetNextBillingDate(ctx context.Context, shop Shop, contract int64, at time.Time) error
}

// Charger takes payments. The answers have the order of the questions.
type Charger interface {
	// CycleStates says what the platform knows of each cycle and of the
	// charges made for it, including those of other apps.
	CycleStates(ctx context.Context, shop Shop, of []CycleRef) ([]CycleState, error)
	// Charge asks for one order and payment each. Repeating a key returns the
	// attempt made first. A charge that was refused has a Refusal in its
	// answer; an error of the call as a whole says the same of every charge.
	Charge(ctx context.Context, shop Shop, charges []Charge) ([]ChargeAnswer, error)
	// Attempts returns the billing attempts with the given graph ids, at most
	// MaxIDs. Ids that the platform does not know are left out.
	Attempts(ctx context.Context, shop Shop, ids []string) ([]Attempt, error)
}

// Platform is all of it.
type Platform interface {
	Stores
	Contracts
	Scheduler
	Charger
	Editor
	Catalogue
	Finder
	Profiles
	Plans
	Rewards
	Epochs
	Books
	Installations
}

// Store is a store's own facts.
type Store struct {
	ID          int64
	Domain      string
	Name        string
	Email       string
	TimeZone    string // IANA name
	Currency    money.Currency
	CountryCode string
}

// Contract is a subscription contract as the platform holds it.
type Contract struct {
	ID              int64
	Revision        uint64 // grows with every change of the contract
	Status          string // ACTIVE, PAUSED, CANCELLED, EXPIRED, FAILED
	CreatedAt       time.Time
	UpdatedAt       time.Time
	NextBillingDate time.Time // zero when unset
	Currency        money.Currency
	Billing         Policy
	Delivery        Policy
	Customer        Customer
	PaymentMethod   PaymentMethod // zero when none
	OriginOrder     OriginOrder   // zero when none
	DeliveryPrice   money.Amount
	DeliveryCountry string // two letters, may be empty
	Note            string
	Attributes      []Attribute
	Lines           []Line
	Pricing         map[string]Pricing // by line, of those whose price changes with the cycles; of each step only After and Computed
	Discounts       []Discount
	LastPayment     string // SUCCEEDED, FAILED or empty
}

// Policy is how often something recurs. MinCycles and MaxCycles (0: none) are
// set on billing policies only.
type Policy struct {
	Interval  string // DAY, WEEK, MONTH, YEAR
	Count     int
	Anchors   []Anchor
	MinCycles int
	MaxCycles int
}

// Anchor is a fixed day on which a policy falls.
type Anchor struct {
	Type      string // WEEKDAY, MONTHDAY, YEARDAY
	Day       int    // WEEKDAY 1 (Monday) to 7; otherwise the day of the month
	Month     int    // YEARDAY only, 1 to 12
	CutoffDay int    // the fixed day of a week or month that closes the anchor to new orders; 0: none
}

// Customer is who pays.
type Customer struct {
	ID                         int64
	Email, FirstName, LastName string
	DisplayName, Phone         string
	Tags                       []string // only where customers are asked for
}

// PaymentMethod is what the customer pays with.
type PaymentMethod struct {
	ID             string // graph id
	Revoked        bool
	BillingCountry string // two letters, may be empty
	Kind           string // the platform's name of the instrument's type; may be empty
	Brand          string
	LastDigits     string
	ExpiryMonth    int
	ExpiryYear     int
	Instrument     Instrument // only where payment methods are asked for
}

// OrderRef names an order.
type OrderRef struct {
	ID   int64
	Name string // "#1001"
}

// OriginOrder is the checkout's order with which a contract began. Other products, and other
// contracts, may have been bought with it.
type OriginOrder struct {
	OrderRef
	Pieces int          // of all its products
	Total  money.Amount // with delivery, taxes and discounts, before refunds; no currency: not known
}

// Attribute is a custom key and value.
type Attribute struct{ Key, Value string }

// Line is a line item of a contract.
type Line struct {
	ID              string // graph id
	ProductID       int64  // 0 when the product is gone
	VariantID       int64
	SKU             string
	Title           string
	VariantTitle    string
	Image           string
	Quantity        int
	Price           money.Amount // current unit price
	SellingPlanID   int64
	SellingPlanName string
	Taxable         bool
}

// Cycle is a billing cycle as the platform sees it.
type Cycle struct {
	Index    int // from 1
	Start    time.Time
	End      time.Time
	Expected time.Time // when the platform expects the charge
	Billed   bool
	Skipped  bool
	Edited   bool
}

// CycleRef names a cycle of a contract.
type CycleRef struct {
	Contract int64
	Index    int
}

// CycleState is what the platform knows of a cycle.
type CycleState struct {
	CycleRef
	Missing  bool // the platform has no such cycle or contract
	Cycle    Cycle
	Attempts []Attempt // of this cycle
	Recent   []Attempt // the contract's latest ones, of any cycle, newest first
}

// Charge is a question for one order and one payment.
type Charge struct {
	CycleRef
	Key string // idempotency key
}

// ChargeAnswer is the answer to one Charge: exactly one of the two is set.
type ChargeAnswer struct {
	Attempt *Attempt
	Refused *Refusal
}

// AttemptState is how far a billing attempt is.
type AttemptState string

// The states of a billing attempt at the platform.
const (
	Pending    AttemptState = "PENDING"
	Succeeded  AttemptState = "SUCCEEDED"
	Failed     AttemptState = "FAILED"
	Challenged AttemptState = "CHALLENGED" // the customer must act at NextActionURL
)

// Attempt is a billing attempt as the platform holds it.
type Attempt struct {
	ID            string // graph id
	Contract      int64
	Key           string
	State         AttemptState
	CreatedAt     time.Time
	CompletedAt   time.Time
	ErrorCode     string // of a failed attempt, upper case
	ErrorMessage  string
	NextActionURL string
	Order         OrderRef // of a successful attempt
	Amount        money.Amount
}

// Topic is a webhook topic as it is written in headers, such as
// "subscription_contracts/create".
type Topic string

// The topics that the service listens to.
const (
	ContractCreated   Topic = "subscription_contracts/create"
	ContractUpdated   Topic = "subscription_contracts/update"
	AttemptSucceeded  Topic = "subscription_billing_attempts/success"
	AttemptFailed     Topic = "subscription_billing_attempts/failure"
	AttemptChallenged Topic = "subscription_billing_attempts/challenged"
	CycleEditCreated  Topic = "subscription_billing_cycle_edits/create"
	CycleEditUpdated  Topic = "subscription_billing_cycle_edits/update"
	CycleEditDeleted  Topic = "subscription_billing_cycle_edits/delete"
	PaymentCreated    Topic = "customer_payment_methods/create"
	PaymentUpdated    Topic = "customer_payment_methods/update"
	PaymentRevoked    Topic = "customer_payment_methods/revoke"
	Uninstalled       Topic = "app/uninstalled"
	ShopUpdated       Topic = "shop/update"
	CustomersMerged   Topic = "customers/merge"
)

// The topics about people, which the platform sends to the address that the app's own
// configuration names. A customer asks for their data or for its erasure; the platform
// asks for the erasure of a store that uninstalled the app.
const (
	DataRequest    Topic = "customers/data_request"
	CustomerRedact Topic = "customers/redact"
	ShopRedact     Topic = "shop/redact"
)

// Topics lists every topic that the service asks the platform for.
var Topics = []Topic{
	ContractCreated, ContractUpdated, AttemptSucceeded, AttemptFailed, AttemptChallenged,
	CycleEditCreated, CycleEditUpdated, CycleEditDeleted, PaymentCreated, PaymentUpdated, PaymentRevoked, Uninstalled, ShopUpdated,
}

// SpareTopics are those for which the platform wants a scope that not every app has. The
// service does without them where it is refused.
var SpareTopics = []Topic{CustomersMerged}

// Family names the topics whose events are worked alike: a payload of one does no harm as
// another's, and the platform may send both with equal payloads. Topics that end a
// connection or erase something have a family of their own.
func (t Topic) Family() string {
	subject, _, _ := strings.Cut(string(t), "/")
	switch subject {
	case "app", "shop", "customers":
		return string(t)
	}
	return subject
}

// Event is a webhook whose signature was checked. Only the body is signed: Topic, Shop,
// TriggeredAt and ID come from headers and are hints. Ids that its topic does not carry
// are zero.
type Event struct {
	ID            string // the same for every delivery of one event
	Signature     string // of the body, in base64; empty: the body was empty, and says nothing
	Topic         Topic
	Shop          string // domain
	TriggeredAt   time.Time
	APIVersion    string
	Contract      int64
	Revision      uint64 // of the contract; 0 when the payload has none
	Attempt       string // graph id of the billing attempt
	Key           string // idempotency key of the billing attempt
	Cycle         int
	PaymentMethod string // graph id
	Customer      int64
	Kept          int64 // the customer who is there in place of Customer
}

// Webhooks opens what the platform sends. The header function returns a
// header's value by name, "" when it is absent. A wrong or missing signature is
// a fault of kind Unauthenticated; a body or header that cannot be read is
// Invalid.
type Webhooks interface {
	Open(header func(name string) string, body []byte) (Event, error)
}

// Visit is what the platform vouches for when it hands a shopper's request on from
// a store's own domain.
type Visit struct {
	Shop      string     // domain of the store
	Elsewhere bool       // the shopper's own query names another store
	Customer  int64      // the customer who is signed in at the store; 0: none
	Prefix    string     // path at the store's domain under which the app is reached
	Query     url.Values // the shopper's own, without what the platform added
}

// Proxy opens requests that the platform hands on. What is not the platform's, or
// was signed too long before or after now, is a fault of kind Unauthenticated. With
// named, the shopper may have named a store too, beside the platform: Elsewhere says
// whether it is another one.
type Proxy interface {
	Open(query url.Values, named bool, now time.Time) (Visit, error)
}
