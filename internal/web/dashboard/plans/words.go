package plans

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// units are the intervals as pages name them, one and many.
var units = map[cadence.Interval][2]string{
	cadence.Day: {"day", "days"}, cadence.Week: {"week", "weeks"}, cadence.Month: {"month", "months"}, cadence.Year: {"year", "years"},
}

// every says how often: "every month", "every 2 weeks".
func every(f plan.Frequency) string {
	if f.Count == 1 {
		return "every " + units[f.Interval][0]
	}
	return fmt.Sprintf("every %d %s", f.Count, units[f.Interval][1])
}

// off says what a discount is: "10 % off", "5.00 EUR off", "15.00 EUR".
func off(d plan.Discount, c money.Currency) string {
	number := decimal(d.Offer)
	switch d.Kind {
	case plan.Fixed:
		return number + " " + string(c) + " off"
	case plan.Price:
		return number + " " + string(c)
	}
	return number + " % off"
}

// weekdays are those of an option, from 1.
var weekdays = [...]string{"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// day says on which day orders fall; empty: on that of the purchase.
func day(o plan.Option) string {
	switch {
	case !o.Specific:
		return ""
	case o.Delivery.Interval == cadence.Week && o.Day > 0 && o.Day < len(weekdays):
		return "on " + weekdays[o.Day]
	case o.Delivery.Interval == cadence.Year:
		return fmt.Sprintf("on %d %s", o.Day, time.Month(max(o.Month, 1)))
	}
	return fmt.Sprintf("on day %d of the month", o.Day)
}

// schedule says how often an option is delivered and paid for.
func schedule(o plan.Option) string {
	text := every(o.Delivery)
	if d := day(o); d != "" {
		text += ", " + d
	}
	if o.Billing != o.Delivery {
		text += ", paid " + every(o.Billing)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// price says what is off.
func price(o plan.Option, c money.Currency) string {
	var parts []string
	if o.Trial.Enabled {
		parts = append(parts, fmt.Sprintf("%d %s free", o.Trial.Count, units[o.Trial.Interval][min(o.Trial.Count, 2)-1]))
	}
	if o.First.Enabled {
		text := off(o.First, c)
		if o.First.After > 0 {
			text += fmt.Sprintf(" from order %d", o.First.After+1)
		}
		parts = append(parts, text)
	}
	if o.Second.Enabled {
		parts = append(parts, fmt.Sprintf("%s from order %d", off(o.Second, c), o.Second.After+1))
	}
	if len(parts) == 0 {
		return "Full price"
	}
	return strings.Join(parts, ", then ")
}

// length says for how many orders a contract runs; empty: without limits.
func length(o plan.Option) string {
	switch {
	case o.Lifetime:
		return "Paid once, for good"
	case o.MinCycles > 0 && o.MaxCycles > 0:
		return fmt.Sprintf("At least %d orders, ends after %d", o.MinCycles, o.MaxCycles)
	case o.MinCycles > 0:
		return "At least " + dashboard.Count(o.MinCycles, "order", "orders")
	case o.MaxCycles > 0:
		return "Ends after " + dashboard.Count(o.MaxCycles, "order", "orders")
	}
	return ""
}

// audience says who may choose an option; empty: everybody.
func audience(o plan.Option) string {
	var parts []string
	switch {
	case o.MemberOnly:
		parts = append(parts, "members only")
	case o.NonMemberOnly:
		parts = append(parts, "not for members")
	}
	if o.InclusiveTags != "" {
		parts = append(parts, "tagged "+o.InclusiveTags)
	}
	if o.ExclusiveTags != "" {
		parts = append(parts, "not tagged "+o.ExclusiveTags)
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// domainField finds the names that the domain gives fields in its messages.
var domainField = regexp.MustCompile(`(?:field )?'(?:subscriptionPlans\[\d+\]\.)?(\w+)'`)

// atForm names the field of the form that a failure is about, and words the message with the
// labels of the form.
func atForm(err error) error {
	return dashboard.AtForm(err, func(param, message string) (string, string) {
		if _, last, in := strings.Cut(param, "]."); in {
			param = last
		}
		if name, known := names[param]; known {
			param = name
		}
		text := domainField.ReplaceAllStringFunc(message, func(found string) string {
			if label, known := labels[names[domainField.FindStringSubmatch(found)[1]]]; known {
				return "“" + label + "”"
			}
			return found
		})
		return param, text
	})
}
