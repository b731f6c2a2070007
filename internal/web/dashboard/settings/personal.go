package settings

import (
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/web/dashboard"
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

func (m *room) personal(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	list, err := m.Privacy.List(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	rows := make([]requestRow, len(list))
	for i, q := range list {
		row := requestRow{ID: q.ID, What: requestWords[q.Kind], Received: v.Day(q.ReceivedAt), Ready: q.Available()}
		if q.Customer != 0 {
			row.What += strconv.FormatInt(q.Customer, 10)
		}
		due := v.Day(q.DueBy)
		switch {
		case q.Overdue(m.Clock.Now()):
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
	return v.Answer(w, dashboard.Page{
		Name: "personal", Title: "Personal data", Lead: "What customers have asked for through the platform. You have 30 days for each request.", Content: rows,
	})
}

// download answers with the data of a customer. It is a form, because it notes that the
// merchant has the data.
func (m *room) download(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := strconv.ParseInt(r.PathValue("request"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "the store has no such request").Code("privacyRequestNotFound")
	}
	archive, err := m.Privacy.Download(r.Context(), v.Shop.ID, privacy.ID(id), v.Actor(r))
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
