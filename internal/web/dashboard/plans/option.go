package plans

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// option shows the form of an option.
func (m *room) option(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	p, _, err := m.optionPage(r, v, g)
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

func (m *room) optionPage(r *http.Request, v dashboard.Visit, g plan.Group) (dashboard.Page, plan.Option, error) {
	o, at, err := optionOf(r, g)
	if err != nil {
		return dashboard.Page{}, o, err
	}
	active, err := m.Figures.ActiveByGroup(r.Context(), v.Shop.ID)
	if err != nil {
		return dashboard.Page{}, o, err
	}
	group := fmt.Sprintf("%s/%d", path, g.ID)
	shown := formPage{
		Path: group + "/options/" + r.PathValue("option"), Version: g.Version, Sections: optionForm(o), Sample: sampleField(""), Effect: effect(active[int64(g.ID)]),
		Button: "Save option", Back: group, Live: !v.View.Embedded,
	}
	title := o.Name
	if at == len(g.Options) {
		title, shown.Button = "Add option", "Add option"
	} else {
		if len(g.Options) > 1 {
			shown.Remove = shown.Path + "/remove"
		}
		currency := money.Currency(v.Shop.Currency)
		one := previewOf(g.Name, []plan.Option{o}, sample("", currency), currency)
		shown.Preview = &one
	}
	return dashboard.Page{Name: "plan-form", Title: title, Crumb: &dashboard.Crumb{Name: g.Name, Path: group}, Content: shown}, o, nil
}

// saveOption stores an option, or shows what it would look like.
func (m *room) saveOption(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	p, was, err := m.optionPage(r, v, g)
	if err != nil {
		return err
	}
	shown := p.Content.(formPage)
	shown.Sections, shown.Sample = asEntered(shown.Sections, r), sampleField(r.PostForm.Get("sample"))
	p.Content = shown
	o, err := entered(r, was)
	if err == nil && r.PostForm.Get("do") == "preview" {
		return m.answerPreview(w, r, v, p, g.Name, o)
	}
	if err == nil {
		err = seen(r, g)
	}
	if err == nil {
		alone := plan.Draft{Terms: g.Terms, Options: []plan.Option{o}}
		alone.Settle()
		err = alone.Validate()
	}
	if err == nil {
		draft := g.Draft()
		if at := slices.IndexFunc(draft.Options, func(other plan.Option) bool { return other.ID == o.ID && o.ID != 0 }); at >= 0 {
			draft.Options[at] = o
		} else {
			draft.Options = append(draft.Options, o)
		}
		_, err = m.Groups.Update(r.Context(), v.Shop.ID, plan.UpdateCommand{Line: g.Line, ID: g.ID, Version: g.Version, Draft: &draft, Actor: v.Actor(r)})
	}
	if err != nil {
		return v.Refuse(w, r, p, atForm(err))
	}
	return v.Go(w, fmt.Sprintf("%s/%d", path, g.ID), "plan-saved")
}

// askRemoveOption says what removing an option does.
func (m *room) askRemoveOption(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	return m.questionRemove(w, r, v, g, nil)
}

func (m *room) questionRemove(w http.ResponseWriter, r *http.Request, v dashboard.Visit, g plan.Group, wrong error) error {
	o, at, err := optionOf(r, g)
	if err != nil {
		return err
	}
	if at == len(g.Options) {
		return dashboard.PathNotFound()
	}
	group := fmt.Sprintf("%s/%d", path, g.ID)
	return v.Ask(w, r, dashboard.Question{
		Title: "Remove option", Back: group, Path: fmt.Sprintf("%s/options/%d/remove", group, o.ID), Button: "Remove the option", Keep: "Keep the option", Grave: true,
		Says: []string{
			fmt.Sprintf("%s is removed from %s, here and at the platform, now. Customers can no longer choose it.", o.Name, g.Name),
			"Contracts on it go on as they are, and are charged as before.",
		},
		Hidden: map[string]string{"version": fmt.Sprint(g.Version)},
	}, wrong)
}

// removeOption removes an option.
func (m *room) removeOption(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	o, _, err := optionOf(r, g)
	if err != nil {
		return err
	}
	if err = seen(r, g); err == nil {
		draft := g.Draft()
		draft.Options = slices.DeleteFunc(draft.Options, func(other plan.Option) bool { return other.ID == o.ID })
		_, err = m.Groups.Update(r.Context(), v.Shop.ID, plan.UpdateCommand{Line: g.Line, ID: g.ID, Version: g.Version, Draft: &draft, Actor: v.Actor(r)})
	}
	if err != nil {
		err = dashboard.AtForm(err, func(_, message string) (string, string) { return "", message }) // the question has no field
		return m.questionRemove(w, r, v, g, err)
	}
	return v.Go(w, fmt.Sprintf("%s/%d", path, g.ID), "plan-option")
}

// preview is what a customer sees of a group.
type preview struct {
	Name    string
	Sample  string // price of one delivery without a plan
	Options []previewOption
	Wrong   string // why there is nothing to see; empty: there is
}

// previewOption is what a customer sees of an option.
type previewOption struct {
	Name, Price, Before, Schedule, Description string
	Orders                                     []previewPrice // where the price changes
	Further                                    string
}

type previewPrice struct{ From, Price string }

// previewOf returns what a customer sees of options of a group.
func previewOf(name string, options []plan.Option, sample money.Amount, c money.Currency) preview {
	p := preview{Name: name, Sample: dashboard.Money(sample)}
	for _, o := range options {
		one := previewOption{Name: o.Name, Price: dashboard.Money(o.PriceAt(sample, 1)), Schedule: schedule(o), Description: o.Description}
		full := sample.Times(o.Deliveries())
		if o.PriceAt(sample, 1) != full {
			one.Before = dashboard.Money(full)
		}
		starts := []int{1}
		for _, after := range []int{o.First.After, o.Second.After, 1} {
			if after > 0 && !slices.Contains(starts, after+1) {
				starts = append(starts, after+1)
			}
		}
		slices.Sort(starts)
		last := money.Amount{Minor: -1}
		for _, n := range starts {
			is := o.PriceAt(sample, n)
			if is == last || o.MaxCycles > 0 && n > o.MaxCycles {
				continue
			}
			last = is
			one.Orders = append(one.Orders, previewPrice{fmt.Sprintf("From order %d", n), dashboard.Money(is)})
		}
		for _, more := range []string{length(o), audience(o)} {
			if more != "" {
				one.Further += more + ". "
			}
		}
		if d := o.Deliveries(); d > 1 {
			one.Further += fmt.Sprintf("One payment is for %d deliveries. ", d)
		}
		p.Options = append(p.Options, one)
	}
	return p
}

// usualSample is the price with which previews begin, in main units.
const usualSample = "20"

// sample reads the price of an example; one that is none is the usual one.
func sample(text string, c money.Currency) money.Amount {
	a, err := money.Parse(text, c)
	if err != nil || a.Minor < 0 {
		if a, err = money.Parse(usualSample, c); err != nil {
			return money.Amount{Minor: 2000, Currency: c}
		}
	}
	return a
}

func sampleField(value string) dashboard.Field {
	if value == "" {
		value = usualSample
	}
	return dashboard.Field{Name: "sample", Label: "Price of the product in the preview", Value: value, Max: 12, Required: true}
}

// checked returns what a customer sees of an option, if it can be one.
func checked(name string, o plan.Option, v dashboard.Visit, price string) (preview, error) {
	if name == "" {
		name = "Plan group"
	}
	draft := plan.Draft{Terms: plan.Terms{Name: name}, Options: []plan.Option{o}}
	draft.Settle()
	if err := draft.Validate(); err != nil {
		return preview{}, err
	}
	currency := money.Currency(v.Shop.Currency)
	return previewOf(name, draft.Options, sample(price, currency), currency), nil
}

// answerPreview shows a form again with what a customer would see.
func (m *room) answerPreview(w http.ResponseWriter, r *http.Request, v dashboard.Visit, p dashboard.Page, name string, o plan.Option) error {
	one, err := checked(name, o, v, r.PostForm.Get("sample"))
	if err != nil {
		return v.Refuse(w, r, p, atForm(err))
	}
	shown := p.Content.(formPage)
	shown.Preview = &one
	p.Content = shown
	return v.Answer(w, p)
}

// previewPart answers with what a customer would see of the option in a form, for the script
// that shows it while the form is filled in.
func (m *room) previewPart(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := entered(r, usual)
	var one preview
	if err == nil {
		one, err = checked(r.PostForm.Get("name"), o, v, r.PostForm.Get("sample"))
	}
	if f, ok := atForm(err).(*fault.Error); ok { //nolint:errorlint // it was made here
		one.Wrong = f.Message
	} else if err != nil {
		return err
	}
	return v.Fragment(w, "plan-preview", one)
}
