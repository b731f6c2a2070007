package billing

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// ExpectedOf returns what the orders of a contract's attempts are expected to cost, as
// Record.Cost has it, in minor units: of those that wait, and of the one that is unpaid. Attempts of
// other contracts are passed over.
func ExpectedOf(c contract.Contract, in Inputs, attempts []Attempt) (expected map[AttemptID]int64, news News) {
	expected = make(map[AttemptID]int64)
	open := inOrder(c.ID, attempts)
	first := slices.IndexFunc(open, func(a Attempt) bool { return a.Status == Queued })
	for _, a := range attempts {
		unpaid := a.Contract == c.ID && c.Dunning != nil && int64(a.ID) == c.Dunning.Attempt && a.Status == Failure
		if unpaid || a.Contract == c.ID && slices.Contains(Open, a.Status) && a.Status != Queued && !a.Sent() {
			expected[a.ID] = RecordOf(a, c, in, attempts).Cost().Minor
		}
	}
	if first < 0 {
		return expected, news
	}
	places := unpaidFirst(c, open[first])
	ahead := len(places)
	for _, a := range open {
		places = append(places, Record{Attempt: a, Of: c, OneOffs: in.For(a.Cycle)}.Place())
	}
	for i, o := range order.Walk(c, in.Rules, places)[ahead+first:] {
		a := open[first+i]
		if a.Amount == (money.Amount{}) {
			expected[a.ID] = o.Bill.Total.Minor
		}
		for _, r := range o.Rises {
			news.Rises = addRise(news.Rises, in.Rules.Notices, Rise{Contract: c.ID, Rise: r}, open[first+i:])
		}
		if i == 0 {
			news.Swaps = swapsOf(a, o.Applied)
		}
	}
	return expected, news
}

// swapsOf returns the rules that change an order, except those that send no e-mail.
func swapsOf(a Attempt, applied []swap.Rule) (list []Swap) {
	for _, r := range applied {
		if !r.NoEmail {
			list = append(list, Swap{a, r})
		}
	}
	return list
}

// addRise adds a rise in the first of queued orders to those of the orders before it, unless there
// is a notice of it.
func addRise(rises []Rise, notices []swap.Notice, r Rise, queued []Attempt) []Rise {
	for _, n := range notices {
		if n.Rule == r.Rule.ID && n.Variant == r.Variant && n.Price == r.Price {
			return rises
		}
	}
	for i := range rises {
		if is := &rises[i]; is.Rule.ID == r.Rule.ID && is.Variant == r.Variant && is.Price == r.Price {
			is.Due = append(is.Due, queued[0].BillingDate)
			return rises
		}
	}
	r.Due = []time.Time{queued[0].BillingDate}
	for _, a := range queued {
		r.Queued = append(r.Queued, a.BillingDate)
	}
	return append(rises, r)
}
