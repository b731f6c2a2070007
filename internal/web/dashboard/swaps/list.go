package swaps

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// crumb is what the pages belong to.
var crumb = &dashboard.Crumb{Name: "Swap rules", Path: path}

// rowsAtOnce is how many rules a page lists.
const rowsAtOnce = 50

// listPage is the list of rules.
type listPage struct {
	Tabs  []dashboard.Tab
	Rows  []ruleRow
	Pager *dashboard.Pager
	Empty *dashboard.Empty
	New   string // path of the form of a new rule
	May   bool
}

// ruleRow is a rule in the list.
type ruleRow struct {
	ID       swap.ID
	Place    int
	Name     string
	From, To string
	When     string
	Badge    dashboard.Badge
	Switch   string // what the question about it is called
	Up, Down bool
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	line := dashboard.LineNamed(r.URL.Query().Get("line"))
	number, err := strconv.Atoi(r.URL.Query().Get("page"))
	if number--; err != nil || number < 0 {
		number = 0
	}
	rules, total, err := m.Book.SwapRulesOf(r.Context(), v.Shop.ID, line.Of, page.Request{Page: number, Size: rowsAtOnce})
	if err != nil {
		return err
	}
	p := listPage{Tabs: v.LineTabs(path, line), May: v.May(staff.ManageStore), New: path + "/new?line=" + line.Name}
	for i, rule := range rules {
		place := number*rowsAtOnce + i + 1
		row := ruleRow{
			ID: rule.ID, Place: place, Name: nameOf(rule), From: named(rule.Sources), To: named(rule.Destinations), When: when(rule), Up: place > 1, Down: place < total,
			Badge: dashboard.Badge{Tone: dashboard.Good, Text: "On"}, Switch: "Switch off",
		}
		if rule.Off {
			row.Badge, row.Switch = dashboard.Badge{Tone: dashboard.Neutral, Text: "Off", Hollow: true}, "Switch on"
		}
		p.Rows = append(p.Rows, row)
	}
	if total > rowsAtOnce {
		pager := dashboard.PagerOf("rules", number, rowsAtOnce, len(rules), total, func(n int) string {
			return v.At(fmt.Sprintf("%s?line=%s&page=%d", path, line.Name, n+1))
		})
		p.Pager = &pager
	}
	if total == 0 {
		p.Empty = &dashboard.Empty{Icon: "swap", Title: "No swap rule yet", Text: "A rule replaces products in orders by others, such as a starter kit by refills."}
		if p.May {
			p.Empty.Action, p.Empty.Path = "Create swap rule", v.At(p.New)
		}
	}
	return v.Answer(w, dashboard.Page{Name: "swaps", Title: "Swap rules", Lead: "Evaluated in this order; a rule may build on what the one before it did.", Content: p})
}

// nameOf returns how a rule is called.
func nameOf(r swap.Rule) string {
	if r.Name != "" {
		return r.Name
	}
	return "Rule " + strconv.FormatInt(int64(r.ID), 10)
}

// named lists products: "2 × Tin, 1 × Refill".
func named(list []swap.Product) string {
	var parts []string
	for _, p := range list {
		name := p.Name
		if name == "" {
			name = "variant " + strconv.FormatInt(p.VariantID, 10)
		}
		parts = append(parts, fmt.Sprintf("%d × %s", p.Quantity, name))
	}
	return strings.Join(parts, ", ")
}

// when says to which orders a rule applies.
func when(r swap.Rule) string {
	text := "Once for a contract"
	switch {
	case r.OneOrderOnly():
		text = fmt.Sprintf("In the order of cycle %d", r.Cycle)
	case r.EveryOrder && r.Cycle > 0:
		text = fmt.Sprintf("In every order from cycle %d on", r.Cycle)
	case r.EveryOrder:
		text = "In every order"
	}
	if r.FirstOrder {
		text += ", the first one too"
	}
	if r.ShiftDays != nil && *r.ShiftDays != 0 {
		days, way := *r.ShiftDays, "later"
		if days < 0 {
			days, way = -days, "earlier"
		}
		text += "; the orders after it come " + dashboard.Count(days, "day ", "days ") + way
	}
	return text
}

// read returns the rule that a path names.
func (m *room) read(r *http.Request, v dashboard.Visit) (rule swap.Rule, err error) {
	id, err := strconv.ParseInt(r.PathValue("rule"), 10, 64)
	if err != nil {
		return rule, dashboard.PathNotFound()
	}
	for _, l := range dashboard.Lines {
		if rule, err = m.Book.SwapRuleOf(r.Context(), v.Shop.ID, l.Of, swap.ID(id)); !fault.Is(err, fault.NotFound) {
			return rule, err
		}
	}
	return rule, err
}

// listOf returns the path of the list with a line's rules.
func listOf(line shop.Line) string {
	for _, l := range dashboard.Lines {
		if l.Of == line {
			return path + "?line=" + l.Name
		}
	}
	return path
}

// move changes the place of a rule.
func (m *room) move(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	if err := m.Rules.Move(r.Context(), v.Shop.ID, rule.Line, rule.ID, r.PostForm.Get("to") == "down", v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, listOf(rule.Line), "swap-moved")
}

func (m *room) askSwitch(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, questionSwitch(rule), nil)
}

func questionSwitch(rule swap.Rule) dashboard.Question {
	q := dashboard.Question{
		Title: "Switch rule off", Button: "Switch the rule off", Keep: "Keep it on", Back: listOf(rule.Line), Path: fmt.Sprintf("%s/%d/switch", path, rule.ID),
		Hidden: map[string]string{"version": fmt.Sprint(rule.Version), "to": "off"},
		Says:   []string{nameOf(rule) + " replaces " + named(rule.Sources) + " by " + named(rule.Destinations) + ".", "From now on it changes no order. Contracts and orders that it has changed stay as they are."},
	}
	if rule.Off {
		q.Title, q.Button, q.Keep, q.Hidden["to"] = "Switch rule on", "Switch the rule on", "Keep it off", "on"
		q.Says[1] = when(rule) + ", beginning with orders that are prepared from now on. Open the rule for a dry run that shows which contracts."
	}
	return q
}

// turn switches a rule on or off.
func (m *room) turn(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	version, on := versionOf(r), r.PostForm.Get("to") == "on"
	if _, err := m.Rules.Switch(r.Context(), v.Shop.ID, rule.Line, rule.ID, version, on, v.Actor(r)); err != nil {
		return v.Ask(w, r, questionSwitch(rule), atForm(err))
	}
	if on {
		return v.Go(w, listOf(rule.Line), "swap-on")
	}
	return v.Go(w, listOf(rule.Line), "swap-off")
}

// versionOf returns the version that a form has shown; one that is none fits no rule.
func versionOf(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.PostForm.Get("version"), 10, 64)
	if err != nil || n < 1 {
		return -1
	}
	return n
}

func (m *room) askDelete(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, questionDelete(rule), nil)
}

func questionDelete(rule swap.Rule) dashboard.Question {
	return dashboard.Question{
		Title: "Delete swap rule", Button: "Delete the rule", Keep: "Keep the rule", Grave: true, Back: listOf(rule.Line), Path: fmt.Sprintf("%s/%d/delete", path, rule.ID),
		Says: []string{nameOf(rule) + " is deleted now, with the notes of the contracts for which it has acted. If you make it again, it acts for them again.", "Contracts and orders that it has changed stay as they are."},
	}
}

func (m *room) remove(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	rule, err := m.read(r, v)
	if err != nil {
		return err
	}
	if err := m.Rules.Delete(r.Context(), v.Shop.ID, rule.Line, rule.ID, v.Actor(r)); err != nil {
		return v.Ask(w, r, questionDelete(rule), atForm(err))
	}
	return v.Go(w, listOf(rule.Line), "swap-deleted")
}
