package moves

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// figure is a number of contracts, with where they are listed.
type figure struct {
	Name  string
	N     int
	About string
	Path  string // below the store's; empty: nowhere
	Bad   bool
}

// progressPart is the part of the page that is read again while the move goes on.
type progressPart struct {
	Path      string // below the store's
	State     string // what the rest of the page depends on
	Goes      bool   // the move goes on: the part is read again
	Badge     dashboard.Badge
	Steps     []step
	Done, Max int
	Label     string
	Pace      string // empty: not known
	Figures   []figure
	Failure   string // of the other service; empty: it answers
	Again     string // when it is tried again
}

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
	Findings   []findingRow
	Missing    string // what the list of the other service lacks; empty: nothing

	Compared, Differ, Unexplained int
	Verdicts                      []verdictRow
	Differences                   []orderRow

	About []fact
}

// fact is what is known of a move.
type fact struct{ Name, Text string }

// shownDifferences is how many differences without an explanation the page lists.
const shownDifferences = 10

// show shows a move. A script reads the part again that changes.
func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := moveID(r)
	if err != nil {
		return err
	}
	p, err := m.Moves.Progress(r.Context(), v.Shop.ID, id)
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
		Progress: progressOf(p, v), Path: path(mv.ID), Like: fmt.Sprintf("/moves/%s?like=%d", strings.ToLower(string(mv.Direction)), mv.ID), May: v.May(staff.ManageStore), Open: mv.Open(), Paused: mv.Paused, Out: mv.Direction == moving.Out, File: mv.File != nil, Kept: mv.File == nil || mv.File.Parts > 0, places: placesOf(mv),
		Read: !mv.ReadAt.IsZero(), Refreshing: mv.Status == moving.Listing, Wave: mv.Wave, Goes: goes(p), Failing: p.Failing, Fits: fits(p), Sums: sums(p.Sums), About: about(mv, v),
	}
	for _, percent := range moving.Waves {
		if percent > mv.Wave {
			page.Waves = append(page.Waves, waveButton{percent, len(page.Waves) == 0})
		}
	}
	if page.Read && mv.File == nil && mv.Announced > p.Total {
		page.Missing = fmt.Sprintf("The other service said that it has %d contracts, and listed %d.", mv.Announced, p.Total)
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

func progressOf(p mover.Progress, v dashboard.Visit) progressPart {
	m := p.Move
	at := path(m.ID)
	part := progressPart{
		Path: at, Badge: badge(m), Steps: stepsOf(m, p.Left), Label: label(p), Max: max(p.Total, 1), Done: p.Read,
		Goes: m.Open() && (m.Status != moving.Ready || p.Left > 0 || p.Between > 0) && (!m.Paused || p.Between > 0),
		Figures: []figure{
			{Name: "Contracts", N: p.Total, Path: at + "/contracts"},
			{Name: "Read", N: p.Read},
			{Name: "Moved", N: p.Moved, Path: at + "/contracts?show=moved"},
			{Name: "Between the services", N: p.Between, Path: at + "/contracts?show=between", About: "Stopped there, not charged here yet"},
			{Name: "Last step failed", N: p.Failing, Path: at + "/contracts?show=failing", Bad: p.Failing > 0},
		},
	}
	switch {
	case m.File != nil:
		part.Figures[2].Name, part.Figures[3].Name, part.Figures[3].About = "Created", "Being created", "Not charged here yet"
	case m.Direction == moving.Out:
		part.Figures[3].About = "Stopped here, not charged there yet"
	}
	if !m.ReadAt.IsZero() {
		if part.Done, part.Max = p.Moved, max(goes(p), 1); m.Wave == 0 {
			part.Done = 0
		}
	} else if m.Status == moving.Listing {
		part.Max = max(m.Announced, p.Total, 1)
	}
	if p.Pace > 0 {
		part.Pace = fmt.Sprintf("%s a minute.", pace(p.Pace))
		if !p.EndsAt.IsZero() {
			part.Pace = fmt.Sprintf("%s a minute: about %s left, until %s.", pace(p.Pace), left(p.EndsAt.Sub(p.Now)), v.Instant(p.EndsAt))
		}
	}
	if m.Failure != "" && m.Open() && m.Status != moving.Mapping {
		part.Failure = fmt.Sprintf("The other service has failed since %s: %s.", v.Instant(m.FailedAt), m.Failure)
		part.Again = fmt.Sprintf("It is tried again at %s. The move goes on where it stopped.", v.Instant(m.DueAt))
	}
	part.State = fmt.Sprintf("%s-%t-%d-%t-%t", m.Status, m.Paused, m.Wave, m.ReadAt.IsZero(), p.Failing > 0)
	return part
}

// goes counts the contracts that go, or have gone.
func goes(p mover.Progress) int {
	return p.Moved + p.Between + p.Stages[moving.Chosen] + p.Stages[moving.Shadow]
}

// label says how far a move is.
func label(p mover.Progress) string {
	m := p.Move
	switch {
	case m.ReadAt.IsZero() && m.File != nil:
		return fmt.Sprintf("%s read so far", dashboard.Count(p.Total, "contract is", "contracts are"))
	case m.ReadAt.IsZero() && m.Status == moving.Listing:
		return fmt.Sprintf("%s listed so far", dashboard.Count(p.Total, "contract is", "contracts are"))
	case m.ReadAt.IsZero():
		return fmt.Sprintf("%d of %s read", p.Read, dashboard.Count(p.Total, "contract", "contracts"))
	case m.Wave == 0:
		return fmt.Sprintf("No contract was %s yet; %d can go", done(m), goes(p))
	case p.Left > 0:
		return fmt.Sprintf("%d of %s %s; %d of the wave left", p.Moved, dashboard.Count(goes(p), "contract", "contracts"), done(m), p.Left)
	}
	return fmt.Sprintf("%d of %s %s; the wave of %d percent has arrived", p.Moved, dashboard.Count(goes(p), "contract", "contracts"), done(m), m.Wave)
}

func pace(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f contracts", n)
	}
	return fmt.Sprintf("%.0f contracts", n)
}

// left returns a duration in words.
func left(d time.Duration) string {
	switch {
	case d < time.Minute:
		return dashboard.Count(max(int(d/time.Second), 1), "second", "seconds")
	case d < time.Hour:
		return dashboard.Count(int((d+time.Minute/2)/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return dashboard.Count(int((d+time.Hour/2)/time.Hour), "hour", "hours")
	}
	return dashboard.Count(int((d+12*time.Hour)/(24*time.Hour)), "day", "days")
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
		if f.Parts == 0 {
			facts = append(facts, fact{"Stored", "No longer"})
		}
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
