package bulk

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// fieldsOf are the fields of each kind's parameters.
var fieldsOf = map[bulk.Kind][]dashboard.Field{
	bulk.Pause: {
		{Name: "until", Label: "Until", Type: "date", Hint: "The contracts run again on that day. Leave empty for a pause without end."},
		{Name: "reason", Label: "Reason", Max: 500, Hint: "In the activity log."},
	},
	bulk.Cancel: {
		{Name: "reason", Label: "Note", Max: 1000, Hint: "In the activity log."},
		{Name: "now", Label: "Cancel at once, even where deliveries that are paid for are still to come", Type: "checkbox"},
	},
	bulk.MoveNext: {
		{Name: "days", Label: "By days", Type: "number", Min: "-365", Limit: "365", Hint: "A negative number moves to an earlier day. Or:"},
		{Name: "date", Label: "To a day", Type: "date"},
		{Name: "future", Label: "Count later orders from the new day", Type: "checkbox"},
	},
	bulk.SetQuantity: {variantField, quantityField},
	bulk.SetPrice:    {variantField, {Name: "price", Label: "Price of one", Required: true, Max: 12, Hint: "In the store's currency. Contracts in another currency are left as they are."}, dashboard.AnnouncedPrice},
	bulk.SwapVariant: {variantField, {Name: "newVariant", Label: "New variant", Required: true, Max: 100, Hint: "Number or graph id of the variant."}},
	bulk.ApplyCode:   {{Name: "code", Label: "Discount code", Required: true, Max: 255}},
	bulk.RemoveCode:  {{Name: "code", Label: "Discount code", Required: true, Max: 255}},
	bulk.SetCycles: {
		{Name: "minCycles", Label: "Minimum", Type: "number", Min: "0", Limit: "9999", Hint: "Orders that customers commit to. 0 is none. Leave empty to keep it."},
		{Name: "maxCycles", Label: "Maximum", Type: "number", Min: "0", Limit: "9999", Hint: "Orders after which a contract ends. 0 is no end. Leave empty to keep it."},
	},
	bulk.SendNews: {
		{Name: "subject", Label: "Subject", Required: true, Max: notify.MaxNewsSubject},
		{Name: "text", Label: "Text", Type: "textarea", Required: true, Max: notify.MaxNewsText, Hint: "The greeting, a link to the subscription and the link to refuse such e-mails are added. A blank line begins a paragraph."},
	},
	bulk.AddOneOff:    {variantField, quantityField},
	bulk.RemoveOneOff: {variantField},
}

var (
	variantField  = dashboard.Field{Name: "variant", Label: "Variant", Required: true, Max: 100, Hint: "Number or graph id of the variant, as it is in the store's admin."}
	quantityField = dashboard.Field{Name: "quantity", Label: "Quantity", Type: "number", Required: true, Min: "1", Limit: "999"}
)

// selection reads which contracts are selected: id (repeated) or ids (with commas), or with
// all what the query of the list finds.
func (m *room) selection(form url.Values, zone *time.Location) (bulk.Selection, error) {
	if form.Get("all") == "1" {
		f, err := m.Search(form.Get("query"), zone)
		return bulk.Selection{Filter: &f}, err
	}
	var sel bulk.Selection
	texts := form["id"]
	if list := form.Get("ids"); list != "" {
		texts = append(texts, strings.Split(list, ",")...)
	}
	if len(texts) > bulk.MaxIDs {
		texts = texts[:bulk.MaxIDs+1] // the rule says why it is refused
	}
	for _, text := range texts {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return sel, fault.New(fault.Invalid, "%.40q is not the number of a contract", text).Field("id")
		}
		sel.IDs = append(sel.IDs, contract.ID(id))
	}
	return sel, nil
}

// action reads the parameters of an action.
func (m *room) action(form url.Values, v dashboard.Visit) (bulk.Action, error) {
	kind, err := bulk.ParseKind(form.Get("action"))
	if err != nil {
		return bulk.Action{}, err
	}
	a := bulk.Action{Kind: kind, Reason: strings.TrimSpace(form.Get("reason")), Now: form.Get("now") == "on", Future: form.Get("future") == "on", Announced: form.Get("announced") == "on", Code: strings.TrimSpace(form.Get("code")), News: notify.News{Subject: strings.TrimSpace(form.Get("subject")), Text: strings.TrimSpace(form.Get("text"))}}
	for _, read := range []func(url.Values, dashboard.Visit, *bulk.Action) error{m.days, numbers, products} {
		if err := read(form, v, &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

// days reads the fields that are days of the store.
func (m *room) days(form url.Values, v dashboard.Visit, a *bulk.Action) error {
	for _, d := range []struct {
		field string
		at    *time.Time
		hour  int // a moved order is charged at the store's order time, whatever the hour is
	}{{"until", &a.Until, 0}, {"date", &a.Date, 12}} {
		text := form.Get(d.field)
		if text == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, text, v.Zone)
		if err != nil {
			return fault.New(fault.Invalid, "%.20q is not a day: use YYYY-MM-DD", text).Field(d.field)
		}
		*d.at = time.Date(day.Year(), day.Month(), day.Day(), d.hour, 0, 0, 0, v.Zone).UTC()
		if now := m.Clock.Now(); d.field == "date" && now.In(v.Zone).Format(time.DateOnly) == text {
			*d.at = now // later today
		}
	}
	return nil
}

// numbers reads the fields that are whole numbers.
func numbers(form url.Values, _ dashboard.Visit, a *bulk.Action) error {
	for field, set := range map[string]func(int){
		"days": func(n int) { a.Days = n }, "quantity": func(n int) { a.Quantity = n }, "minCycles": func(n int) { a.Min = &n }, "maxCycles": func(n int) { a.Max = &n },
	} {
		text := strings.TrimSpace(form.Get(field))
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return fault.New(fault.Invalid, "%.20q is not a whole number", text).Field(field)
		}
		set(n)
	}
	return nil
}

// products reads the fields about products.
func products(form url.Values, v dashboard.Visit, a *bulk.Action) error {
	var err error
	if a.Variant, err = web.ParseID("ProductVariant", "variant", strings.TrimSpace(form.Get("variant"))); err != nil {
		return err
	}
	if a.NewVariant, err = web.ParseID("ProductVariant", "newVariant", strings.TrimSpace(form.Get("newVariant"))); err != nil {
		return err
	}
	if text := strings.TrimSpace(form.Get("price")); text != "" {
		if a.Price, err = money.ParseExact(text, v.Shop.Currency); err != nil {
			return fault.New(fault.Invalid, "%.20q is not an amount such as 12.50", text).Field("price")
		}
	}
	return nil
}

// carried are the names of the fields that one page of the way to a job hands on to the next.
var carried = []string{"action", "ids", "query", "all"}

// hidden returns the fields that the next page needs, with those of the parameters if they
// are not in its form.
func hidden(form url.Values, parameters bool) map[string]string {
	list := make(map[string]string)
	names := carried
	if parameters {
		for _, f := range fieldsOf[bulk.Kind(form.Get("action"))] {
			names = append(names[:len(names):len(names)], f.Name)
		}
	}
	for _, name := range names {
		if value := form.Get(name); value != "" {
			list[name] = value
		}
	}
	if ids := form["id"]; len(ids) > 0 {
		if list["ids"] != "" {
			ids = append(ids[:len(ids):len(ids)], list["ids"])
		}
		list["ids"] = strings.Join(ids, ",")
	}
	return list
}

// formOf returns the form of a request. The frame limits its size.
func formOf(r *http.Request) (url.Values, error) {
	if err := r.ParseForm(); err != nil {
		return nil, fault.Because(fault.Invalid, err, "the form could not be read")
	}
	return r.PostForm, nil
}
