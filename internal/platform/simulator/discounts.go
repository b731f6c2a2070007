package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// discount lowers what a contract's orders cost, for a number of them or for
// all.
type discount struct {
	ID       string // tail of the graph id
	Title    string
	Code     string       `json:",omitempty"` // that was redeemed; empty: made by hand
	Percent  int          `json:",omitempty"` // off, or
	Fixed    money.Amount `json:",omitzero"`
	EachItem bool         `json:",omitempty"` // Fixed is off every item, not off the lines together
	Shipping bool         `json:",omitempty"` // it is off shipping and not off lines
	Limit    int          `json:",omitempty"` // how many orders it is for; 0: all
	Used     int          `json:",omitempty"`
	All      bool         `json:",omitempty"`
	Lines    []string     `json:",omitempty"` // tails of the lines it is for, unless All
	Rejected string       `json:",omitempty"` // why it is not applied
	Added    bool         `json:",omitempty"` // in a draft only
	Updated  bool         `json:",omitempty"` // in a draft only
	Removed  bool         `json:",omitempty"` // in a draft only
}

func (d *discount) gid() string { return "gid://shopify/SubscriptionManualDiscount/" + d.ID }

// applies reports whether the next order gets the discount.
func (d *discount) applies() bool {
	return !d.Removed && d.Rejected == "" && (d.Limit == 0 || d.Used < d.Limit)
}

func (d *discount) entitles(l *line) bool {
	return !l.Removed && (d.All || slices.Contains(d.Lines, l.ID))
}

// share is what a discount takes off a line.
type share struct {
	discount *discount
	amount   money.Amount
}

// bill is what an order of some terms costs.
type bill struct {
	shares   [][]share // of each line
	lines    []int64   // what is left of each line, in minor units
	shipping money.Amount
	off      money.Amount // all that was taken off
	total    money.Amount
}

// bill works out what an order costs. Discounts are taken off in the order in
// which they were added, each off what the ones before it left; a percentage is
// rounded half up for each line.
func (t *terms) bill(c money.Currency) bill {
	b := bill{shares: make([][]share, len(t.Lines)), lines: make([]int64, len(t.Lines))}
	b.shipping = money.Amount{Currency: c}.Plus(t.Price)
	b.off.Currency, b.total = c, b.shipping
	for i, l := range t.Lines {
		if !l.Removed {
			b.lines[i] = l.Price.Minor * int64(l.Quantity)
		}
	}
	for n := range t.Discounts {
		if d := &t.Discounts[n]; d.applies() {
			b.apply(t, d, c)
		}
	}
	for _, left := range b.lines {
		b.total.Minor += left
	}
	return b
}

func (b *bill) apply(t *terms, d *discount, c money.Currency) {
	if d.Shipping {
		b.off.Minor += b.shipping.Minor
		b.total.Minor -= b.shipping.Minor
		b.shipping.Minor = 0
		return
	}
	var chosen []int
	var sum int64
	for i := range t.Lines {
		if d.entitles(&t.Lines[i]) {
			chosen = append(chosen, i)
			sum += b.lines[i]
		}
	}
	off := make([]int64, len(chosen))
	switch {
	case d.Percent > 0:
		for n, i := range chosen {
			off[n] = b.lines[i] - money.Amount{Minor: b.lines[i]}.PercentOff(float64(d.Percent)).Minor
		}
	case d.EachItem:
		for n, i := range chosen {
			off[n] = min(d.Fixed.Minor*int64(t.Lines[i].Quantity), b.lines[i])
		}
	default:
		spread(off, min(d.Fixed.Minor, sum), sum, func(n int) int64 { return b.lines[chosen[n]] })
	}
	for n, i := range chosen {
		if off[n] == 0 {
			continue
		}
		b.lines[i] -= off[n]
		b.off.Minor += off[n]
		b.shares[i] = append(b.shares[i], share{d, money.Amount{Minor: off[n], Currency: c}})
	}
}

// spread divides an amount in proportion to the parts of a sum. What is left by
// rounding down goes to the first parts, a minor unit each.
func spread(into []int64, amount, sum int64, part func(n int) int64) {
	if sum == 0 {
		return
	}
	left := amount
	for n := range into {
		into[n] = amount * part(n) / sum
		left -= into[n]
	}
	for n := 0; left > 0; n = (n + 1) % len(into) {
		if into[n] < part(n) {
			into[n]++
			left--
		}
	}
}

// useDiscounts counts an order of a contract against the limits of the discounts
// that it got.
func (s *Simulator) useDiscounts(c *contract, t *terms) {
	for i := range t.Discounts {
		d := &t.Discounts[i]
		if !d.applies() {
			continue
		}
		for _, r := range c.cycles {
			if r.Terms != nil && r.Terms != t && r.Terms.used(d.ID) {
				s.save(r)
			}
		}
		if t != &c.Terms {
			c.Terms.used(d.ID)
		}
		d.Used++
	}
	s.save(c)
}

// used counts an order against a discount and reports whether t has it.
func (t *terms) used(id string) bool {
	for i := range t.Discounts {
		if t.Discounts[i].ID == id {
			t.Discounts[i].Used++
			return true
		}
	}
	return false
}

// forgetLine takes a line out of the discounts that are for it and returns
// those.
func (t *terms) forgetLine(tail string) []*discount {
	var changed []*discount
	for i := range t.Discounts {
		d := &t.Discounts[i]
		if n := slices.Index(d.Lines, tail); n >= 0 && !d.Removed {
			d.Lines = slices.Delete(slices.Clone(d.Lines), n, n+1)
			d.Updated = true
			changed = append(changed, d)
		}
	}
	return changed
}

// checkDiscounts returns what the platform would refuse of a contract's
// discounts.
func (s *Simulator) checkDiscounts(sh *store, t *terms) *userError {
	live := 0
	for i := range t.Discounts {
		d := &t.Discounts[i]
		if d.Removed {
			continue
		}
		live++
		if !d.Shipping && !slices.ContainsFunc(t.Lines, func(l line) bool { return d.entitles(&l) }) {
			return draftError("NO_ENTITLED_LINES", "Discount must have at least one entitled line.", "entitledLines")
		}
		if d.redeems() && sh.redeem(d.Code).Rejected == usedUp {
			return draftError("INVALID", fmt.Sprintf("Discount code %s has reached its usage limit.", d.Code), "redeemCode")
		}
	}
	if most := s.opts.Switches.MaxDiscounts; most > 0 && live > most {
		return draftError("TOO_MANY_DISCOUNTS", "The contract draft has too many discounts.")
	}
	return nil
}

// CodeSpec is a discount code that customers can redeem: Percent or Amount off
// all lines, or free shipping.
type CodeSpec struct {
	Shop         string // default: the first store
	Code         string
	Percent      int
	Amount       string // decimal, in the store's currency
	EachItem     bool   // Amount is off every item
	FreeShipping bool
	CycleLimit   int // orders of a contract that get it; 0: all
	UsageLimit   int // contracts that may redeem it; 0: any number
	Inactive     bool
}

// code is a discount code of a store.
type code struct {
	Code       string
	Discount   discount
	UsageLimit int  `json:",omitempty"`
	Redeemed   int  `json:",omitempty"`
	Inactive   bool `json:",omitempty"`

	ID        int64     `json:",omitempty"` // of the discount that an app made; 0: the director did
	Customers []int64   `json:",omitempty"` // who may use it; empty: everybody
	CreatedAt time.Time `json:",omitzero"`
	EndsAt    time.Time `json:",omitzero"`
}

// AddCode defines a discount code, in place of an earlier one of that name.
func (s *Simulator) AddCode(spec CodeSpec) error {
	return s.updateStore(spec.Shop, func(sh *store) (err error) {
		d := discount{
			Title: spec.Code, Code: spec.Code, Percent: spec.Percent, EachItem: spec.EachItem, Shipping: spec.FreeShipping,
			Limit: spec.CycleLimit, All: true,
		}
		if spec.Amount != "" {
			if d.Fixed, err = askedPrice(spec.Amount, sh.Currency, "amount"); err != nil {
				return err
			}
		}
		kinds := 0
		for _, has := range []bool{d.Percent != 0, d.Fixed.Minor != 0, d.Shipping} {
			if has {
				kinds++
			}
		}
		if spec.Code == "" || kinds != 1 || d.Percent < 0 || d.Percent > 100 {
			return fault.New(fault.Invalid, "a discount code needs a name, and one of a percentage from 1 to 100, an amount and free shipping")
		}
		sh.setCode(code{Code: spec.Code, Discount: d, UsageLimit: spec.UsageLimit, Inactive: spec.Inactive})
		s.save(sh)
		return nil
	})
}

func (sh *store) setCode(c code) {
	if have := sh.code(c.Code); have != nil {
		*have = c
		return
	}
	sh.Codes = append(sh.Codes, c)
}

// code returns a store's discount code, written in any case; nil when there is
// none.
func (sh *store) code(name string) *code {
	for i := range sh.Codes {
		if strings.EqualFold(sh.Codes[i].Code, name) {
			return &sh.Codes[i]
		}
	}
	return nil
}

// redeem returns the discount that a code stands for. A code that cannot be
// redeemed is a discount that is rejected.
func (sh *store) redeem(name string) discount {
	c := sh.code(name)
	if c == nil {
		return discount{Title: name, Code: name, Percent: 1, All: true, Rejected: "NOT_FOUND"}
	}
	d := c.Discount
	switch {
	case c.Inactive:
		d.Rejected = "CURRENTLY_INACTIVE"
	case c.UsageLimit > 0 && c.Redeemed >= c.UsageLimit:
		d.Rejected = usedUp
	}
	return d
}

// redeemed counts the codes that a commit redeems.
func (s *Simulator) redeemed(sh *store, list []discount) {
	for _, d := range list {
		if c := sh.code(d.Code); c != nil && d.redeems() {
			c.Redeemed++
			s.save(sh)
		}
	}
}

// redeems reports whether a commit of the discount uses up one redemption of its code.
func (d *discount) redeems() bool {
	return d.Code != "" && d.Rejected == "" && d.Added && !d.Removed
}

// usedUp is the platform's reason to reject a code that was redeemed as often as it can be.
const usedUp = "USAGE_LIMIT_REACHED"

// enter returns the discounts that a buyer's codes stand for. A code that the buyer
// cannot use is an Invalid fault.
func (s *Simulator) enter(sh *store, buyer *customer, codes []string) ([]discount, error) {
	var list []discount
	for i, name := range codes {
		d := sh.redeem(name)
		if c := sh.code(name); c != nil && d.Rejected == "" {
			switch {
			case len(c.Customers) > 0 && !slices.Contains(c.Customers, buyer.ID):
				d.Rejected = "CUSTOMER_NOT_ELIGIBLE"
			case !c.EndsAt.IsZero() && !s.now().Before(c.EndsAt):
				d.Rejected = "CURRENTLY_INACTIVE"
			}
		}
		if d.Rejected != "" {
			return nil, fault.New(fault.Invalid, "the discount code %q cannot be used: %s", name, d.Rejected).Field("discountCodes")
		}
		d.ID, d.Added = uuidOf("entered", sh.Domain, sh.next.Contract, int64(i)), true
		list = append(list, d)
	}
	return list, nil
}
