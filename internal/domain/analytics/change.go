package analytics

// Change adds a contract's step from one version to the next; before is nil for the first.
func (b *Book) Change(before *Version, after Version) {
	b.money(before, after)
	b.contracts(before, after)
	b.customersOf(before, after)
}

// money moves MRR. What changes its plan group is transferred first, so that the movement
// itself is of one dimension.
func (b *Book) money(before *Version, after Version) {
	var was State
	if before != nil {
		was = before.State
	}
	switch {
	case was.MRR == 0 || was.Dimension == after.Dimension:
		b.move(after.Day, after.Dimension, movementOf(before, after), after.MRR-was.MRR)
	case !after.Active():
		b.move(after.Day, was.Dimension, movementOf(before, after), -was.MRR)
	case was.Currency == after.Currency:
		b.move(after.Day, was.Dimension, Transferred, -was.MRR)
		b.move(after.Day, after.Dimension, Transferred, was.MRR)
		b.move(after.Day, after.Dimension, movementOf(before, after), after.MRR-was.MRR)
	default: // amounts of two currencies have no difference
		b.move(after.Day, was.Dimension, Transferred, -was.MRR)
		b.move(after.Day, after.Dimension, Transferred, after.MRR)
	}
}

func (b *Book) move(on Day, of Dimension, why Movement, by int64) {
	if by == 0 {
		return
	}
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
	if !was.Active() || !after.Active() || was.Customer != after.Customer {
		merged := was.Active() && after.Active()
		if was.Active() {
			b.leave(was.Customer, after, merged)
		}
		if after.Active() {
			b.join(after, merged)
		}
	}
	if key := (payer{after.Customer, after.Currency}); after.Active() && !b.payers[key] {
		b.payers[key] = true
		if c := b.customer(after.Customer); c.Cohort != 0 {
			b.cohortMonth(c.Cohort, after.Day.Month(), after.Currency).Joined++
		}
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
	row := b.churnMonth(m)
	if declined {
		return &row.ByFailedPayment
	}
	return &row.Voluntary
}
