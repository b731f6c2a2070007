// Package schedule is the screens on which subscribers change when their orders come: how
// often, pausing, moving an order, and starting a subscription that has ended again.
package schedule

import (
	"context"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Sheets reads what the screens show. What is not the caller's is NotFound.
type Sheets interface {
	Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
	Order(ctx context.Context, who do.Caller, id contract.ID, attempt billing.AttemptID) (overview.Sheet, overview.Order, error)
}

// Changes carries out what subscribers want. Failures are faults.
type Changes interface {
	Pause(ctx context.Context, who do.Caller, ref do.ContractRef, w do.PauseParams) (contract.Detail, error)
	Reschedule(ctx context.Context, who do.Caller, ref do.OrderRef, date time.Time, future bool) (billing.Record, error)
	Restart(ctx context.Context, who do.Caller, ref do.ContractRef, first time.Time, requestKey string) (contract.Detail, error)
	Frequencies(ctx context.Context, who do.Caller, id contract.ID) ([]do.Frequency, error)
	SetFrequency(ctx context.Context, who do.Caller, ref do.ContractRef, sellingPlan int64) (contract.Detail, error)
}

// Options are what the room needs.
type Options struct {
	Sheets  Sheets
	Changes Changes
}

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/pause", Show: r.askPause},
			{Pattern: "POST /s/{contract}/pause", Show: r.pause},
			{Pattern: "GET /s/{contract}/reschedule", Show: r.askReschedule},
			{Pattern: "POST /s/{contract}/reschedule", Show: r.reschedule},
			{Pattern: "POST /s/{contract}/reschedule/undo", Show: r.moveBack},
			{Pattern: "GET /s/{contract}/frequency", Show: r.askFrequency},
			{Pattern: "POST /s/{contract}/frequency", Show: r.frequency},
			{Pattern: "GET /s/{contract}/restart", Show: r.askRestart},
			{Pattern: "POST /s/{contract}/restart", Show: r.restart},
		},
		Said: map[string]string{"paused": "done.paused", "moved": "done.moved", "moved-back": "done.movedBack", "restarted": "done.restarted", "frequency": "done.frequency"},
	}
}

type room struct{ Options }

func (m room) sheet(r *http.Request, v portal.Visit) (overview.Sheet, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return overview.Sheet{}, err
	}
	return m.Sheets.Sheet(r.Context(), v.Caller(r), id, 0)
}

// ask shows the question about a contract, or leads back to the contract when it is not permitted now.
func (m room) ask(w http.ResponseWriter, r *http.Request, v portal.Visit, a do.Action, show func(overview.Sheet) error) error {
	s, err := m.sheet(r, v)
	switch {
	case err != nil:
		return err
	case s.Can.Allows(a):
		return show(s)
	case s.Can[a] != nil:
		return s.Can[a]
	}
	return v.Go(w, words.Path(s.Contract.ID), "")
}

// dayOf reads the day that a field has, as an instant at which orders are charged on it. It must come
// after today.
func dayOf(r *http.Request, v portal.Visit, field string) (time.Time, error) {
	return dayIn(v, field, r.PostForm.Get(field))
}

// dayIn reads the day that a value has, likewise.
func dayIn(v portal.Visit, field, value string) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, value, v.Calendar.Zone)
	if err != nil || v.Calendar.Days(v.Now, day) < 1 {
		return time.Time{}, fault.New(fault.Invalid, "%s must be a day after today", field).Code("dayUnknown").Field(field)
	}
	return v.Calendar.At(day), nil
}

func choiceMissing(field string) error {
	return fault.New(fault.Invalid, "%s must be one of the choices", field).Code("choiceMissing").Field(field)
}

// tomorrow is the first day that may be chosen, as an instant at which orders are charged on it.
func tomorrow(v portal.Visit) time.Time { return v.Calendar.At(v.Local(v.Now).AddDate(0, 0, 1)) }

// inField returns a day as the field of a form has it.
func inField(v portal.Visit, day time.Time) string { return v.Local(day).Format(time.DateOnly) }
