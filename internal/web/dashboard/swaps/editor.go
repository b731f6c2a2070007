package swaps

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// names are the fields of the form, by the names that the domain gives them, and labels what they
// are called.
var (
	names = map[string]string{
		"name": "name", "sourceVariants": "from", "destinationVariants": "to", "forBillingCycle": "cycle", "changeNextOrderDateBy": "shift", "ruleSequence": "place",
	}
	labels = map[string]string{
		"name": "Name", "from": "Replace", "to": "By", "cycle": "Billing cycle", "shift": "Move later orders by days",
		"sourceVariants": "Replace", "destinationVariants": "By", "forBillingCycle": "Billing cycle", "changeNextOrderDateBy": "Move later orders by days",
	}
)

// domainField finds the names that the domain gives fields in its messages.
var domainField = regexp.MustCompile(`field '(\w+)'|\b(forBillingCycle|changeNextOrderDateBy)\b`)

// atForm names the field of the form that a failure is about, and words the message with the
// labels of the form.
func atForm(err error) error {
	return dashboard.AtForm(err, func(param, message string) (string, string) {
		if name, known := names[param]; known {
			param = name
		}
		return param, domainField.ReplaceAllStringFunc(message, func(found string) string {
			parts := domainField.FindStringSubmatch(found)
			return "“" + labels[parts[1]+parts[2]] + "”"
		})
	})
}

// formPage is the form of a rule.
type formPage struct {
	Path    string
	Version int64
	Fields  []dashboard.Field
	Holds   []string // what it replaces and by what, by name
	May     bool
	Stored  bool // the rule exists
	Switch  string
	Run     *dryRun // nil: none was asked for
	Button  string
}

var modeWords = []struct {
	mode swap.DiscountMode
	name string
}{
	{swap.None, "The price of the shop"}, {swap.ExistingPlan, "As many per cent off as the old product"},
	{swap.ProductPlan, "What the new product’s plan says"}, {swap.ProductThenExisting, "What the new product’s plan says, or else as many per cent off"},
}

// fieldsOf returns the fields of a rule.
func fieldsOf(rule swap.Rule) []dashboard.Field {
	cycle, shift := "", ""
	if rule.Cycle > 0 {
		cycle = strconv.Itoa(rule.Cycle)
	}
	if rule.ShiftDays != nil {
		shift = strconv.Itoa(*rule.ShiftDays)
	}
	discount := dashboard.Field{Name: "discount", Label: "Price of the new product", Type: "select", Required: true}
	for _, one := range modeWords {
		chosen := rule.Discount == one.mode || rule.CarryDiscount && rule.Discount == swap.None && one.mode == swap.ExistingPlan
		discount.Choices = append(discount.Choices, dashboard.Choice{Value: string(one.mode), Name: one.name, Selected: chosen})
	}
	const lines = "One variant a line: its number or graph id, then × or x and how many. "
	return []dashboard.Field{
		{Name: "name", Label: labels["name"], Value: rule.Name, Max: 255},
		{Name: "from", Label: labels["from"], Type: "textarea", Required: true, Value: listed(rule.Sources), Hint: lines + "An order must hold all of them."},
		{Name: "to", Label: labels["to"], Type: "textarea", Required: true, Value: listed(rule.Destinations), Hint: lines + "As often as the order holds what is replaced."},
		{Name: "cycle", Label: labels["cycle"], Type: "number", Value: cycle, Min: "1", Hint: "Only the order of this cycle, or with the next box all from it on. Empty: any."},
		{Name: "every", Label: "Look at every order", Type: "checkbox", Value: dashboard.Tick(rule.EveryOrder), Hint: "Otherwise it acts once for a contract."},
		{Name: "first", Label: "Change the first order too", Type: "checkbox", Value: dashboard.Tick(rule.FirstOrder), Hint: "If it is charged by this service."},
		discount,
		{Name: "shift", Label: labels["shift"], Type: "number", Value: shift, Min: "-365", Limit: "365", Hint: "From the order after the swap on. Empty: they stay."},
		{Name: "silent", Label: "Send the customer no e-mail about it", Type: "checkbox", Value: dashboard.Tick(rule.NoEmail)},
		{Name: "on", Label: "The rule is on", Type: "checkbox", Value: dashboard.Tick(!rule.Off), Hint: "A dry run shows what it would do while it is off."},
	}
}

// listed returns products as the form takes them.
func listed(list []swap.Product) string {
	var rows []string
	for _, p := range list {
		rows = append(rows, fmt.Sprintf("%d × %d", p.VariantID, p.Quantity))
	}
	return strings.Join(rows, "\n")
}

// products reads what a field lists. Variants that the rule names already keep their names.
func products(r *http.Request, field string, known ...swap.Product) ([]swap.Product, error) {
	list := []swap.Product{}
	for row := range strings.Lines(r.PostForm.Get(field)) {
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		id, many, counted := strings.Cut(strings.NewReplacer("×", " x ", " X ", " x ").Replace(row), " x ")
		p := swap.Product{Quantity: 1}
		var err error
		if p.VariantID, err = gid.Parse("ProductVariant", strings.TrimSpace(id)); err != nil {
			return nil, fault.Because(fault.Invalid, err, "%q is neither the number nor the graph id of a variant", strings.TrimSpace(id)).Field(field)
		}
		if counted {
			if p.Quantity, err = strconv.Atoi(strings.TrimSpace(many)); err != nil {
				return nil, fault.New(fault.Invalid, "%q is not how many of variant %d", strings.TrimSpace(many), p.VariantID).Field(field)
			}
		}
		if at := slices.IndexFunc(known, func(k swap.Product) bool { return k.VariantID == p.VariantID }); at >= 0 {
			p.Name, p.Image = known[at].Name, known[at].Image
		}
		list = append(list, p)
	}
	return list, nil
}

// entered lays what a form says over a rule.
func entered(r *http.Request, rule swap.Rule) (swap.Rule, error) {
	var err error
	known := slices.Concat(rule.Sources, rule.Destinations)
	if rule.Sources, err = products(r, "from", known...); err != nil {
		return rule, err
	}
	if rule.Destinations, err = products(r, "to", known...); err != nil {
		return rule, err
	}
	whole := func(field string) (n int, given bool, err error) {
		text := strings.TrimSpace(r.PostForm.Get(field))
		if text == "" {
			return 0, false, nil
		}
		if n, err = strconv.Atoi(text); err != nil {
			return 0, false, fault.New(fault.Invalid, "“%s” is a whole number", labels[field]).Field(field)
		}
		return n, true, nil
	}
	cycle, given, err := whole("cycle")
	if err != nil {
		return rule, err
	}
	if given && cycle < 1 {
		return rule, fault.New(fault.Invalid, "billing cycles are counted from 1").Field("cycle")
	}
	shift, moves, err := whole("shift")
	if err != nil {
		return rule, err
	}
	rule.Cycle, rule.ShiftDays = cycle, nil
	if moves {
		rule.ShiftDays = &shift
	}
	mode := swap.DiscountMode(r.PostForm.Get("discount"))
	if !slices.Contains(swap.DiscountModes, mode) {
		return rule, fault.New(fault.Invalid, "%q is not a price of the new product", mode).Field("discount")
	}
	on := func(field string) bool { return r.PostForm.Get(field) != "" }
	rule.Name, rule.Discount, rule.CarryDiscount = strings.TrimSpace(r.PostForm.Get("name")), mode, false
	rule.EveryOrder, rule.FirstOrder, rule.NoEmail, rule.Off = on("every"), on("first"), on("silent"), !on("on")
	return rule, nil
}

// begin shows the form of a new rule.
func (m *room) begin(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return v.Answer(w, newRule(dashboard.LineNamed(r.URL.Query().Get("line")).Of))
}

func newRule(line shop.Line) dashboard.Page {
	at := path + "/new" + strings.TrimPrefix(listOf(line), path)
	return dashboard.Page{Name: "swap-form", Title: "Create swap rule", Crumb: crumb, Content: formPage{
		Path: at, Fields: fieldsOf(swap.Rule{Discount: swap.None}), May: true, Button: "Create rule",
	}}
}

// create makes a rule, or shows what it would do.
func (m *room) create(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	line := dashboard.LineNamed(r.URL.Query().Get("line")).Of
	return m.submit(w, r, v, newRule(line), swap.Rule{Line: line}, func(rule swap.Rule) (string, error) {
		_, err := m.Rules.Create(r.Context(), v.Shop, rule, v.Actor(r))
		return "swap-created", err
	})
}

// edit shows the form of a rule.
func (m *room) edit(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, editor(v, rule))
}

func editor(v dashboard.Visit, rule swap.Rule) dashboard.Page {
	p := formPage{
		Path: fmt.Sprintf("%s/%d", path, rule.ID), Version: rule.Version, Fields: fieldsOf(rule), May: v.May(staff.ManageStore), Stored: true, Button: "Save rule",
		Holds: []string{"Replaces " + named(rule.Sources) + ".", "By " + named(rule.Destinations) + ".", when(rule) + "."},
	}
	return dashboard.Page{Name: "swap-form", Title: nameOf(rule), Crumb: &dashboard.Crumb{Name: crumb.Name, Path: listOf(rule.Line)}, Content: p}
}

// save stores a rule, or shows what it would do.
func (m *room) save(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	return m.submit(w, r, v, editor(v, rule), rule, func(changed swap.Rule) (string, error) {
		changed.Version = versionOf(r)
		_, err := m.Rules.Update(r.Context(), v.Shop, changed, v.Actor(r))
		return "swap-saved", err
	})
}

// submit stores what a form says, or shows what it would do.
func (m *room) submit(w http.ResponseWriter, r *http.Request, v dashboard.Visit, p dashboard.Page, was swap.Rule, store func(swap.Rule) (string, error)) error {
	shown := p.Content.(formPage)
	shown.Fields = dashboard.Entered(shown.Fields, r.PostForm)
	p.Content = shown
	rule, err := entered(r, was)
	if err == nil {
		err = rule.Check()
	}
	if err == nil && r.PostForm.Get("do") == "dry-run" {
		if shown.Run, err = m.dryRun(r.Context(), v, rule, after(r)); err == nil {
			p.Content = shown
			return v.Answer(w, p)
		}
	} else if err == nil {
		var done string
		if done, err = store(rule); err == nil {
			return v.Go(w, listOf(rule.Line), done)
		}
	}
	return v.Refuse(w, r, p, atForm(err))
}

// after returns the contract after which a dry run goes on.
func after(r *http.Request) contract.ID {
	n, err := strconv.ParseInt(r.PostForm.Get("after"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return contract.ID(n)
}

// dryRun is what a rule would do to contracts.
type dryRun struct {
	Text  string
	Rows  []runRow
	After contract.ID // with which the next part goes on; 0: there is none
}

// runRow is what a rule would do to a contract.
type runRow struct {
	Contract contract.ID
	Customer string
	When     string
	Was, Is  string
	Note     string
	Changed  bool
}

// contractsAtOnce is at how many contracts a dry run looks: each is a question to the platform.
const contractsAtOnce = 5

// dryRun returns what a rule would do to the contracts that hold what it replaces.
func (m *room) dryRun(ctx context.Context, v dashboard.Visit, rule swap.Rule, from contract.ID) (*dryRun, error) {
	variant := rule.Sources[0].VariantID
	total, all, err := m.Book.CountHolders(ctx, v.Shop.ID, rule.Line, variant)
	if err != nil {
		return nil, err
	}
	holders, err := m.Book.Holders(ctx, v.Shop.ID, rule.Line, variant, from, contractsAtOnce+1)
	if err != nil {
		return nil, err
	}
	d := &dryRun{Text: dashboard.Count(total, "contract has", "contracts have") + fmt.Sprintf(" variant %d", variant)}
	if !all {
		d.Text = "More than " + d.Text
	}
	if len(holders) > contractsAtOnce {
		holders = holders[:contractsAtOnce]
		d.After = holders[contractsAtOnce-1].ID
	}
	switch {
	case total == 0:
		d.Text += ", so the rule would change nothing now"
	case len(holders) == 0:
		d.Text += ", and none of them that are left is active"
	default:
		d.Text += "; these are the next active ones"
	}
	d.Text += ". Nothing was changed or saved."
	for _, c := range holders {
		row, err := m.runOn(ctx, v, rule, c)
		if err != nil {
			return nil, err
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

// runOn returns what a rule would do to the next orders of a contract.
func (m *room) runOn(ctx context.Context, v dashboard.Visit, rule swap.Rule, c contract.Contract) (runRow, error) {
	row := runRow{Contract: c.ID, Customer: c.Customer.Name, Was: ordered(c.Lines), When: "None of the next orders", Is: "Stays as it is"}
	if row.Customer == "" {
		row.Customer = c.Customer.Email
	}
	orders, err := m.Preview.PreviewWith(ctx, v.Shop, rule.Line, c.ID, rule)
	if err != nil {
		return row, err
	}
	changed := 0
	for _, o := range orders {
		applied := slices.ContainsFunc(o.Applied, func(r swap.Rule) bool { return r.ID == rule.ID })
		if !applied {
			continue
		}
		if changed++; changed > 1 {
			continue
		}
		row.Changed, row.When, row.Is = true, fmt.Sprintf("%s, cycle %d", v.Day(o.Date), o.Cycle), ordered(o.Lines)
		var others []string
		for _, r := range o.Applied {
			if r.ID != rule.ID {
				others = append(others, nameOf(r))
			}
		}
		if len(others) > 0 {
			row.Note = "With " + strings.Join(others, ", ") + ". "
		}
	}
	if changed > 1 {
		row.Note += fmt.Sprintf("It acts in %d of the next %d orders.", changed, len(orders))
	}
	return row, nil
}

// ordered lists the lines of an order with their prices.
func ordered(list []contract.LineItem) string {
	var parts []string
	for _, l := range list {
		name := l.Title
		if l.VariantTitle != "" && l.VariantTitle != contract.OnlyVariant {
			name += " - " + l.VariantTitle
		}
		parts = append(parts, fmt.Sprintf("%d × %s at %s", l.Quantity, name, dashboard.Money(l.Price)))
	}
	return strings.Join(parts, ", ")
}
