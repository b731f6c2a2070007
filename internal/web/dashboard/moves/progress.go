package moves

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
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

// progressOf says how far a move is.
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
	part.State = fmt.Sprintf("%s-%t-%d-%t-%t-%t", m.Status, m.Paused, m.Wave, m.ReadAt.IsZero(), p.Failing > 0, part.Goes)
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
