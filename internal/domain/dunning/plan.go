package dunning

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// plan is what is done about declines of a class. Days are days of the store, and
// count from that of the first decline.
type plan struct {
	soon    []time.Duration // retries so long after the first decline
	retries []int           // days of retries
	payday  bool            // retries wait for a payday that is near
	mails   []int           // days of reminders
	end     int             // day of the end, where no retry is left to end with
	warns   bool            // the end is announced
	held    bool            // nothing happens until staff says so
}

// reach is how long a payment method that will not do is waited for, in days.
const reach = 14

// smart is what helps against each class, and what the card networks permit.
var smart = map[Class]plan{
	Funds:     {retries: []int{2, 4, 7, 10, 14, 18}, payday: true, mails: []int{0, 7, 14}, warns: true},
	Issuer:    {retries: []int{1, 3, 5, 8, 12, 16}, mails: []int{0, 5, 12}, warns: true},
	Transient: {soon: []time.Duration{time.Hour, 6 * time.Hour}, retries: []int{1, 3, 5, 8, 12, 16}, mails: []int{1, 5, 12}, warns: true},
	Auth:      {retries: []int{7}, mails: []int{0, 2, 5}, warns: true},
	Card:      {mails: []int{0, 3, 7, 12}, end: reach, warns: true},
	Fraud:     {mails: []int{0}, end: reach, warns: true},
	Address:   {retries: []int{3, 7}, mails: []int{0, 3}, warns: true},
	Merchant:  {held: true},
	Gone:      {},
}

// planFor returns the plan of a class.
func (s Settings) planFor(c Class) plan {
	s = s.Effective()
	if c == Stock {
		return plan{retries: every(s.OutOfStock.Retries, s.OutOfStock.EveryDays), mails: []int{0}}
	}
	p := smart[c]
	if s.Mode == Smart || c == Merchant || c == Gone {
		return p
	}
	p.soon, p.payday = nil, false
	p.end = s.Retries * s.EveryDays
	if p.retries = nil; c.retried() {
		p.retries = every(s.Retries, s.EveryDays)
	}
	p.mails = slices.DeleteFunc(slices.Clone(p.mails), func(day int) bool { return day > 0 && day >= p.end })
	return p
}

func every(n, days int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = (i + 1) * days
	}
	return list
}

// Decline is what the rules need to know of an order that could not be charged.
type Decline struct {
	First    time.Time // instant of the first decline
	Last     time.Time // instant of the last try
	Class    Class     // of the last decline
	Due      time.Time // the order's own day; later than First when a person had it charged before
	Calendar cadence.Calendar
	Spread   time.Duration // after the order time; see SpreadOf
}

// spreads is within how many minutes after the order time retries are made.
const spreads = 30

// SpreadOf returns how long after the order time an order is tried again. It is a
// function of what the order is, so that every computation gives the same.
func SpreadOf(identity string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(identity)) // never fails
	return time.Duration(h.Sum32()%spreads) * time.Minute
}

// on returns the instant of a day of the plan.
func (d Decline) on(day int) time.Time {
	if day == 0 {
		return d.First
	}
	return d.Calendar.At(d.local(d.First).AddDate(0, 0, day)).Add(d.Spread)
}

func (d Decline) local(t time.Time) time.Time {
	if d.Calendar.Zone == nil {
		return t.UTC()
	}
	return t.In(d.Calendar.Zone)
}

// toPayday is how many days a retry waits at most for a payday.
const toPayday = 2

// payday moves a day to the next on which wages are paid, if that is near: a
// Friday, the 1st or the 15th of a month.
func (d Decline) payday(day int) int {
	for later := day; later <= day+toPayday; later++ {
		if t := d.local(d.First).AddDate(0, 0, later); t.Weekday() == time.Friday || t.Day() == 1 || t.Day() == 15 {
			return later
		}
	}
	return day
}

// retries returns the instants of all retries of the plan, in order. An order that was
// charged before its day is charged on that day too.
func (d Decline) retries(p plan) []time.Time {
	var list []time.Time
	for _, wait := range p.soon {
		list = append(list, d.First.Add(wait))
	}
	for _, day := range p.retries {
		if p.payday {
			day = d.payday(day)
		}
		list = append(list, d.on(day))
	}
	if d.Class.retried() && d.Due.After(d.First) && (len(list) == 0 || d.Due.After(list[len(list)-1])) {
		list = append(list, d.Due)
	}
	return list
}

// Step is what comes next for an order that could not be charged. One of RetryAt
// and EndAt is set, or Held.
type Step struct {
	RetryAt time.Time // it is charged again by itself
	EndAt   time.Time // the final action is taken; it may be past
	Held    bool      // nothing, until somebody says so
}

// Next returns what comes next. At most one retry falls on a day of the store,
// tries that people asked for included, save those that follow soon upon a fault
// on the way to the bank.
func (s Settings) Next(d Decline) Step {
	p := s.planFor(d.Class)
	if p.held {
		return Step{Held: true}
	}
	for i, at := range d.retries(p) {
		if at.After(d.Last) && (i < len(p.soon) || d.Calendar.Day(at) != d.Calendar.Day(d.Last)) {
			return Step{RetryAt: at}
		}
	}
	return Step{EndAt: s.end(d, p)}
}

// end returns the instant of the last retry or, where there are none, that of the
// end. No order is given up before its day.
func (s Settings) end(d Decline, p plan) time.Time {
	if all := d.retries(p); len(all) > 0 {
		return all[len(all)-1]
	}
	if at := d.on(p.end); at.After(d.Due) {
		return at
	}
	return d.Due
}

// Notice is what a customer is told of.
type Notice string

// The notices.
const (
	Declined Notice = "DECLINED" // a charge was declined, with what can be done
	Warning  Notice = "WARNING"  // the end is near
)

// beforeEnd is how many days before the end it is announced.
const beforeEnd = 2

// ScheduledNotice is an instant at which the customer is told something.
type ScheduledNotice struct {
	At   time.Time
	What Notice
	End  time.Time // of Warning: the instant that it announces
}

// Notices returns what the customer is told and when, in order, as long as
// nothing changes. From the day of the warning on there are no other reminders.
func (s Settings) Notices(d Decline) []ScheduledNotice {
	p := s.planFor(d.Class)
	end := s.end(d, p)
	warn := ScheduledNotice{What: Warning, End: end}
	if warn.At = d.Calendar.At(d.local(end).AddDate(0, 0, -beforeEnd)).Add(d.Spread); d.Calendar.Day(warn.At) == d.Calendar.Day(d.First) || !warn.At.After(d.First) {
		p.warns = false
	}
	var list []ScheduledNotice
	for _, day := range p.mails {
		if at := d.on(day); !p.warns || at.Before(warn.At) && d.Calendar.Day(at) != d.Calendar.Day(warn.At) {
			list = append(list, ScheduledNotice{At: at, What: Declined})
		}
	}
	if p.warns {
		list = append(list, warn)
	}
	slices.SortFunc(list, func(a, b ScheduledNotice) int { return a.At.Compare(b.At) })
	return list
}
