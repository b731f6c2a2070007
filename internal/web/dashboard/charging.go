package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

// upcomingOrder is an order in the list.
type upcomingOrder struct {
	Contract, Cycle int64
	Date            string
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
	Sync    *syncRow // nil: all contracts are read
	Awaits  bool     // nothing is charged before the merchant confirms it
	May     bool     // the reader may confirm it
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

// instant is how a day and a time are written.
const instant = "2 Jan 2006, 15:04 MST"

// seen returns a text that differs when other charges would be confirmed.
func seen(p confirm.Preview) string {
	texts := make([]string, len(p.Totals))
	for i, t := range p.Totals {
		texts[i] = fmt.Sprintf("%d:%s:%d", t.Orders, t.Amount.Currency, t.Amount.Minor)
	}
	return strings.Join(texts, ",")
}

func (d *dashboard) charging(w http.ResponseWriter, r *http.Request, v visit) error {
	p, err := d.Charging.Preview(r.Context(), v.shop.ID)
	if err != nil {
		return err
	}
	return d.showCharging(w, r, v, p, nil)
}

// showCharging shows the page, with why the confirmation was not accepted.
func (d *dashboard) showCharging(w http.ResponseWriter, r *http.Request, v visit, preview confirm.Preview, refused error) error {
	calendar, err := v.shop.Calendar()
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	p := chargingPage{
		Awaits: !preview.Awaits.IsZero(), May: v.role.May(confirmCharging), Until: preview.Until.In(calendar.Zone).Format(instant), Orders: preview.Orders(),
		Overdue: preview.Overdue, More: preview.Orders() - len(preview.First), Seen: seen(preview),
	}
	for _, t := range preview.Totals {
		p.Totals = append(p.Totals, t.Amount.String()+" "+string(t.Amount.Currency))
	}
	for _, o := range preview.First {
		p.First = append(p.First, upcomingOrder{
			Contract: int64(o.Contract), Cycle: int64(o.Cycle), Date: o.Date.In(calendar.Zone).Format(instant), Overdue: !o.Date.After(now),
			Amount: o.Amount.String() + " " + string(o.Amount.Currency),
		})
	}
	if p.Sync, err = d.sync(r.Context(), v.shop, calendar.Zone); err != nil {
		return err
	}
	v.view.Title, v.view.Lead, v.view.Page = "Charging", "What the subscribers of this store are charged in the next 7 days.", p
	if refused != nil {
		return d.again(w, r, "charging", v.view, refused)
	}
	return d.render(w, http.StatusOK, "charging", v.view)
}

// sync returns the first sync of a store, or nil when it is done.
func (d *dashboard) sync(ctx context.Context, of shop.Shop, zone *time.Location) (*syncRow, error) {
	progress, known, err := d.Syncs.Progress(ctx, of.ID)
	if err != nil || !known || progress.Stage == intake.Done {
		return nil, err
	}
	row := &syncRow{Done: progress.Done, Total: max(progress.Total, progress.Done), Failure: progress.Failure}
	if pace := progress.Pace(); pace > 0 {
		row.Pace = fmt.Sprintf("%.0f contracts a second", pace)
	}
	if ends := progress.EndsAt(d.Clock.Now()); !ends.IsZero() {
		row.Ends = ends.In(zone).Format(instant)
	}
	return row, nil
}

// confirmCharges has the orders charged that the page has shown.
func (d *dashboard) confirmCharges(w http.ResponseWriter, r *http.Request, v visit) error {
	p, err := d.Charging.Preview(r.Context(), v.shop.ID)
	if err != nil {
		return err
	}
	switch {
	case p.Awaits.IsZero(): // another user has confirmed it, or the form was sent twice
		return redirect(w, v.at("/charging"))
	case p.Syncing:
		err = fault.New(fault.FailedPrecondition, "the contracts of the store are still being read, so the list is not complete: confirm when it is").Code("syncRuns")
	case seen(p) != r.PostForm.Get("seen"):
		err = fault.New(fault.Conflict, "the orders have changed since the page was opened: look at the new list, and confirm that").Code("previewChanged")
	}
	if err != nil {
		return d.showCharging(w, r, v, p, err)
	}
	if _, err := d.Charging.Confirm(r.Context(), v.shop.ID, v.actor(r)); err != nil {
		return err
	}
	return redirect(w, v.done("/charging", "charging"))
}
