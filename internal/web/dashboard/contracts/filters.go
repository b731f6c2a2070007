package contracts

import (
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// filterParam is a filter of the search, by the name of the interface's parameter.
type filterParam struct {
	Name  string
	Label string // of the field
	Says  string // on a chip, before the value
	Type  string // of the field; empty: a text
	Hint  string
	Words map[string]string // of a choice, in the order of Order
	Order []string
	hide  bool // it has no field: the tabs choose it
}

var yes = map[string]string{"true": "yes"}

// filterParams are all filters, in the order of the form.
var filterParams = []filterParam{
	{Name: "customerName", Label: "Customer", Says: "Customer contains", Hint: "Part of the name or the e-mail address."},
	{Name: "customerEmail", Label: "E-mail address", Says: "E-mail is", Hint: "The whole address."},
	{Name: "orderName", Label: "Order", Says: "Order contains", Hint: "Part of the name of the first or any later order."},
	{Name: "subscriptionContractId", Label: "Contract number", Says: "Contract contains", Hint: "Part of the number."},
	choice("status", "Status", "Status is", "ACTIVE", "Active", "PAUSED", "Paused", "CANCELLED", "Cancelled", "EXPIRED", "Expired", "FAILED", "Failed"),
	{Name: "failing", Says: "Payment is failing:", Words: yes, hide: true},
	{Name: "ending", Says: "Ends soon:", Words: yes, hide: true},
	choice("line", "Kind", "Kind is", "SUBSCRIPTION", "Subscriptions", "MEMBERSHIP", "Memberships"),
	choice("planType", "Payment", "Payment is", "prepaid", "Prepaid", "non-prepaid", "For each delivery"),
	choice("recordType", "Origin", "Origin is", "imported", "Imported", "nonImported", "Not imported"),
	choice("billingPolicyInterval", "Delivered every", "Delivered every", "DAY", "Day", "WEEK", "Week", "MONTH", "Month", "YEAR", "Year"),
	{Name: "billingPolicyIntervalCount", Label: "Number of intervals", Says: "Number of intervals is", Type: "number", Hint: "2 with Week: every two weeks."},
	{Name: "minOrderAmount", Label: "Item total from", Says: "Item total from", Type: "number", Hint: "Before discounts and delivery, whatever the currency."},
	{Name: "maxOrderAmount", Label: "Item total to", Says: "Item total to", Type: "number"},
	{Name: "fromNextDate", Label: "Next order from", Says: "Next order from", Type: "date", Hint: "Needs the day to which."},
	{Name: "toNextDate", Label: "Next order to", Says: "Next order to", Type: "date"},
	{Name: "fromCreatedDate", Label: "Created from", Says: "Created from", Type: "date"},
	{Name: "toCreatedDate", Label: "Created to", Says: "Created to", Type: "date"},
	{Name: "fromUpdatedDate", Label: "Changed from", Says: "Changed from", Type: "date"},
	{Name: "toUpdatedDate", Label: "Changed to", Says: "Changed to", Type: "date"},
	{Name: "productId", Label: "Product", Says: "Product is", Hint: "Number or graph id."},
	{Name: "variantId", Label: "Variant", Says: "Variant is", Hint: "Number or graph id."},
	{Name: "sellingPlanId", Label: "Selling plan", Says: "Selling plan is", Hint: "Number or graph id."},
	{Name: "customerId", Label: "Customer number", Says: "Customer number is", Hint: "Number or graph id."},
}

// choice returns a filter with a value of several, which come with their words.
func choice(name, label, says string, pairs ...string) filterParam {
	p := filterParam{Name: name, Label: label, Says: says, Type: "select", Words: make(map[string]string)}
	for i := 0; i < len(pairs); i += 2 {
		p.Order = append(p.Order, pairs[i])
		p.Words[pairs[i]] = pairs[i+1]
	}
	return p
}

// fields returns the fields of the form, with the values of the list. The search field shows
// one of them.
func (l listQuery) fields() []dashboard.Field {
	var list []dashboard.Field
	for _, p := range filterParams {
		if p.hide {
			continue
		}
		f := dashboard.Field{Name: p.Name, Label: p.Label, Type: p.Type, Hint: p.Hint, Max: 255, Plain: true}
		if p.Name != l.box {
			f.Value = l.filters.Get(p.Name)
		}
		if p.Type == "date" || p.Type == "number" {
			f.Max = 0
		}
		if p.Name == "minOrderAmount" || p.Name == "maxOrderAmount" { // decimals
			f.Type = ""
			f.Max = 15
		}
		if p.Type == "select" {
			f.Choices = []dashboard.Choice{{Name: "Any"}}
			for _, value := range p.Order {
				f.Choices = append(f.Choices, dashboard.Choice{Value: value, Name: p.Words[value], Selected: strings.EqualFold(value, f.Value)})
			}
		}
		list = append(list, f)
	}
	return list
}

// chip is a filter that is set, with a link that removes it.
type chip struct {
	Says, Value string
	Path        string
}

// chips returns the filters that neither the tab nor the search field shows.
func (l listQuery) chips(v dashboard.Visit, shown url.Values) []chip {
	var list []chip
	for _, p := range filterParams {
		value := l.filters.Get(p.Name)
		if value == "" || p.Name == l.box || shown.Get(p.Name) == value {
			continue
		}
		text := value
		if words, known := p.Words[strings.ToUpper(value)]; known {
			text = words
		} else if words, known := p.Words[value]; known {
			text = words
		} else if p.Type == "date" {
			if day, err := time.Parse(time.DateOnly, value); err == nil {
				text = day.Format(dashboard.DayLayout)
			}
		}
		remove := []string{p.Name}
		if p.Name == "fromNextDate" || p.Name == "toNextDate" { // one without the other is refused
			remove = []string{"fromNextDate", "toNextDate"}
		}
		list = append(list, chip{p.Says, text, near(v, l.without(remove...).path())})
	}
	return list
}
