package subscription

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// hero is the card at the top: what comes next, or why nothing does.
func hero(v portal.Visit, s overview.Sheet) words.Next {
	c := s.Contract
	switch {
	case c.Status == contract.Cancelled:
		return ended(v, s, "hero.cancelled", c.CancelledAt)
	case c.Status == contract.Expired:
		return ended(v, s, "hero.expired", c.ExpireAt)
	case c.Status == contract.Paused:
		return paused(v, s)
	case c.Status == contract.Failed:
		return words.Next{Heading: v.T("hero.failed"), Day: v.T("hero.failedText"), Actions: resume(v, s)}
	case c.Lifelong:
		return words.Next{Heading: v.T("hero.lifelong"), Day: v.T("facts.lifelong")}
	}
	next, comes := s.Next()
	if comes && c.Prepaid() {
		return prepaid(v, s, next)
	}
	if day := s.Contract.Term(v.Calendar).Next(v.Now); !comes && c.Prepaid() && !day.IsZero() {
		return delivery(v, words.Next{}, day)
	}
	if !comes {
		return words.Next{Heading: v.T("hero.next"), Day: v.T("facts.none"), About: endText(v, c)}
	}
	n := words.NextOf(v, s, next)
	n.Heading, n.About = v.T("hero.next"), v.T("hero.charged", "when", words.InDays(v, next.BillingDate), "payment", words.Payment(v, c))
	return n
}

// ended is the card of a contract that is over.
func ended(v portal.Visit, s overview.Sheet, heading string, at time.Time) words.Next {
	n := words.Next{Heading: v.T(heading), Day: v.Day(at), At: v.Local(at).Format(time.DateOnly), About: v.T("facts.nothingMore")}
	if s.Can.Allows(do.Restart) && v.View.Has("/s/{contract}/restart") {
		n.Actions = []portal.Action{{Text: v.T("action.restart"), Path: words.Path(s.Contract.ID) + "/restart", Main: true}}
	}
	if why := s.Contract.CancellationFeedback; why != "" {
		n.Notes = []string{v.T("hero.reason", "reason", why)}
	}
	return n
}

// paused is the card of a contract that rests.
func paused(v portal.Visit, s overview.Sheet) words.Next {
	c := s.Contract
	n := words.Next{Heading: v.T("hero.paused"), Day: v.T("hero.open"), About: v.T("hero.pausedText"), Actions: resume(v, s)}
	if c.Resumes() {
		n.Heading, n.Day, n.At = v.T("hero.pausedUntil"), v.Day(c.Pause.Until), v.Local(c.Pause.Until).Format(time.DateOnly)
	}
	return n
}

func resume(v portal.Visit, s overview.Sheet) []portal.Action {
	if !s.Can.Allows(do.Resume) {
		return nil
	}
	return []portal.Action{{Text: v.T("action.resume"), Path: words.Path(s.Contract.ID) + "/resume", Asks: true, Main: s.Unpaid == nil}}
}

// prepaid is the card of a contract whose payments cover several deliveries: the delivery comes
// first, and the payment is named apart.
func prepaid(v portal.Visit, s overview.Sheet, next overview.Order) words.Next {
	n := words.NextOf(v, s, next)
	payment := portal.Fact{Name: v.T("prepaid.next"), Text: v.T("prepaid.payment", "amount", n.Amount, "day", n.Day, "n", int(s.Contract.Deliveries()))}
	n.Facts = append([]portal.Fact{payment}, n.Facts...)
	n.Heading, n.About, n.Bill = v.T("prepaid.nextPayment"), words.InDays(v, next.BillingDate), nil
	if day := s.Contract.Term(v.Calendar).Next(v.Now); !day.IsZero() {
		return delivery(v, n, day)
	}
	return n
}

// delivery makes a card that of a delivery that is paid for.
func delivery(v portal.Visit, n words.Next, day time.Time) words.Next {
	n.Heading, n.Day, n.At = v.T("prepaid.nextDelivery"), v.Day(day), v.Local(day).Format(time.DateOnly)
	n.Amount, n.About = v.T("prepaid.paid"), v.T("prepaid.nothing", "when", words.InDays(v, day))
	return n
}

func endText(v portal.Visit, c contract.Contract) string {
	if end := c.End(v.Calendar); !end.IsZero() {
		return v.T("facts.ends", "day", v.Day(end))
	}
	return ""
}
