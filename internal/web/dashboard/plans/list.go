package plans

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// rowsAtOnce is how many groups a page lists.
const rowsAtOnce = 25

// listPage is the list of groups.
type listPage struct {
	Tabs  []dashboard.Tab
	Rows  []groupRow
	Pager *dashboard.Pager // nil: all are shown
	Empty *dashboard.Empty
	May   bool // the reader may change groups
}

// groupRow is a group in the list.
type groupRow struct {
	ID        plan.ID
	Name      string
	Options   string // their names
	Products  string
	Contracts int64
	State     *dashboard.Badge // nil: it is the same at the platform
}

// shownOptions is how many options the list names.
const shownOptions = 4

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	line := dashboard.LineNamed(r.URL.Query().Get("line"))
	number, err := strconv.Atoi(r.URL.Query().Get("page"))
	if number--; err != nil || number < 0 {
		number = 0
	}
	groups, total, err := m.Book.PlanGroups(r.Context(), v.Shop.ID, line.Of, page.Request{Page: number, Size: rowsAtOnce, Sort: []page.Sort{{Field: plan.FieldName}}})
	if err != nil {
		return err
	}
	active, err := m.Figures.ActiveByGroup(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := listPage{Tabs: v.LineTabs(path, line), May: v.May(staff.ManageStore)}
	for _, g := range groups {
		p.Rows = append(p.Rows, rowOf(g, active[int64(g.ID)]))
	}
	if total > rowsAtOnce {
		pager := dashboard.PagerOf("plan groups", number, rowsAtOnce, len(groups), total, func(n int) string {
			return v.At(fmt.Sprintf("%s?line=%s&page=%d", path, line.Name, n+1))
		})
		p.Pager = &pager
	}
	if total == 0 {
		p.Empty = &dashboard.Empty{Icon: "plan", Title: "No plan group yet", Text: "A plan group says how often customers can get its products, and for how much less."}
		if p.May {
			p.Empty.Action, p.Empty.Path = "Create plan group", v.At(path+"/new?line="+line.Name)
		}
	}
	return v.Answer(w, dashboard.Page{Name: "plans", Title: "Plan groups", Lead: "How customers can subscribe to your products.", Content: p})
}

func rowOf(g plan.Group, contracts int64) groupRow {
	row := groupRow{ID: g.ID, Name: g.Name, Products: products(g), Contracts: contracts, State: stateOf(g)}
	var names []string
	for _, o := range g.Options[:min(len(g.Options), shownOptions)] {
		names = append(names, o.Name)
	}
	row.Options = strings.Join(names, ", ")
	if more := len(g.Options) - shownOptions; more > 0 {
		row.Options += fmt.Sprintf(" and %d more", more)
	}
	return row
}

// products counts what is sold on a group's options.
func products(g plan.Group) string {
	text := dashboard.Count(len(g.Products), "product", "products")
	if n := len(g.Variants); n > 0 {
		text += ", " + dashboard.Count(n, "variant", "variants")
	}
	return text
}

// stateOf says that a group is not the same at the platform; nil: it is.
func stateOf(g plan.Group) *dashboard.Badge {
	switch g.State {
	case plan.Updating:
		return &dashboard.Badge{Tone: dashboard.Warning, Text: "Being changed"}
	case plan.Deleting:
		return &dashboard.Badge{Tone: dashboard.Warning, Text: "Being deleted"}
	}
	return nil
}

// read returns the group that a path names.
func (m *room) read(r *http.Request, v dashboard.Visit) (plan.Group, error) {
	return m.find(r.Context(), v, r.PathValue("group"))
}

func (m *room) find(ctx context.Context, v dashboard.Visit, text string) (g plan.Group, err error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return g, dashboard.PathNotFound()
	}
	for _, l := range dashboard.Lines {
		if g, err = m.Book.PlanGroup(ctx, v.Shop.ID, l.Of, plan.ID(id)); !fault.Is(err, fault.NotFound) {
			return g, err
		}
	}
	return g, err
}
