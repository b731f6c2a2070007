package texts

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// seen is how a text looks to a customer.
type seen struct {
	Lang, Dir string
	Rows      []seenRow
}

// seenRow is the text of a plural form.
type seenRow struct {
	Form    string // in words; empty: the text has none
	Text    string
	Problem string // why the text cannot be shown; empty: it can
	LeftOut string // the placeholders that the default has and the text lacks
}

// preview answers with how a text looks that is being written.
func (m *room) preview(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	t, err := m.find(r.Context(), r, v)
	if err != nil {
		return err
	}
	return v.Fragment(w, "text-live", m.seen(v, t, t.sent(r, wording.Field)))
}

// seen returns how a text looks with the texts of a form, and the default where a form leaves a field empty.
func (m *room) seen(v dashboard.Visit, t text, entered wording.Forms) seen {
	overrides := make(map[string]string)
	for form, text := range entered {
		overrides[locale.FormKey(t.key, form)] = strings.TrimSpace(text)
	}
	p := m.Catalogue.Printer(t.language, overrides)
	s := seen{Lang: p.Lang(), Dir: p.Dir()}
	for _, d := range t.defaults {
		row := seenRow{}
		n := int64(2)
		if d.Form != "" {
			n = locale.Example(t.language, d.Form)
			row.Form = "For " + p.Number(n)
		}
		if own := strings.TrimSpace(entered[d.Form]); own != "" {
			if err := m.Catalogue.CheckOverride(t.language, t.key, d.Form, own); err != nil {
				row.Problem = said(err)
			}
			var left []string
			for _, name := range m.Catalogue.LeftOut(t.key, own) {
				left = append(left, "{"+name+"}")
			}
			row.LeftOut = strings.Join(left, ", ")
		}
		row.Text = p.Text(t.key, samples(p, v.Shop, m.Catalogue.Placeholders(t.key), n, m.Clock.Now().In(v.Zone))...)
		s.Rows = append(s.Rows, row)
	}
	return s
}

// said returns a failure as a page shows it.
func said(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return web.Sentence(f)
	}
	return err.Error()
}

// samples returns values for placeholders. One that has no sample is shown by its name.
func samples(p *locale.Printer, of shop.Shop, names []string, n int64, now time.Time) []any {
	price := money.Amount{Minor: 2450, Currency: of.Currency}
	day := now.AddDate(0, 0, 14)
	known := map[string]any{
		"n": n, "amount": price, "from": price, "to": price.Plus(price.Ratio(1, 10)), "total": price,
		"day": p.Date(day), "date": p.Date(day), "next": p.Date(day), "again": p.Date(now.AddDate(0, 0, 3)), "until": p.Date(day), "time": p.Time(now),
		"name": "Ada", "email": "ada@example.com", "product": "Green tea", "products": p.List([]string{"Green tea", "Mug"}),
		"store": of.Domain, "brand": "Visa", "digits": "4242", "code": "TEA10", "order": "#1001", "zone": of.TimeZone,
	}
	var args []any
	for _, name := range names {
		value, has := known[name]
		if !has {
			value = "[" + name + "]"
		}
		args = append(args, name, value)
	}
	return args
}
