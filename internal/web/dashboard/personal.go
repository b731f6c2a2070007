package dashboard

import (
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/privacy"
)

// requestRow is a request in the list.
type requestRow struct {
	ID       privacy.ID
	What     string
	Received string
	State    string
	Tone     string // class of the state
	Note     string
	Ready    bool // there is an export to download
}

// requestWords are the kinds of request as pages name them.
var requestWords = map[privacy.Kind]string{
	privacy.Export: "A copy of the data of customer ", privacy.EraseCustomer: "Erase customer ", privacy.EraseStore: "Erase all customers of the store",
}

func (d *dashboard) personal(w http.ResponseWriter, r *http.Request, v visit) error {
	list, err := d.Privacy.List(r.Context(), v.shop.ID)
	if err != nil {
		return err
	}
	calendar, err := v.shop.Calendar()
	if err != nil {
		return err
	}
	rows := make([]requestRow, len(list))
	for i, q := range list {
		row := requestRow{ID: q.ID, What: requestWords[q.Kind], Received: q.ReceivedAt.In(calendar.Zone).Format(day), Ready: q.Available()}
		if q.Customer != 0 {
			row.What += strconv.FormatInt(q.Customer, 10)
		}
		due := q.DueBy.In(calendar.Zone).Format(day)
		switch {
		case q.Overdue(d.Clock.Now()):
			row.State, row.Tone, row.Note = "Overdue", "crit", "It was due on "+due+"."
		case !q.Open():
			row.State, row.Tone = "Done", "ok"
		case row.Ready:
			row.State, row.Tone, row.Note = "Ready", "warn", "Download it and send it to the customer by "+due+"."
		default:
			row.State, row.Tone, row.Note = "In progress", "info", "It will be done by "+due+"."
		}
		rows[i] = row
	}
	v.view.Title, v.view.Page = "Personal data", rows
	v.view.Lead = "What customers have asked for through the platform. You have 30 days for each request."
	return d.render(w, http.StatusOK, "personal", v.view)
}

// download answers with the data of a customer. It is a form, because it notes that the
// merchant has the data.
func (d *dashboard) download(w http.ResponseWriter, r *http.Request, v visit) error {
	id, err := strconv.ParseInt(r.PathValue("request"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "the store has no such request").Code("privacyRequestNotFound")
	}
	archive, err := d.Privacy.Download(r.Context(), v.shop.ID, privacy.ID(id), v.actor(r))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+archive.Name+`"`)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(archive.Zip) // the client is gone
	return nil
}
