package moves

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// shownParts is how many parts of a move its page lists.
const shownParts = 200

// partWord names parts of a kind.
type partWord struct{ title, one, many string }

// partWords are the kinds of parts in words.
var partWords = map[moving.PartKind]partWord{
	moving.GroupPart:    {"Plan groups", "plan group", "plan groups"},
	moving.RulePart:     {"Swap rules", "swap rule", "swap rules"},
	moving.BundlePart:   {"Boxes", "box", "boxes"},
	moving.ProfilePart:  {"Delivery profiles", "delivery profile", "delivery profiles"},
	moving.MemberPart:   {"Loyalty members", "loyalty member", "loyalty members"},
	moving.CustomerPart: {"Customers of a file", "customer", "customers"},
}

// partRow is a part in the list of a move.
type partRow struct {
	Kind, Name string
	Badge      dashboard.Badge
	Texts      []string
}

// partsPart is what a store has beside contracts, in a move.
type partsPart struct {
	places

	Out     bool
	State   string // what happens now
	Rows    []partRow
	More    int    // parts that are not listed
	Make    string // what the button makes; empty: nothing can be made
	Made    int
	Decline bool // contracts wait until it is decided
}

// parts returns what is beside the contracts of a move; nil: it has none.
func (m *room) parts(ctx context.Context, v dashboard.Visit, p mover.Progress) (*partsPart, error) {
	mv := p.Move
	if len(p.Parts) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to show
	}
	is := &partsPart{places: placesOf(mv), Out: mv.Direction == moving.Out, State: stateOfParts(mv)}
	list, err := m.Moves.PartsOf(ctx, v.Shop.ID, mv.ID, moving.PartMatch{}, moving.PartKey{}, shownParts)
	if err != nil {
		return nil, err
	}
	for _, part := range list {
		is.Rows = append(is.Rows, partRowOf(part, is.places))
	}
	total := 0
	var make []string
	for _, kind := range moving.PartKinds {
		for _, stage := range moving.PartStages {
			total += p.PartsAt(kind, stage)
		}
		if n := p.PartsAt(kind, moving.PartReady); n > 0 {
			make = append(make, dashboard.Count(n, partWords[kind].one, partWords[kind].many))
		}
		is.Made += p.PartsAt(kind, moving.PartMade)
	}
	is.More = total - len(list)
	if len(make) > 0 && !mv.Parts.Make && mv.Open() {
		is.Make = strings.Join(make, ", ")
		is.Decline = mv.Wave == 0 && !mv.Parts.Declined
	}
	return is, nil
}

func stateOfParts(m moving.Move) string {
	switch p := m.Parts; {
	case p.ReadAt.IsZero() && p.Make:
		return "It is read once more, and then made."
	case p.ReadAt.IsZero():
		return "It is being read. Nothing is changed."
	case p.Make:
		return fmt.Sprintf("It is being made %s.", placesOf(m).Come)
	case p.Declined:
		return "Contracts are moved without what is not made."
	}
	return "Make it before contracts move: swap rules change amounts, and contracts name the plans of plan groups. What was made is not made again."
}

func partRowOf(p moving.Part, at places) partRow {
	row := partRow{Kind: partWords[p.Kind].one, Name: p.Name}
	if row.Name == "" {
		row.Name = p.There
	}
	if p.There == "" {
		row.Kind, row.Name = partWords[p.Kind].title, "All of them"
	}
	fit := fitWords[p.Fit]
	row.Badge = dashboard.Badge{Tone: fit.tone, Text: fit.name}
	switch {
	case p.Stage == moving.PartMade:
		row.Badge = dashboard.Badge{Tone: dashboard.Good, Text: "Is " + at.Come}
	case p.Stage == moving.PartFound:
		row.Badge = dashboard.Badge{Tone: dashboard.Neutral, Text: "Not read yet"}
	}
	if p.Reason != "" {
		row.Texts = append(row.Texts, fmt.Sprintf("It could not be made: %s", p.Reason))
	}
	for _, f := range p.Findings {
		row.Texts = append(row.Texts, f.Text)
	}
	return row
}

// makeParts has what goes made.
func (m *room) makeParts(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-parts", func(id moving.ID) error {
		_, err := m.Moves.MakeParts(r.Context(), v.Shop.ID, id, v.Actor(r))
		return err
	})
}

// declineParts lets contracts be moved without what is not made.
func (m *room) declineParts(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-alone", func(id moving.ID) error {
		_, err := m.Moves.DeclineParts(r.Context(), v.Shop.ID, id, v.Actor(r))
		return err
	})
}
