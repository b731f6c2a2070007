// Package moving brings the contracts of a store from another service with the same interface to
// this one, or the other way, so that every order that falls due is charged once.
package moving

import (
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Contract is a contract as one service describes it to the other. Numbers of customers, variants
// and payment methods are the platform's and the same for both; those of contracts, lines and
// selling plans are the service's own.
type Contract struct {
	ID         int64             `json:"id"`
	Line       shop.Line         `json:"line"`
	Status     contract.Status   `json:"status"`
	Currency   money.Currency    `json:"currency"`
	Customer   contract.Customer `json:"customer"`
	Billing    contract.Policy   `json:"billing"`
	Delivery   contract.Policy   `json:"delivery"`
	MinCycles  int               `json:"minCycles,omitempty"`  // orders that are owed, of all Orders; 0: no limit
	MaxCycles  int               `json:"maxCycles,omitempty"`  // 0: no limit
	CyclesDone int               `json:"cyclesDone,omitempty"` // before the next order, of MaxCycles and of prices by cycle; whether the order of the checkout is one is the service's rule
	Orders     int               `json:"orders,omitempty"`     // that the customer has had, with the one of the checkout

	Lines         []Line                  `json:"lines"`
	Discounts     []contract.Discount     `json:"discounts,omitempty"` // for lines by their IDs
	DeliveryPrice money.Amount            `json:"deliveryPrice,omitzero"`
	Method        contract.DeliveryMethod `json:"method,omitzero"`
	PaymentMethod string                  `json:"paymentMethod,omitempty"` // graph id; empty: none
	Note          string                  `json:"note,omitempty"`
	Attributes    []contract.Attribute    `json:"attributes,omitempty"`

	Next time.Time `json:"next,omitzero"` // when its next order is charged; zero: none is to come
	// Of a contract that has come here: what its next orders cost, without one-time products, and what they cost with the
	// prices of swap rules that its customer has had no notice of; no Announced: there are no such prices.
	Expected  []money.Amount `json:"expected,omitempty"`
	Announced []money.Amount `json:"announced,omitempty"`

	Upcoming    []Upcoming `json:"upcoming,omitempty"` // the next orders, by date, without those that are skipped
	Past        []Past     `json:"past,omitempty"`     // the last orders, the newest first
	EndsAt      time.Time  `json:"endsAt,omitzero"`    // of a cancellation that is scheduled
	PausedTo    time.Time  `json:"pausedTo,omitzero"`  // when a pause ends; zero: it has no end
	CreatedAt   time.Time  `json:"createdAt,omitzero"`
	UpdatedAt   time.Time  `json:"updatedAt,omitzero"`
	ImportedID  string     `json:"importedId,omitempty"`
	Remarks     []Finding  `json:"remarks,omitempty"`     // what the source knows to be left out of it
	MissingDate bool       `json:"missingDate,omitempty"` // the source names no date of the next order though there is one
}

// Line is a line of a contract.
type Line struct {
	ID         string               `json:"id"` // graph id
	Variant    int64                `json:"variant"`
	Product    int64                `json:"product,omitempty"`
	Title      string               `json:"title,omitempty"`
	Quantity   int                  `json:"quantity"`
	Price      money.Amount         `json:"price"` // of one
	Plan       int64                `json:"plan,omitempty"`
	PlanName   string               `json:"planName,omitempty"`
	Attributes []contract.Attribute `json:"attributes,omitempty"`
	Pricing    *contract.Pricing    `json:"pricing,omitempty"` // prices by cycle, from the contract's first
}

// Upcoming is an order to come.
type Upcoming struct {
	ID      int64        `json:"id,omitempty"` // of the billing attempt
	Date    time.Time    `json:"date"`
	Note    string       `json:"note,omitempty"`
	Amount  money.Amount `json:"amount,omitzero"` // as that service expects it; no currency: it does not say
	OneOffs []OneOff     `json:"oneOffs,omitempty"`
}

// OneOff is a one-time product of an order to come.
type OneOff struct {
	Variant  int64        `json:"variant"`
	Quantity int          `json:"quantity"`
	Price    money.Amount `json:"price,omitzero"` // of one; no currency: that of the catalogue
}

// Past is an order that was charged, declined or skipped.
type Past struct {
	ID     int64        `json:"id"`
	Status string       `json:"status"` // as in the interface
	Date   time.Time    `json:"date"`   // on which it was due
	At     time.Time    `json:"at,omitzero"`
	Order  int64        `json:"order,omitempty"`
	Amount money.Amount `json:"amount,omitzero"`
	Lines  []Sold       `json:"lines,omitempty"`
}

// Sold is what an order had of one variant.
type Sold struct {
	Variant  int64 `json:"variant"`
	Quantity int   `json:"quantity"`
}

// Statuses of orders in the interface that say how a charge goes.
const (
	Paid     = "SUCCESS"
	Declined = "FAILURE"
	Skipped  = "SKIPPED"
)

// settled are the statuses of an order whose charge has ended, or was never begun. With any other
// one, also one that is not known, a charge may still end either way.
var settled = []string{
	Paid, Declined, Skipped, "SKIPPED_DUNNING_MGMT", "SKIPPED_INVENTORY_MGMT", "QUEUED", "CONTRACT_CANCELLED", "CONTRACT_ENDED", "CONTRACT_PAUSED", "AUTO_CHARGE_DISABLED",
	"SOCIAL_CONNECTION_NULL",
}

// UnderWay returns the order whose charge is under way, or that was declined and may be charged
// again; false: there is none.
func (c Contract) UnderWay() (Past, bool) {
	for _, p := range c.Past {
		if !slices.Contains(settled, p.Status) {
			return p, true
		}
	}
	if len(c.Past) > 0 && c.Past[0].Status == Declined {
		return c.Past[0], true
	}
	return Past{}, false
}

// Begun reports whether a charge was begun that another reading of the contract does not have.
func (c Contract) Begun(before []Past) bool {
	return slices.ContainsFunc(c.Past, func(p Past) bool {
		begun := p.Status == Paid || p.Status == Declined || !slices.Contains(settled, p.Status)
		return begun && !slices.ContainsFunc(before, func(o Past) bool { return o.ID == p.ID })
	})
}

// Live reports whether orders of the contract are to come, now or once it is resumed.
func (c Contract) Live() bool { return c.Status == contract.Active || c.Status == contract.Paused }

// Over reports whether the contract has ended for good. One with a status that is not known has not.
func (c Contract) Over() bool {
	return c.Status == contract.Cancelled || c.Status == contract.Expired || c.Status == contract.Failed
}

// Left returns the cycle limits that are left when the next order becomes the first one of
// another contract; 0: no limit.
func (c Contract) Left() (least, most int) {
	if c.MaxCycles > 0 {
		most = max(1, c.MaxCycles-c.CyclesDone)
	}
	least = max(0, c.MinCycles-c.Orders)
	if most > 0 {
		least = min(least, most-1) // the platform requires fewer
	}
	return least, most
}

// Stored returns the contract as this service would store it, with dates that are counted from its
// next order as cycle 1. Its lines keep their IDs.
func (c Contract) Stored(cal cadence.Calendar) contract.Contract {
	least, most := c.Left()
	s := contract.Contract{
		ID: contract.ID(c.ID), Line: c.Line, Status: c.Status, Currency: c.Currency, Customer: c.Customer, Billing: c.Billing, Delivery: c.Delivery,
		Discounts: c.Discounts, DeliveryPrice: c.DeliveryPrice, PaymentMethod: c.PaymentMethod, Note: c.Note, Attributes: c.Attributes,
		MinCycles: least, MaxCycles: most, AutoCharge: true, EarlierOrders: c.Orders, CreatedAt: c.CreatedAt,
	}
	if !c.Next.IsZero() {
		s.Series = contract.Series{Cycle: 1, Start: cal.At(c.Next)}
		s.NextBillingDate = c.Next
		s.LaterSeries = c.laterSeries(s, cal)
	}
	for _, l := range c.Lines {
		s.Lines = append(s.Lines, contract.LineItem{
			ID: l.ID, ProductID: l.Product, VariantID: l.Variant, Title: l.Title, Quantity: l.Quantity, Price: l.NextPrice(c.CyclesDone), SellingPlanID: l.Plan, SellingPlanName: l.PlanName,
		})
		if rest := l.Rest(c.CyclesDone); rest != nil {
			if s.Pricing == nil {
				s.Pricing = make(map[string]contract.Pricing)
			}
			s.Pricing[l.ID] = *rest
			s.Priced = s.Priced || rest.Changes()
		}
	}
	return s
}

// laterSeries returns from which orders to come the dates are counted again: from those that do not follow
// from the next one, and explain more of the dates after them. After an order on the last day of a short month
// they do, and after one that alone was moved.
func (c Contract) laterSeries(s contract.Contract, cal cadence.Calendar) []contract.Series {
	half := c.Billing.Approx() / 2
	cycle := 1
	for n, u := range c.Upcoming {
		for cycle <= mostEdits && u.Date.Sub(s.DueOn(cycle, cal)) >= half { // orders that are skipped
			cycle++
		}
		if cycle > mostEdits {
			break
		}
		if n > 0 && cal.Day(u.Date) != cal.Day(s.DueOn(cycle, cal)) {
			again := s
			again.LaterSeries = append(slices.Clone(s.LaterSeries), contract.Series{Cycle: cycle, Start: cal.At(u.Date), Moved: true})
			if later := c.Upcoming[n+1:]; explained(again, later, cal) > explained(s, later, cal) {
				s = again
			}
		}
		cycle++
	}
	return s.LaterSeries
}

// explained returns how many orders fall on dates of the contract's series.
func explained(s contract.Contract, orders []Upcoming, cal cadence.Calendar) (n int) {
	for _, u := range orders {
		if cal.Day(s.DueOn(s.CycleFrom(u.Date.Add(-12*time.Hour), cal), cal)) == cal.Day(u.Date) {
			n++
		}
	}
	return n
}

// Rest returns the prices by cycle that are left after so many cycles; nil: the price does not change
// any more.
func (l Line) Rest(cycles int) *contract.Pricing {
	if l.Pricing == nil {
		return nil
	}
	rest := l.Pricing.From(cycles + 1)
	if len(rest.Cycles) == 0 {
		return nil
	}
	return &rest
}

// NextPrice returns the unit price of the order after so many cycles. The line's own price may be that of the order
// before, whose step Rest leaves out: a price that no step made would stay for good.
func (l Line) NextPrice(cycles int) money.Amount {
	if l.Pricing != nil {
		if price, ok := l.Pricing.At(l.Price, cycles+1); ok {
			return price
		}
	}
	return l.Price
}

// Resuming returns the contract with a next order that does not fall into its pause.
func (c Contract) Resuming(cal cadence.Calendar) Contract {
	if c.PausedTo.IsZero() || c.Next.IsZero() || !c.Next.Before(c.PausedTo) {
		return c
	}
	s := c.Stored(cal)
	cycles := s.CycleFrom(c.PausedTo, cal) - 1
	c.Next, c.CyclesDone = s.DueOn(1+cycles, cal), c.CyclesDone+cycles
	return c
}

// After returns the contract as it is after more orders: the next ones are due later. Of none it
// is the same.
func (c Contract) After(orders int, cal cadence.Calendar) Contract {
	if orders <= 0 || c.Next.IsZero() {
		return c
	}
	s := c.Stored(cal)
	c.Next, c.Orders, c.CyclesDone = s.DueOn(1+orders, cal), c.Orders+orders, c.CyclesDone+orders
	c.Upcoming = c.Upcoming[min(orders, len(c.Upcoming)):]
	if len(c.Upcoming) > 0 {
		c.Next = c.Upcoming[0].Date
	}
	return c
}

// ComparedOrders is the number of orders to come that are compared before a contract is cancelled where it was.
const ComparedOrders = 3

// Differs names the first of the next orders that another reading of the contract charges another amount for;
// "": none. One-time products are left out: they follow later.
func (c Contract) Differs(is Contract, cal cadence.Calendar) string {
	for n := range ComparedOrders {
		if c.MaxCycles > 0 && n >= max(1, c.MaxCycles-c.CyclesDone) {
			break
		}
		if was, now := c.costs(is, n, cal); was != now {
			return fmt.Sprintf("order %d from now on would cost %s instead of %s", n+1, now, was)
		}
	}
	return ""
}

// costs returns what the next order but so many costs by two readings. Where both services say what they will
// charge, with swap rules, plans and boxes, that counts; elsewhere what the contracts hold, without the discount
// of a box, which its bundle makes.
func (c Contract) costs(is Contract, ahead int, cal cadence.Calendar) (was, now money.Amount) {
	amount, named := c.named(ahead)
	switch {
	case !named || ahead >= len(is.Expected):
		return c.unboxed().Amount(ahead, cal), is.unboxed().Amount(ahead, cal)
	case ahead < len(is.Announced) && amount == is.Announced[ahead]:
		return amount, amount
	}
	return amount, is.Expected[ahead]
}

// named returns the amount that the contract's service names for the next order but so many; false: none, or one
// with one-time products.
func (c Contract) named(ahead int) (money.Amount, bool) {
	if ahead >= len(c.Upcoming) || len(c.Upcoming[ahead].OneOffs) > 0 {
		return money.Amount{}, false
	}
	return c.Upcoming[ahead].Amount, c.Upcoming[ahead].Amount.Currency != ""
}

// AnnouncedFrom returns when the first order is due for which the contract's service names a price of a swap rule that
// the reading of the contract which has come here waits with; zero: none.
func (c Contract) AnnouncedFrom(is Contract) time.Time {
	for n, amount := range is.Announced {
		if was, named := c.named(n); named && was == amount && was != is.Expected[n] {
			return c.Upcoming[n].Date
		}
	}
	return time.Time{}
}

// unboxed returns the contract without the discount of its box.
func (c Contract) unboxed() Contract {
	c.Discounts = slices.DeleteFunc(slices.Clone(c.Discounts), func(d contract.Discount) bool { return bundle.IsDiscount(d.Title) })
	return c
}

// Amount returns what the next order but so many costs, before taxes.
func (c Contract) Amount(ahead int, cal cadence.Calendar) money.Amount {
	s := c.Stored(cal)
	return s.Cost(s.Lines, 1+ahead, ahead)
}

// Sold returns what an order of the contract has, by variant.
func (c Contract) Sold() []Sold {
	var list []Sold
	for _, l := range c.Lines {
		list = append(list, Sold{l.Variant, l.Quantity})
	}
	return Sum(list)
}

// Sum returns what was sold by variant, each of them once, in their order.
func Sum(list []Sold) []Sold {
	var sum []Sold
	for _, s := range list {
		if at := slices.IndexFunc(sum, func(o Sold) bool { return o.Variant == s.Variant }); at >= 0 {
			sum[at].Quantity += s.Quantity
		} else {
			sum = append(sum, s)
		}
	}
	slices.SortFunc(sum, func(a, b Sold) int { return int(a.Variant - b.Variant) })
	return sum
}
