package bulk

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// contractsPage is what the pages belong to.
var contractsPage = &dashboard.Crumb{Name: "Contracts", Path: "/contracts"}

// parametersPage is what the page that asks for parameters shows.
type parametersPage struct {
	Chosen  string // which contracts
	Warns   string
	Fields  []dashboard.Field
	Actions []dashboard.Choice // to choose from; none: it is chosen
	Hidden  map[string]string
}

// begin asks for the parameters of an action. One without any is previewed at once.
func (m *room) begin(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	form, err := formOf(r)
	if err != nil {
		return err
	}
	if _, err := m.selection(form, v.Zone); err != nil {
		return err
	}
	kind, err := bulk.ParseKind(form.Get("action"))
	if err == nil && !wordsOf[kind].prompt {
		return m.preview(w, r, v)
	}
	return v.Answer(w, parameters(form))
}

func parameters(form url.Values) dashboard.Page {
	p := parametersPage{Hidden: hidden(form, false)}
	p.Chosen = "All contracts that the search finds"
	if form.Get("all") != "1" {
		sel, _ := (&room{}).selection(form, nil) // it was read before
		p.Chosen = contracts(len(sel.IDs))
	}
	kind, err := bulk.ParseKind(form.Get("action"))
	if err != nil {
		delete(p.Hidden, "action")
		for _, k := range bulk.Kinds {
			p.Actions = append(p.Actions, dashboard.Choice{Value: string(k), Name: wordsOf[k].name})
		}
		return dashboard.Page{Name: "bulk-parameters", Title: "Choose an action", Crumb: contractsPage, Content: p}
	}
	p.Warns = wordsOf[kind].warns
	p.Fields = dashboard.Entered(fieldsOf[kind], form)
	return dashboard.Page{Name: "bulk-parameters", Title: wordsOf[kind].name, Lead: p.Chosen + ". Nothing is changed before you have seen the preview.", Crumb: contractsPage, Content: p}
}

// effectRow is what an action does to a contract.
type effectRow struct {
	Contract contract.ID
	Customer string
	Was, Is  string
}

// reasonRow is why an action is not possible for some.
type reasonRow struct {
	Count   int
	Text    string
	Code    string
	Example contract.ID
}

// previewPage is what the preview shows.
type previewPage struct {
	bulk.Preview
	Says       []string
	Impossible int
	Reasons    []reasonRow
	Effects    []effectRow
	Button     string
	Keep       string
	Grave      bool
	Types      bool // the number is typed
	Hidden     map[string]string
}

// preview shows what an action would do.
func (m *room) preview(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	form, err := formOf(r)
	if err != nil {
		return err
	}
	if form.Get("key") == "" {
		form.Set("key", rand.Text())
	}
	return m.showPreview(w, r, v, form, nil)
}

// showPreview shows the preview, with what is wrong with the form that confirms it. What is
// wrong with the parameters is shown at their form.
func (m *room) showPreview(w http.ResponseWriter, r *http.Request, v dashboard.Visit, form url.Values, wrong error) error {
	sel, err := m.selection(form, v.Zone)
	if err != nil {
		return err
	}
	a, err := m.action(form, v)
	var seen bulk.Preview
	if err == nil {
		seen, err = m.Jobs.Preview(r.Context(), v.Shop.ID, sel, a, v.Actor(r))
	}
	if err != nil {
		if !wordsOf[a.Kind].prompt && a.Kind != "" {
			return err
		}
		return v.Refuse(w, r, parameters(form), err)
	}
	page := previewOf(seen, form, v)
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

func previewOf(seen bulk.Preview, form url.Values, v dashboard.Visit) dashboard.Page {
	words := wordsOf[seen.Action.Kind]
	p := previewPage{
		Preview: seen, Impossible: seen.Checked - seen.Possible, Keep: words.keep, Grave: words.grave, Types: seen.Action.Kind.TypesCount(), Hidden: hidden(form, true),
	}
	p.Hidden["key"], p.Hidden["previewed"] = form.Get("key"), seen.Fingerprint
	if says := describe(seen.Action, v); says != "" {
		p.Says = append(p.Says, says)
	}
	if words.warns != "" {
		p.Says = append(p.Says, words.warns)
	}
	n := seen.Possible
	if seen.Checked < seen.Total {
		n = seen.Total
		p.Says = append(p.Says, fmt.Sprintf("%d contracts are selected. The first %d were looked at; the others are when their turn comes.", seen.Total, seen.Checked))
	}
	if n > 0 {
		p.Button = of(words.verb, n)
	}
	for _, reason := range seen.Reasons {
		row := reasonRow{Count: reason.Count, Text: reasonWords[reason.Code], Code: reason.Code, Example: reason.Example}
		if row.Text == "" {
			row.Text = "for example: " + reason.Text
		}
		p.Reasons = append(p.Reasons, row)
	}
	for _, e := range seen.Effects {
		row := effectRow{e.Contract, e.Customer, state(e.Was, e, v), state(e.Is, e, v)}
		if !e.From.IsZero() {
			row.Is += "; the new price from " + v.Day(e.From)
		}
		if e.Link {
			row.Is = "The customer gets an e-mail"
		}
		p.Effects = append(p.Effects, row)
	}
	return dashboard.Page{Name: "bulk-preview", Title: of(words.name+": %s", seen.Total), Crumb: contractsPage, Content: p}
}

// describe says what an action does, with its parameters.
func describe(a bulk.Action, v dashboard.Visit) string {
	switch a.Kind {
	case bulk.Pause:
		if !a.Until.IsZero() {
			return "The contracts are paused until " + v.Day(a.Until) + "."
		}
		return "The contracts are paused until they are resumed."
	case bulk.MoveNext:
		text := "The next order of each contract moves to " + v.Day(a.Date)
		if a.Days > 0 {
			text = "The next order of each contract moves " + dashboard.Count(a.Days, "day", "days") + " later"
		} else if a.Days < 0 {
			text = "The next order of each contract moves " + dashboard.Count(-a.Days, "day", "days") + " earlier"
		}
		if a.Future {
			return text + ", and later orders are counted from there."
		}
		return text + ". Later orders keep their dates."
	case bulk.SetQuantity:
		return fmt.Sprintf("Lines with variant %d get the quantity %d.", a.Variant, a.Quantity)
	case bulk.SetPrice:
		if a.Announced {
			return fmt.Sprintf("Lines with variant %d cost %s each. Where that is more than now, it applies from the first order that is at least 14 days away, and the customer gets an e-mail now.", a.Variant, dashboard.Money(a.Price))
		}
		return fmt.Sprintf("Lines with variant %d cost %s each, from the next order on.", a.Variant, dashboard.Money(a.Price))
	case bulk.SwapVariant:
		return fmt.Sprintf("Variant %d takes the place of variant %d.", a.NewVariant, a.Variant)
	case bulk.ApplyCode:
		return "The discount code " + a.Code + " is applied."
	case bulk.RemoveCode:
		return "The discount code " + a.Code + " is removed."
	case bulk.AddOneOff:
		return fmt.Sprintf("The next order of each contract carries variant %d, quantity %d.", a.Variant, a.Quantity)
	case bulk.SendNews:
		return "The subject is “" + a.News.Subject + "”, and the text begins “" + shorten.Text(strings.Join(strings.Fields(a.News.Text), " "), shownText) + "”."
	case bulk.RemoveOneOff:
		return fmt.Sprintf("The next order of each contract carries variant %d no more.", a.Variant)
	}
	return ""
}

// shownText is how many characters of a message are shown.
const shownText = 120

// state says how a contract is before or after an action.
func state(s bulk.State, e bulk.Effect, v dashboard.Visit) string {
	var parts []string
	if e.Was.Status != e.Is.Status || !e.Was.EndsAt.Equal(e.Is.EndsAt) {
		parts = append(parts, statusName(s.Status))
		if !s.EndsAt.IsZero() {
			parts = append(parts, "ends "+v.Day(s.EndsAt))
		}
	}
	switch {
	case s.Date.IsZero():
		parts = append(parts, "no order")
	case s.Amount.Currency == "":
		parts = append(parts, "next order "+v.Day(s.Date))
	default:
		parts = append(parts, "next order "+v.Day(s.Date)+", "+dashboard.Money(s.Amount))
	}
	if e.Was.Min != e.Is.Min || e.Was.Max != e.Is.Max {
		parts = append(parts, fmt.Sprintf("minimum %d, maximum %d", s.Min, s.Max))
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// start starts the job that was previewed. What is wrong is shown with a new preview.
func (m *room) start(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	form, err := formOf(r)
	if err != nil {
		return err
	}
	sel, err := m.selection(form, v.Zone)
	if err != nil {
		return err
	}
	a, err := m.action(form, v)
	if err != nil {
		return err
	}
	typed, _ := strconv.Atoi(form.Get("typed")) // anything else is not the number
	j, err := m.Jobs.Start(r.Context(), v.Shop.ID, bulk.Request{
		Action: a, Selection: sel, Previewed: form.Get("previewed"), Typed: typed, Key: form.Get("key"), By: v.Actor(r),
	})
	if err != nil {
		return m.showPreview(w, r, v, form, err)
	}
	return v.Go(w, path(j.ID), "bulk-started")
}

// path is that of a job's page, below the store's.
func path(id bulk.JobID) string { return fmt.Sprintf("/bulk/%d", id) }
