package oracle

import "time"

// Term returns the deliveries that a payment is for, and until when it has paid: until
// the next payment is due. A payment on a day of the calendar, which begins with the
// contract's first renewal, goes on with the calendar; any other one counts from its own
// day.
func Term(billing, delivery Policy, first, paid time.Time, c Calendar) (deliveries []time.Time, end time.Time) {
	from := paid
	horizon := paid.AddDate(2*billing.IntervalCount+1, 0, 0)
	starts := paid
	for _, due := range Owed(billing, first, horizon, c) {
		if c.sameDay(due, paid) {
			from, starts = first, due
			continue
		}
		if due.After(paid) {
			end = due
			break
		}
	}
	if from.Equal(paid) {
		if own := Owed(billing, paid, horizon, c)[1]; own.Before(end) {
			end = own
		}
	}
	for _, day := range Owed(delivery, from, end, c) {
		if (c.sameDay(day, starts) || day.After(starts)) && day.Before(end) {
			deliveries = append(deliveries, day)
		}
	}
	return deliveries, end
}

func (c Calendar) sameDay(a, b time.Time) bool {
	return a.In(c.Zone).Format(time.DateOnly) == b.In(c.Zone).Format(time.DateOnly)
}
