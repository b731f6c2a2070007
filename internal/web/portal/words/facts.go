package words

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Facts returns the two sentences that say where a contract stands: what it costs or when it ends,
// and what comes next.
func Facts(v portal.Visit, s overview.Sheet) (first, second string) {
	c := s.Contract
	switch {
	case c.Status == contract.Cancelled:
		return v.T("facts.cancelled", "day", v.Day(c.CancelledAt)), v.T("facts.nothingMore")
	case c.Status == contract.Expired:
		return v.T("facts.expired", "day", v.Day(c.ExpireAt)), v.T("facts.nothingMore")
	case c.Lifelong:
		return v.T("facts.lifelong"), ""
	case s.Unpaid != nil:
		return price(v, s), due(v, s)
	case c.Status == contract.Paused:
		return paused(v, s)
	case c.Status == contract.Failed:
		return v.T("facts.failed"), v.T("facts.failedText")
	case c.Ending != nil:
		return ending(v, s)
	case c.Prepaid():
		return prepaid(v, s)
	}
	if next, comes := s.Next(); comes {
		return price(v, s), v.T("facts.next", "n", len(c.Lines), "day", v.Day(next.BillingDate))
	}
	return price(v, s), v.T("facts.none")
}

// price returns what an order costs, and how often it comes. It is the last of the orders to come that
// says it: the first ones may have a discount that ends, or a product of their own.
func price(v portal.Visit, s overview.Sheet) string {
	last := s.NextOrder()
	for _, o := range s.Upcoming {
		if o.Status != billing.Skipped {
			last = o.Record
		}
	}
	last.OneOffs = nil
	return v.T("facts.price", "amount", Cost(v, last), "every", Every(v, s.Contract.Billing))
}

func due(v portal.Visit, s overview.Sheet) string {
	amount, since := Cost(v, s.Unpaid.Record), v.Day(s.Contract.Dunning.Since)
	if again := s.Contract.Dunning.RetryAt; !again.IsZero() {
		return v.T("facts.dueRetry", "amount", amount, "day", since, "again", v.Day(again))
	}
	return v.T("facts.due", "amount", amount, "day", since)
}

func paused(v portal.Visit, s overview.Sheet) (first, second string) {
	c := s.Contract
	amount, every := Cost(v, s.NextOrder()), Every(v, c.Billing)
	if c.Resumes() {
		return v.T("facts.pausedUntil", "day", v.Day(c.Pause.Until)), v.T("facts.pausedThen", "amount", amount, "every", every)
	}
	return v.T("facts.paused", "day", v.Day(c.PausedAt)), v.T("facts.pausedOpen", "amount", amount, "every", every)
}

func ending(v portal.Visit, s overview.Sheet) (first, second string) {
	first = v.T("facts.ends", "day", v.Day(s.Contract.Ending.At))
	if next, comes := s.Next(); comes {
		return first, v.T("facts.endsAfter", "amount", Cost(v, next.Record), "day", v.Day(next.BillingDate))
	}
	return first, v.T("facts.nothingMore")
}

func prepaid(v portal.Visit, s overview.Sheet) (first, second string) {
	term := s.Contract.Term(v.Calendar)
	next, comes := s.Next()
	if len(term.Deliveries) == 0 {
		return price(v, s), ""
	}
	first = v.T("facts.paidUntil", "day", v.Day(term.Last()))
	left := term.Left(v.Now)
	sent := len(term.Deliveries) - left
	switch {
	case left > 0:
		return first, v.T("facts.deliveries", "n", len(term.Deliveries), "sent", sent, "day", v.Day(term.Next(v.Now)))
	case comes:
		return first, v.T("facts.nextPayment", "amount", Cost(v, next.Record), "day", v.Day(next.BillingDate))
	}
	return first, ""
}
