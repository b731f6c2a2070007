// Package analytics is the pages of a store's figures: charts with the same numbers as a
// table and as a download, and what each figure means. Package domain/analytics works them out.
package analytics

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Figures answers what the figures of a store are. *analytics.Service does.
type Figures interface {
	Scope(ctx context.Context, of shop.Shop) (analytics.Scope, error)
	Series(ctx context.Context, of shop.ID, m analytics.Metric, p analytics.Period, f analytics.Filter) ([]analytics.Point, error)
	Movements(ctx context.Context, of shop.ID, p analytics.Period, f analytics.Filter) ([]analytics.MonthMoves, error)
	Churn(ctx context.Context, of shop.ID, p analytics.Period) ([]analytics.Churn, error)
	Cohorts(ctx context.Context, of shop.ID, months int, f analytics.Filter) ([]analytics.Cohort, error)
	Forecast(ctx context.Context, of shop.ID, days int, f analytics.Filter) (analytics.Forecast, error)
	Recovery(ctx context.Context, of shop.ID, p analytics.Period, c money.Currency) (analytics.Recovery, error)
}

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
		{"mrr", "MRR", (*room).mrr}, {"subscribers", "Subscribers", (*room).subscribers}, {"churn", "Churn", (*room).churn},
		{"cohorts", "Cohorts", (*room).cohorts}, {"forecast", "Forecast", (*room).forecast}, {"recovery", "Recovery", (*room).recovery},
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
.tip summary{list-style:none;color:var(--c-text-2)}.tip summary::-webkit-details-marker{display:none}.tip[open] summary{color:var(--c-link)}
.card>header .tip{margin-left:auto}.card>header .tip[open]{flex-basis:100%;margin-left:0}.tip ul{list-style:disc;padding-left:var(--s-5);margin-top:var(--s-1)}
.filters{align-items:flex-end}.filters label{display:grid;gap:2px;font:var(--xs);color:var(--c-text-2)}.filters select{font:var(--sm);color:var(--c-text);max-width:12rem}
.heat small{font-weight:400;color:var(--c-text-2)}.heat .few{font-style:italic;background:none;color:var(--c-text-2)}
@media (max-width:59.99rem){.filters{gap:var(--s-2)}}
`

// report is one page: its name in addresses, its title, and what works out its cards.
type report struct {
	name, title string
	cards       func(*room, context.Context, request) ([][]card, error)
}

// request is what a reader asks of a page.
type request struct {
	dashboard.Visit
	choice
	scope analytics.Scope
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
		if shown.Rows, err = of.cards(m, r.Context(), asked); err != nil {
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
		rows, err := of.cards(m, r.Context(), asked)
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
