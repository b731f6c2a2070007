package cancellations

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// periods are those that a reader can choose, in days.
var periods = []int{30, 90, 365}

// reportPage is the page of what the flow came to.
type reportPage struct {
	Periods  []dashboard.Tab
	Tiles    []tile
	Empty    *dashboard.Empty
	Reasons  []reasonRow
	Offers   []offerRow
	Plans    []lineRow
	Ages     []lineRow
	Trials   []trialRow
	Comments []commentRow
	May      bool // the reader may edit the flow
}

// tile is a figure.
type tile struct{ Title, Value, Note string }

// lineRow is sessions that have something in common.
type lineRow struct {
	Name              string
	Sessions          int
	Saved, Of         int
	Share, Accepted   string
	Cancelled, Offers int
}

type reasonRow struct {
	lineRow

	Most int // sessions of the most frequent reason
}

type offerRow struct {
	lineRow

	Taken, Lasting string
}

// trialRow compares customers with and without offers.
type trialRow struct {
	Version               int
	Treated, Held         int
	KeptWith, KeptWithout string
	Kept                  string
	LastWith, LastWithout string
	Last                  string
	Text                  string
	Badge                 dashboard.Badge
}

// commentRow is what a customer said.
type commentRow struct {
	Contract           int64
	When, Reason, Text string
	Badge              dashboard.Badge
}

// report shows the page.
func (m *room) report(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	days := periods[1]
	if text := r.URL.Query().Get("days"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || !slices.Contains(periods, n) {
			return fault.New(fault.Invalid, "%q is not a period", text)
		}
		days = n
	}
	now := m.Clock.Now()
	is, err := m.Reports.Report(r.Context(), v.Shop.ID, now.AddDate(0, 0, -days), now)
	if err != nil {
		return err
	}
	f, err := m.Flows.Current(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	scope, err := m.Figures.Scope(r.Context(), v.Shop)
	if err != nil {
		return err
	}
	p := reportPage{May: v.May(staff.ManageStore)}
	for _, n := range periods {
		p.Periods = append(p.Periods, dashboard.Tab{Name: strconv.Itoa(n) + " days", Path: v.At(path + "?days=" + strconv.Itoa(n)), Here: n == days})
	}
	if is.Sessions == 0 {
		p.Empty = &dashboard.Empty{Icon: "check", Title: "No customer started to cancel", Text: "Customers who start to cancel in the portal show here, with their reasons and what became of the offers."}
		if p.May {
			p.Empty.Action, p.Empty.Path = "Edit the flow", v.At(flowPath)
		}
	} else {
		p.fill(v, is, f, scope.Groups)
	}
	return v.Answer(w, dashboard.Page{
		Name: "cancellations", Title: "Cancellations", Content: p,
		Lead: "Customers who started to cancel in the last " + strconv.Itoa(days) + " days, and what became of their contracts. Data to " + v.Instant(now) + ".",
	})
}

// fill adds what a report says.
func (p *reportPage) fill(v dashboard.Visit, is report.Report, f flow.Flow, groups []analytics.PlanGroup) {
	ended := is.Sessions - is.Open
	p.Tiles = []tile{
		{"Started to cancel", strconv.Itoa(is.Sessions), dashboard.Count(is.Open, "is still open", "are still open")},
		{"Kept", percent(is.Saved()), strconv.Itoa(is.Saved().Is) + " of " + strconv.Itoa(ended) + " that ended"},
		{"Offers accepted", percent(is.Takers()), strconv.Itoa(is.Accepted) + " of " + strconv.Itoa(is.Shown) + " that were made"},
		{"Still there after 60 days", percent(is.Lasting()), strconv.Itoa(is.Survived) + " of " + strconv.Itoa(is.Ripe) + " that were kept by then"},
		{"Discounts given", dashboard.Money(money.Amount{Minor: is.Costs, Currency: v.Shop.Currency}), "over all orders of accepted offers"},
	}
	label := func(key string) string {
		if r, ok := f.Reason(key); ok {
			return r.LabelIn(flow.English)
		}
		if key == "" {
			return "No reason given"
		}
		return key
	}
	for _, l := range is.Reasons {
		p.Reasons = append(p.Reasons, reasonRow{rowOf(label(l.Key), l), is.Reasons[0].Sessions})
	}
	for _, l := range is.Offers {
		p.Offers = append(p.Offers, offerRow{rowOf(kindWords[flow.Kind(l.Key)], l), percent(l.Takers()), percent(l.Lasting())})
	}
	for _, l := range is.Plans {
		name := "Other plans"
		for _, g := range groups {
			if strconv.FormatInt(g.ID, 10) == l.Key {
				name = g.Name
			}
		}
		p.Plans = append(p.Plans, rowOf(name, l))
	}
	for _, l := range is.Ages {
		band, _ := strconv.Atoi(l.Key)
		p.Ages = append(p.Ages, rowOf(ageOf(band), l))
	}
	for _, t := range is.Trials {
		p.Trials = append(p.Trials, trialOf(t))
	}
	for _, s := range is.Comments {
		c := commentRow{Contract: int64(s.Contract), When: v.Instant(s.StartedAt), Reason: label(s.Reason), Text: s.Comment, Badge: dashboard.Badge{Tone: dashboard.Neutral, Text: "Open"}}
		switch {
		case !s.LostAt.IsZero():
			c.Badge = dashboard.Badge{Tone: dashboard.Bad, Text: "Cancelled"}
		case s.Outcome.Saved():
			c.Badge = dashboard.Badge{Tone: dashboard.Good, Text: "Kept"}
		case s.Outcome != "":
			c.Badge = dashboard.Badge{Tone: dashboard.Warning, Text: "Will end"}
		}
		p.Comments = append(p.Comments, c)
	}
}

func rowOf(name string, l report.Line) lineRow {
	saved := l.Saved()
	return lineRow{
		Name: name, Sessions: l.Sessions, Saved: saved.Is, Of: saved.Of, Share: percent(saved), Accepted: strconv.Itoa(l.Accepted), Cancelled: l.Cancelled + l.Scheduled, Offers: l.Shown,
	}
}

// trialOf says what a comparison came to.
func trialOf(t report.Trial) trialRow {
	kept, last := t.Kept(), t.Lasting()
	row := trialRow{
		Version: t.Version, Treated: t.Treated.Kept.Of, Held: t.Held.Kept.Of, KeptWith: percent(t.Treated.Kept), KeptWithout: percent(t.Held.Kept), Kept: points(kept),
		LastWith: percent(t.Treated.Lasting), LastWithout: percent(t.Held.Lasting), Last: points(last),
	}
	best := last
	if !best.Known {
		best = kept
	}
	switch {
	case !best.Known:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Neutral, Text: "Too early", Hollow: true}, "There are not yet customers on both sides."
	case !best.Clear():
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Neutral, Text: "Not clear"}, "The numbers fit offers that help and offers that do not. More customers make it clearer."
	case best.Is > 0:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Good, Text: "Offers help"}, "More contracts go on with an offer than without one."
	default:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Bad, Text: "Offers harm"}, "Fewer contracts go on with an offer than without one."
	}
	return row
}

// instantOf returns an instant as the editor shows it, or an empty text.
func instantOf(v dashboard.Visit, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return v.Instant(t)
}
