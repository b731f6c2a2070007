package cancellations

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
)

// draft is a flow as the form has it: texts that may be no numbers.
type draft struct {
	Mode, Instructions, Support, HoldBack, Budget string
	Reasons                                       []draftReason
}

type draftReason struct {
	Key, Label, More string
	Comment          bool
	Groups           []string
	Offers           []draftOffer
}

// draftOffer has the text of each parameter by its name.
type draftOffer struct {
	Kind   flow.Kind
	Values map[string]string
}

// parameter is an input of an offer.
type parameter struct {
	name, label, hint string
	most              int // of a number; 0: a text
}

// parameters are the inputs of each kind of offer.
var parameters = map[flow.Kind][]parameter{
	flow.Skip:       {{"orders", "Orders", "", flow.MaxSkips}},
	flow.Pause:      {{"months", "Months", "", flow.MaxMonths}},
	flow.Discount:   {{"percent", "Percent", "Or an amount.", 100}, {"amount", "Amount", "", 0}, {"orders", "Orders", "", flow.MaxDiscounts}},
	flow.Swap:       {{"variants", "Variants", "Numbers or graph ids, with commas between them. The customer chooses.", 0}},
	flow.Sample:     {{"variants", "Variant", "Its number or graph id.", 0}},
	flow.Reschedule: {{"days", "Days", "", flow.MaxDays}},
	flow.Frequency:  {{"direction", "Which", "", 0}},
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// draftOf returns the form of a flow.
func draftOf(f flow.Flow) draft {
	d := draft{Mode: string(f.Mode), Instructions: f.Instructions, Support: f.Support, HoldBack: strconv.Itoa(f.HoldBack)}
	if f.Budget > 0 {
		d.Budget = money.Amount{Minor: f.Budget, Currency: f.Currency}.String()
	}
	for _, r := range f.Reasons {
		one := draftReason{Key: r.Key, Label: r.Label[flow.English], Comment: r.Comment}
		for tag, text := range r.Label {
			if tag != flow.English && text != "" {
				one.More += tag + ": " + text + "\n"
			}
		}
		one.More = sortedLines(one.More)
		for _, g := range r.PlanGroups {
			one.Groups = append(one.Groups, strconv.FormatInt(g, 10))
		}
		for _, o := range r.Offers {
			one.Offers = append(one.Offers, offerOf(o))
		}
		d.Reasons = append(d.Reasons, one)
	}
	return d
}

func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func offerOf(o flow.Offer) draftOffer {
	var variants []string
	for _, v := range o.Variants {
		variants = append(variants, strconv.FormatInt(v, 10))
	}
	d := draftOffer{o.Kind, map[string]string{
		"orders": number(o.Orders), "months": number(o.Months), "percent": number(o.Percent), "days": number(o.Days), "variants": strings.Join(variants, ", "), "direction": string(o.Direction),
	}}
	if o.Amount.Minor > 0 {
		d.Values["amount"] = o.Amount.String()
	}
	return d
}

// limits of what a form may send.
const maxEntered = 30

// draftFrom reads what was entered.
func draftFrom(form url.Values) draft {
	d := draft{Mode: form.Get("mode"), Instructions: strings.ReplaceAll(form.Get("instructions"), "\r\n", "\n"), Support: strings.TrimSpace(form.Get("support")), HoldBack: form.Get("holdback"), Budget: form.Get("budget")}
	for i := range maxEntered {
		at := fmt.Sprintf("r%d-", i)
		if !form.Has(at + "label") {
			break
		}
		r := draftReason{Key: form.Get(at + "key"), Label: form.Get(at + "label"), More: strings.ReplaceAll(form.Get(at+"more"), "\r\n", "\n"), Comment: form.Get(at+"comment") != "", Groups: form[at+"groups"]}
		for j := range maxEntered {
			offer := fmt.Sprintf("%so%d-", at, j)
			kind := flow.Kind(form.Get(offer + "kind"))
			if kind == "" {
				break
			}
			o := draftOffer{kind, map[string]string{}}
			for _, p := range parameters[kind] {
				o.Values[p.name] = form.Get(offer + p.name)
			}
			r.Offers = append(r.Offers, o)
		}
		d.Reasons = append(d.Reasons, r)
	}
	return d
}

// wrong refuses an input.
func wrong(field, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Code("cancelFlowInvalid").Field(field)
}

// whole reads a number; an empty text is 0.
func whole(text, field, label string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, wrong(field, "“%s” is a whole number", label)
	}
	return n, nil
}

// flow returns the flow that the form says.
func (d draft) flow(currency money.Currency) (flow.Flow, error) {
	f := flow.Flow{Mode: flow.Mode(d.Mode), Instructions: strings.TrimSpace(d.Instructions), Support: d.Support, Currency: currency}
	var err error
	if f.HoldBack, err = whole(d.HoldBack, "holdback", "Percent without an offer"); err != nil {
		return f, err
	}
	if text := strings.TrimSpace(d.Budget); text != "" {
		budget, err := money.ParseExact(text, currency)
		if err != nil {
			return f, wrong("budget", "“Budget for discounts” is an amount in %s, such as 250.00", currency)
		}
		f.Budget = budget.Minor
	}
	for i, r := range d.Reasons {
		one, err := r.reason(i, currency)
		if err != nil {
			return f, err
		}
		if one.Key == "" {
			one.Key = keyOf(one.Label[flow.English], f.Reasons)
		}
		f.Reasons = append(f.Reasons, one)
	}
	return f, nil
}

// keyOf makes the key of a new reason from its label.
func keyOf(label string, taken []flow.Reason) string {
	var b strings.Builder
	for _, c := range strings.ToLower(label) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const most = 30
	key := b.String()
	key = strings.Trim(key[:min(len(key), most)], "-")
	if key == "" || key[0] < 'a' {
		key = strings.TrimSuffix("reason-"+key, "-")
	}
	for n := 1; ; n++ {
		with := key
		if n > 1 {
			with = fmt.Sprintf("%s-%d", key, n)
		}
		if !slices.ContainsFunc(taken, func(r flow.Reason) bool { return r.Key == with }) {
			return with
		}
	}
}

func (r draftReason) reason(i int, currency money.Currency) (flow.Reason, error) {
	at := fmt.Sprintf("r%d-", i)
	one := flow.Reason{Key: r.Key, Label: map[string]string{flow.English: strings.TrimSpace(r.Label)}, Comment: r.Comment, Offers: []flow.Offer{}}
	if one.Label[flow.English] == "" {
		return one, wrong(at+"label", "Every reason needs a text in English")
	}
	for line := range strings.Lines(r.More) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		tag, text, ok := strings.Cut(line, ":")
		if !ok {
			return one, wrong(at+"more", "%.40q is no language and text, such as de: Ich habe zu viel davon", line)
		}
		one.Label[strings.TrimSpace(tag)] = strings.TrimSpace(text)
	}
	for _, text := range r.Groups {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return one, wrong(at+"groups", "%.20q is not a plan group", text)
		}
		one.PlanGroups = append(one.PlanGroups, id)
	}
	for j, o := range r.Offers {
		offer, err := o.offer(fmt.Sprintf("%so%d-", at, j), currency)
		if err != nil {
			return one, err
		}
		one.Offers = append(one.Offers, offer)
	}
	return one, nil
}

func (o draftOffer) offer(at string, currency money.Currency) (flow.Offer, error) {
	offer := flow.Offer{Kind: o.Kind, Direction: flow.Direction(o.Values["direction"])}
	for _, p := range parameters[o.Kind] {
		n, err := 0, error(nil)
		if p.most > 0 {
			if n, err = whole(o.Values[p.name], at+p.name, p.label); err != nil {
				return offer, err
			}
		}
		text := strings.TrimSpace(o.Values[p.name])
		switch p.name {
		case "orders":
			offer.Orders = n
		case "months":
			offer.Months = n
		case "percent":
			offer.Percent = n
		case "days":
			offer.Days = n
		case "amount":
			if text == "" {
				continue
			}
			if offer.Amount, err = money.ParseExact(text, currency); err != nil {
				return offer, wrong(at+p.name, "“Amount” is an amount in %s, such as 5.00", currency)
			}
		case "variants":
			for id := range strings.SplitSeq(text, ",") {
				if id = strings.TrimSpace(id); id == "" {
					continue
				}
				v, err := gid.Parse("ProductVariant", id)
				if err != nil {
					return offer, wrong(at+p.name, "%.60q is neither the number nor the graph id of a variant", id)
				}
				offer.Variants = append(offer.Variants, v)
			}
		}
	}
	return offer, nil
}

// change carries out a button of the form: it moves, adds or removes reasons and offers. It
// reports the reason that it was about; -1: none.
func (d *draft) change(do, kind string) (at int, known bool) {
	name, rest, _ := strings.Cut(do, ":")
	first, second, _ := strings.Cut(rest, ":")
	i, err := strconv.Atoi(first)
	j, offerErr := strconv.Atoi(second)
	has := err == nil && i >= 0 && i < len(d.Reasons)
	hasOffer := has && offerErr == nil && j >= 0 && j < len(d.Reasons[i].Offers)
	switch {
	case name == "add":
		d.Reasons = append(d.Reasons, draftReason{})
		return len(d.Reasons) - 1, true
	case name == "up" && has && i > 0:
		d.Reasons[i-1], d.Reasons[i] = d.Reasons[i], d.Reasons[i-1]
		return i - 1, true
	case name == "down" && has && i+1 < len(d.Reasons):
		d.Reasons[i+1], d.Reasons[i] = d.Reasons[i], d.Reasons[i+1]
		return i + 1, true
	case name == "remove" && has:
		d.Reasons = slices.Delete(d.Reasons, i, i+1)
		return -1, true
	case name == "add-offer" && has && slices.Contains(flow.Kinds, flow.Kind(kind)):
		d.Reasons[i].Offers = append(d.Reasons[i].Offers, draftOffer{flow.Kind(kind), map[string]string{"direction": string(flow.Rarer)}})
		return i, true
	case name == "offer-up" && hasOffer && j > 0:
		list := d.Reasons[i].Offers
		list[j-1], list[j] = list[j], list[j-1]
		return i, true
	case name == "offer-remove" && hasOffer:
		d.Reasons[i].Offers = slices.Delete(d.Reasons[i].Offers, j, j+1)
		return i, true
	}
	return -1, false
}
