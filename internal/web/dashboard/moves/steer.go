package moves

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// steer does something with the move of a path, and shows it.
func (m *room) steer(w http.ResponseWriter, r *http.Request, v dashboard.Visit, done string, fn func(id moving.ID) error) error {
	id, err := moveID(r)
	if err != nil {
		return err
	}
	if err := fn(id); err != nil {
		return err
	}
	return v.Go(w, path(id), done)
}

func (m *room) pause(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-paused", func(id moving.ID) error {
		_, err := m.Moves.SetPaused(r.Context(), v.Shop.ID, id, v.Actor(r), true)
		return err
	})
}

func (m *room) resume(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-resumed", func(id moving.ID) error {
		_, err := m.Moves.SetPaused(r.Context(), v.Shop.ID, id, v.Actor(r), false)
		return err
	})
}

func (m *room) readAgain(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-read", func(id moving.ID) error {
		_, err := m.Moves.ReadAgain(r.Context(), v.Shop.ID, id, v.Actor(r))
		return err
	})
}

// retry has all contracts tried again whose last step failed.
func (m *room) retry(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.steer(w, r, v, "move-retried", func(id moving.ID) error {
		_, err := m.Moves.RetryFailing(r.Context(), v.Shop.ID, id)
		return err
	})
}

// wavePage is what a wave would do.
type wavePage struct {
	Path, Back  string
	Percent     int
	Contracts   int
	Total       int // contracts that go
	Sums        []sumRow
	Steps       []string
	File        bool
	When        string
	Mails       string
	Unexplained int
	Orders      string // where the differences are listed
	Compared    int
	Typed       dashboard.Field
	Hidden      map[string]string
	Button      string
}

// askWave shows what a wave would do.
func (m *room) askWave(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showWave(w, r, v, r.URL.Query(), nil)
}

// showWave shows what a wave would do, with why the form that was sent did not begin it.
func (m *room) showWave(w http.ResponseWriter, r *http.Request, v dashboard.Visit, form url.Values, wrong error) error {
	id, err := moveID(r)
	if err != nil {
		return err
	}
	next, err := m.next(r, v, id, form)
	if err != nil {
		return err
	}
	page := dashboard.Page{
		Name: "move-wave", Title: fmt.Sprintf("%s %d percent of the contracts", verb(next.Move), next.Percent), Crumb: &dashboard.Crumb{Name: title(next.Move), Path: path(id)}, Content: waveOf(next),
	}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

func (m *room) next(r *http.Request, v dashboard.Visit, id moving.ID, form url.Values) (mover.Next, error) {
	percent, err := strconv.Atoi(strings.TrimSpace(form.Get("percent")))
	if err != nil {
		return mover.Next{}, fault.New(fault.Invalid, "the wave must be a whole number of percent, from 1 to 100, not %.20q", form.Get("percent")).Field("percent")
	}
	return m.Moves.Next(r.Context(), v.Shop.ID, id, percent)
}

func waveOf(n mover.Next) wavePage {
	id := n.Move.ID
	at := placesOf(n.Move)
	compared, _, unexplained := n.Differences()
	p := wavePage{
		Path: path(id) + "/wave", Back: path(id), Percent: n.Percent, Contracts: n.Contracts, Total: goes(n.Progress), Sums: sums(n.Sums), Compared: compared, Unexplained: unexplained,
		Orders: path(id) + "/orders", Hidden: map[string]string{"percent": strconv.Itoa(n.Percent), "contracts": strconv.Itoa(n.Contracts), "unexplained": strconv.Itoa(unexplained)},
		Steps: []string{
			fmt.Sprintf("It is stopped %s: no order of it is charged there any more.", at.Left),
			fmt.Sprintf("It is created %s behind a fence, and compared with what it was.", at.Come),
			fmt.Sprintf("It is cancelled %s, for good.", at.Left),
			fmt.Sprintf("The fence is taken away: from then on its orders are charged %s.", at.Come),
		},
		When: "The first contracts begin at once. One whose order is being charged, is unpaid, or is due within the hour waits until that is over.",
		Typed: dashboard.Field{
			Name: "typed", Label: fmt.Sprintf("Type %d, the number of orders with differences that no rule explains", unexplained), Required: true, Max: 10,
			Hint: "Look at them first: they say that the other service charges something else than this one would.",
		},
		Mails: "This service writes to no customer about it. Before the first wave, switch off the other service’s e-mails about pauses and cancellations.",
	}
	switch {
	case n.Move.File != nil:
		p.File = true
		p.Steps = []string{p.Steps[1], p.Steps[3]}
		p.When = "The first contracts begin at once. They are charged from their next dates on."
		p.Mails = "This service writes to no customer about it."
	case n.Move.Direction == moving.Out:
		p.Steps[0] = "It is stopped here: no order of it is charged here any more."
		p.Mails = "This service writes to no customer about it. Ask the other service to switch off its e-mails about new contracts before the first wave."
	}
	if n.Contracts > 0 {
		p.Button = verb(n.Move) + " " + dashboard.Count(n.Contracts, "contract", "contracts")
	}
	return p
}

// verb says what a wave does.
func verb(m moving.Move) string {
	if m.File != nil {
		return "Create"
	}
	return "Move"
}

// wave begins the wave that was shown. When another number of contracts goes by then, or there are other
// differences, it is shown again.
func (m *room) wave(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := moveID(r)
	if err != nil {
		return err
	}
	form := r.PostForm
	next, err := m.next(r, v, id, form)
	if err != nil {
		return err
	}
	if err := confirmed(next, form); err != nil {
		return m.showWave(w, r, v, form, err)
	}
	if _, err := m.Moves.SetWave(r.Context(), v.Shop.ID, id, v.Actor(r), next.Percent); err != nil {
		return err
	}
	switch {
	case next.Move.File != nil:
		return v.Go(w, path(id), "move-create")
	case next.Move.Direction == moving.Out:
		return v.Go(w, path(id), "move-out")
	}
	return v.Go(w, path(id), "move-wave")
}

// confirmed says why a wave is not what its form has confirmed.
func confirmed(n mover.Next, form url.Values) error {
	_, _, unexplained := n.Differences()
	switch {
	case form.Get("contracts") != strconv.Itoa(n.Contracts):
		return fault.New(fault.Conflict, "the wave would move %s now: look at it again", dashboard.Count(n.Contracts, "contract", "contracts"))
	case form.Get("unexplained") != strconv.Itoa(unexplained):
		return fault.New(fault.Conflict, "%s without an explanation now: look at them, and confirm again", dashboard.Count(unexplained, "order differs", "orders differ"))
	case unexplained > 0 && strings.TrimSpace(form.Get("typed")) != strconv.Itoa(unexplained):
		return fault.New(fault.Invalid, "type %d, the number of orders with differences that no rule explains", unexplained).Field("typed")
	}
	return nil
}

func (m *room) askEnd(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showEnd(w, r, v, nil)
}

// showEnd asks whether to end a move, with why that was refused.
func (m *room) showEnd(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	at := placesOf(p.Move)
	q := dashboard.Question{
		Title: "End the move?", Back: path(p.Move.ID), Path: path(p.Move.ID) + "/end", Button: "End the move", Keep: "Keep the move", Grave: true,
		Says: []string{
			fmt.Sprintf("%s moved and stay %s. %s not moved and stay %s, where they are charged as before.", were(p.Moved), at.Come, were(p.Total-p.Moved), at.Left),
			"Nothing is compared or moved any more, and the API key of the other service is no longer used. A move that has ended cannot go on: another one can be started.",
		},
	}
	if p.Move.File != nil {
		q.Says = []string{
			fmt.Sprintf("%s created and stay here. %s not created.", were(p.Moved), were(p.Total-p.Moved)),
			"The file is removed. A move that has ended cannot go on: the file can be uploaded again.",
		}
	}
	if p.Between > 0 {
		q.Says = append(q.Says, fmt.Sprintf("%s between the services: the move can be ended once they have arrived.", are(p.Between)))
	}
	return v.Ask(w, r, q, wrong)
}

func were(n int) string { return dashboard.Count(n, "contract was", "contracts were") }
func are(n int) string  { return dashboard.Count(n, "contract is", "contracts are") }

func (m *room) end(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := moveID(r)
	if err != nil {
		return err
	}
	if _, err := m.Moves.End(r.Context(), v.Shop.ID, id, v.Actor(r)); err != nil {
		if fault.Is(err, fault.FailedPrecondition) {
			return m.showEnd(w, r, v, err)
		}
		return err
	}
	return v.Go(w, path(id), "move-ended")
}
