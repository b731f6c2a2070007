package prove

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Invariant names one of the promises of the design, by number.
type Invariant string

// The invariants that are checked.
const (
	I1  Invariant = "I1"
	I2  Invariant = "I2"
	I3  Invariant = "I3"
	I4  Invariant = "I4"
	I5  Invariant = "I5"
	I6  Invariant = "I6"
	I7  Invariant = "I7"
	I8  Invariant = "I8"
	I10 Invariant = "I10"
	I11 Invariant = "I11"
	I12 Invariant = "I12"
	I13 Invariant = "I13"
	I14 Invariant = "I14"
	I15 Invariant = "I15"
	I16 Invariant = "I16"
	I17 Invariant = "I17"
	I18 Invariant = "I18"
	I19 Invariant = "I19"
)

// Check is an invariant, and how it is checked.
type Check struct {
	Is  Invariant
	How string
}

// Invariants says how each is checked, in their order.
var Invariants = []Check{
	{I1, "at every order that the platform makes: it is the first for its contract and cycle"},
	{I2, "at the end of the calm, for every due cycle of every contract: one order, or one status with its entry; the due dates of contracts without a change come from the oracle"},
	{I3, "at the end of the calm, both ways: every order of the platform has one successful attempt with its number, amount and lines, and every successful attempt an order"},
	{I4, "at the end of the calm: no attempt is under way for longer than its horizon, no event and no task of the tables waits that is due"},
	{I5, "at every charge that the platform accepts: no other charge of the cycle is open, and its intent was committed, with its key, for a contract that ran"},
	{I6, "at every checkpoint and at the end: the next date of a running contract is that of its earliest waiting attempt; in the end it is to come, and untouched contracts have the oracle's dates"},
	{I7, "in the end: every attempt that ended has the entry of its end, once for an order; at every checkpoint: no entry that was there has changed or gone"},
	{I8, "in the end: every event that a node accepted was worked and none was given up, and no message waits to be sent"},
	{I10, "at every call: the token, the address and every object it names belong to one store; in the end: so does every row"},
	{I11, "at every charge that the platform accepts: no more charges of a cycle, on a day and with a card, than the rules of dunning allow in addition to those that people asked for; none after a decline that forbids it; none for a contract that was cancelled when the intent was committed (I5)"},
	{I12, "the first world is run twice and must leave the same trace"},
	{I13, "in the end, of prepaid contracts that were cancelled or expired: each was over no earlier than the last delivery that was paid for, or the end of what was paid where it was cancelled, by the oracle's dates; it was over then, and nothing was charged afterwards"},
	{I14, "in the end, for contracts whose later orders were moved before earlier ones or to their days: each order was made once, and when it was planned last"},
	{I15, "in the end, of orders that are declined however often they are tried: each was tried as often, and on the days, as the oracle's plan of its store says, and given up once, and then"},
	{I16, "in the end: every contract has one entry of having been made, every cycle as many of orders and declines as the platform has, and every request of people its entries, none twice"},
	{I17, "in the end, of contracts on prepaid offers that become cheaper: each order has the oracle's price for its place and for all its deliveries, and is over the sum"},
	{I18, "in the end, of contracts without a change: every order of the platform is over what the service expected it to cost when it was sent, which is what lists, messages and the forecast say"},
	{I19, "in the end, of boxes without a change: every order is over the price of the bundle, by the oracle, with what is beside the box and delivery"},
}

// violation is an invariant that does not hold.
type violation struct {
	Is   Invariant
	Step uint64
	At   time.Time
	What string
	// Whole says that it was seen in a look at the whole database, and not in the
	// step itself.
	Whole bool
}

func (v violation) Error() string {
	return fmt.Sprintf("%s does not hold after step %d, at %s: %s", v.Is, v.Step, v.At.Format(time.RFC3339), v.What)
}

// require counts a check and fails the world when it does not hold.
func (w *world) require(is Invariant, holds bool, format string, args ...any) bool {
	w.checks[is]++
	if !holds {
		w.violated(is, format, args...)
	}
	return holds
}

func (w *world) violated(is Invariant, format string, args ...any) {
	w.violations = append(w.violations, violation{is, w.steps, w.now, fmt.Sprintf(format, args...), w.whole})
	w.fail(w.violations[0])
}

// check fails the world when something that cannot fail does.
func (w *world) check(err error) {
	if err != nil {
		w.fail(err)
	}
}

// cycleKey names a cycle of a contract.
type cycleKey struct {
	contract int64
	cycle    int
}

func (k cycleKey) compare(o cycleKey) int {
	return cmp.Or(cmp.Compare(k.contract, o.contract), cmp.Compare(k.cycle, o.cycle))
}

// watch hears of every charge at the platform. What needs the database is checked
// when the platform has answered.
func (w *world) watch(c simulator.Charge) {
	key := cycleKey{c.Contract, c.Cycle}
	w.note("charge", c.State, strconv.FormatInt(c.Contract, 10), strconv.Itoa(c.Cycle), c.Key, c.Code)
	if c.State == "PENDING" {
		w.tries[key] = append(w.tries[key], c.At)
		w.fresh = append(w.fresh, c)
		return
	}
	w.ends[key] = append(w.ends[key], c)
	if c.Order == nil {
		return
	}
	if w.require(I1, w.orders[key] == nil, "contract %d has a second order for cycle %d: %s and %s", c.Contract, c.Cycle, w.orders[key].name(), c.Order.Name) {
		w.orders[key] = (*order)(c.Order)
	} else {
		w.doubled++
	}
	w.note("order", c.Order.Name, c.Order.Amount)
}

type order simulator.Renewal

func (o *order) name() string {
	if o == nil {
		return ""
	}
	return o.Name
}

var numbers = regexp.MustCompile(`gid://shopify/(?:SubscriptionContract|Order|Customer|ProductVariant|SubscriptionDraft)/(\d+)`)

// spacing is how far apart the numbers of two stores' objects are.
const spacing = 10_000_000

// afterCall checks what a call named and what it made.
func (w *world) afterCall(c *call) {
	s := w.byToken[c.request.Header.Get("X-Shopify-Access-Token")]
	if w.require(I10, s != nil && s.plan.Domain == c.request.URL.Host, "a token is used at %s that belongs to another store", c.request.URL.Host) {
		for _, m := range numbers.FindAllSubmatch(c.body, -1) {
			id, _ := strconv.ParseInt(string(m[1]), 10, 64)
			w.require(I10, id/spacing == int64(s.number), "a call for %s names %s", s.plan.Domain, m[0])
		}
	}
	w.sawEnds(c)
	fresh := w.fresh
	w.fresh = nil
	for _, c := range fresh {
		w.charged(c)
	}
}

// charged checks a charge that the platform has accepted.
func (w *world) charged(c simulator.Charge) {
	d := w.dealOf(c.Contract)
	if d == nil {
		w.violated(I5, "contract %d, which no buyer made, is charged", c.Contract)
		return
	}
	w.require(I5, c.Open == 1, "contract %d has %d open charges of cycle %d", c.Contract, c.Open, c.Cycle)
	w.retried(c, d)
	var status, key, contract string
	var first, paused, cancelled int64
	err := w.intent.QueryRowContext(context.Background(), int64(d.shop.id), c.Contract, c.Cycle).Scan(&status, &key, &first, &contract, &paused, &cancelled)
	if errors.Is(err, sql.ErrNoRows) {
		w.violated(I5, "contract %d is charged for cycle %d without an attempt", c.Contract, c.Cycle)
		return
	}
	if err != nil {
		w.fail(err)
		return
	}
	w.require(I5, key == c.Key && (status == "REQUESTING" || status == "SHOPIFY_EXCEPTION"),
		"contract %d is charged for cycle %d under %s, and the attempt is %s under %q", c.Contract, c.Cycle, c.Key, status, key)
	stopped := max(paused, cancelled)
	w.require(I5, contract == "ACTIVE" || stopped+farthestJump.Milliseconds() > first,
		"contract %d is charged for cycle %d, intended at %s; it is %s since %s", c.Contract, c.Cycle, instant(first), contract, instant(stopped))
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
