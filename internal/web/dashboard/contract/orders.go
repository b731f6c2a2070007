package contract

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

func escape(text string) string { return url.QueryEscape(text) }

// attemptBadges are the statuses of orders in words.
var attemptBadges = map[billing.Status]dashboard.Badge{
	billing.Queued: {Tone: dashboard.Info, Text: "Planned"}, billing.Requesting: {Tone: dashboard.Info, Text: "Charging"}, billing.Progress: {Tone: dashboard.Info, Text: "Charging"},
	billing.Success: {Tone: dashboard.Good, Text: "Paid"}, billing.Failure: {Tone: dashboard.Bad, Text: "Declined"}, billing.Skipped: {Tone: dashboard.Neutral, Text: "Skipped", Hollow: true},
	billing.Challenge: {Tone: dashboard.Warning, Text: "Customer must confirm"}, billing.PlatformException: {Tone: dashboard.Warning, Text: "Result not known yet"},
	billing.SkippedDunning:    {Tone: dashboard.Neutral, Text: "Given up", Hollow: true},
	billing.ContractCancelled: {Tone: dashboard.Neutral, Text: "Not charged: cancelled", Hollow: true}, billing.ContractPaused: {Tone: dashboard.Neutral, Text: "Not charged: paused", Hollow: true},
	billing.ContractEnded: {Tone: dashboard.Neutral, Text: "Not charged: ended", Hollow: true}, billing.ConnectionGone: {Tone: dashboard.Neutral, Text: "Not charged: store not connected", Hollow: true},
	billing.AutoChargeDisabled: {Tone: dashboard.Neutral, Text: "Not charged automatically", Hollow: true},
}

// row is what upcoming and past orders have in common.
func (m *room) row(v dashboard.Visit, a billing.Record) order {
	return order{
		ID: a.ID, Day: a.BillingDate.In(v.Zone).Format("Mon 2 Jan 2006"), Small: m.days(v, a.BillingDate), Cycle: a.Cycle, Number: a.OrderName,
		Badge: attemptBadges[a.Status], Amount: dashboard.Money(a.Cost()), Why: fmt.Sprintf("%s/orders/%d", at(a.Of.ID), a.ID),
	}
}

// upcoming is an order that may still be made, or whose skip can be undone.
func (m *room) upcoming(v dashboard.Visit, a billing.Record, may bool) order {
	o, of := m.row(v, a), strconv.FormatInt(int64(a.ID), 10)
	o.Asks = "Why this amount on this day?"
	if n := len(a.OneOffs); n > 0 {
		o.Extra = dashboard.Count(n, "extra", "extras")
	}
	if a.Moved {
		o.Small += ", moved"
	}
	if !may {
		return o
	}
	switch {
	case a.Status == billing.Queued:
		o.Buttons = []button{{Name: "Skip", Path: do(a.Of.ID, "skip", of), About: "the order of " + o.Day}, {Name: "Move", Path: do(a.Of.ID, "move", of), About: "the order of " + o.Day}, {Name: "Charge", Path: do(a.Of.ID, "charge", of), About: "the order of " + o.Day}}
	case a.SkipsAhead(m.Clock.Now()):
		o.Buttons = []button{{Name: "Undo skip", Path: do(a.Of.ID, "unskip", of), About: "of the order of " + o.Day}}
	}
	return o
}

// past is an order that was charged, declined, skipped or given up.
func (m *room) past(v dashboard.Visit, a billing.Record, may bool) order {
	o := m.row(v, a)
	o.Asks = "Why was this charged?"
	if !a.AttemptedAt.IsZero() {
		o.Day, o.Small = a.AttemptedAt.In(v.Zone).Format("2 Jan 2006, 15:04"), ""
	}
	if a.Try > 1 {
		o.Small = fmt.Sprintf("try %d", a.Try)
	}
	if a.Status == billing.Success {
		return o
	}
	o.Asks = "Why was this not charged?"
	if a.ErrorCode != "" {
		class, _ := dunning.ClassOf(a.ErrorCode)
		o.Reason, o.Code = words.Decline(a.ErrorCode, class)+".", a.ErrorCode
	} else if a.ErrorMessage != "" {
		o.Reason = a.ErrorMessage
	}
	if a.Status == billing.Failure && may {
		of := strconv.FormatInt(int64(a.ID), 10)
		o.Buttons = []button{{Name: "Charge again", Path: do(a.Of.ID, "charge", of), About: "the order of " + o.Day}}
	}
	return o
}

// stop is an order on the rail.
type stop struct {
	Class, Icon, Day, Text string
}

// railPast is how many past orders are on the rail.
const railPast = 6

// rail is the orders around today, one circle each.
func (m *room) rail(v dashboard.Visit, s support.Sheet) []stop {
	var list []stop
	for i := min(railPast, len(s.Past)) - 1; i >= 0; i-- {
		a := s.Past[i]
		t := stop{Icon: "check", Day: a.BillingDate.In(v.Zone).Format("2 Jan"), Text: "Paid"}
		switch {
		case a.Status == billing.Success && a.Try > 1:
			t.Class, t.Icon, t.Text = "retry", "loop", fmt.Sprintf("Paid, try %d", a.Try)
		case a.Status == billing.Failure:
			t.Class, t.Icon, t.Text = "retry", "alert", "Declined"
		case a.Status != billing.Success:
			t.Class, t.Icon, t.Text = "to", "x", "Skipped"
			if a.Status != billing.Skipped {
				t.Text = "Not charged"
			}
		}
		list = append(list, t)
	}
	next := true
	for _, a := range s.Upcoming {
		t := stop{Class: "to", Day: a.BillingDate.In(v.Zone).Format("2 Jan"), Text: "Planned"}
		switch {
		case a.Status == billing.Skipped:
			t.Icon, t.Text = "x", "Skipped"
		case next:
			t.Class, t.Text, next = "to next", m.days(v, a.BillingDate), false
		}
		list = append(list, t)
	}
	return list
}
