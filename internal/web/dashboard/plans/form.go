package plans

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// names are the fields of the forms, by the names that the domain gives them.
var names = map[string]string{
	"groupName": "name", "customerTag": "customer-tag", "orderTag": "order-tag", "memberOrderTag": "renewal-tag",
	"productIds": "products", "variantIds": "variants", "collectionId": "collection",
	"frequencyName": "option", "frequencyDescription": "description", "frequencyCount": "count", "frequencyInterval": "interval",
	"planType": "kind", "billingFrequencyCount": "billing-count", "billingFrequencyInterval": "billing-interval",
	"frequencyType": "specific", "specificDayValue": "day", "specificMonthValue": "month", "cutOff": "cutoff", "deliveryPolicyPreAnchorBehavior": "behavior",
	"inventoryPolicyReserve": "reserve", "discountType": "first-kind", "discountOffer": "first-offer", "afterCycle1": "first-after",
	"discountType2": "second-kind", "discountOffer2": "second-offer", "afterCycle2": "second-after", "discountEnabled2": "second",
	"freeTrialInterval": "trial-interval", "freeTrialCount": "trial-count", "minCycles": "min", "maxCycles": "max",
	"memberOnly": "members", "memberInclusiveTags": "inclusive", "memberExclusiveTags": "exclusive",
}

// labels are what the fields are called, by their names.
var labels = map[string]string{
	"name": "Name", "customer-tag": "Tags for customers", "order-tag": "Tags for first orders", "renewal-tag": "Tags for renewals",
	"products": "Products", "variants": "Variants", "collection": "Collection",
	"option": "Name of the option", "description": "Description", "count": "Delivered every", "interval": "Unit", "kind": "Payment",
	"billing-count": "Paid every", "billing-interval": "Unit of payments", "specific": "Orders fall on a fixed day", "day": "Day", "month": "Month",
	"cutoff": "Cut-off in days", "behavior": "Before the first fixed day", "reserve": "Stock is set aside",
	"first": "Discount", "first-kind": "Kind of discount", "first-offer": "Discount amount", "first-after": "After orders",
	"second": "Second discount", "second-kind": "Kind of the second discount", "second-offer": "Second discount amount", "second-after": "Takes its place after orders",
	"trial": "Free trial", "trial-count": "Length of the trial", "trial-interval": "Unit of the trial", "keep": "Keep the date of the next order",
	"min": "Least orders", "max": "Most orders", "lifetime": "Paid once, for good", "members": "Who may choose it",
	"inclusive": "Only customers with tags", "exclusive": "Not customers with tags", "exchange": "May be chosen in an upgrade or downgrade", "place": "Place in the list",
}

// section is fields of a form that belong together.
type section struct {
	Title, About string
	Fields       []dashboard.Field
	Rows         bool // its fields stand beside each other where there is room
}

// zero is how a number is shown that is not set.
func zero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// optionForm returns the fields of an option.
func optionForm(o plan.Option) []section {
	text := func(name, value string, most int, hint string) dashboard.Field {
		return dashboard.Field{Name: name, Label: labels[name], Value: value, Max: most, Hint: hint}
	}
	number := func(name, value, low, limit, hint string) dashboard.Field {
		return dashboard.Field{Name: name, Label: labels[name], Type: "number", Value: value, Min: low, Limit: limit, Hint: hint}
	}
	check := func(name string, on bool, hint string) dashboard.Field {
		return dashboard.Field{Name: name, Label: labels[name], Type: "checkbox", Value: dashboard.Tick(on), Hint: hint}
	}
	choose := func(name, value, hint string, pairs ...string) dashboard.Field {
		f := dashboard.Field{Name: name, Label: labels[name], Type: "select", Required: true, Hint: hint}
		for i := 0; i < len(pairs); i += 2 {
			f.Choices = append(f.Choices, dashboard.Choice{Value: pairs[i], Name: pairs[i+1], Selected: pairs[i] == value})
		}
		return f
	}
	unit := func(name string, i cadence.Interval) dashboard.Field {
		return choose(name, i.String(), "", "DAY", "days", "WEEK", "weeks", "MONTH", "months", "YEAR", "years")
	}
	kinds := func(name string, k plan.DiscountKind) dashboard.Field {
		return choose(name, string(k), "", "PERCENTAGE", "Per cent off", "FIXED", "Amount off", "PRICE", "Price")
	}
	named := text("option", o.Name, plan.MaxName, "As customers see it. Different from the other options of the group.")
	named.Required = true
	described := text("description", o.Description, plan.MaxDescription, "")
	described.Type = "textarea"
	count := number("count", zero(o.Delivery.Count), "1", strconv.Itoa(plan.MaxCount), "")
	count.Required = true
	offer := func(name string, d plan.Discount) dashboard.Field {
		value := ""
		if d.Enabled || d.Offer != 0 {
			value = decimal(d.Offer)
		}
		f := text(name, value, 12, "Of the whole payment, when it is not per cent.")
		return f
	}
	members := "all"
	switch {
	case o.MemberOnly:
		members = "members"
	case o.NonMemberOnly:
		members = "others"
	}
	months := []string{"", "None"}
	for i := time.January; i <= time.December; i++ {
		months = append(months, strconv.Itoa(int(i)), i.String())
	}
	return []section{
		{"Name", "", []dashboard.Field{named, described}, false},
		{"How often", "", []dashboard.Field{
			count, unit("interval", o.Delivery.Interval),
			choose("kind", string(o.Kind), "", "PAY_AS_YOU_GO", "With each delivery", "PREPAID", "Several deliveries at once", "ADVANCED_PREPAID", "Several at once, each with its own choice"),
			number("billing-count", zero(o.Billing.Count), "1", strconv.Itoa(plan.MaxCount), "When several deliveries are paid at once. Empty: with each delivery."), unit("billing-interval", o.Billing.Interval),
		}, true},
		{"Fixed day", "Without one, orders are counted from the day of the purchase.", []dashboard.Field{
			check("specific", o.Specific, ""), number("day", zero(o.Day), "1", "31", "Of weeks: 1 is Monday, 7 is Sunday. Otherwise the day of the month."),
			choose("month", zero(o.Month), "Of years.", months...),
			number("cutoff", zero(o.Cutoff), "0", strconv.Itoa(cadence.MaxCutoff), "A purchase so many days before the fixed day, or less, misses it."),
			choose("behavior", string(o.Behavior), "", "", "As the platform does", "ASAP", "Deliver at once", "NEXT", "Wait for the fixed day", "$UNKNOWN", "Something else"),
			choose("reserve", string(o.Reserve), "", "", "As the platform does", "ON_FULFILLMENT", "When an order is made", "ON_SALE", "When the contract is made"),
		}, true},
		{"Price", "Counted in orders that are paid for, the first one at the checkout.", []dashboard.Field{
			check("first", o.First.Enabled, ""), kinds("first-kind", o.First.Kind), offer("first-offer", o.First), number("first-after", zero(o.First.After), "0", "", "Empty: from the first order on."),
			check("second", o.Second.Enabled, "Not together with a free trial."), kinds("second-kind", o.Second.Kind), offer("second-offer", o.Second), number("second-after", zero(o.Second.After), "1", "", ""),
		}, true},
		{"Free trial", "The first order costs nothing.", []dashboard.Field{
			check("trial", o.Trial.Enabled, ""), number("trial-count", zero(o.Trial.Count), "1", strconv.Itoa(plan.MaxCount), ""), unit("trial-interval", o.Trial.Interval),
			check("keep", o.Trial.KeepDate, "It stays where it would be without a trial."),
		}, true},
		{"Length", "Empty: without a limit.", []dashboard.Field{
			number("min", zero(o.MinCycles), "1", "", "Before the customer may end the contract."), number("max", zero(o.MaxCycles), "1", "", "After which the contract ends."), check("lifetime", o.Lifetime, "The contract has one order."),
		}, true},
		{"Who may choose it", "", []dashboard.Field{
			choose("members", members, "", "all", "Everybody", "members", "Members only", "others", "Everybody but members"),
			text("inclusive", o.InclusiveTags, plan.MaxTags, "Separated by commas."), text("exclusive", o.ExclusiveTags, plan.MaxTags, "Separated by commas."),
			check("exchange", o.Exchange, ""), number("place", zero(o.Sequence), "0", "", "Options with the same number keep their order."),
		}, true},
	}
}

// entered lays what a form says over an option, which keeps what the form does not have.
func entered(r *http.Request, o plan.Option) (plan.Option, error) {
	var wrong error
	fail := func(field, format string, args ...any) {
		if wrong == nil {
			wrong = fault.New(fault.Invalid, format, args...).Field(field)
		}
	}
	text := func(field string) string { return strings.TrimSpace(r.PostForm.Get(field)) }
	whole := func(field string) int {
		value := text(field)
		if value == "" {
			return 0
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			fail(field, "“%s” is a whole number", labels[field])
		}
		return int(n)
	}
	interval := func(field string) cadence.Interval {
		i, err := cadence.ParseInterval(text(field))
		if err != nil && text(field) != "" {
			fail(field, "%q is not a unit of time", text(field))
		}
		return i
	}
	on := func(field string) bool { return r.PostForm.Get(field) != "" }
	discount := func(name string, was plan.Discount) plan.Discount {
		d := plan.Discount{Enabled: on(name), Kind: plan.DiscountKind(text(name + "-kind")), After: whole(name + "-after"), Masked: was.Masked}
		if value := strings.ReplaceAll(text(name+"-offer"), ",", "."); value != "" {
			var err error
			if d.Offer, err = strconv.ParseFloat(value, 64); err != nil {
				fail(name+"-offer", "“%s” is a number, such as 10 or 2.50", labels[name+"-offer"])
			}
		}
		if !d.Enabled && d.Offer == 0 && d.After == 0 {
			d.Kind = was.Kind
		}
		return d
	}
	o.Name, o.Description = text("option"), text("description")
	o.Delivery = plan.Frequency{Interval: interval("interval"), Count: whole("count")}
	o.Billing, o.Kind = o.Delivery, plan.Kind(text("kind"))
	if n := whole("billing-count"); n != 0 && o.Kind != plan.PayAsYouGo {
		o.Billing = plan.Frequency{Interval: interval("billing-interval"), Count: n}
	}
	o.Specific, o.Day, o.Month, o.Cutoff = on("specific"), whole("day"), whole("month"), whole("cutoff")
	o.Behavior, o.Reserve = plan.Behavior(text("behavior")), plan.Reserve(text("reserve"))
	o.First, o.Second = discount("first", o.First), discount("second", o.Second)
	o.Trial = plan.Trial{Enabled: on("trial"), Interval: interval("trial-interval"), Count: whole("trial-count"), KeepDate: on("keep")}
	if !o.Trial.Enabled && o.Trial.Count == 0 {
		o.Trial.Interval = 0
	}
	o.MinCycles, o.MaxCycles, o.Lifetime = whole("min"), whole("max"), on("lifetime")
	if o.Lifetime && o.MaxCycles == 0 {
		o.MaxCycles = 1
	}
	o.MemberOnly, o.NonMemberOnly = text("members") == "members", text("members") == "others"
	o.InclusiveTags, o.ExclusiveTags = text("inclusive"), text("exclusive")
	o.Exchange, o.Sequence = on("exchange"), whole("place")
	return o, wrong
}

// asEntered returns the fields with what was sent.
func asEntered(list []section, r *http.Request) []section {
	for i := range list {
		list[i].Fields = dashboard.Entered(list[i].Fields, r.PostForm)
	}
	return list
}

// termsForm returns the fields of a group other than its options.
func termsForm(t plan.Terms) []dashboard.Field {
	tags := func(name, value, hint string) dashboard.Field {
		return dashboard.Field{Name: name, Label: labels[name], Value: value, Max: plan.MaxTags, Hint: hint}
	}
	return []dashboard.Field{
		{Name: "name", Label: labels["name"], Value: t.Name, Max: plan.MaxName, Required: true, Hint: "Customers see it when a product has several groups."},
		tags("customer-tag", t.CustomerTag, "Separated by commas. Customers have them while a contract on the group is active."),
		tags("order-tag", t.OrderTag, "Separated by commas."), tags("renewal-tag", t.MemberOrderTag, "Separated by commas."),
	}
}

// enteredTerms lays what a form says over the terms of a group.
func enteredTerms(r *http.Request, t plan.Terms) plan.Terms {
	text := func(field string) string { return strings.TrimSpace(r.PostForm.Get(field)) }
	t.Name, t.CustomerTag, t.OrderTag, t.MemberOrderTag = text("name"), text("customer-tag"), text("order-tag"), text("renewal-tag")
	return t
}

// seen refuses a form that was opened before the group changed.
func seen(r *http.Request, g plan.Group) error {
	if r.PostForm.Get("version") != fmt.Sprint(g.Version) {
		return fault.New(fault.Conflict, "the plan group has changed since the page was opened: look at it, and enter your changes again").Code("changedMeanwhile")
	}
	return nil
}
