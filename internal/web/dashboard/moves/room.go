// Package moves is the pages on which the move of a store's contracts from another service, or to one, is
// started, looked at and steered. What is moved, and when, is decided by the domain.
package moves

import (
	"embed"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed moves.css
var styles string

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
			change("GET", "/{move}/mapping", m.askMapping),
			change("POST", "/{move}/mapping", m.setMapping),
			read("/{move}/contracts", m.contracts),
			read("/{move}/orders", m.orders),
			read("/{move}/report.csv", m.report(Moves.ReportCSV, "text/csv; charset=utf-8", "csv")),
			read("/{move}/report.jsonl", m.report(Moves.ReportJSON, "application/jsonl; charset=utf-8", "jsonl")),
			change("POST", "/{move}/pause", m.pause),
			change("POST", "/{move}/resume", m.resume),
			change("POST", "/{move}/read", m.readAgain),
			change("POST", "/{move}/retry", m.retry),
			change("POST", "/{move}/parts", m.makeParts),
			change("POST", "/{move}/parts/decline", m.declineParts),
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
			"move-parts":   "What goes is made. The service reads it once more before.",
			"move-alone":   "Contracts are moved without what is not made.",
			"move-wave":    "The wave has begun. Each contract is stopped there, created here, and cancelled there.",
			"move-create":  "The wave has begun. Each contract is created here.",
			"move-out":     "The wave has begun. Each contract is stopped here, created there, and cancelled here.",
			"move-ended":   "The move was ended. Contracts that were not moved stay where they are.",
		},
	}
}
