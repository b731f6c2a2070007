package contracts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// cell is what a column says of a contract.
type cell struct {
	Class string // of the column
	Text  string
	Small string           // after the text
	Badge *dashboard.Badge // in place of the text
	Bad   bool
}

// column is a column of the list.
type column struct {
	key, name string
	sort      string // field of the search; empty: the list cannot be sorted by it
	class     string // of its cells, in contracts.css; empty: they need no rule
	number    bool
	first     bool // it is shown unless others are chosen
	says      func(c contract.Contract, v dashboard.Visit) cell
}

// columns are all columns but the customer, which is always the first. How their cells look is
// in contracts.css, by class: a page of many rows says it once.
var columns = []column{
	{"contract", "Contract", "id", "k", false, true, func(c contract.Contract, _ dashboard.Visit) cell {
		return cell{Text: strconv.FormatInt(int64(c.ID), 10), Small: c.OriginOrderName}
	}},
	{"status", "Status", "status", "s", false, true, func(c contract.Contract, v dashboard.Visit) cell { return cell{Badge: badge(c, v)} }},
	{"plan", "Plan", "", "p", false, true, func(c contract.Contract, _ dashboard.Visit) cell { return cell{Text: plan(c)} }},
	{"items", "Items", "", "", false, true, items},
	{"next", "Next order", "next_billing_date", "q", false, true, next},
	{"amount", "Item total", "order_amount", "m", true, true, func(c contract.Contract, _ dashboard.Visit) cell {
		return cell{Text: c.Amount().String(), Small: string(c.Currency)}
	}},
	{"orders", "Orders", "", "o", true, false, func(c contract.Contract, _ dashboard.Visit) cell { return cell{Text: strconv.Itoa(c.Orders)} }},
	{"lifetime", "Paid so far", "", "l", true, false, func(c contract.Contract, _ dashboard.Visit) cell {
		return cell{Text: c.Lifetime.String(), Small: string(c.Currency)}
	}},
	{"last", "Last order", "", "z", false, false, func(c contract.Contract, v dashboard.Visit) cell {
		return cell{Text: v.Day(c.LastOrderAt), Small: c.LastOrder}
	}},
	{"created", "Created", "created_at", "f", false, false, func(c contract.Contract, v dashboard.Visit) cell { return cell{Text: v.Day(c.CreatedAt)} }},
	{"updated", "Changed", "updated_at", "u", false, false, func(c contract.Contract, v dashboard.Visit) cell { return cell{Text: v.Day(c.UpdatedAt)} }},
	{"country", "Delivered to", "", "y", false, false, func(c contract.Contract, _ dashboard.Visit) cell { return cell{Text: orDash(c.DeliveryCountry)} }},
	{"phone", "Telephone", "", "h", false, false, func(c contract.Contract, _ dashboard.Visit) cell { return cell{Text: orDash(c.Customer.Phone)} }},
	{"imported", "Imported id", "", "x", false, false, func(c contract.Contract, _ dashboard.Visit) cell {
		return cell{Text: orDash(c.ImportedID)}
	}},
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// defaultColumns are the keys of the columns that are shown unless others are chosen.
func defaultColumns() []string {
	var keys []string
	for _, c := range columns {
		if c.first {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// parseColumns reads which columns are shown, as one text or several. Their order is the
// table's.
func parseColumns(given []string) ([]string, error) {
	wanted := strings.FieldsFunc(strings.Join(given, ","), func(r rune) bool { return r == ',' })
	if len(wanted) == 0 {
		return defaultColumns(), nil
	}
	for _, key := range wanted {
		if !slices.ContainsFunc(columns, func(c column) bool { return c.key == key }) {
			return nil, fault.New(fault.Invalid, "the list has no column %.40q", key).Field("columns")
		}
	}
	var keys []string
	for _, c := range columns {
		if slices.Contains(wanted, c.key) {
			keys = append(keys, c.key)
		}
	}
	return keys, nil
}

// badge is the status of a contract.
func badge(c contract.Contract, v dashboard.Visit) *dashboard.Badge {
	running := c.Status == contract.Active || c.Status == contract.Paused
	switch {
	case c.Dunning != nil && running:
		return &dashboard.Badge{Tone: dashboard.Bad, Text: "Payment failing"}
	case c.Ending != nil && running:
		return &dashboard.Badge{Tone: dashboard.Warning, Text: "Ends " + v.Day(c.Ending.At)}
	case !c.ExpireAt.IsZero() && running:
		return &dashboard.Badge{Tone: dashboard.Warning, Text: "Ends " + v.Day(c.ExpireAt)}
	case c.Status == contract.Active:
		return &dashboard.Badge{Tone: dashboard.Good, Text: "Active"}
	case c.Status == contract.Failed:
		return &dashboard.Badge{Tone: dashboard.Bad, Text: "Failed"}
	}
	return &dashboard.Badge{Tone: dashboard.Neutral, Text: statusName(c.Status), Hollow: true}
}

// statusName is a status in words.
func statusName(s contract.Status) string {
	if s == "" {
		return ""
	}
	return string(s[:1]) + strings.ToLower(string(s[1:]))
}

// plan says how often a contract is delivered and paid.
func plan(c contract.Contract) string {
	if c.Lifelong {
		return "For life"
	}
	text := every(c.Delivery)
	if c.Prepaid() {
		text += ", paid " + strings.ToLower(every(c.Billing))
	}
	return text
}

func every(p cadence.Policy) string {
	unit := strings.ToLower(p.Interval.String())
	if p.Count == 1 {
		return "Every " + unit
	}
	return "Every " + dashboard.Count(p.Count, unit, unit+"s")
}

// items names the first item, and says how many there are.
func items(c contract.Contract, _ dashboard.Visit) cell {
	if len(c.Lines) == 0 {
		return cell{Text: "–"}
	}
	first := cell{Text: orDash(c.Lines[0].Title)}
	switch {
	case len(c.Lines) > 1:
		first.Small = "+" + strconv.Itoa(len(c.Lines)-1)
	case c.Lines[0].Quantity > 1:
		first.Small = "×" + strconv.Itoa(c.Lines[0].Quantity)
	}
	return first
}

// next says when the next order is charged, or what becomes of one that was declined.
func next(c contract.Contract, v dashboard.Visit) cell {
	switch {
	case c.Dunning != nil && !c.Dunning.RetryAt.IsZero():
		return cell{Text: "Retry " + v.Day(c.Dunning.RetryAt), Bad: true}
	case c.Dunning != nil:
		return cell{Text: "No retry planned", Bad: true}
	}
	return cell{Text: v.Day(c.NextBillingDate)}
}
