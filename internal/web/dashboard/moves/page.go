package moves

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// waveButton is a wave that can be begun.
type waveButton struct {
	Percent int
	Pri     bool
}

// sumRow is what is charged in the next days, in one currency.
type sumRow struct {
	Currency      string
	Here, There   string
	HereN, ThereN int
	Alike         bool
	More          string // what is charged here more, or less
}

// totalRow compares the contracts of a file in one currency with those that go.
type totalRow struct {
	Currency          string
	File, Goes, Stays string // one order of each contract
	FileN, GoesN      int
	StaysN            int
	Unpriced          int
}

// findingRow is what a rule has found.
type findingRow struct {
	Title, What, Code string
	Badge             dashboard.Badge
	Contracts         int
	Path              string // of the contracts
}

// verdictRow is how many orders were compared with a verdict.
type verdictRow struct {
	Badge dashboard.Badge
	N     int
	About string
	Path  string
}

// movePage is the page of a move.
type movePage struct {
	Progress progressPart
	Path     string
	Like     string // the form of another move like it
	May      bool
	Open     bool
	Paused   bool
	Out      bool
	File     bool // contracts come from a file
	Kept     bool // the file is still there: its columns can be named again, and it can be read again
	places

	Read       bool // all were read: waves can begin
	Refreshing bool // changes are being listed, and waves have to wait a moment
	Waves      []waveButton
	Wave       int // percent that may be moved
	Goes       int // contracts that go, or have gone
	Failing    int
	Fits       []figure
	Sums       []sumRow
	Totals     []totalRow // of a file
	Findings   []findingRow
	Missing    string // what the list of the other service lacks; empty: nothing

	Compared, Differ, Unexplained int
	Verdicts                      []verdictRow
	Differences                   []orderRow

	Parts *partsPart // nil: there is nothing beside contracts
	About []fact
}

// fact is what is known of a move.
type fact struct{ Name, Text string }

// shownDifferences is how many differences without an explanation the page lists.
const shownDifferences = 10

// progress returns how far the move of a path has come.
func (m *room) progress(r *http.Request, v dashboard.Visit) (mover.Progress, error) {
	id, err := moveID(r)
	if err != nil {
		return mover.Progress{}, err
	}
	return m.Moves.Progress(r.Context(), v.Shop.ID, id)
}

// show shows a move. A script reads the part again that changes.
func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	if p.Move.Status == moving.Mapping {
		return m.showMapping(w, r, v, p.Move, mappingOf(p.Move), nil)
	}
	if r.URL.Query().Get("part") == "1" {
		part := progressOf(p, v)
		if part.State != r.URL.Query().Get("state") {
			w.Header().Set("HX-Refresh", "true") // what can be done has changed
		}
		return v.Fragment(w, "move-progress", movePage{Progress: part})
	}
	page, err := m.page(r.Context(), v, p)
	if err != nil {
		return err
	}
	return v.Answer(w, dashboard.Page{Name: "move", Title: title(p.Move), Lead: lead(p.Move), Crumb: crumb, Content: page})
}

// lead says in a sentence what happens now.
func lead(m moving.Move) string {
	at := placesOf(m)
	switch {
	case !m.Open():
		return "The move has ended. Nothing is compared or moved any more."
	case m.Paused:
		return "The move is paused: no other contract is begun."
	case m.ReadAt.IsZero():
		return "The contracts are read. Nothing is changed anywhere."
	case m.File != nil && m.Wave > 0:
		return fmt.Sprintf("%d percent of the contracts are created here.", m.Wave)
	case m.File != nil:
		return "All contracts were read. Nothing is created until you begin a wave."
	case m.Wave > 0:
		return fmt.Sprintf("%d percent of the contracts are moved: each is stopped %s, created %s, and cancelled %s.", m.Wave, at.Left, at.Come, at.Left)
	}
	return fmt.Sprintf("All contracts were read. Each order that is made %s is compared with the one that was planned. Nothing is changed until you begin a wave.", at.Left)
}

func (m *room) page(ctx context.Context, v dashboard.Visit, p mover.Progress) (movePage, error) {
	mv := p.Move
	page := movePage{
		Progress: progressOf(p, v), Path: path(mv.ID), Like: like(mv), May: v.May(staff.ManageStore), Open: mv.Open(), Paused: mv.Paused, Out: mv.Direction == moving.Out, File: mv.File != nil, Kept: mv.File == nil || mv.File.Parts > 0, places: placesOf(mv),
		Read: !mv.ReadAt.IsZero(), Refreshing: mv.Status == moving.Listing, Wave: mv.Wave, Goes: goes(p), Failing: p.Failing, Fits: fits(p), Sums: sums(p.Sums), Totals: totals(p.Totals), About: about(mv, v),
	}
	for _, percent := range moving.Waves {
		if percent > mv.Wave {
			page.Waves = append(page.Waves, waveButton{percent, len(page.Waves) == 0})
		}
	}
	if page.Read && mv.File == nil && mv.Announced > p.Total {
		page.Missing = fmt.Sprintf("The other service said that it has %d contracts, and listed %d.", mv.Announced, p.Total)
	}
	var err error
	if page.Parts, err = m.parts(ctx, v, p); err != nil {
		return page, err
	}
	found, err := m.Moves.Findings(ctx, v.Shop.ID, mv.ID)
	if err != nil {
		return page, err
	}
	page.Findings = findings(found, page.Path)
	page.Compared, page.Differ, page.Unexplained = p.Differences()
	page.Verdicts = verdicts(p.Tallies, page.Path)
	if page.Unexplained > 0 {
		list, err := m.Moves.Compared(ctx, v.Shop.ID, mv.ID, unexplained(), shownDifferences)
		if err != nil {
			return page, err
		}
		page.Differences = orderRows(list, v)
	}
	return page, nil
}

// like is the path of the form of another move like one.
func like(m moving.Move) string {
	kind := strings.ToLower(string(m.Direction))
	if m.File != nil {
		kind = "file"
	}
	return fmt.Sprintf("/moves/%s?like=%d", kind, m.ID)
}

// unexplained are the verdicts that no rule explains.
func unexplained() []moving.Verdict {
	var list []moving.Verdict
	for _, v := range moving.Verdicts {
		if !v.Understood() {
			list = append(list, v)
		}
	}
	return list
}

func fits(p mover.Progress) []figure {
	at := path(p.Move.ID) + "/contracts?show="
	return []figure{
		{Name: "Go as they are", N: p.ByFit[moving.Goes], Path: at + "goes"},
		{Name: "Go with differences", N: p.ByFit[moving.Changes], Path: at + "changes"},
		{Name: "Cannot go", N: p.ByFit[moving.Stays], Path: at + "stays", Bad: p.ByFit[moving.Stays] > 0},
	}
}

func sums(list []mover.Sum) []sumRow {
	rows := make([]sumRow, len(list))
	for n, s := range list {
		rows[n] = sumRow{
			Currency: string(s.Currency), Here: s.Amount(s.Here), There: s.Amount(s.There), HereN: s.HereOrders, ThereN: s.ThereOrders, Alike: s.Here == s.There && s.HereOrders == s.ThereOrders,
		}
		switch more := s.Here - s.There; {
		case more > 0:
			rows[n].More = s.Amount(more) + " more here"
		case more < 0:
			rows[n].More = s.Amount(-more) + " less here"
		}
	}
	return rows
}

func totals(list []mover.FileTotal) []totalRow {
	rows := make([]totalRow, len(list))
	for n, t := range list {
		amount := func(minor int64) string { return dashboard.Money(money.Amount{Minor: minor, Currency: t.Currency}) }
		stays := t.Stays()
		rows[n] = totalRow{
			Currency: string(t.Currency), Unpriced: t.File.Unpriced, FileN: t.File.Contracts, GoesN: t.Goes.Contracts, StaysN: stays.Contracts,
			File: amount(t.File.Amount), Goes: amount(t.Goes.Amount), Stays: amount(stays.Amount),
		}
		if t.Currency == "" {
			rows[n].Currency, rows[n].File, rows[n].Goes, rows[n].Stays = "Not known", "–", "–", "–"
		}
	}
	return rows
}

func findings(list []moving.FindingCount, at string) []findingRow {
	rows := make([]findingRow, len(list))
	for n, f := range list {
		fit := fitWords[f.Fit]
		row := findingRow{Title: f.Code, What: "For example: " + f.Example, Code: f.Code, Badge: dashboard.Badge{Tone: fit.tone, Text: fit.name}, Contracts: f.Contracts, Path: at + "/contracts?finding=" + f.Code}
		if known, is := findingWords[f.Code]; is {
			row.Title, row.What = known.title, known.what
		}
		rows[n] = row
	}
	return rows
}

func verdicts(tallies []moving.Tally, at string) []verdictRow {
	var rows []verdictRow
	for _, verdict := range moving.Verdicts {
		for _, t := range tallies {
			if t.Verdict == verdict {
				words := verdictWords[verdict]
				rows = append(rows, verdictRow{dashboard.Badge{Tone: words.tone, Text: words.name}, t.N, words.about, at + "/orders?verdict=" + string(verdict)})
			}
		}
	}
	return rows
}

// about lists what the move was started with. The key is not among it.
func about(m moving.Move, v dashboard.Visit) []fact {
	facts := []fact{{"Other service", m.Peer.Address}}
	if f := m.File; f != nil {
		facts = []fact{{"File", f.Name}, {"Size", fmt.Sprintf("%s, %s", size(f.Bytes), dashboard.Count(f.Lines, "line", "lines"))}, {"Columns named", fmt.Sprint(len(f.Fields))}}
		if unread := f.Unread(f.Choices); len(unread) > 0 {
			names := make([]string, len(unread))
			for n, u := range unread {
				names[n] = u.Name
			}
			facts = append(facts, fact{"Columns not read", strings.Join(names, ", ")})
		}
		if f.Parts == 0 {
			facts = append(facts, fact{"Stored", "No longer"})
		}
	}
	if m.Peer.Loyalty != "" {
		facts = append(facts, fact{"Its loyalty", m.Peer.Loyalty})
	}
	if m.Peer.Memberships != "" {
		facts = append(facts, fact{"Its memberships", m.Peer.Memberships})
	}
	if m.File == nil {
		facts = append(facts, fact{"API key", "Stored encrypted"}, fact{"Requests", fmt.Sprintf("%g a second", m.Peer.Rate)})
	}
	if len(m.Plans) > 0 {
		facts = append(facts, fact{"Selling plans named", fmt.Sprint(len(m.Plans))})
	}
	facts = append(facts, fact{"Started", v.Instant(m.CreatedAt)})
	if m.By.By != "" {
		facts = append(facts, fact{"Last changed by", m.By.By})
	}
	if !m.ReadAt.IsZero() {
		facts = append(facts, fact{"All read", v.Instant(m.ReadAt)})
	}
	if m.Open() && m.Status == moving.Ready && !m.ListAt.IsZero() {
		facts = append(facts, fact{"Changes are read again", v.Instant(m.ListAt)})
	}
	if !m.EndedAt.IsZero() {
		facts = append(facts, fact{"Ended", v.Instant(m.EndedAt)})
	}
	return facts
}
