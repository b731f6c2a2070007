package analytics

// Change adds a contract's step from one version to the next; before is nil for the first.
func (b *Book) Change(before *Version, after Version) {
	b.money(before, after)
	b.contracts(before, after)
	b.customersOf(before, after)
}

// money moves MRR. What changes its dimension is transferred first, so that the movement
// itself is of one dimension.
func (b *Book) money(before *Version, after Version) {
	var was int64
	if before != nil {
		was = before.MRR
		if before.Dimension != after.Dimension && was != 0 {
			if before.Currency == after.Currency && after.Active() {
				b.move(after.Day, before.Dimension, Transferred, -was)
				b.move(after.Day, after.Dimension, Transferred, was)
			} else { // an amount of another currency is no part of the same sum
				gone := after
				gone.Dimension = before.Dimension
				if after.Active() {
					b.move(after.Day, before.Dimension, Transferred, -was)
				} else {
					b.move(after.Day, before.Dimension, movementOf(before, gone), -was)
				}
				was = 0
				if after.MRR != 0 {
					b.move(after.Day, after.Dimension, Transferred, after.MRR)
				}
				return
			}
		}
	}
	if by := after.MRR - was; by != 0 {
		b.move(after.Day, after.Dimension, movementOf(before, after), by)
	}
}

func (b *Book) move(on Day, of Dimension, why Movement, by int64) {
	d := b.day(on, of)
	d.MRR += by
	d.Moved[why] += by
}

// contracts counts ACTIVE contracts.
func (b *Book) contracts(before *Version, after Version) {
	count := func(s State, by int64) {
		if !s.Active() {
			return
		}
		d := b.day(after.Day, s.Dimension)
		d.Contracts += by
		if s.Lifelong {
			d.Lifelong += by
		} else if s.Trial {
			d.Trials += by
		}
	}
	if before != nil && before.counts() != after.counts() {
		count(before.State, -1)
		count(after.State, 1)
	} else if before == nil {
		count(after.State, 1)
	}
}

// counts is what of a state decides where the contract is counted.
func (s State) counts() State {
	return State{Dimension: s.Dimension, Status: s.Status, Customer: s.Customer, Trial: s.Trial, Lifelong: s.Lifelong}
}

// customersOf counts subscribers.
func (b *Book) customersOf(before *Version, after Version) {
	var was State
	if before != nil {
		was = before.State
	}
	if was.Active() == after.Active() && (!after.Active() || was.Customer == after.Customer && was.Dimension == after.Dimension) {
		return
	}
	if was.Active() {
		b.hold(was, after.Day, -1)
	}
	if after.Active() {
		b.hold(after.State, after.Day, 1)
	}
	if was.Active() && after.Active() && was.Customer == after.Customer {
		return
	}
	merged := was.Active() && after.Active()
	if was.Active() {
		b.leave(was.Customer, after, merged)
	}
	if after.Active() {
		b.join(after, merged)
	}
}

// hold counts a contract of a customer in its dimension, and so the dimension's subscribers.
func (b *Book) hold(s State, on Day, by int64) {
	key := Holding{Customer: s.Customer, Dimension: s.Dimension}
	e := b.holdings[key]
	if e == nil {
		e = &entry[Holding]{row: key}
		b.holdings[key] = e
	}
	had := e.row.Contracts > 0
	e.row.Contracts += by
	e.changed = true
	switch has := e.row.Contracts > 0; {
	case has && !had:
		b.day(on, s.Dimension).Subscribers++
	case had && !has:
		b.day(on, s.Dimension).Subscribers--
	}
}

func (b *Book) customer(id int64) *Subscriber {
	e := b.customers[id]
	if e == nil {
		e = &entry[Subscriber]{row: Subscriber{Customer: id}}
		b.customers[id] = e
	}
	e.changed = true
	return &e.row
}

// join counts one more ACTIVE contract of a customer.
func (b *Book) join(v Version, merged bool) {
	c := b.customer(v.Customer)
	c.Contracts++
	if c.Contracts != 1 {
		return
	}
	d, month := b.subscriberDay(v.Day), v.Day.Month()
	d.Subscribers++
	first := c.Since == 0
	switch {
	case merged:
		d.Merged++
	case first && v.Reason == Existed:
		d.Opening++
	default:
		d.Gained++
	}
	if c.Counted == month { // came back in the month in which churn counted the customer
		*b.churnOf(month, c.Declined)--
	}
	c.Since = v.Day
	if first {
		c.Cohort = v.Cohort
	}
	if c.Cohort != 0 {
		cell := b.cohortMonth(c.Cohort, month, "")
		cell.Change++
		if first {
			cell.Joined++
		}
	}
}

// leave counts one ACTIVE contract of a customer less.
func (b *Book) leave(customer int64, v Version, merged bool) {
	c := b.customer(customer)
	c.Contracts--
	if c.Contracts != 0 {
		return
	}
	d, month := b.subscriberDay(v.Day), v.Day.Month()
	d.Subscribers--
	if c.Cohort != 0 {
		b.cohortMonth(c.Cohort, month, "").Change--
	}
	if merged {
		d.Merged--
		c.Until, c.Counted = 0, 0
		return
	}
	c.Declined = v.lostByDeclines()
	if c.Declined {
		d.LostDecline++
	} else {
		d.Lost++
	}
	if c.Since.Month() < month || c.Counted == month { // was there when the month began
		*b.churnOf(month, c.Declined)++
		c.Counted = month
	}
	c.Until = v.Day
}

func (b *Book) churnOf(m Month, declined bool) *int64 {
	if row := b.churnMonth(m); declined {
		return &row.ByFailedPayment
	} else {
		return &row.Voluntary
	}
}
