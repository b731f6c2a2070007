// Package analytics is the pages of a store's figures: charts with the same numbers as a
// table and as a download, and what each figure means. Package domain/analytics works them out.
package analytics

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Options are what the pages need.
type Options struct {
	Figures Figures
	Clock   clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	made := dashboard.Room{Pages: pages, Styles: styles}
	for _, r := range []report{
		{"mrr", "MRR", mrr}, {"subscribers", "Subscribers", subscribers}, {"churn", "Churn", churn},
		{"cohorts", "Cohorts", cohorts}, {"revenue", "Revenue", revenue}, {"forecast", "Forecast", forecast}, {"recovery", "Recovery", recovery},
	} {
		path := "/analytics/" + r.name
		made.Menu = append(made.Menu, dashboard.Entry{Section: dashboard.Analytics, Name: r.title, Path: path, Need: staff.ReadStore})
		made.Routes = append(made.Routes,
			dashboard.Route{Pattern: "GET " + path, Need: staff.ReadStore, Show: m.page(r)},
			dashboard.Route{Pattern: "GET " + path + ".csv", Need: staff.ReadStore, Show: m.download(r)})
	}
	return made
}

// styles are rules that only these pages need.
const styles = `
.filters{align-items:flex-end}.filters label{display:grid;gap:2px;font:var(--xs);color:var(--c-text-2)}.filters select{font:var(--sm);color:var(--c-text);max-width:12rem}
.figures tbody th{white-space:normal;min-width:6.5rem}.heat .num{white-space:nowrap}.heat .num+.num{text-align:center!important}
.heat .few{font-style:italic;background:none;color:var(--c-text-2)}
.band,.halo{fill:none;stroke:var(--c-text);stroke-width:1.5}.halo{stroke:var(--c-surface);stroke-width:3}.legend .band{stroke-width:.2}
@media (max-width:59.99rem){.filters{gap:var(--s-2)}}
`

// report is one page: its name in addresses, its title, and what works out its cards.
type report struct {
	name, title string
	cards       func(context.Context, Figures, request) ([][]card, error)
}

// page returns what shows a report.
func (m *room) page(of report) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		asked, err := m.asked(r, v)
		if err != nil {
			return err
		}
		shown := view{Filters: asked.filters(of.name), Path: v.At("/analytics/" + of.name), Embedded: v.View.Embedded}
		p := dashboard.Page{Name: "analytics", Title: of.title, Content: &shown}
		if asked.scope.First == 0 {
			shown.Empty = &dashboard.Empty{
				Icon: "chart", Title: "No figures yet", Text: "They begin with the first contract of the store and are counted from then on.",
			}
			return v.Answer(w, p)
		}
		p.Lead = "Days of the store, " + v.Zone.String() + ". Data to " + v.Instant(m.Clock.Now()) + "."
		if len(asked.scope.Currencies) > 1 {
			p.Lead += " Currencies are not added up: no exchange rates are stored."
		}
		if shown.Rows, err = of.cards(r.Context(), m.Figures, asked); err != nil {
			return err
		}
		shown.Export = v.At("/analytics/" + of.name + ".csv" + asked.query())
		return v.Answer(w, p)
	}
}

// download returns what answers with the numbers of a report.
func (m *room) download(of report) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		asked, err := m.asked(r, v)
		if err != nil {
			return err
		}
		rows, err := of.cards(r.Context(), m.Figures, asked)
		if err != nil {
			return err
		}
		return writeCSV(w, of.name+"-"+asked.scope.Today.String()+".csv", rows)
	}
}

// asked reads what a reader asks.
func (m *room) asked(r *http.Request, v dashboard.Visit) (request, error) {
	scope, err := m.Figures.Scope(r.Context(), v.Shop)
	if err != nil {
		return request{}, err
	}
	c, err := parseChoice(r.URL.Query(), scope)
	return request{v, c, scope}, err
}
