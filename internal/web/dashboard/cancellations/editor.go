package cancellations

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// editorPage is the editor of the flow.
type editorPage struct {
	Path     string
	Version  int
	Note     string // which version this is
	Settings []dashboard.Field
	Reasons  []reasonForm
	Preview  preview
	Language dashboard.Field
}

// reasonForm is the part of the form about a reason.
type reasonForm struct {
	At          int
	Title       string
	Key         string
	Summary     string
	Open        bool
	First, Last bool
	Fields      []dashboard.Field
	Groups      []dashboard.Choice
	Offers      []offerForm
	Add         []dashboard.Choice
}

// offerForm is the part about an offer.
type offerForm struct {
	At     int
	Kind   flow.Kind
	Name   string
	Fields []dashboard.Field
}

// languages are the languages of the preview.
var languages = []struct{ tag, name string }{
	{"en", "English"}, {"de", "German"}, {"fr", "French"}, {"es", "Spanish"}, {"it", "Italian"}, {"nl", "Dutch"}, {"pt-BR", "Portuguese (Brazil)"}, {"ja", "Japanese"},
}

// edit shows the editor.
func (m *room) edit(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	f, err := m.Flows.Current(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p, err := m.editor(r, v, f, draftOf(f), f.Version, -1)
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

// submit publishes what was entered, or shows it changed by a button.
func (m *room) submit(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	is, err := m.Flows.Current(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	d, do := draftFrom(r.PostForm), r.PostForm.Get("do")
	base, err := strconv.Atoi(r.PostForm.Get("version"))
	if err != nil {
		base = -1
	}
	if do == "publish" {
		f, err := d.flow(v.Shop.Currency)
		if err == nil {
			_, err = m.Flows.Publish(r.Context(), v.Shop.ID, f, base, v.Actor(r))
		}
		if err == nil {
			return v.Go(w, flowPath, "flow-published")
		}
		return m.refuse(w, r, v, is, d, base, err)
	}
	at := -1
	if do != "preview" {
		kind := ""
		if index, adds := strings.CutPrefix(do, "add-offer:"); adds {
			kind = r.PostForm.Get("r" + index + "-new")
		}
		var known bool
		if at, known = d.change(do, kind); !known {
			at = -1
		}
	}
	p, err := m.editor(r, v, is, d, base, at)
	if err != nil {
		return err
	}
	if _, err := d.flow(v.Shop.Currency); err != nil && do == "preview" {
		return m.refuse(w, r, v, is, d, base, err)
	}
	return v.Answer(w, p)
}

// refuse shows what was entered again, with what is wrong; the reason that is wrong is open.
func (m *room) refuse(w http.ResponseWriter, r *http.Request, v dashboard.Visit, is flow.Flow, d draft, base int, err error) error {
	at := -1
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if _, failed := fmt.Sscanf(f.Param, "r%d-", &at); failed != nil {
			at = -1
		}
		if f.Kind == fault.Conflict {
			base = is.Version // what was published meanwhile is named, and can be replaced
		}
	}
	p, failed := m.editor(r, v, is, d, base, at)
	if failed != nil {
		return failed
	}
	return v.Refuse(w, r, p, dashboard.AtForm(err, fieldOf))
}

// fieldOf returns the field of the form that a failure is about.
func fieldOf(param, message string) (string, string) {
	switch param {
	case "holdBack":
		return "holdback", message
	case "mode", "instructions", "support", "budget", "holdback":
		return param, message
	}
	if len(param) > 1 && param[0] == 'r' && param[1] >= '0' && param[1] <= '9' {
		return param, message
	}
	return "", message
}

// editor returns the page of what was entered over the version base of the flow. at is the reason
// that is open; -1: none.
func (m *room) editor(r *http.Request, v dashboard.Visit, is flow.Flow, d draft, base, at int) (dashboard.Page, error) {
	scope, err := m.Figures.Scope(r.Context(), v.Shop)
	if err != nil {
		return dashboard.Page{}, err
	}
	tag := r.FormValue("language")
	p := editorPage{Path: flowPath, Version: base, Note: "This is the flow that every store begins with. Nothing was published yet.", Settings: settingsOf(d, string(v.Shop.Currency))}
	if is.Version > 0 {
		p.Note = fmt.Sprintf("Version %d, published on %s by %s.", is.Version, instantOf(v, is.PublishedAt), is.PublishedBy)
	}
	p.Language = dashboard.Field{Name: "language", Label: "Language of the preview", Type: "select", Required: true}
	for _, l := range languages {
		p.Language.Choices = append(p.Language.Choices, dashboard.Choice{Value: l.tag, Name: l.name, Selected: l.tag == tag})
	}
	for i, one := range d.Reasons {
		p.Reasons = append(p.Reasons, formOf(i, one, len(d.Reasons), i == at, scope.Groups))
	}
	p.Preview = previewOf(d, tag, v)
	return dashboard.Page{
		Name: "cancel-flow", Title: "Cancellation flow", Content: p,
		Lead: "What customers see when they cancel. A button that cancels is on every step, and there is one offer at most.",
	}, nil
}

// settingsOf returns the fields that are not about a reason.
func settingsOf(d draft, currency string) []dashboard.Field {
	mode := dashboard.Field{Name: "mode", Label: "Before the confirmation", Type: "select", Required: true}
	for _, one := range flow.Modes {
		mode.Choices = append(mode.Choices, dashboard.Choice{Value: string(one), Name: modeWords[one], Selected: d.Mode == string(one)})
	}
	return []dashboard.Field{
		mode,
		{Name: "instructions", Label: "Instructions", Type: "textarea", Value: d.Instructions, Max: flow.MaxInstructions, Hint: "Plain text. The button that cancels is below it."},
		{Name: "support", Label: "Contact", Value: d.Support, Max: flow.MaxSupport, Hint: "An e-mail address, or an address that begins with https://."},
		{Name: "budget", Label: "Budget for discounts in 30 days, in " + currency, Value: d.Budget, Max: 15, Hint: "Empty: no discount is offered. What a discount comes to over its orders counts when it is accepted."},
		{Name: "holdback", Label: "Percent without an offer", Type: "number", Value: d.HoldBack, Min: "0", Limit: strconv.Itoa(flow.MaxHoldBack), Hint: "These customers, drawn by lot, get no offer, so that the report can say what offers do. 0: everybody gets one."},
	}
}

// formOf returns the part of the form about a reason.
func formOf(i int, r draftReason, all int, open bool, groups []analytics.PlanGroup) reasonForm {
	at := fmt.Sprintf("r%d-", i)
	f := reasonForm{At: i, Title: r.Label, Key: r.Key, Open: open || r.Label == "", First: i == 0, Last: i+1 == all}
	if f.Title == "" {
		f.Title = "New reason"
	}
	f.Fields = []dashboard.Field{
		{Name: at + "label", Label: "Text in English", Value: r.Label, Max: flow.MaxLabel, Required: true},
		{Name: at + "more", Label: "Text in other languages", Type: "textarea", Value: r.More, Hint: "One language a line, such as de: Ich habe zu viel davon."},
		{Name: at + "comment", Label: "The customer must say more", Type: "checkbox", Value: dashboard.Tick(r.Comment)},
	}
	for _, g := range groups {
		id := strconv.FormatInt(g.ID, 10)
		f.Groups = append(f.Groups, dashboard.Choice{Value: id, Name: g.Name, Selected: slices.Contains(r.Groups, id)})
	}
	for j, o := range r.Offers {
		part := offerForm{At: j, Kind: o.Kind, Name: kindWords[o.Kind]}
		for _, p := range parameters[o.Kind] {
			part.Fields = append(part.Fields, inputOf(fmt.Sprintf("%so%d-", at, j), p, o))
		}
		f.Offers = append(f.Offers, part)
	}
	for _, k := range flow.Kinds {
		if !slices.ContainsFunc(r.Offers, func(o draftOffer) bool { return o.Kind == k }) && len(r.Offers) < flow.MaxOffers {
			f.Add = append(f.Add, dashboard.Choice{Value: string(k), Name: kindWords[k]})
		}
	}
	f.Summary = "No offer"
	for j, o := range r.Offers {
		switch {
		case j == 0:
			f.Summary = kindWords[o.Kind]
		default:
			f.Summary += ", or " + kindWords[o.Kind]
		}
	}
	return f
}

// inputOf returns the input of a parameter.
func inputOf(at string, p parameter, o draftOffer) dashboard.Field {
	f := dashboard.Field{Name: at + p.name, Label: p.label, Hint: p.hint, Value: o.Values[p.name], Required: p.name != "percent" && p.name != "amount"}
	switch {
	case p.name == "direction":
		f.Type = "select"
		f.Choices = []dashboard.Choice{
			{Value: string(flow.Rarer), Name: "Those that come less often", Selected: o.Values[p.name] == string(flow.Rarer)},
			{Value: string(flow.Other), Name: "All others of the plan group", Selected: o.Values[p.name] == string(flow.Other)},
		}
	case p.most > 0:
		f.Type, f.Min, f.Limit = "number", "1", strconv.Itoa(p.most)
	}
	return f
}
