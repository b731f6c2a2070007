package explain

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
)

// DateReasons say why an order is due when it is.
type DateReasons struct {
	Rule    string    // of the contract's calendar: "every month, counted from 2025-01-31, at 09:00 in Europe/Berlin"; empty: it has none
	Planned time.Time // where the calendar puts the cycle today; zero: nowhere
	Changes []DateChange
	Words   []string
}

// DateChange is something that was done to the date of an order, or to whether it
// has one.
type DateChange struct {
	Kind     ChangeKind
	By       activity.Actor
	At       time.Time
	From, To time.Time // of Moved
	Words    string
}

// ChangeKind is what was done.
type ChangeKind string

// The kinds of changes of a date.
const (
	DateMoved ChangeKind = "MOVED"
	DateSkip  ChangeKind = "SKIPPED"
	SkipUndo  ChangeKind = "UNSKIPPED"
)

// ChangeKinds lists every kind.
var ChangeKinds = []ChangeKind{DateMoved, DateSkip, SkipUndo}

func (f Facts) explainDate(history []happening) DateReasons {
	r := DateReasons{Words: []string{fmt.Sprintf("The order of cycle %d of contract %d is due at %s.", f.Cycle, f.Of.ID, f.moment(f.BillingDate))}}
	say := func(format string, args ...any) { r.Words = append(r.Words, fmt.Sprintf(format, args...)) }
	begins := f.Of.SeriesOf(f.Cycle)
	series, start := f.Of.Dates(begins, f.Calendar), begins.Origin()
	switch n := f.Cycle - start; {
	case begins.Start.IsZero():
		say("The contract has no calendar at present: the date is from the one that it had.")
	case n < 0:
		r.Rule = series.String()
		say("The contract's calendar has started again since, with cycle %d on %s: the date is from the calendar before it.", start, series.Day(series.Start))
	default:
		r.Rule, r.Planned = series.String(), series.Nth(n)
		say("By the contract's calendar orders recur %s, beginning with cycle %d.", r.Rule, start)
		if t := f.Of.Trial; t != nil && t.ChargeAt.Equal(begins.Start) {
			say("The contract began with a free trial until %s: its first order is due at %s.", f.moment(t.EndsAt), f.moment(t.ChargeAt))
		} else if begins.Moved {
			say("Its first day was chosen, and is not the one that an earlier calendar had for that order.")
		}
		if n > 0 {
			say("Cycle %d is the %s after it, which is %s.", f.Cycle, numeral(n), f.moment(r.Planned))
		}
		r.Words = append(r.Words, series.Explain(n)...)
		switch {
		case r.Planned.Equal(f.BillingDate):
		case f.Moved:
			say("The order is not on that date, because it was moved.")
		default:
			say("The order is not on that date, because the calendar has changed since its date was set, or the date was given to it otherwise.")
		}
	}
	if last, ends := f.Of.LastCycle(); ends {
		say("The contract ends after cycle %d.", last)
	}
	for _, h := range history {
		if c, ok := f.dateChange(h); ok {
			r.Changes = append(r.Changes, c)
			r.Words = append(r.Words, c.Words)
		}
	}
	return r
}

// dateChange reads what an entry tells about the date.
func (f Facts) dateChange(h happening) (DateChange, bool) {
	c := DateChange{By: h.Actor, At: h.At}
	did := ""
	switch h.what {
	case moved:
		c.Kind, c.From, c.To = DateMoved, parseInstant(h.told.From), parseInstant(h.told.To)
		did = fmt.Sprintf("moved it from %s to %s", f.moment(c.From), f.moment(c.To))
		if c.From.IsZero() {
			did = "let later orders be counted from it"
		} else if h.told.Reason != "" {
			did += ", because " + h.told.Reason
		}
	case skippedBy:
		c.Kind, did = DateSkip, "skipped it"
	case takenBack:
		c.Kind, did = SkipUndo, "took the skip back"
	default:
		return c, false
	}
	c.Words = fmt.Sprintf("At %s %s %s.", f.moment(h.At), actorName(h.Actor), did)
	return c, true
}
