package plans

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// crumb is what the pages belong to.
var crumb = &dashboard.Crumb{Name: "Plan groups", Path: path}

// formPage is a page with the form of an option.
type formPage struct {
	Path     string // that the form is sent to
	Version  int64
	Terms    []dashboard.Field // of a new group
	Sections []section
	Sample   dashboard.Field
	Effect   string // on contracts that exist; empty: there are none
	Preview  *preview
	Button   string
	Back     string
	Remove   string // path of the question that removes the option; empty: it cannot be removed
	Live     bool   // the preview follows the form
}

// usual is an option before anything is said of it.
var usual = plan.Option{
	Kind: plan.PayAsYouGo, Exchange: true, Delivery: plan.Frequency{Interval: cadence.Month, Count: 1}, Billing: plan.Frequency{Interval: cadence.Month},
	First: plan.Discount{Kind: plan.Percentage}, Second: plan.Discount{Kind: plan.Percentage},
}

// begin shows the form of a new group.
func (m *room) begin(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return v.Answer(w, newGroup(v, r.URL.Query().Get("line")))
}

func newGroup(v dashboard.Visit, line string) dashboard.Page {
	terms := termsForm(plan.Terms{})
	kind := dashboard.Field{Name: "line", Label: "Contracts are", Type: "select", Required: true, Hint: "It cannot be changed later."}
	for _, l := range dashboard.Lines {
		kind.Choices = append(kind.Choices, dashboard.Choice{Value: l.Name, Name: l.Title, Selected: l.Name == line})
	}
	terms = append(terms[:1:1], append([]dashboard.Field{kind}, terms[1:]...)...)
	terms = append(terms, idsField("products", "Product numbers or graph ids, separated by commas. More can be added later."))
	return dashboard.Page{Name: "plan-form", Title: "Create plan group", Lead: "With its first option; more can be added to it.", Crumb: crumb, Content: formPage{
		Path: path + "/new", Terms: terms, Sections: optionForm(usual), Sample: sampleField(""), Button: "Create plan group", Back: path, Live: !v.View.Embedded,
	}}
}

// create makes a group, or shows what its option would look like.
func (m *room) create(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p := newGroup(v, r.PostForm.Get("line"))
	shown := p.Content.(formPage)
	shown.Terms, shown.Sections, shown.Sample = dashboard.Entered(shown.Terms, r.PostForm), asEntered(shown.Sections, r), sampleField(r.PostForm.Get("sample"))
	p.Content = shown
	o, err := entered(r, usual)
	terms := enteredTerms(r, plan.Terms{})
	if err == nil && r.PostForm.Get("do") == "preview" {
		return m.answerPreview(w, r, v, p, terms.Name, o)
	}
	var sold plan.Assigned
	if err == nil {
		sold.Products, err = ids(r, "products", "Product")
	}
	command := plan.CreateCommand{Line: dashboard.LineNamed(r.PostForm.Get("line")).Of, Draft: plan.Draft{Terms: terms, Options: []plan.Option{o}}, Sold: sold, Actor: v.Actor(r)}
	var g plan.Group
	if err == nil {
		g, err = m.Groups.Create(r.Context(), v.Shop.ID, command)
	}
	if err != nil {
		return v.Refuse(w, r, p, atForm(err))
	}
	return v.Go(w, fmt.Sprintf("%s/%d", path, g.ID), "plan-created")
}

// groupPage is a group.
type groupPage struct {
	ID       plan.ID
	Path     string
	Version  int64
	Problem  string // why it is not the same at the platform; empty: it is
	Terms    []dashboard.Field
	Options  []optionRow
	Products []plan.Titled
	Variants []plan.Titled
	Sold     string
	Pager    *dashboard.Pager
	Preview  *preview
	Effect   string
	Facts    []fact
	May      bool
}

type fact struct{ Name, Value string }

// optionRow is an option of a group.
type optionRow struct {
	ID                             int64
	Name, Schedule, Price, Further string
}

// itemsAtOnce is how many products and variants a page lists.
const itemsAtOnce = 50

// group shows a group.
func (m *room) group(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	p, err := m.page(r.Context(), v, g, r)
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

func (m *room) page(ctx context.Context, v dashboard.Visit, g plan.Group, r *http.Request) (dashboard.Page, error) {
	active, err := m.Figures.ActiveByGroup(ctx, v.Shop.ID)
	if err != nil {
		return dashboard.Page{}, err
	}
	currency := v.Shop.Currency
	p := groupPage{
		ID: g.ID, Path: fmt.Sprintf("%s/%d", path, g.ID), Version: g.Version, Terms: termsForm(g.Terms), Sold: products(g), May: v.May(staff.ManageStore),
		Effect: effect(active[int64(g.ID)]), Problem: m.problem(v, g),
		Facts: []fact{
			{"Active contracts", strconv.FormatInt(active[int64(g.ID)], 10)}, {"Number", strconv.FormatInt(int64(g.ID), 10)},
			{"At the platform", strconv.FormatInt(g.PlatformID, 10)}, {"Created", v.Instant(g.CreatedAt)}, {"Changed", v.Instant(g.UpdatedAt)},
		},
	}
	for _, o := range g.Options {
		row := optionRow{ID: o.ID, Name: o.Name, Schedule: schedule(o), Price: price(o, currency)}
		for _, more := range []string{length(o), audience(o)} {
			if more != "" {
				row.Further += more + ". "
			}
		}
		p.Options = append(p.Options, row)
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	p.showItems(v, g, max(from, 0))
	shown := previewOf(g.Name, g.Options, sample(r.URL.Query().Get("sample"), currency), currency)
	p.Preview = &shown
	return dashboard.Page{Name: "plan-group", Title: g.Name, Crumb: crumb, Content: p}, nil
}

// showItems adds the products and variants from one on, products first.
func (p *groupPage) showItems(v dashboard.Visit, g plan.Group, from int) {
	total := len(g.Products) + len(g.Variants)
	if from >= total {
		from = 0
	}
	for i := from; i < min(from+itemsAtOnce, total); i++ {
		if i < len(g.Products) {
			p.Products = append(p.Products, g.Products[i])
		} else {
			p.Variants = append(p.Variants, g.Variants[i-len(g.Products)])
		}
	}
	if total > itemsAtOnce {
		p.Pager = &dashboard.Pager{From: from + 1, To: min(from+itemsAtOnce, total), Total: total, What: "products and variants"}
		if from > 0 {
			p.Pager.Prev = v.At(fmt.Sprintf("%s?from=%d#sold", p.Path, max(from-itemsAtOnce, 0)))
		}
		if from+itemsAtOnce < total {
			p.Pager.Next = v.At(fmt.Sprintf("%s?from=%d#sold", p.Path, from+itemsAtOnce))
		}
	}
}

// problem says why a group is not the same at the platform; empty: it is.
func (m *room) problem(v dashboard.Visit, g plan.Group) string {
	what := ""
	switch g.State {
	case plan.Updating:
		what = "A change of this group"
	case plan.Deleting:
		what = "The deletion of this group"
	default:
		return ""
	}
	text := what + " is not confirmed by the platform. The page shows the group as it was before."
	if g.DueAt.After(m.Clock.Now()) {
		return text + " The platform is asked again at " + v.Instant(g.DueAt) + "; until then it cannot be changed."
	}
	return text + " The platform is being asked again."
}

// effect says what a change does to contracts that exist.
func effect(active int64) string {
	if active == 0 {
		return "No active contract is on this group. A change counts for customers who subscribe from now on."
	}
	return dashboard.Count(int(active), "active contract is", "active contracts are") +
		" on this group. They keep their price, frequency and terms: a change counts for customers who subscribe from now on."
}

// saveTerms stores the name and the tags of a group.
func (m *room) saveTerms(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	err = seen(r, g)
	if err == nil {
		draft := g.Draft()
		draft.Terms = enteredTerms(r, g.Terms)
		_, err = m.Groups.Update(r.Context(), v.Shop.ID, plan.UpdateCommand{Line: g.Line, ID: g.ID, Version: g.Version, Draft: &draft, Actor: v.Actor(r)})
	}
	if err == nil {
		return v.Go(w, fmt.Sprintf("%s/%d", path, g.ID), "plan-saved")
	}
	p, failed := m.page(r.Context(), v, g, r)
	if failed != nil {
		return failed
	}
	shown := p.Content.(groupPage)
	shown.Terms = dashboard.Entered(shown.Terms, r.PostForm)
	p.Content = shown
	return v.Refuse(w, r, p, atForm(err))
}

// askDelete says what deleting a group does.
func (m *room) askDelete(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	return m.questionDelete(w, r, v, g, nil)
}

func (m *room) questionDelete(w http.ResponseWriter, r *http.Request, v dashboard.Visit, g plan.Group, wrong error) error {
	active, err := m.Figures.ActiveByGroup(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s/%d", path, g.ID)
	return v.Ask(w, r, dashboard.Question{
		Title: "Delete plan group", Back: at, Path: at + "/delete", Button: "Delete the plan group", Keep: "Keep the plan group", Grave: true,
		Says: []string{
			fmt.Sprintf("%s, with %s, is deleted here and at the platform, now. Its %s can no longer be subscribed to through it.", g.Name, dashboard.Count(len(g.Options), "option", "options"), products(g)),
			dashboard.Count(int(active[int64(g.ID)]), "active contract", "active contracts") + " on it: they go on as they are, and are charged as before.",
		},
		Hidden: map[string]string{"version": fmt.Sprint(g.Version)},
	}, wrong)
}

// remove deletes a group.
func (m *room) remove(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	if err = seen(r, g); err == nil {
		err = m.Groups.Delete(r.Context(), v.Shop.ID, plan.DeleteCommand{Line: g.Line, ID: g.ID, Actor: v.Actor(r)})
	}
	if err != nil {
		return m.questionDelete(w, r, v, g, atForm(err))
	}
	return v.Go(w, path, "plan-deleted")
}

// optionOf returns the option that a path names, and its place; a new one for "new".
func optionOf(r *http.Request, g plan.Group) (plan.Option, int, error) {
	text := r.PathValue("option")
	if text == "new" {
		o := usual
		for _, other := range g.Options {
			o.Sequence = max(o.Sequence, other.Sequence)
		}
		return o, len(g.Options), nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		for i, o := range g.Options {
			if o.ID == id {
				return o, i, nil
			}
		}
	}
	return plan.Option{}, 0, fault.New(fault.NotFound, "plan group %d has no option %s", g.ID, text).Code("planNotFound")
}
