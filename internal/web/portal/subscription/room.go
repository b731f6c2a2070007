// Package subscription is the screen of one subscription, and what starts it again: resuming a
// pause, and keeping what was to end.
package subscription

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Sheets reads what the screens show. A contract that is not the caller's is NotFound.
type Sheets interface {
	Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
}

// Changes carries out what subscribers want. Failures are faults.
type Changes interface {
	Resume(ctx context.Context, who do.Caller, ref do.ContractRef, from time.Time) (contract.Detail, error)
	Keep(ctx context.Context, who do.Caller, ref do.ContractRef) (contract.Detail, error)
}

// Options are what the room needs.
type Options struct {
	Sheets  Sheets
	Changes Changes
	Boxes   func(ctx context.Context, of shop.ID, c contract.Contract) (bool, error) // reports whether a contract is a box; nil: none is
}

//go:embed pages/*.html
var pages embed.FS

// shownPast is how many past orders the screen shows.
const shownPast = 5

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}", Show: r.show},
			{Pattern: "GET /s/{contract}/resume", Show: r.askResume},
			{Pattern: "POST /s/{contract}/resume", Show: r.resume},
			{Pattern: "POST /s/{contract}/keep", Show: r.keep},
		},
		Pages: pages,
		Said:  map[string]string{"resumed": "done.resumed", "kept": "done.kept", "paid": "done.paying", "skipped": "done.skipped", "unskipped": "done.unskipped"},
	}
}

type room struct{ Options }

// sheet reads the contract that a path names.
func (m room) sheet(r *http.Request, v portal.Visit, past int) (overview.Sheet, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return overview.Sheet{}, err
	}
	return m.Sheets.Sheet(r.Context(), v.Caller(r), id, past)
}
