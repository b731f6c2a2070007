package dunning

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// plan is what is done about declines of a class. Days are days in the store's time
// zone, counted from the day of the first decline.
type plan struct {
	soon    []time.Duration // retries, as time after the first decline
	retries []int           // days of retries
	payday  bool            // retries move to a payday that is near
	mails   []int           // days of reminders
	end     int             // day of the final action, if the plan has no retries
	warns   bool            // the customer is warned of the final action
	held    bool            // nothing happens until the merchant's staff acts
}

// cardWaitDays is how many days the service waits for another payment method.
const cardWaitDays = 14

// smart is the plan of each class, within the card networks' limits.
var smart = map[Class]plan{
	Funds:     {retries: []int{2, 4, 7, 10, 14, 18}, payday: true, mails: []int{0, 7, 14}, warns: true},
	Issuer:    {retries: []int{1, 3, 5, 8, 12, 16}, mails: []int{0, 5, 12}, warns: true},
	Transient: {soon: []time.Duration{time.Hour, 6 * time.Hour}, retries: []int{1, 3, 5, 8, 12, 16}, mails: []int{1, 5, 12}, warns: true},
	Auth:      {retries: []int{7}, mails: []int{0, 2, 5}, warns: true},
	Card:      {mails: []int{0, 3, 7, 12}, end: cardWaitDays, warns: true},
	Fraud:     {mails: []int{0}, end: cardWaitDays, warns: true},
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

// Decline is what the rules need to know of a declined order.
type Decline struct {
	First    time.Time // instant of the first decline
	Last     time.Time // instant of the last try
	Class    Class     // of the last decline
	Due      time.Time // the order's own day; later than First when it was charged early on request
	Calendar cadence.Calendar
	Spread   time.Duration // after the order time; see SpreadOf
}

// spreadMinutes is the window after the order time in which retries are made, in
// minutes.
const spreadMinutes = 30

// SpreadOf returns how long after the order time an order is retried. It depends on the
// order's identity alone, so that every computation returns the same.
func SpreadOf(identity string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(identity)) // never fails
	return time.Duration(h.Sum32()%spreadMinutes) * time.Minute
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

// maxPaydayWait is how many days a retry waits at most for a payday.
const maxPaydayWait = 2

// payday moves a day to the next payday, if that is near: a Friday, or the 1st or 15th
// of a month.
func (d Decline) payday(day int) int {
	for later := day; later <= day+maxPaydayWait; later++ {
		if t := d.local(d.First).AddDate(0, 0, later); t.Weekday() == time.Friday || t.Day() == 1 || t.Day() == 15 {
			return later
		}
	}
	return day
}

// retries returns the instants of all retries of the plan, in order. An order that was
// charged early is also charged on its day.
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

// Step is the next step for a declined order. One of RetryAt, EndAt and Held is set.
type Step struct {
	RetryAt time.Time // it is charged again automatically
	EndAt   time.Time // the final action is taken; it may be past
	Held    bool      // nothing, until the merchant's staff acts
}

// Next returns the next step. At most one retry falls on a day of the store, requested
// tries included, except those that soon follow a fault on the way to the bank.
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

// Outlook is what is done about a declined order if every retry is declined as it was.
type Outlook struct {
	Retries []time.Time // in order
	Held    bool        // nothing, until the merchant's staff acts; without retries and an end
	End     time.Time   // when the final action is taken
	Then    Action
}

// Outlook returns what the settings do about a declined order. [Settings.Next] says one step
// of it at a time.
func (s Settings) Outlook(d Decline) Outlook {
	p := s.planFor(d.Class)
	if p.held {
		return Outlook{Held: true}
	}
	return Outlook{Retries: d.retries(p), End: s.end(d, p), Then: s.Final(d.Class)}
}

// end returns the instant of the last retry or, without retries, that of the final
// action. No order is given up before its day.
func (s Settings) end(d Decline, p plan) time.Time {
	if all := d.retries(p); len(all) > 0 {
		return all[len(all)-1]
	}
	if at := d.on(p.end); at.After(d.Due) {
		return at
	}
	return d.Due
}

// Notice is a kind of notice to a customer.
type Notice string

// The notices.
const (
	Declined Notice = "DECLINED" // a charge was declined
	Warning  Notice = "WARNING"  // the final action is near
)

// warningLead is how many days before the final action the customer is warned.
const warningLead = 2

// ScheduledNotice is a notice to the customer at an instant.
type ScheduledNotice struct {
	At   time.Time
	What Notice
	End  time.Time // of Warning: the instant of the final action
}

// Notices returns the notices to the customer, in order, if nothing changes. From the
// day of the warning on there are no other reminders.
func (s Settings) Notices(d Decline) []ScheduledNotice {
	p := s.planFor(d.Class)
	end := s.end(d, p)
	warn := ScheduledNotice{What: Warning, End: end}
	if warn.At = d.Calendar.At(d.local(end).AddDate(0, 0, -warningLead)).Add(d.Spread); d.Calendar.Day(warn.At) == d.Calendar.Day(d.First) || !warn.At.After(d.First) {
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
