package contracts

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// head is the head of a column.
type head struct {
	Name, Path string // Path: address; empty: the list cannot be sorted by it
	Class      string
	Sorted     string // ascending or descending; empty: not by this column
}

// row is a contract of the list.
type row struct {
	ID          contract.ID
	Name, Email string
	Off         bool // it is charged no more
	Cells       []cell
}

// step is a choice among page sizes.
type step struct {
	Size int
	Path string
	Here bool
}

// listPage is what the list shows.
type listPage struct {
	Tabs    []dashboard.Tab
	Saved   *savedBar // nil: no saved view is shown
	SaveAs  string    // address
	Box     string    // value of the search field
	Kept    []dashboard.Field
	Fields  []dashboard.Field
	Open    bool // the filters are shown
	Columns []dashboard.Choice
	Chips   []chip
	Clear   string
	Heads   []head
	Rows    []row
	Pager   dashboard.Pager
	Steps   []step
	Empty   dashboard.Empty
	Export  string // address; empty: nothing to export
	Actions []action
	Query   string // of the filters
	Call    apiCall
}

// action is a button of the bar of the selected contracts.
type action struct{ Value, Name, Icon string }

var actions = []action{
	{string(bulk.Pause), "Pause", "pause"}, {string(bulk.Resume), "Resume", "play"}, {string(bulk.SkipNext), "Skip next order", "skip"},
	{string(bulk.MoveNext), "Move next order", "cal"}, {string(bulk.Cancel), "Cancel", "x"}, {"", "More actions", "more"},
}

// list shows the contracts that a search finds.
func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	l, err := parseQuery(r.URL.Query())
	if err != nil {
		return err
	}
	p := listPage{Query: l.filters.Encode(), Fields: l.fields(), Call: m.call(l)}
	show := dashboard.Page{Name: "contracts", Title: "Contracts", Lead: "Each contract is one agreement with a customer: items, plan, payment and delivery."}
	f, wrong := m.Search(p.Query, v.Zone)
	if wrong != nil && !fault.Is(wrong, fault.Invalid) {
		return wrong
	}
	views, err := m.Views.List(r.Context(), v.Shop.ID, by(v))
	if err != nil {
		return err
	}
	if f.Line == "" {
		f.Line = shop.Subscriptions
	}
	shown, err := m.tabs(r, v, &p, l, f.Line, views)
	if err != nil {
		return err
	}
	m.fill(v, &p, l, shown)
	if wrong != nil {
		p.Open, show.Content = true, &p
		p.Empty = dashboard.Empty{Icon: "filter", Title: "A filter cannot be read", Text: "Correct it above, or clear all filters.", Action: "Clear filters", Path: p.Clear}
		return v.Refuse(w, r, show, atField(inWords(wrong), p.Fields))
	}
	list, total, err := m.Directory.Search(r.Context(), v.Shop.ID, f, page.Request{Page: l.page, Size: l.size, Sort: []page.Sort{l.sort}})
	if err != nil {
		return err
	}
	m.rows(v, &p, l, list, total)
	show.Content = &p
	return v.Answer(w, show)
}

// atField returns a failure without its field if the form does not have it, so that it is
// shown above the form.
func atField(err error, fields []dashboard.Field) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || slices.ContainsFunc(fields, func(field dashboard.Field) bool { return field.Name == f.Param }) {
		return err
	}
	of := *f
	of.Param = ""
	return &of
}

// inWords says what is wrong with a filter by the names of the form's fields.
func inWords(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.ErrorKey == "nextDateRange" {
		return fault.New(fault.Invalid, "give both days between which the next order falls").Code(f.ErrorKey).Field(f.Param)
	}
	return err
}

// builtIn are the views that every store has.
var builtIn = []struct {
	name    string
	filters url.Values
}{
	{"All", url.Values{}}, {"Active", url.Values{"status": {"ACTIVE"}}}, {"Paused", url.Values{"status": {"PAUSED"}}}, {"Payment failing", url.Values{"failing": {"true"}}},
	{"Ending soon", url.Values{"ending": {"true"}}}, {"Cancelled", url.Values{"status": {"CANCELLED"}}}, {"Expired", url.Values{"status": {"EXPIRED"}}},
}

// standing are the filters that the built-in views set.
var standing = []string{"status", "failing", "ending"}

// tabs adds the views, with their numbers, and returns the filters of the one that is shown.
func (m *room) tabs(r *http.Request, v dashboard.Visit, p *listPage, l listQuery, line shop.Line, views []savedview.View) (url.Values, error) {
	shown := url.Values{}
	for _, b := range builtIn {
		f := contract.Filter{Line: line, Status: contract.Status(b.filters.Get("status")), Failing: b.filters.Has("failing"), Ending: b.filters.Has("ending")}
		n, err := m.Directory.CountMatching(r.Context(), v.Shop.ID, f)
		if err != nil {
			return nil, err
		}
		values := l.settings()
		for name, list := range b.filters {
			values[name] = list
		}
		if line != shop.Subscriptions {
			values.Set("line", string(line))
		}
		here := l.view == 0 && !slices.ContainsFunc(standing, func(name string) bool { return !strings.EqualFold(l.filters.Get(name), b.filters.Get(name)) })
		if here {
			shown = b.filters
		}
		p.Tabs = append(p.Tabs, dashboard.Tab{Name: b.name, Count: strconv.Itoa(n), Path: near(v, address(values)), Here: here})
	}
	for _, view := range views {
		values, err := url.ParseQuery(view.Query)
		if err != nil {
			continue // it is not shown: nothing could be done with it
		}
		values.Set("view", strconv.FormatInt(int64(view.ID), 10))
		here := l.view == view.ID
		p.Tabs = append(p.Tabs, dashboard.Tab{Name: view.Name, Path: near(v, address(values)), Here: here})
		if here {
			p.Saved = barOf(view, l, by(v))
		}
	}
	return shown, nil
}

// fill adds what does not depend on the contracts that are found.
func (m *room) fill(v dashboard.Visit, p *listPage, l listQuery, shown url.Values) {
	p.Chips = l.chips(v, shown)
	cleared := listQuery{filters: shown, sort: l.sort, columns: l.columns, size: l.size, view: l.view}
	p.Clear = near(v, cleared.path())
	p.SaveAs = near(v, "/views/new?"+url.Values{"query": {l.saved()}}.Encode())
	if l.box != "" {
		p.Box = l.filters.Get(l.box)
	}
	kept := func(name, value string) { p.Kept = append(p.Kept, dashboard.Field{Name: name, Value: value}) }
	for _, name := range []string{"failing", "ending"} {
		if l.filters.Has(name) {
			kept(name, l.filters.Get(name))
		}
	}
	if text := sortText(l.sort); text != defaultSort {
		kept("sort", text)
	}
	if l.size != sizes[0] {
		kept("size", strconv.Itoa(l.size))
	}
	if l.view != 0 {
		kept("view", strconv.FormatInt(int64(l.view), 10))
	}
	if v.View.Embedded {
		kept("embedded", "1")
	}
	for _, c := range columns {
		p.Columns = append(p.Columns, dashboard.Choice{Value: c.key, Name: c.name, Selected: slices.Contains(l.columns, c.key)})
	}
	p.Heads = append(p.Heads, m.head(v, l, column{name: "Customer", sort: "customer_name"}))
	for _, c := range columns {
		if slices.Contains(l.columns, c.key) {
			p.Heads = append(p.Heads, m.head(v, l, c))
		}
	}
	for _, size := range sizes {
		other := l.at(0)
		other.size = size
		p.Steps = append(p.Steps, step{size, near(v, other.path()), size == l.size})
	}
}

func (m *room) head(v dashboard.Visit, l listQuery, c column) head {
	h := head{Name: c.name}
	if c.number {
		h.Class = "num"
	}
	if c.sort == "" {
		return h
	}
	other := l.at(0)
	other.sort = page.Sort{Field: c.sort}
	if l.sort.Field == c.sort {
		h.Sorted = "ascending"
		if l.sort.Desc {
			h.Sorted = "descending"
		}
		other.sort.Desc = !l.sort.Desc
	}
	h.Path = near(v, other.path())
	return h
}

// rows adds the contracts that were found.
func (m *room) rows(v dashboard.Visit, p *listPage, l listQuery, list []contract.Contract, total int) {
	for _, c := range list {
		r := row{ID: c.ID, Name: c.Customer.Name, Email: c.Customer.Email, Off: c.Terminated()}
		if r.Name == "" {
			r.Name, r.Email = orDash(r.Email), ""
		}
		if r.Name == "–" {
			r.Name = "Contract " + strconv.FormatInt(int64(c.ID), 10)
		}
		for _, col := range columns {
			if slices.Contains(l.columns, col.key) {
				said := col.says(c, v)
				said.Class = col.class
				r.Cells = append(r.Cells, said)
			}
		}
		p.Rows = append(p.Rows, r)
	}
	what := "contracts"
	if len(l.filters) > 0 {
		what = "contracts that match"
	}
	p.Pager = dashboard.PagerOf(what, l.page, l.size, len(list), total, func(number int) string { return near(v, l.at(number).path()) })
	if total > 0 {
		values := l.at(0).values()
		p.Export = near(v, "/contracts.csv?"+values.Encode())
	}
	if v.May(staff.ManageContracts) {
		p.Actions = actions
	}
	switch {
	case len(l.filters) > 0:
		p.Empty = dashboard.Empty{Icon: "search", Title: "No contract matches", Text: "No contract passes all filters of this list.", Action: "Clear filters", Path: p.Clear}
	case total > 0:
		p.Empty = dashboard.Empty{Icon: "search", Title: "The list ends before this page", Text: "There are fewer contracts than this page begins with.", Action: "Go to the first page", Path: near(v, l.at(0).path())}
	default:
		p.Empty = dashboard.Empty{Icon: "loop", Title: "No contracts yet", Text: "Contracts appear here when customers subscribe at the store's checkout.", Action: "See the setup guide", Path: v.At("")}
	}
}
