// Package simulate is the page of the dashboard on which the time of a sandbox is moved. Only a
// sandbox has it.
package simulate

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Move is one that was asked for.
type Move struct {
	From, To time.Time // To is where it is going while it runs, then where it ended
	Done     bool
	Failure  string // why it ended early; empty: it did not
	Counts   Counts
	Scenario string // title; empty: none was played
	Contract int64  // that the scenario made
}

// Scenario is a story that the sandbox plays: a new customer, and time that moves until it ends.
type Scenario struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"` // what happens, and how far time moves
}

// Counts are what has happened in a move.
type Counts struct {
	Billed, Failed, Orders, Mails, Webhooks int
}

// State is how a sandbox stands.
type State struct {
	Real    time.Time
	Now     time.Time
	Movable bool      // false: it follows the machine's clock
	Next    time.Time // when something is due next; zero: nothing is
	Due     int       // orders that are due now
	Waiting int       // webhooks of the platform that wait now
	Moves   []Move    // the newest first
}

// Moving reports whether a move runs.
func (s State) Moving() bool { return len(s.Moves) > 0 && !s.Moves[0].Done }

// Clockwork moves the time of a sandbox.
type Clockwork interface {
	State(ctx context.Context) (State, error)
	// Advance begins to move time to an instant, through all that falls due in between, and
	// returns when that is done or after a moment. Another move that runs is a Conflict.
	Advance(ctx context.Context, to time.Time) error
	// RunDue does what is due now.
	RunDue(ctx context.Context) error
	// Play begins a scenario in a store, and returns when time has arrived or after a moment.
	// Another move that runs is a Conflict; a store that lacks what the scenario needs is a
	// FailedPrecondition.
	Play(ctx context.Context, domain, name string) error
	// Outcome scripts how the next charge of a store's contract ends. A contract of another
	// store is NotFound.
	Outcome(domain string, contract int64, code string) error
}

// Log reads the activity log.
type Log interface {
	OlderEntries(ctx context.Context, of shop.ID, where []page.Criterion, after page.Cursor, limit int) ([]activity.Entry, page.Cursor, error)
}

// Options are what the page needs.
type Options struct {
	Clockwork Clockwork
	Log       func() Log
	Scenarios []Scenario // that can be played
	// Links lead to what else a sandbox has, by name.
	Links []Link
}

// Link leads out of the dashboard.
type Link struct{ Name, Address, About string }

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Developers, Name: "Simulate time", Path: "/time", Need: staff.ReadStore}},
		Said: map[string]string{
			"time-moved": "Time was moved.", "time-ran": "What was due was done.", "time-played": "The scenario was played.", "time-outcome": "The next charge of the contract ends like this.",
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /time", Need: staff.ReadStore, Show: m.show},
			{Pattern: "POST /time", Need: staff.ManageStore, Show: m.move},
			{Pattern: "POST /time/run", Need: staff.ManageStore, Show: m.run},
			{Pattern: "POST /time/scenario", Need: staff.ManageStore, Show: m.play},
			{Pattern: "POST /time/outcome", Need: staff.ManageStore, Show: m.outcome},
		},
	}
}
