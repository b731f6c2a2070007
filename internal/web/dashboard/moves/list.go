package moves

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// crumb is the page that those of one move belong to.
var crumb = &dashboard.Crumb{Name: "Moves", Path: "/moves"}

// moveRow is a move in the list.
type moveRow struct {
	Title, Path    string
	Badge          dashboard.Badge
	Wave, By       string
	Started, Ended string
}

// way is a way to begin a move.
type way struct{ Icon, Title, Text, Path string }

// ways are those that are offered.
var ways = []way{
	{"down", "Move in from another service", "Contracts that a service with this interface has. You need its address and an API key.", "/moves/in"},
	{"plan", "Move in from a file", "Contracts in a CSV file, such as the export of a service with another interface. You say what its columns are.", "/moves/file"},
	{"ext", "Move out to another service", "Your contracts go to a service with this interface. You need its address and an API key.", "/moves/out"},
}

// listPage is the list of moves.
type listPage struct {
	Rows []moveRow
	May  bool
	Open string // path of the move that is open; empty: another one can be started
	Ways []way
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	moves, err := m.Moves.Moves(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := listPage{May: v.May(staff.ManageStore), Ways: ways}
	for _, one := range moves {
		row := moveRow{Title: title(one), Path: path(one.ID), Badge: badge(one), Wave: "None yet", By: one.By.By, Started: v.Instant(one.CreatedAt), Ended: v.Instant(one.EndedAt)}
		if one.Wave > 0 {
			row.Wave = strconv.Itoa(one.Wave) + " %"
		}
		p.Rows = append(p.Rows, row)
	}
	if at := slices.IndexFunc(moves, moving.Move.Open); at >= 0 {
		p.Open = path(moves[at].ID)
	}
	return v.Answer(w, dashboard.Page{
		Name: "moves", Title: "Moves", Lead: "Bring contracts here from another service while it goes on, or take them to one. Each order is charged once, by one of the two.", Content: p,
	})
}

// path is that of a move's page, below the store's.
func path(id moving.ID) string { return fmt.Sprintf("/moves/%d", id) }

// moveID reads the move of a path.
func moveID(r *http.Request) (moving.ID, error) { return parseID(r.PathValue("move")) }

func parseID(text string) (moving.ID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, dashboard.PathNotFound()
	}
	return moving.ID(id), nil
}
