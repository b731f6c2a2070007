package simulate

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// feedRows is how many entries of the log the page shows.
const feedRows = 20

// codes are how a charge can be made to end.
var codes = []dashboard.Choice{
	{Value: "SUCCESS", Name: "It succeeds"}, {Value: "INSUFFICIENT_FUNDS", Name: "Declined: not enough money"}, {Value: "EXPIRED_PAYMENT_METHOD", Name: "Declined: the card has expired"},
	{Value: "PAYMENT_METHOD_DECLINED", Name: "Declined by the bank"}, {Value: "CHALLENGE", Name: "The customer has to confirm it (3-D Secure)"},
	{Value: "INVENTORY_ALLOCATIONS_NOT_FOUND", Name: "Out of stock"}, {Value: "NEVER", Name: "The platform never answers"},
}

// moveRow is a move as the page shows it.
type moveRow struct {
	From, To string
	Counts   string
	Failure  string
	Running  bool
	Scenario string
	Contract int64
}

// feedRow is an entry of the activity log.
type feedRow struct {
	words.Line

	At       string
	About    string
	Contract int64
}

// timePage is what the page shows.
type timePage struct {
	Real, Now string
	Movable   bool
	May       bool
	Moving    bool
	Next      string // empty: nothing is due
	Due       string
	Earliest  string // day
	Moves     []moveRow
	Feed      []feedRow
	Codes     []dashboard.Choice
	Scenarios []Scenario
	Contract  string
	Links     []Link
}

func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.answer(w, r, v, nil)
}

func (m *room) answer(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	state, err := m.Clockwork.State(r.Context())
	if err != nil {
		return err
	}
	p := timePage{
		Real: v.Instant(state.Real), Now: v.Instant(state.Now), Movable: state.Movable, May: v.May(staff.ManageStore), Moving: state.Moving(), Links: m.Links,
		Due:      dashboard.Count(state.Due, "order is due", "orders are due") + ", " + dashboard.Count(state.Waiting, "webhook waits", "webhooks wait"),
		Earliest: state.Now.In(v.Zone).Format(time.DateOnly), Contract: r.PostForm.Get("contract"),
		Scenarios: m.Scenarios,
	}
	if !state.Next.IsZero() {
		p.Next = v.Instant(state.Next)
	}
	for _, one := range codes {
		one.Selected = one.Value == r.PostForm.Get("code")
		p.Codes = append(p.Codes, one)
	}
	for _, move := range state.Moves {
		c := move.Counts
		p.Moves = append(p.Moves, moveRow{
			From: v.Instant(move.From), To: v.Instant(move.To), Failure: move.Failure, Running: !move.Done, Scenario: move.Scenario, Contract: move.Contract,
			Counts: fmt.Sprintf("%d paid, %d declined, %s, %s, %s", c.Billed, c.Failed, dashboard.Count(c.Orders, "order", "orders"), dashboard.Count(c.Mails, "e-mail", "e-mails"), dashboard.Count(c.Webhooks, "webhook", "webhooks")),
		})
	}
	if p.Feed, err = m.feed(r, v, state); err != nil {
		return err
	}
	page := dashboard.Page{Name: "time", Title: "Simulate time", Lead: "The sandbox's time stands still until you move it. All that falls due in between happens in order, as it would.", Content: p}
	if r.URL.Query().Get("part") != "" && wrong == nil {
		return v.Fragment(w, "time-results", p)
	}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

// feed returns what has happened in the store since the last move began, the newest first.
func (m *room) feed(r *http.Request, v dashboard.Visit, state State) ([]feedRow, error) {
	if len(state.Moves) == 0 {
		return nil, nil
	}
	since := page.Criterion{Field: activity.FieldAt, Op: page.GreaterThan, Numbers: []int64{state.Moves[0].From.UnixMilli()}}
	entries, _, err := m.Log().OlderEntries(r.Context(), v.Shop.ID, []page.Criterion{since}, page.Cursor{}, feedRows)
	if err != nil {
		return nil, err
	}
	rows := make([]feedRow, len(entries))
	for i, e := range entries {
		rows[i] = feedRow{Line: words.Of(e), At: v.Instant(e.At), About: words.Name(string(e.EntityType)) + " " + strconv.FormatInt(e.EntityID, 10)}
		if e.EntityType == activity.EntitySubscriptionContractDetails {
			rows[i].Contract = e.EntityID
		}
	}
	return rows, nil
}

// target returns the instant that a form names.
func target(r *http.Request, v dashboard.Visit, state State) (time.Time, error) {
	now := state.Now.In(v.Zone)
	switch step := r.PostForm.Get("step"); step {
	case "hour":
		return now.Add(time.Hour), nil
	case "day":
		return now.AddDate(0, 0, 1), nil
	case "week":
		return now.AddDate(0, 0, 7), nil
	case "next":
		if state.Next.IsZero() {
			return now, fault.New(fault.FailedPrecondition, "nothing is due: there is no next event")
		}
		return state.Next, nil
	case "to":
		day, err := time.ParseInLocation(time.DateOnly, r.PostForm.Get("to"), v.Zone)
		if err != nil {
			return now, fault.New(fault.Invalid, "choose a day such as 2027-01-31").Field("to")
		}
		at := day.Add(now.Sub(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, v.Zone)))
		if at.Before(now) {
			return now, fault.New(fault.Invalid, "time never goes back: choose a day that is ahead").Field("to")
		}
		return at, nil
	}
	return now, fault.New(fault.Invalid, "say how far time is moved")
}

func (m *room) move(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	state, err := m.Clockwork.State(r.Context())
	if err != nil {
		return err
	}
	to, err := target(r, v, state)
	if err == nil {
		err = m.Clockwork.Advance(r.Context(), to)
	}
	if err != nil {
		return m.answer(w, r, v, err)
	}
	return m.moved(w, r, v, "time-moved")
}

// moved answers when time was moved: with what was done if it has arrived.
func (m *room) moved(w http.ResponseWriter, r *http.Request, v dashboard.Visit, done string) error {
	state, err := m.Clockwork.State(r.Context())
	if err != nil {
		return err
	}
	if state.Moving() {
		done = ""
	}
	return v.Go(w, "/time", done)
}

func (m *room) play(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Clockwork.Play(r.Context(), v.Shop.Domain, r.PostForm.Get("name")); err != nil {
		return m.answer(w, r, v, err)
	}
	return m.moved(w, r, v, "time-played")
}

func (m *room) run(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Clockwork.RunDue(r.Context()); err != nil {
		return m.answer(w, r, v, err)
	}
	return v.Go(w, "/time", "time-ran")
}

func (m *room) outcome(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	contract, err := strconv.ParseInt(r.PostForm.Get("contract"), 10, 64)
	if err != nil || contract < 1 {
		return m.answer(w, r, v, fault.New(fault.Invalid, "write the number of a contract").Field("contract"))
	}
	err = m.Clockwork.Outcome(v.Shop.Domain, contract, r.PostForm.Get("code"))
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.Invalid, "the store does not have contract %d", contract).Field("contract")
	}
	if err != nil {
		return m.answer(w, r, v, err)
	}
	return v.Go(w, "/time", "time-outcome")
}

// Notice says how far the time of a sandbox has moved; "" while it has not.
func Notice(began, now time.Time, zone *time.Location) string {
	moved := now.Sub(began)
	if moved < time.Minute {
		return ""
	}
	ahead := fmt.Sprintf("+%s", dashboard.Count(int(moved/time.Hour), "hour", "hours"))
	switch days := int(moved / (24 * time.Hour)); {
	case days > 0:
		ahead = fmt.Sprintf("+%s", dashboard.Count(days, "day", "days"))
	case moved < time.Hour:
		ahead = fmt.Sprintf("+%s", dashboard.Count(int(moved/time.Minute), "minute", "minutes"))
	}
	return "Simulated time: " + now.In(zone).Format("Mon 2 Jan 2006 15:04") + " (" + ahead + ")"
}
