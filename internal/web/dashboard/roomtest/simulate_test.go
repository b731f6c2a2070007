package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/simulate"
)

const simulatePath = dashboardtest.At + "/time"

// clockwork moves at once.
type clockwork struct {
	state simulate.State
	code  string
	ran   bool
	slow  bool
}

func (c *clockwork) State(context.Context) (simulate.State, error) { return c.state, nil }

func (c *clockwork) Advance(_ context.Context, to time.Time) error {
	if c.state.Moving() {
		return fault.New(fault.Conflict, "time is moving already")
	}
	c.state.Moves = append([]simulate.Move{{From: c.state.Now, To: to, Done: !c.slow, Counts: simulate.Counts{Billed: 3, Failed: 1, Orders: 3, Mails: 1}}}, c.state.Moves...)
	c.state.Now = to
	return nil
}

func (c *clockwork) Play(ctx context.Context, domain, name string) error {
	if domain != "first.myshopify.com" || name != "year" {
		return fault.New(fault.FailedPrecondition, "the store has no plans")
	}
	if err := c.Advance(ctx, c.state.Now.AddDate(1, 0, 0)); err != nil {
		return err
	}
	c.state.Moves[0].Scenario, c.state.Moves[0].Contract = "A year", 9007
	return nil
}

func (c *clockwork) RunDue(context.Context) error { c.ran = true; return nil }

func (c *clockwork) Outcome(domain string, contract int64, code string) error {
	if domain != "first.myshopify.com" || contract != 9001 {
		return fault.New(fault.NotFound, "no such contract")
	}
	c.code = code
	return nil
}

func openSimulate(t *testing.T) (*dashboardtest.Site, *clockwork) {
	t.Helper()
	c := &clockwork{}
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		c.state = simulate.State{Real: s.Clock.Now(), Now: s.Clock.Now(), Movable: true, Next: s.Clock.Now().Add(90 * time.Minute), Due: 1, Waiting: 2}
		o.Rooms = append(o.Rooms, simulate.New(simulate.Options{
			Scenarios: []simulate.Scenario{{Name: "year", Title: "A year", About: "Time moves by a year."}},
			Clockwork: c, Log: func() simulate.Log { return s.DB }, Links: []simulate.Link{{Name: "Mail catcher", Address: "http://127.0.0.1:8085/mail"}},
		}))
		began := s.Clock.Now()
		o.Notice = func(zone *time.Location) string { return simulate.Notice(began, c.state.Now, zone) }
	})
	s.SignIn(dashboardtest.Owner)
	return s, c
}

func TestTimeIsMovedAndEveryPageSaysSo(t *testing.T) {
	t.Parallel()
	s, c := openSimulate(t)
	first := s.Get(simulatePath)
	s.Want(first, http.StatusOK, "25 Nov 2026, 13:30 UTC", "1 order is due, 2 webhooks wait", "Time was not moved yet", "Mail catcher")
	if strings.Contains(first.Text, "Simulated time: ") {
		t.Error("a page says that time was moved before it was")
	}
	s.Want(s.Post(simulatePath, "step", "hour"), http.StatusOK, "Time was moved.", "Simulated time: Wed 25 Nov 2026 13:00 (&#43;1 hour)", "3 paid, 1 declined, 3 orders, 1 e-mail, 0 webhooks")
	s.Want(s.Post(simulatePath, "step", "next"), http.StatusOK, "13:30 (&#43;1 hour)")
	s.Want(s.Post(simulatePath, "step", "day"), http.StatusOK, "(&#43;1 day)")
	s.Want(s.Post(simulatePath, "step", "week"), http.StatusOK, "(&#43;8 days)")
	s.Want(s.Post(simulatePath, "step", "to", "to", "2027-01-07"), http.StatusOK, "Thu 7 Jan 2027 13:30 (&#43;43 days)")
	s.Want(s.Post(simulatePath, "step", "to", "to", "2027-01-06"), http.StatusUnprocessableEntity, "Time never goes back", `id="e-to"`)
	s.Want(s.Post(simulatePath, "step", "to", "to", "soon"), http.StatusUnprocessableEntity, "Choose a day such as")
	s.Want(s.Post(simulatePath, "step", "far"), http.StatusUnprocessableEntity, "Say how far")
	s.Want(s.Get(dashboardtest.At), http.StatusOK, "Simulated time: Thu 7 Jan 2027 13:30 (&#43;43 days)")
	s.Want(s.Post(simulatePath+"/run"), http.StatusOK, "What was due was done.")
	if !c.ran {
		t.Error("what is due was not run")
	}
	c.slow = true
	s.Want(s.Post(simulatePath, "step", "hour"), http.StatusOK, "Time is moving", "hx-get")
	s.Want(s.Post(simulatePath, "step", "hour"), http.StatusUnprocessableEntity, "Time is moving already")
	if p := s.Get(simulatePath + "?part=1"); strings.Contains(p.Text, "<html") || !strings.Contains(p.Text, `id="time-results"`) {
		t.Errorf("the part of the page is %s", p.Text)
	}
}

func TestNextChargeIsScriptedForContractsOfTheStore(t *testing.T) {
	t.Parallel()
	s, c := openSimulate(t)
	s.Want(s.Post(simulatePath+"/outcome", "contract", "9001", "code", "INSUFFICIENT_FUNDS"), http.StatusOK, "ends like this")
	if c.code != "INSUFFICIENT_FUNDS" {
		t.Errorf("the outcome is %q", c.code)
	}
	s.Want(s.Post(simulatePath+"/outcome", "contract", "9901", "code", "SUCCESS"), http.StatusUnprocessableEntity, "The store does not have contract 9901", `id="e-contract"`)
	s.Want(s.Post(simulatePath+"/outcome", "contract", "x"), http.StatusUnprocessableEntity, "Write the number of a contract")
}

func TestScenarioLeadsToItsContract(t *testing.T) {
	t.Parallel()
	s, c := openSimulate(t)
	s.Want(s.Get(simulatePath), http.StatusOK, "Time moves by a year.", `aria-label="Play A year"`, dashboardtest.At+`/settings/payments">Billing and dunning</a>`)
	s.Want(s.Post(simulatePath+"/scenario", "name", "year"), http.StatusOK, "The scenario was played.", "(&#43;365 days)", "A year: ", dashboardtest.At+`/contracts/9007">contract 9007</a>`)
	s.Want(s.Post(simulatePath+"/scenario", "name", "other"), http.StatusUnprocessableEntity, "The store has no plans")
	c.slow = true
	s.Want(s.Post(simulatePath+"/scenario", "name", "year"), http.StatusOK, "Time is moving")
	s.Want(s.Post(simulatePath+"/scenario", "name", "year"), http.StatusUnprocessableEntity, "Time is moving already")
	c.state.Movable = false
	if p := s.Get(simulatePath); strings.Contains(p.Text, "A year.") {
		t.Error("scenarios are offered where time cannot be moved")
	}
}

func TestOnlyWhoMayChangeSettingsMovesTime(t *testing.T) {
	t.Parallel()
	s, _ := openSimulate(t)
	s.Add("ann@staff.example", staff.Analyst)
	s.SignIn("ann@staff.example")
	p := s.Get(simulatePath)
	s.Want(p, http.StatusOK, "An owner or admin of the store can move time.")
	if strings.Contains(p.Text, "+1 hour") || strings.Contains(p.Text, "Play A year") {
		t.Error("a button is offered that the role does not permit")
	}
	s.Want(s.Post(simulatePath, "step", "hour"), http.StatusForbidden)
	s.Want(s.Post(simulatePath+"/outcome", "contract", "9001", "code", "SUCCESS"), http.StatusForbidden)
	s.Want(s.Post(simulatePath+"/scenario", "name", "year"), http.StatusForbidden)
}
