package simulator

import (
	"slices"
	"strconv"
	"time"
)

// segment is a run of cycles with one rhythm: cycle Index runs from Start to
// End, and later ones end where the policy falls, counted from End.
type segment struct {
	Index      int
	Start, End time.Time
	Policy     policy
	ZeroSecond bool `json:",omitempty"` // the second cycle ends with the first
}

// cycle is what differs from the calendar in one billing cycle.
type cycle struct {
	Shop     string
	Contract int64
	Index    int
	Skipped  bool
	Expected time.Time `json:",omitzero"` // zero: as the calendar says
	Billed   bool
	Terms    *terms    `json:",omitempty"` // what it orders instead of the contract's
	Edits    int       `json:",omitempty"` // of its terms so far
	EditedAt time.Time `json:",omitzero"`  // the last time

	attempts []*attempt
}

func (c *cycle) key() rowKey {
	return rowKey{"cycle", c.Shop, strconv.FormatInt(c.Contract, 10) + "/" + strconv.Itoa(c.Index)}
}

func (c *cycle) edited() bool { return c.Skipped || !c.Expected.IsZero() || c.Terms != nil }

// record returns the record of a cycle, making it if need be.
func (c *contract) record(index int) *cycle {
	r, ok := c.cycles[index]
	if !ok {
		r = &cycle{Shop: c.Shop, Contract: c.ID, Index: index}
		c.cycles[index] = r
	}
	return r
}

// cycleView is a cycle as it is shown.
type cycleView struct {
	contract             *contract
	index                int
	start, end, expected time.Time
	billed, skipped      bool
	edited               bool
}

// view returns the cycle with the given index, which is at least 1.
func (c *contract) view(index int) cycleView {
	v := cycleView{contract: c, index: index, start: c.start(index), end: c.end(index)}
	v.expected = v.end
	if c.BilledAtStart {
		v.expected = v.start
		if index > 1 {
			v.expected = c.end(index - 1)
		}
	}
	if r, ok := c.cycles[index]; ok {
		v.billed, v.skipped, v.edited = r.Billed, r.Skipped, r.edited()
		if !r.Expected.IsZero() {
			v.expected = r.Expected
		}
	}
	return v
}

func (c *contract) segment(index int) int {
	n, found := slices.BinarySearchFunc(c.Segments, index, func(s segment, i int) int { return s.Index - i })
	if found {
		return n
	}
	return max(n-1, 0)
}

func (c *contract) start(index int) time.Time {
	if s := c.Segments[c.segment(index)]; s.Index == index {
		return s.Start
	}
	return c.end(index - 1).Add(time.Second)
}

// end returns the last instant of a cycle. A segment that begins earlier than
// the calendar has it cuts the cycle before it short.
func (c *contract) end(index int) time.Time {
	n := c.segment(index)
	s := c.Segments[n]
	end := s.End
	if j := index - s.Index; j > 0 {
		if s.ZeroSecond {
			j--
		}
		end = s.Policy.nth(s.End, j, c.shop.zone)
	}
	if n+1 < len(c.Segments) {
		if next := c.Segments[n+1]; next.Index == index+1 && !next.Start.After(end) {
			end = next.Start.Add(-time.Second)
		}
	}
	return end
}

// indexAt returns the index of the cycle that runs at t, or 0 when t is before
// the first.
func (c *contract) indexAt(t time.Time) int {
	if t.Before(c.Segments[0].Start) {
		return 0
	}
	n := len(c.Segments) - 1
	for n > 0 && t.Before(c.Segments[n].Start) {
		n--
	}
	i := c.Segments[n].Index
	for c.end(i).Before(t) && !c.start(i+1).After(t) {
		i++
	}
	return i
}

// nth returns the n-th date of the policy after from, in the zone's local time.
// A day that a month lacks becomes its last one; the original day comes back in
// longer months.
func (p policy) nth(from time.Time, n int, zone *time.Location) time.Time {
	if n == 0 {
		return from
	}
	if len(p.Anchors) > 0 {
		return p.nthAnchor(from, n, zone)
	}
	l := from.In(zone)
	y, m, d := l.Date()
	switch p.Interval {
	case "WEEK":
		d += 7 * p.Count * n
	case "MONTH":
		return p.onDay(l, y, int(m)+p.Count*n, d)
	case "YEAR":
		return p.onDay(l, y+p.Count*n, int(m), d)
	default:
		d += p.Count * n
	}
	return at(l, y, m, d)
}

// nthAnchor returns the n-th anchored date after from's day. Weeks, months or
// years are counted in steps of the policy from the one that from lies in.
func (p policy) nthAnchor(from time.Time, n int, zone *time.Location) time.Time {
	l := from.In(zone)
	y, m, d := l.Date()
	for step := 0; ; step++ {
		dates := make([]time.Time, 0, len(p.Anchors))
		for _, a := range p.Anchors {
			switch a.Type {
			case "WEEKDAY":
				monday := d - (int(l.Weekday())+6)%7
				dates = append(dates, at(l, y, m, monday+7*p.Count*step+a.Day-1))
			case "MONTHDAY":
				dates = append(dates, p.onDay(l, y, int(m)+p.Count*step, a.Day))
			default:
				dates = append(dates, p.onDay(l, y+p.Count*step, a.Month, a.Day))
			}
		}
		slices.SortFunc(dates, time.Time.Compare)
		for _, date := range slices.CompactFunc(dates, time.Time.Equal) {
			if !date.After(from) {
				continue
			}
			if n--; n == 0 {
				return date
			}
		}
	}
}

// at returns a day at the local time of l.
func at(l time.Time, y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, l.Hour(), l.Minute(), l.Second(), 0, l.Location()).UTC()
}

// onDay returns a day of a month. When the month has fewer it is the month's last
// one, or overflows into the next month.
func (p policy) onDay(l time.Time, y, month, day int) time.Time {
	if p.Overflow {
		return at(l, y, time.Month(month), day)
	}
	first := time.Date(y, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return at(l, first.Year(), first.Month(), min(day, last))
}

// selector chooses one cycle: exactly one of the two is set.
type selector struct {
	index int
	date  time.Time
}

// choose returns the cycle that is meant, or the code that refuses it.
func (s *Simulator) choose(c *contract, sel selector) (index int, code string) {
	index = sel.index
	if !sel.date.IsZero() {
		if index = c.indexAt(sel.date); index < 1 {
			return 0, "CYCLE_START_DATE_OUT_OF_RANGE"
		}
	}
	if index < 1 {
		return 0, "CYCLE_INDEX_OUT_OF_RANGE"
	}
	if limit := s.opts.Switches.FutureCycleLimit; limit > 0 && index > c.indexAt(s.now())+limit {
		return 0, "UPCOMING_CYCLE_LIMIT_EXCEEDED"
	}
	return index, ""
}

// skip sets or removes the skip of a cycle. Asking for what is already so
// changes nothing.
func (s *Simulator) skip(c *contract, index int, skipped bool) *userError {
	r := c.record(index)
	if r.Skipped == skipped {
		return nil
	}
	if skipped && r.Billed {
		return &userError{Code: "INVALID", Field: []string{"billingCycleInput"}, Message: "Billing cycle has already been billed."}
	}
	if r.pending() {
		return &userError{Code: "INVALID", Field: []string{"billingCycleInput"}, Message: "Billing cycle has incomplete billing attempts in progress."}
	}
	before := r.edited()
	r.Skipped = skipped
	if skipped {
		r.Expected = time.Time{}
	}
	s.save(r)
	topic := "SUBSCRIPTION_BILLING_CYCLES_UNSKIP"
	if skipped {
		topic = "SUBSCRIPTION_BILLING_CYCLES_SKIP"
	}
	s.emitCycle(c, index, topic)
	s.emitEdit(c, index, before, r.edited())
	return nil
}

// pending reports whether a charge of the cycle has not ended.
func (c *cycle) pending() bool {
	return slices.ContainsFunc(c.attempts, func(a *attempt) bool { return !a.State.ended() })
}

// reschedule sets the date on which a cycle is expected, inside its own range.
func (s *Simulator) reschedule(c *contract, index int, to time.Time) *userError {
	r, v := c.record(index), c.view(index)
	refuse := func(code, message string) *userError {
		return &userError{Code: code, Field: []string{"input", "billingDate"}, Message: message}
	}
	switch {
	case r.Skipped:
		return refuse("BILLING_DATE_SET_ON_SKIPPED", "Billing date cannot be set on skipped billing cycle.")
	case r.pending():
		return refuse("INCOMPLETE_BILLING_ATTEMPTS", "Billing cycle has incomplete billing attempts in progress.")
	case to.Before(v.start) || to.After(v.end):
		return refuse("OUT_OF_BOUNDS", "Billing date of a cycle cannot be set to a value outside of its billing date range.")
	}
	before := r.edited()
	r.Expected = to
	s.save(r)
	s.emitEdit(c, index, before, true)
	return nil
}

// emitEdit tells that an edit of a cycle was made, changed or taken back.
func (s *Simulator) emitEdit(c *contract, index int, before, after bool) {
	switch {
	case before && after:
		s.emitCycle(c, index, "SUBSCRIPTION_BILLING_CYCLE_EDITS_UPDATE")
	case after:
		s.emitCycle(c, index, "SUBSCRIPTION_BILLING_CYCLE_EDITS_CREATE")
	case before:
		s.emitCycle(c, index, "SUBSCRIPTION_BILLING_CYCLE_EDITS_DELETE")
	}
}

// firstSegment returns the cycles of a contract that is made at created.
func (s *Simulator) firstSegment(created, next time.Time, p policy) segment {
	p.Overflow = s.opts.Switches.ShortMonthsOverflow
	return segment{Index: 1, Start: created, End: next, Policy: p, ZeroSecond: s.opts.Switches.ZeroLengthAnchorCycle && len(p.Anchors) > 1}
}

// draftSegment is the first segment of a contract that was made by a draft and
// whose next billing date is not heeded.
func (s *Simulator) draftSegment(created time.Time, p policy, zone *time.Location) segment {
	p.Overflow = s.opts.Switches.ShortMonthsOverflow
	return segment{Index: 1, Start: created.Add(time.Second), End: p.nth(created, 1, zone).Truncate(time.Hour), Policy: p}
}

// changeRhythm gives the running cycle and all later ones a new policy. The
// running cycle keeps its end.
func (s *Simulator) changeRhythm(c *contract, p policy, now time.Time) {
	p.Overflow = s.opts.Switches.ShortMonthsOverflow
	index := max(c.indexAt(now), 1)
	start, end := c.start(index), c.end(index)
	c.Segments = slices.DeleteFunc(c.Segments, func(s segment) bool { return s.Index >= index })
	if s.opts.Switches.PolicyChangeRenumbers {
		c.Segments = append(c.Segments,
			segment{Index: index, Start: start, End: end, Policy: p},
			segment{Index: index + 1, Start: now, End: p.nth(end, 1, c.shop.zone), Policy: p})
		return
	}
	c.Segments = append(c.Segments, segment{Index: index, Start: start, End: end, Policy: p})
}

// openCycle ends the running cycle and begins another with the same end.
func (s *Simulator) openCycle(c *contract, now time.Time) {
	index := max(c.indexAt(now), 1)
	n := c.segment(index)
	end, policy := c.end(index), c.Segments[n].Policy
	if !c.start(index).Before(now) {
		return
	}
	c.Segments = slices.DeleteFunc(c.Segments, func(s segment) bool { return s.Index > index })
	c.Segments = append(c.Segments, segment{Index: index + 1, Start: now, End: end, Policy: policy})
	s.save(c)
}
