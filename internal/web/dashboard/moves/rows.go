package moves

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// rowsAtOnce is how many contracts or orders a page lists.
const rowsAtOnce = 50

// contractRow is a contract of a move.
type contractRow struct {
	There    string
	Path     string // of its page here, below the store's; empty: it is not here
	Here     int64  // its number at the service that it came to; 0: none
	Customer string
	Stage    dashboard.Badge
	Fit      *dashboard.Badge // nil: not known yet
	Next     string
	Amount   string
	Reason   string   // why its last step failed, or what it waits for
	Stays    []string // why it cannot go, and what to do
	Differs  []string // what is not carried over as it is
}

// views are the filters of the list of contracts.
var views = []struct {
	name, title string
	match       moving.Match
}{
	{"", "All", moving.Match{}},
	{"goes", "Go as they are", moving.Match{Fit: moving.Goes}},
	{"changes", "Go with differences", moving.Match{Fit: moving.Changes}},
	{"stays", "Cannot go", moving.Match{Fit: moving.Stays}},
	{"waiting", "In the wave", moving.Match{Stages: []moving.Stage{moving.Chosen}}},
	{"between", "Between the services", moving.Match{Stages: underWay()}},
	{"moved", "Moved", moving.Match{Stages: []moving.Stage{moving.Moved}}},
	{"failing", "Last step failed", moving.Match{Failing: true}},
}

// viewsOfFile are those that have another name when the contracts come from a file.
var viewsOfFile = map[string]string{"between": "Being created", "moved": "Created"}

func underWay() []moving.Stage {
	return slices.DeleteFunc(slices.Clone(moving.Stages), func(s moving.Stage) bool { return !s.UnderWay() })
}

// contractsPage is the list of a move's contracts.
type contractsPage struct {
	Tabs    []dashboard.Tab
	Finding string // that the list is narrowed to; empty: it is not
	All     string // the list without it
	Rows    []contractRow
	Out     bool
	File    bool
	Next    string // address of the rows after; empty: there are none
	First   string // address of the first rows; empty: they are shown
	Empty   dashboard.Empty
}

// contracts lists the contracts of a move by their numbers.
func (m *room) contracts(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	at := path(p.Move.ID) + "/contracts"
	page := contractsPage{Finding: query.Get("finding"), All: at, Out: p.Move.Direction == moving.Out, File: p.Move.File != nil, Empty: dashboard.Empty{Icon: "loop", Title: "No such contracts", Text: "No contract of this move is of this kind."}}
	var match moving.Match
	for _, view := range views {
		here := view.name == query.Get("show") && page.Finding == ""
		if here {
			match = view.match
		}
		if text, differs := viewsOfFile[view.name]; differs && page.File {
			view.title = text
		}
		tab := dashboard.Tab{Name: view.title, Path: v.At(at), Here: here}
		if view.name != "" {
			tab.Path = v.At(at + "?show=" + view.name)
		}
		page.Tabs = append(page.Tabs, tab)
	}
	if page.Finding != "" {
		match = moving.Match{Code: page.Finding}
	}
	after, _ := strconv.ParseInt(query.Get("after"), 10, 64) // anything else begins at the first
	items, err := m.Moves.Items(r.Context(), v.Shop.ID, p.Move.ID, match, after, rowsAtOnce+1)
	if err != nil {
		return err
	}
	turn := func(after int64) string {
		q := url.Values{}
		for _, name := range []string{"show", "finding"} {
			if value := query.Get(name); value != "" {
				q.Set(name, value)
			}
		}
		if after != 0 {
			q.Set("after", strconv.FormatInt(after, 10))
		}
		if len(q) == 0 {
			return v.At(at)
		}
		return v.At(at + "?" + q.Encode())
	}
	if len(items) > rowsAtOnce {
		items = items[:rowsAtOnce]
		page.Next = turn(items[rowsAtOnce-1].There)
	}
	if after != 0 {
		page.First = turn(0)
	}
	for _, i := range items {
		page.Rows = append(page.Rows, rowOf(i, p.Move, v))
	}
	name := title(p.Move)
	return v.Answer(w, dashboard.Page{Name: "move-contracts", Title: "Contracts of the move", Crumb: &dashboard.Crumb{Name: name, Path: path(p.Move.ID)}, Content: page})
}

func rowOf(i moving.Item, m moving.Move, v dashboard.Visit) contractRow {
	stage := stageWords[i.Stage]
	row := contractRow{There: named(i, m), Here: i.Here, Customer: i.Contract.Customer.Name, Stage: dashboard.Badge{Tone: stage.tone, Text: stage.name}, Next: v.Day(i.Plan.Date), Reason: i.Reason}
	if row.Customer == "" {
		row.Customer = i.Contract.Customer.Email
	}
	if i.Plan.Amount.Currency != "" {
		row.Amount = dashboard.Money(i.Plan.Amount)
	}
	if fit, known := fitWords[i.Fit]; known && i.Stage != moving.Moved {
		row.Fit = &dashboard.Badge{Tone: fit.tone, Text: fit.name}
	}
	own := i.Here
	if m.Direction == moving.Out {
		own = i.There
	}
	if text, differs := stageWordsOfFile[i.Stage]; differs && m.File != nil {
		row.Stage.Text = text
	}
	if own != 0 {
		row.Path = fmt.Sprintf("/contracts/%d", own)
	}
	for _, f := range i.Findings {
		if f.Fit == moving.Stays {
			row.Stays = append(row.Stays, f.Text)
		} else {
			row.Differs = append(row.Differs, f.Text)
		}
	}
	return row
}

// named names a contract as the service does that it leaves, or as its file does.
func named(i moving.Item, m moving.Move) string {
	switch {
	case m.File != nil && i.Contract.ImportedID != "":
		return i.Contract.ImportedID
	case m.File != nil && i.There < 0:
		return fmt.Sprintf("Line %d", -i.There)
	}
	return strconv.FormatInt(i.There, 10)
}

// orderRow is an order that was compared.
type orderRow struct {
	Contract         int64
	Day              string
	Badge            dashboard.Badge
	Planned, Charged string
	Order            int64 // 0: none was made
	Text             string
}

func orderRows(list []moving.Compared, v dashboard.Visit) []orderRow {
	rows := make([]orderRow, len(list))
	for n, c := range list {
		words := verdictWords[c.Verdict]
		row := orderRow{Contract: c.There, Day: v.Day(c.Date), Badge: dashboard.Badge{Tone: words.tone, Text: words.name}, Planned: "–", Charged: "–", Order: c.Order, Text: c.Text}
		if c.Planned.Currency != "" && c.Verdict != moving.Unplanned {
			row.Planned = dashboard.Money(c.Planned)
		}
		if c.Charged.Currency != "" {
			row.Charged = dashboard.Money(c.Charged)
		}
		rows[n] = row
	}
	return rows
}

// shownOrders is how many compared orders a page lists.
const shownOrders = 200

// ordersPage is the list of orders that were compared.
type ordersPage struct {
	Tabs  []dashboard.Tab
	About string
	Rows  []orderRow
	More  bool // there are others
	Shown int
	places
}

// orders lists the newest orders that were compared.
func (m *room) orders(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	at := path(p.Move.ID) + "/orders"
	verdict := moving.Verdict(r.URL.Query().Get("verdict"))
	compared, _, _ := p.Differences()
	page := ordersPage{Tabs: []dashboard.Tab{{Name: "All", Count: strconv.Itoa(compared), Path: v.At(at), Here: verdict == ""}}, About: verdictWords[verdict].about, places: placesOf(p.Move)}
	for _, row := range verdicts(p.Tallies, path(p.Move.ID)) {
		page.Tabs = append(page.Tabs, dashboard.Tab{Name: row.Badge.Text, Count: strconv.Itoa(row.N), Path: v.At(row.Path), Here: row.Badge.Text == verdictWords[verdict].name})
	}
	var only []moving.Verdict
	if verdict != "" {
		only = []moving.Verdict{verdict}
	}
	list, err := m.Moves.Compared(r.Context(), v.Shop.ID, p.Move.ID, only, shownOrders+1)
	if err != nil {
		return err
	}
	if page.More = len(list) > shownOrders; page.More {
		list = list[:shownOrders]
	}
	page.Rows, page.Shown = orderRows(list, v), len(list)
	return v.Answer(w, dashboard.Page{Name: "move-orders", Title: "Compared orders", Crumb: &dashboard.Crumb{Name: title(p.Move), Path: path(p.Move.ID)}, Content: page})
}
