package moves

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

const (
	// planRows is how many rows for plans a form has at first, and how many more it gets at a time.
	planRows = 3
	// maxPlanRows is how many it has at most.
	maxPlanRows = 200
	// groupsAtOnce is how many plan groups of a line are offered.
	groupsAtOnce = 1000
)

// planRow names a selling plan of one service, and the one that takes its place at the other.
type planRow struct {
	Number int // from 1
	There  string
	Name   string // of the plan that another move has found; empty: not known
	Here   []dashboard.Choice
}

// planForm is the part of a form that names selling plans.
type planForm struct {
	Out   bool
	Rows  []planRow
	Plans bool     // the store has selling plans here
	Found []string // plans that another move has found and did not name
	More  bool     // it can have more rows
}

// planForm returns the part of a form that names selling plans, and what was entered: what was sent, or
// what another move was started with.
func (m *room) planForm(r *http.Request, v dashboard.Visit, d moving.Direction) (planForm, url.Values, error) {
	form := r.PostForm
	plans, err := m.plans(r.Context(), v)
	if err != nil {
		return planForm{}, nil, err
	}
	if of := r.URL.Query().Get("like"); r.Method == http.MethodGet && of != "" {
		if form, err = m.like(r.Context(), v, of); err != nil {
			return planForm{}, nil, err
		}
	}
	rows := min(max(planRows, len(form["there"])), maxPlanRows)
	if form.Get("do") == "rows" {
		rows = min(rows+planRows, maxPlanRows)
	}
	p := planForm{Out: d == moving.Out, Plans: len(plans) > 0, Found: found(form), More: len(plans) > 0 && rows < maxPlanRows}
	for n := range rows {
		row := planRow{Number: n + 1, There: nth(form["there"], n), Name: nth(form["name"], n), Here: []dashboard.Choice{{Name: "Choose a plan"}}}
		for _, c := range plans {
			c.Selected = c.Value == nth(form["here"], n)
			row.Here = append(row.Here, c)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, form, nil
}

// like fills the form in with what another move was started with, and with the plans of its contracts
// that it did not name. The key is not among it.
func (m *room) like(ctx context.Context, v dashboard.Visit, of string) (url.Values, error) {
	id, err := parseID(of)
	if err != nil {
		return nil, err
	}
	p, err := m.Moves.Progress(ctx, v.Shop.ID, id)
	if err != nil {
		return nil, err
	}
	mv := p.Move
	form := url.Values{"address": {mv.Peer.Address}, "memberships": {mv.Peer.Memberships}, "loyalty": {mv.Peer.Loyalty}, "rate": {strconv.FormatFloat(mv.Peer.Rate, 'f', -1, 64)}}
	add := func(left, come int64, name string) {
		here, there := come, left
		if mv.Direction == moving.Out {
			here, there = left, come
		}
		form["there"], form["here"], form["name"] = append(form["there"], shown(there)), append(form["here"], shown(here)), append(form["name"], name)
	}
	seen := map[int64]bool{}
	for _, left := range slices.Sorted(maps.Keys(mv.Plans)) {
		seen[left] = true
		add(left, mv.Plans[left], "")
	}
	for _, code := range []string{"planUnknown", "membershipPlanUnknown"} {
		items, err := m.Moves.Items(ctx, v.Shop.ID, id, moving.Match{Code: code}, 0, lookedAt)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			for _, l := range i.Contract.Lines {
				if l.Plan != 0 && !seen[l.Plan] {
					seen[l.Plan] = true
					add(l.Plan, 0, l.PlanName)
				}
			}
		}
	}
	return form, nil
}

// found names the plans of a form that another move has found.
func found(form url.Values) []string {
	var list []string
	for n, name := range form["name"] {
		if name != "" {
			list = append(list, fmt.Sprintf("%s (%s)", name, cmp.Or(nth(form["there"], n), nth(form["here"], n))))
		}
	}
	return list
}

// lookedAt is how many contracts are looked at for plans that were not named.
const lookedAt = 1000

// shown returns a number as a form has it; 0: nothing.
func shown(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// plans returns the selling plans that the store has here.
func (m *room) plans(ctx context.Context, v dashboard.Visit) ([]dashboard.Choice, error) {
	var list []dashboard.Choice
	for _, line := range dashboard.Lines {
		groups, _, err := m.Book.PlanGroups(ctx, v.Shop.ID, line.Of, page.Request{Size: groupsAtOnce, Sort: []page.Sort{{Field: plan.FieldName}}})
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			for _, o := range g.Options {
				if o.ID != 0 {
					list = append(list, dashboard.Choice{Value: strconv.FormatInt(o.ID, 10), Name: fmt.Sprintf("%s: %s (%d)", g.Name, o.Name, o.ID)})
				}
			}
		}
	}
	return list, nil
}

func nth(list []string, n int) string {
	if n < len(list) {
		return strings.TrimSpace(list[n])
	}
	return ""
}

// readPlans reads which selling plan takes the place of another one.
func readPlans(form url.Values, plans []dashboard.Choice, d moving.Direction) (map[int64]int64, error) {
	named := map[int64]int64{}
	for row := range min(len(form["there"]), maxPlanRows) {
		there, here := nth(form["there"], row), nth(form["here"], row)
		if there == "" && here == "" {
			continue
		}
		bad := func(format string, args ...any) (map[int64]int64, error) {
			return nil, fault.New(fault.Invalid, format, args...).Field(fmt.Sprintf("plan-%d", row+1))
		}
		other, err := strconv.ParseInt(there, 10, 64)
		if err != nil || other <= 0 {
			return bad("%.40q is not the number of a selling plan, such as 6101", there)
		}
		if here == "" {
			return bad("choose the plan here that belongs to plan %d there", other)
		}
		own, err := strconv.ParseInt(here, 10, 64)
		if err != nil || !slices.ContainsFunc(plans, func(c dashboard.Choice) bool { return c.Value == here }) {
			return bad("the store has no selling plan %.40s", here)
		}
		from, to := other, own
		if d == moving.Out {
			from, to = own, other
		}
		if _, twice := named[from]; twice {
			return bad("plan %d is named twice: leave one of the rows out", from)
		}
		named[from] = to
	}
	return named, nil
}
