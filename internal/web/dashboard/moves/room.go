// Package moves is the pages on which the move of a store's contracts from another service, or to one, is
// started, looked at and steered. What is moved, and when, is decided by the domain.
package moves

import (
	"context"
	"embed"
	"io"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed moves.css
var styles string

// Moves starts, knows and steers moves.
type Moves interface {
	Moves(ctx context.Context, of shop.ID) ([]moving.Move, error)
	Progress(ctx context.Context, of shop.ID, id moving.ID) (mover.Progress, error)
	Next(ctx context.Context, of shop.ID, id moving.ID, percent int) (mover.Next, error)
	Findings(ctx context.Context, of shop.ID, id moving.ID) ([]moving.FindingCount, error)
	Items(ctx context.Context, of shop.ID, id moving.ID, match moving.Match, after int64, limit int) ([]moving.Item, error)
	Compared(ctx context.Context, of shop.ID, id moving.ID, verdicts []moving.Verdict, limit int) ([]moving.Compared, error)
	ReportCSV(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error
	ReportJSON(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error

	Start(ctx context.Context, of shop.ID, n mover.New) (moving.Move, error)
	Upload(ctx context.Context, of shop.ID, f mover.NewFile) (moving.Move, error)
	SetMapping(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, mapping map[string]string, decimalComma *bool) (moving.Move, error)
	SetPaused(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, paused bool) (moving.Move, error)
	SetWave(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, percent int) (moving.Move, error)
	ReadAgain(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)
	Retry(ctx context.Context, of shop.ID, id moving.ID, there []int64) error
	End(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)
}

// Book knows the plan groups, whose options are the selling plans of the store here.
type Book interface {
	PlanGroups(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error)
}

// Options are what the pages need.
type Options struct {
	Moves Moves
	Book  Book
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	read := func(pattern string, show dashboard.Show) dashboard.Route {
		return dashboard.Route{Pattern: "GET /moves" + pattern, Need: staff.ReadStore, Show: show}
	}
	change := func(method, pattern string, show dashboard.Show) dashboard.Route {
		return dashboard.Route{Pattern: method + " /moves" + pattern, Need: staff.ManageStore, Show: show}
	}
	return dashboard.Room{
		Pages: pages, Styles: styles,
		Menu: []dashboard.Entry{{Section: dashboard.Settings, Name: "Moves", Path: "/moves", Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			read("", m.list),
			change("GET", "/in", m.askStart(moving.In)),
			change("POST", "/in", m.start(moving.In)),
			change("GET", "/out", m.askStart(moving.Out)),
			change("POST", "/out", m.start(moving.Out)),
			change("GET", "/file", m.askFile),
			{Pattern: "POST /moves/file", Need: staff.ManageStore, Upload: dashboard.Upload{Field: "file", Max: maxFile}, Show: m.upload},
			read("/template.csv", m.template),
			read("/{move}", m.show),
			change("POST", "/{move}/mapping", m.setMapping),
			read("/{move}/contracts", m.contracts),
			read("/{move}/orders", m.orders),
			read("/{move}/report.csv", m.report(Moves.ReportCSV, "text/csv; charset=utf-8", "csv")),
			read("/{move}/report.jsonl", m.report(Moves.ReportJSON, "application/jsonl; charset=utf-8", "jsonl")),
			change("POST", "/{move}/pause", m.pause),
			change("POST", "/{move}/resume", m.resume),
			change("POST", "/{move}/read", m.readAgain),
			change("POST", "/{move}/retry", m.retry),
			change("GET", "/{move}/wave", m.askWave),
			change("POST", "/{move}/wave", m.wave),
			change("GET", "/{move}/end", m.askEnd),
			change("POST", "/{move}/end", m.end),
		},
		Said: map[string]string{
			"move-started": "The move was started. The contracts are read, and nothing is changed anywhere.",
			"move-file":    "The file was uploaded. Nothing was read into the store yet: say first what its columns are.",
			"move-mapped":  "The contracts of the file are read, and nothing is changed anywhere.",
			"move-paused":  "The move is paused. No other contract is begun; those between the services come to their end.",
			"move-resumed": "The move goes on.",
			"move-read":    "All contracts that are not moved are read again.",
			"move-retried": "The contracts whose last step failed are tried again.",
			"move-wave":    "The wave has begun. Each contract is stopped there, created here, and cancelled there.",
			"move-out":     "The wave has begun. Each contract is stopped here, created there, and cancelled here.",
			"move-ended":   "The move was ended. Contracts that were not moved stay where they are.",
		},
	}
}
