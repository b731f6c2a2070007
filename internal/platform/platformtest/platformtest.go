// Package platformtest is the conformance suite of platform.Platform: one promise a
// test, for the simulator and for the real platform.
package platformtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// World is a platform with one store in it, and the director's powers over both.
// Its methods fail the test on any error.
type World interface {
	// Platform is what is tested.
	Platform() platform.Platform
	// Shop is the store.
	Shop() platform.Shop
	// Now is the platform's time. It stands still until Pass is called.
	Now() time.Time
	// Pass lets time pass, and with it everything that falls due.
	Pass(d time.Duration)
	// Contract makes a contract and returns its id.
	Contract(c Contract) int64
	// Outcome makes the contract's next charge end with "SUCCESS", "CHALLENGE"
	// or an error code.
	Outcome(contract int64, code string)
	// Orders returns the number of orders that charges of the contract made.
	Orders(contract int64) int
	// LastOrder returns the last of them.
	LastOrder(contract int64) Order
	// ContractCount returns how many contracts the store has.
	ContractCount() int
	// CustomerTags returns the tags of a customer.
	CustomerTags(customer int64) []string
	// Variants returns the ids of what the store sells, each for 12.50.
	Variants() []int64
	// Code returns a discount code that takes 10 % off two orders.
	Code() string
	// Place returns the graph id of a place where orders can be picked up.
	Place() string
	// UpdateEmails returns the graph ids of the payment methods for which the
	// platform sent an e-mail.
	UpdateEmails() []string
	// AddPayPal gives a customer a PayPal agreement and returns its graph id.
	AddPayPal(customer int64) string
	// BeforeCommit does something just before the next commit of a draft.
	BeforeCommit(meanwhile func())
	// LoseCommits loses the answers of the next n commits of drafts.
	LoseCommits(n int)
	// ChargeUnasked makes another app charge for the cycle that is expected now.
	ChargeUnasked()
	// Break makes what call asks of the platform go wrong.
	Break(how Fault, call func())
	// Subscriptions returns the addresses to which a topic is delivered.
	Subscriptions(topic platform.Topic) []string
	// SubscribeTwice makes a second subscription of a topic behind the client's back.
	SubscribeTwice(topic platform.Topic, address string)
	// Uninstall removes the app from the store.
	Uninstall()
}

// Contract is a contract to be made: active, monthly, in the store's currency.
type Contract struct {
	Next      time.Time // when its first cycle ends and is due
	Lines     int       // 0: one
	Customer  string    // an e-mail address; contracts of one customer share the payment method; "": one of its own
	Note      string
	Unpayable bool // its payment method has expired
}

// Order is what a charge made.
type Order struct {
	ID     int64
	Note   string
	Tags   []string
	Amount money.Amount
	Lines  []OrderLine
}

// OrderLine is a line of an order.
type OrderLine struct {
	Variant  int64
	Quantity int
	Price    money.Amount // of one
}

// Fault is a way in which a request can go wrong.
type Fault string

// The faults.
const (
	AnswerLost  Fault = "the platform does what it is asked and the answer is lost"
	RequestLost Fault = "the platform never hears of it"
	Busy        Fault = "the platform throttles half of the requests"
)

// promise is one test of the suite.
type promise struct {
	name string
	keep func(t *testing.T, w World)
}

// Run tests every promise in a world of its own.
func Run(t *testing.T, newWorld func(t *testing.T) World) {
	t.Helper()
	for _, p := range slices.Concat(charging, scheduling, reading, storing, profiling, planning, editing, cycleEditing, discounting, catalogue, rewarding, guarding) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.keep(t, newWorld(t))
		})
	}
}

// due makes a contract whose first cycle is due now.
func due(w World, c Contract) int64 {
	c.Next = w.Now().Add(time.Hour)
	id := w.Contract(c)
	w.Pass(time.Hour)
	return id
}

// first names the first cycle of a contract.
func first(contract int64) platform.CycleRef { return platform.CycleRef{Contract: contract, Index: 1} }

// charge asks for one charge and expects an attempt.
func charge(t *testing.T, w World, c platform.Charge) platform.Attempt {
	t.Helper()
	answers, err := w.Platform().Charge(t.Context(), w.Shop(), []platform.Charge{c})
	if err != nil {
		t.Fatalf("charge: %v", err)
	}
	if len(answers) != 1 || answers[0].Attempt == nil {
		t.Fatalf("charge: %+v, want an attempt", describe(answers))
	}
	return *answers[0].Attempt
}

// attempt reads one attempt.
func attempt(t *testing.T, w World, id string) platform.Attempt {
	t.Helper()
	got, err := w.Platform().Attempts(t.Context(), w.Shop(), []string{id})
	if err != nil || len(got) != 1 {
		t.Fatalf("read attempt %s: %+v, %v", id, got, err)
	}
	return got[0]
}

// cycle reads one cycle.
func cycle(t *testing.T, w World, ref platform.CycleRef) platform.Cycle {
	t.Helper()
	got, err := w.Platform().Cycles(t.Context(), w.Shop(), ref.Contract, ref.Index, ref.Index)
	if err != nil || len(got) != 1 {
		t.Fatalf("read cycle %d of contract %d: %+v, %v", ref.Index, ref.Contract, got, err)
	}
	return got[0]
}

// state asks for the state of one cycle.
func state(t *testing.T, w World, ref platform.CycleRef) platform.CycleState {
	t.Helper()
	got, err := w.Platform().CycleStates(t.Context(), w.Shop(), []platform.CycleRef{ref})
	if err != nil || len(got) != 1 {
		t.Fatalf("ask for cycle %d of contract %d: %+v, %v", ref.Index, ref.Contract, got, err)
	}
	return got[0]
}

// describe writes answers so that they can be read.
func describe(answers []platform.ChargeAnswer) []string {
	var words []string
	for _, a := range answers {
		switch {
		case a.Attempt != nil:
			words = append(words, string(a.Attempt.State))
		case a.Refused != nil:
			words = append(words, a.Refused.Code)
		default:
			words = append(words, "nothing")
		}
	}
	return words
}

// wantOrders fails the test when charges of the contract made another number of
// orders.
func wantOrders(t *testing.T, w World, contract int64, want int) {
	t.Helper()
	if got := w.Orders(contract); got != want {
		t.Errorf("contract %d has %d orders, want %d", contract, got, want)
	}
}

// wantRefusal fails the test when err is not a refusal with the code.
func wantRefusal(t *testing.T, err error, code string) {
	t.Helper()
	if r, ok := errors.AsType[*platform.Refusal](err); !ok || r.Code != code {
		t.Errorf("got %v, want a refusal with %s", err, code)
	}
}
