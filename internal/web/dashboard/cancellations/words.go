package cancellations

import (
	"fmt"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// kindWords are the names of the kinds of offer.
var kindWords = map[flow.Kind]string{
	flow.Skip: "Skip orders", flow.Pause: "Pause", flow.Discount: "Discount", flow.Swap: "Other product", flow.Frequency: "Other frequency", flow.Quantity: "Fewer pieces",
	flow.Reschedule: "Later date", flow.Sample: "Free sample", flow.Support: "Contact the store", flow.PaymentLink: "Link to change the payment method",
}

// modeWords are the names of the modes.
var modeWords = map[flow.Mode]string{
	flow.Retention: "Ask why, and make an offer that fits", flow.Instructions: "Show instructions first", flow.Immediate: "Ask for a confirmation only",
}

// nameOf says what an offer is.
func nameOf(o flow.Offer) string {
	switch o.Kind {
	case flow.Skip:
		return "Skip " + dashboard.Count(o.Orders, "order", "orders")
	case flow.Pause:
		return "Pause for " + dashboard.Count(o.Months, "month", "months")
	case flow.Discount:
		off := strconv.Itoa(o.Percent) + " %"
		if o.Percent == 0 {
			off = dashboard.Money(o.Amount)
		}
		return off + " off " + dashboard.Count(o.Orders, "order", "orders")
	case flow.Swap:
		return "Swap to one of " + dashboard.Count(len(o.Variants), "product", "products")
	case flow.Frequency:
		if o.Direction == flow.Rarer {
			return "Deliver less often"
		}
		return "Deliver at another frequency"
	case flow.Reschedule:
		return "Move the next order by " + dashboard.Count(o.Days, "day", "days")
	}
	return kindWords[o.Kind]
}

// percent returns a share as pages show it, or "–" of nothing.
func percent(s report.Share) string {
	if s.Of == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.Value()*100, 'f', 0, 64) + " %"
}

// points returns a difference of shares in percentage points, with its interval.
func points(d report.Difference) string {
	if !d.Known {
		return "–"
	}
	return fmt.Sprintf("%+.0f points (%+.0f to %+.0f)", d.Is*100, d.Low*100, d.High*100)
}

// ageOf names a band of completed orders.
func ageOf(band int) string {
	if band < 0 || band >= len(report.Bands) {
		return "–"
	}
	from := report.Bands[band]
	if band+1 == len(report.Bands) {
		return fmt.Sprintf("%d orders or more", from)
	}
	return fmt.Sprintf("%d to %d orders", from, report.Bands[band+1]-1)
}
