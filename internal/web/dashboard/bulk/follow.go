package bulk

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// jobRow is a job in the list.
type jobRow struct {
	Title, Path string
	Badge       dashboard.Badge
	Done        string
	By, At      string
}

// list shows the jobs of the store.
func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	jobs, err := m.Jobs.Jobs(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	rows := make([]jobRow, len(jobs))
	for n, j := range jobs {
		rows[n] = jobRow{Title: title(j), Path: path(j.ID), Badge: badge(j), Done: counts(j), By: j.By.By, At: v.Instant(j.CreatedAt)}
	}
	return v.Answer(w, dashboard.Page{
		Name: "bulk-jobs", Title: "Bulk actions", Lead: "What was done to many contracts at once. Select contracts in their list to begin one.", Content: struct {
			Jobs  []jobRow
			Empty dashboard.Empty
		}{rows, dashboard.Empty{Icon: "loop", Title: "No bulk action yet", Text: "Select contracts in their list, and choose what to do with all of them.", Action: "Show contracts", Path: v.At("/contracts")}},
	})
}

// counts says how far a job is.
func counts(j bulk.Job) string {
	text := fmt.Sprintf("%d of %d done", j.Succeeded, j.Total)
	if j.Failed > 0 {
		text += fmt.Sprintf(", %d failed", j.Failed)
	}
	return text
}

// failureRow is a contract that failed.
type failureRow struct {
	Contract contract.ID
	Reason   string
}

// jobPage is what the page of a job shows.
type jobPage struct {
	Job      bulk.Job
	Title    string
	Badge    dashboard.Badge
	Label    string // of the progress
	Open     bool
	Did      string
	By, At   string
	Ended    string
	Failures []failureRow
	More     int    // failures that are not listed
	Path     string // below the store's
	Retry    bool
	Stop     bool
	RetryOf  string // path of the job that this one retries
}

// shownFailures is how many failures a page lists. The file has all.
const shownFailures = 20

// job shows how far a job is. A script reads the part again that changes.
func (m *room) job(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	j, err := m.Jobs.Job(r.Context(), v.Shop.ID, id)
	if err != nil {
		return err
	}
	failed, err := m.Jobs.Failures(r.Context(), v.Shop.ID, id, 0, shownFailures)
	if err != nil {
		return err
	}
	p := jobPage{
		Job: j, Title: title(j), Badge: badge(j), Label: progress(j, m.Clock.Now()), Open: j.Status.Open(), Did: describe(j.Action, v), By: j.By.By, At: v.Instant(j.CreatedAt),
		Path: path(j.ID), Retry: j.CanRetry() && v.May(staff.ManageContracts), Stop: (j.Status == bulk.Collecting || j.Status == bulk.Running) && v.May(staff.ManageContracts),
		More: j.Failed - len(failed),
	}
	if !j.EndedAt.IsZero() {
		p.Ended = v.Instant(j.EndedAt)
	}
	if j.RetryOf != 0 {
		p.RetryOf = path(j.RetryOf)
	}
	for _, i := range failed {
		p.Failures = append(p.Failures, failureRow{i.Contract, i.Reason})
	}
	page := dashboard.Page{Name: "bulk-job", Title: of(wordsOf[j.Action.Kind].name+": %s", j.Total), Crumb: &dashboard.Crumb{Name: "Bulk actions", Path: "/bulk"}, Content: p}
	if r.URL.Query().Get("part") == "1" {
		return v.Fragment(w, "bulk-progress", p)
	}
	return v.Answer(w, page)
}

// progress says how far a job is, and how long the rest takes.
func progress(j bulk.Job, now time.Time) string {
	text := counts(j)
	switch {
	case j.Status == bulk.Collecting:
		return fmt.Sprintf("%d of about %d contracts are written down", j.Collected, j.Total)
	case j.Status == bulk.Stopped:
		return text + fmt.Sprintf(", %d left as they were", j.Left())
	case !j.Status.Open():
		return text
	}
	if left := j.Remaining(now); left > 0 {
		text += fmt.Sprintf(", about %s left (%.0f in a minute)", about(left), j.Pace(now))
	}
	return text
}

// about returns a duration in words.
func about(d time.Duration) string {
	switch {
	case d < time.Minute:
		return dashboard.Count(max(int(d/time.Second), 1), "second", "seconds")
	case d < time.Hour:
		return dashboard.Count(int((d+time.Minute/2)/time.Minute), "minute", "minutes")
	}
	return dashboard.Count(int((d+time.Hour/2)/time.Hour), "hour", "hours")
}

// jobID reads the job of a path.
func jobID(r *http.Request) (bulk.JobID, error) {
	id, err := strconv.ParseInt(r.PathValue("job"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.NotFound, "there is no such bulk action").Code("bulkJobNotFound")
	}
	return bulk.JobID(id), nil
}

// rowsAtOnce is how many rows of the file are read at once.
const rowsAtOnce = 1000

// failed answers with the contracts that failed, as a file.
func (m *room) failed(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	list, err := m.Jobs.Failures(r.Context(), v.Shop.ID, id, 0, rowsAtOnce)
	if err != nil {
		return err
	}
	file := web.NewCSV(w, fmt.Sprintf("bulk-action-%d-failed.csv", id))
	if err := file.Row("Contract", "Reason", "Code", "Tries", "At"); err != nil {
		return err
	}
	for len(list) > 0 {
		for _, i := range list {
			err := file.Row(strconv.FormatInt(int64(i.Contract), 10), i.Reason, i.Code, strconv.Itoa(i.Tries), i.EndedAt.In(v.Zone).Format(time.RFC3339))
			if err != nil {
				return err
			}
		}
		if len(list) < rowsAtOnce {
			break
		}
		if list, err = m.Jobs.Failures(r.Context(), v.Shop.ID, id, list[len(list)-1].Contract, rowsAtOnce); err != nil {
			return err
		}
	}
	return file.Close()
}

// stop stops a job.
func (m *room) stop(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	if _, err := m.Jobs.Stop(r.Context(), v.Shop.ID, id); err != nil {
		return err
	}
	return v.Go(w, path(id), "bulk-stopped")
}

// askRetry asks whether to try again what failed.
func (m *room) askRetry(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	j, err := m.Jobs.Job(r.Context(), v.Shop.ID, id)
	if err != nil {
		return err
	}
	return v.Ask(w, r, question(j, v), nil)
}

func question(j bulk.Job, v dashboard.Visit) dashboard.Question {
	words := wordsOf[j.Action.Kind]
	q := dashboard.Question{
		Title: "Retry " + contracts(j.Failed), Back: path(j.ID), Path: path(j.ID) + "/retry", Button: of(words.verb, j.Failed), Keep: words.keep, Grave: words.grave,
		Says: []string{fmt.Sprintf("The action is tried again for the %s that failed. Those that it is still not possible for fail again, with the reason.", contracts(j.Failed))},
	}
	if says := describe(j.Action, v); says != "" {
		q.Says = append(q.Says, says)
	}
	return q
}

// retry starts a job for what failed.
func (m *room) retry(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	j, err := m.Jobs.Retry(r.Context(), v.Shop.ID, id, v.Actor(r))
	if err != nil {
		return err
	}
	return v.Go(w, path(j.ID), "bulk-retried")
}
