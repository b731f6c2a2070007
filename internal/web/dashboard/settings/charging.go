package settings

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// upcomingOrder is an order in the list.
type upcomingOrder struct {
	Contract, Cycle int64
	Day, Time       string
	Overdue         bool
	Amount          string
}

// syncRow is the first sync of a store.
type syncRow struct {
	Done, Total int
	Pace        string // empty: not known yet
	Ends        string // the same
	Failure     string // why the last try ended early; it is tried again
}

// chargingPage is what the page about charges shows.
type chargingPage struct {
	Gone    *dashboard.Departure // nil: the store has the app
	Sync    *syncRow             // nil: all contracts are read
	Awaits  bool                 // nothing is charged before the merchant confirms it
	May     bool                 // the reader may confirm it
	Until   string
	Orders  int
	Overdue int
	Totals  []string
	First   []upcomingOrder
	More    int    // orders that are not in First
	Seen    string // what the reader is shown, so that nothing else is confirmed
}

// confirmCharging is what a user needs to have orders charged.
const confirmCharging = staff.ManageStore

func (m *room) charging(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.Charging.Preview(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	return m.showCharging(w, r, v, p, nil)
}

// showCharging shows the page, with why the confirmation was not accepted.
func (m *room) showCharging(w http.ResponseWriter, r *http.Request, v dashboard.Visit, preview confirm.Preview, refused error) error {
	now := m.Clock.Now()
	p := chargingPage{
		Awaits: !preview.Awaits.IsZero(), May: v.Role.May(confirmCharging), Until: v.Instant(preview.Until), Orders: preview.Orders(),
		Overdue: preview.Overdue, More: preview.Orders() - len(preview.First), Seen: string(preview.Fingerprint()),
	}
	for _, t := range preview.Totals {
		p.Totals = append(p.Totals, dashboard.Money(t.Amount))
	}
	for _, o := range preview.First {
		day, at, _ := strings.Cut(v.Instant(o.Date), ", ")
		p.First = append(p.First, upcomingOrder{
			Contract: int64(o.Contract), Cycle: int64(o.Cycle), Day: day, Time: at, Overdue: !o.Date.After(now),
			Amount: dashboard.Money(o.Amount),
		})
	}
	departed, err := m.Syncs.Departure(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p.Gone = v.Departure(departed, now)
	sync, err := m.sync(r.Context(), v)
	if err != nil {
		return err
	}
	p.Sync = sync
	page := dashboard.Page{Name: "charging", Title: "Charging", Lead: "What the subscribers of this store are charged in the next 7 days.", Content: p}
	if refused != nil {
		return v.Refuse(w, r, page, refused)
	}
	return v.Answer(w, page)
}

// sync returns the first sync of a store, or nil when it is done.
func (m *room) sync(ctx context.Context, v dashboard.Visit) (*syncRow, error) {
	progress, known, err := m.Syncs.Progress(ctx, v.Shop.ID)
	if err != nil || !known || progress.Stage == intake.Done {
		return nil, err
	}
	row := &syncRow{Done: progress.Done, Total: max(progress.Total, progress.Done), Failure: progress.Failure}
	if pace := progress.Pace(); pace > 0 {
		row.Pace = fmt.Sprintf("%.0f contracts a second", pace)
	}
	if ends := progress.EndsAt(m.Clock.Now()); !ends.IsZero() {
		row.Ends = v.Instant(ends)
	}
	return row, nil
}

// confirmCharges has the orders charged that the page has shown.
func (m *room) confirmCharges(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	waited, err := m.Charging.Confirm(r.Context(), v.Shop.ID, confirm.Fingerprint(r.PostForm.Get("seen")), v.Actor(r))
	refused, _ := errors.AsType[*fault.Error](err)
	switch {
	case refused != nil && (refused.ErrorKey == confirm.SyncRuns || refused.ErrorKey == confirm.PreviewChanged):
		p, err := m.Charging.Preview(r.Context(), v.Shop.ID)
		if err != nil {
			return err
		}
		return m.showCharging(w, r, v, p, refused)
	case err != nil:
		return err
	case !waited: // another user has confirmed it, or the form was sent twice
		return v.Go(w, "/charging", "")
	}
	return v.Go(w, "/charging", "charging")
}
