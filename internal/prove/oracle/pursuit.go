package oracle

import (
	"slices"
	"time"
)

// Store is what a store does about orders that are declined.
type Store struct {
	Simple         bool // so many retries, every so many days, whatever the decline says
	Retries, Every int  // of Simple
	Then           string
	Stock          Stock
}

// Stock is what it does about those that are not in stock.
type Stock struct {
	Retries, Every int
	Then           string
}

// Pursuit is how an order is pursued that was declined: days count from that of the
// first decline.
type Pursuit struct {
	Soon   []time.Duration // tries so long after the first decline
	Days   []int           // tries on these days
	Payday bool            // a try waits up to two days for a payday
	End    int             // day of the end of an order that is not tried again
	Then   string          // PAUSE, CANCEL or SKIP
}

// pursuits is the table of docs/dunning.md, for the codes of the stories.
var pursuits = map[string]Pursuit{
	"INSUFFICIENT_FUNDS":       {Days: []int{2, 4, 7, 10, 14, 18}, Payday: true},
	"CARD_DECLINED":            {Days: []int{1, 3, 5, 8, 12, 16}},
	"DO_NOT_HONOR":             {Days: []int{1, 3, 5, 8, 12, 16}},
	"PAYMENT_PROVIDER_ERROR":   {Soon: []time.Duration{time.Hour, 6 * time.Hour}, Days: []int{1, 3, 5, 8, 12, 16}},
	"UNEXPECTED_ERROR":         {Soon: []time.Duration{time.Hour, 6 * time.Hour}, Days: []int{1, 3, 5, 8, 12, 16}},
	"AUTHENTICATION_ERROR":     {Days: []int{7}},
	"EXPIRED_PAYMENT_METHOD":   {End: 14},
	"INVALID_PAYMENT_METHOD":   {End: 14},
	"FRAUD_SUSPECTED":          {End: 14},
	"INVALID_SHIPPING_ADDRESS": {Days: []int{3, 7}},
	"CUSTOMER_INVALID":         {},
}

// outOfStock is the code of an order with a product that is not in stock.
const outOfStock = "INSUFFICIENT_INVENTORY"

// Pursue returns how the store pursues an order that was declined with a code; false when
// the oracle does not know the code.
func (s Store) Pursue(code string) (Pursuit, bool) {
	if code == outOfStock {
		return Pursuit{Days: every(s.Stock.Retries, s.Stock.Every), Then: s.Stock.Then}, true
	}
	p, known := pursuits[code]
	p.Then = s.Then
	if s.Simple && code != "CUSTOMER_INVALID" {
		tried := len(p.Days) > 0
		p.Soon, p.Days, p.Payday, p.End = nil, nil, false, s.Retries*s.Every
		if tried {
			p.Days = every(s.Retries, s.Every)
		}
	}
	return p, known
}

func every(n, days int) (list []int) {
	for i := 1; i <= n; i++ {
		list = append(list, i*days)
	}
	return list
}

// Tries returns when the retries fall, in order. Those of a day are made within half an
// hour after the order time.
func (p Pursuit) Tries(first time.Time, c Calendar) (soon, days []time.Time) {
	for _, wait := range p.Soon {
		soon = append(soon, first.Add(wait))
	}
	for _, n := range p.Days {
		days = append(days, c.daysAfter(first, p.payday(first, n, c)))
	}
	return soon, days
}

// Next returns when an order is tried again that was tried last at an instant; false when
// it is not. A day has one try, save those soon after the first decline.
func (p Pursuit) Next(first, last time.Time, c Calendar) (time.Time, bool) {
	soon, days := p.Tries(first, c)
	for _, at := range soon {
		if at.After(last) {
			return at, true
		}
	}
	for _, at := range days {
		if at.After(last) && !c.sameDay(at, last) {
			return at, true
		}
	}
	return time.Time{}, false
}

// Ends returns when the order is given up: with its last retry.
func (p Pursuit) Ends(first time.Time, c Calendar) time.Time {
	soon, days := p.Tries(first, c)
	if all := slices.Concat(soon, days); len(all) > 0 {
		return all[len(all)-1]
	}
	if p.End == 0 {
		return first
	}
	return c.daysAfter(first, p.End)
}

func (c Calendar) daysAfter(t time.Time, n int) time.Time {
	l := t.In(c.Zone)
	return c.on(time.Date(l.Year(), l.Month(), l.Day()+n, 0, 0, 0, 0, time.UTC))
}

// payday moves a day to a payday that is at most two days later: a Friday, the 1st or the
// 15th.
func (p Pursuit) payday(first time.Time, n int, c Calendar) int {
	if !p.Payday {
		return n
	}
	l := first.In(c.Zone)
	for later := n; later <= n+2; later++ {
		day := time.Date(l.Year(), l.Month(), l.Day()+later, 0, 0, 0, 0, time.UTC)
		if day.Weekday() == time.Friday || day.Day() == 1 || day.Day() == 15 {
			return later
		}
	}
	return n
}
