package roomtest_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	pages "github.com/perennialhq/perennial/internal/web/dashboard/bulk"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// bulkJobs is a service that keeps what it is asked for.
type bulkJobs struct {
	site    *dashboardtest.Site
	seen    bulk.Preview
	asked   bulk.Selection
	action  bulk.Action
	started []bulk.Request
	list    []bulk.Job
	failed  []bulk.Item
	refuse  error
}

func (j *bulkJobs) Preview(_ context.Context, _ shop.ID, sel bulk.Selection, a bulk.Action, _ activity.Actor) (bulk.Preview, error) {
	j.asked, j.action = sel, a
	p := j.seen
	p.Action = a
	return p, a.Check(j.site.Clock.Now())
}

func (j *bulkJobs) Start(_ context.Context, _ shop.ID, r bulk.Request) (bulk.Job, error) {
	j.started = append(j.started, r)
	return bulk.Job{ID: 5}, j.refuse
}

func (j *bulkJobs) Stop(_ context.Context, of shop.ID, id bulk.JobID) (bulk.Job, error) {
	return j.Job(context.Background(), of, id)
}

func (j *bulkJobs) Retry(ctx context.Context, of shop.ID, id bulk.JobID, _ activity.Actor) (bulk.Job, error) {
	return j.Job(ctx, of, id)
}

func (j *bulkJobs) Jobs(context.Context, shop.ID) ([]bulk.Job, error) { return j.list, nil }

func (j *bulkJobs) Job(_ context.Context, of shop.ID, id bulk.JobID) (bulk.Job, error) {
	at := slices.IndexFunc(j.list, func(j bulk.Job) bool { return j.ID == id })
	if at < 0 || of != j.site.First.ID {
		return bulk.Job{}, bulk.JobNotFound(id)
	}
	return j.list[at], nil
}

func (j *bulkJobs) Failures(_ context.Context, _ shop.ID, _ bulk.JobID, after contract.ID, limit int) ([]bulk.Item, error) {
	list := slices.DeleteFunc(slices.Clone(j.failed), func(i bulk.Item) bool { return i.Contract <= after })
	return list[:min(limit, len(list))], nil
}

func openBulk(t *testing.T) (*dashboardtest.Site, *bulkJobs) {
	t.Helper()
	j := &bulkJobs{}
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, pages.New(pages.Options{Jobs: j, Clock: s.Clock, Search: func(query string, _ *time.Location) (contract.Filter, error) {
			if query != "status=ACTIVE" {
				return contract.Filter{}, fault.New(fault.Invalid, "the search has an unknown parameter")
			}
			return contract.Filter{Line: shop.Subscriptions, Status: contract.Active}, nil
		}}))
	})
	j.site = s
	now := s.Clock.Now()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	j.seen = bulk.Preview{
		Fingerprint: "f1", Total: 12, Checked: 12, Possible: 11, Reasons: []bulk.Reason{{Code: "sameStatus", Count: 1, Example: 9, Text: "subscription contract 9 is PAUSED already"}},
		Effects: []bulk.Effect{{Contract: 8, Customer: "<script>alert(1)</script>{{7*7}}", Was: bulk.State{Status: contract.Active, Date: now.AddDate(0, 0, 3), Amount: usd(2500)}, Is: bulk.State{Status: contract.Active, Date: now.AddDate(0, 0, 4), Amount: usd(2500)}}},
	}
	s.SignIn(dashboardtest.Owner)
	return s, j
}

const bulkPath = dashboardtest.At + "/bulk"

func TestContractsAreMovedFromSelectionToJob(t *testing.T) {
	t.Parallel()
	s, j := openBulk(t)
	p := s.Post(bulkPath+"/new", "id", "8", "id", "9", "action", "MOVE_NEXT")
	s.Want(p, http.StatusOK, "Move next order", "2 contracts. Nothing is changed before", `name="days"`)
	p = s.Post(bulkPath+"/preview", "ids", hiddenField(t, p, "ids"), "action", "MOVE_NEXT", "days", "1")
	s.Want(p, http.StatusOK, "moves 1 day later. Later orders keep their dates.", "already in that status", "Next order 28 Nov 2026, 25.00 USD", "Next order 29 Nov 2026, 25.00 USD", "Move an order of 11 contracts", "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}")
	if len(j.asked.IDs) != 2 || j.action.Days != 1 || j.action.Kind != bulk.MoveNext {
		t.Errorf("previewed %+v of %+v", j.action, j.asked)
	}
	key := hiddenField(t, p, "key")
	j.list = []bulk.Job{{ID: 5, Action: j.action, Status: bulk.Running, Total: 12, Succeeded: 4, Failed: 1, By: activity.Actor{By: "ana"}, CreatedAt: s.Clock.Now(), StartedAt: s.Clock.Now().Add(-time.Minute)}}
	j.failed = []bulk.Item{{Contract: 9, Reason: "=1+1", Code: "busy", Tries: 2, EndedAt: s.Clock.Now()}}
	p = s.Post(bulkPath, "ids", hiddenField(t, p, "ids"), "action", "MOVE_NEXT", "days", hiddenField(t, p, "days"), "previewed", hiddenField(t, p, "previewed"), "key", key)
	s.Want(p, http.StatusOK, "The bulk action was started.", "Moving an order of 12 contracts", "4 of 12 done, 1 failed, about 1 minute left (5 in a minute)", "Stop the action", "every 2s")
	if r := j.started[0]; r.Key != key || r.Previewed != "f1" || r.By.By == "" || len(r.Selection.IDs) != 2 {
		t.Errorf("started %+v", r)
	}
	s.Want(s.Get(bulkPath), http.StatusOK, "Moving an order of 12 contracts", "Running", "4 of 12 done, 1 failed")
	part := s.Get(bulkPath + "/5?part=1")
	if s.Want(part, http.StatusOK, "4 of 12 done"); strings.Contains(part.Text, "<html") {
		t.Error("the part of the page is a whole page")
	}
	file := s.Get(bulkPath + "/5/failed.csv")
	s.Want(file, http.StatusOK, "9,'=1+1,busy,2,2026-11-25T12:00:00Z")
	if got := file.Header.Get("Content-Disposition"); got != `attachment; filename="bulk-action-5-failed.csv"` {
		t.Errorf("the file is sent as %s", got)
	}
	j.list[0].Status, j.list[0].EndedAt = bulk.Finished, s.Clock.Now()
	s.Want(s.Get(bulkPath+"/5"), http.StatusOK, "Partly done", "Retry 1 contract", "Download failed rows")
	s.Want(s.Get(bulkPath+"/5/retry"), http.StatusOK, "tried again for the 1 contract that failed")
}

func TestCancellationAsksForTypedCount(t *testing.T) {
	t.Parallel()
	s, j := openBulk(t)
	s.Want(s.Post(bulkPath+"/new", "all", "1", "query", "status=ACTIVE", "action", "CANCEL"), http.StatusOK, "All contracts that the search finds", `name="now"`)
	p := s.Post(bulkPath+"/preview", "all", "1", "query", "status=ACTIVE", "action", "CANCEL")
	s.Want(p, http.StatusOK, "Type 12, the number of selected contracts", "Cancel 11 contracts", "dan full", "Keep the contracts")
	if j.asked.Filter == nil || j.asked.Filter.Status != contract.Active {
		t.Errorf("previewed %+v", j.asked)
	}
	j.refuse = fault.New(fault.Invalid, "type 12, the number of contracts, to confirm").Field("typed")
	p = s.Post(bulkPath, "all", "1", "query", "status=ACTIVE", "action", "CANCEL", "typed", "11", "previewed", "f1", "key", "k")
	s.Want(p, http.StatusUnprocessableEntity, "Type 12, the number of contracts, to confirm", `aria-describedby="e-typed"`)
	if hiddenField(t, p, "key") != "k" || j.started[0].Typed != 11 {
		t.Errorf("started %+v", j.started[0])
	}
	j.refuse = fault.New(fault.Conflict, "13 contracts are selected now")
	s.Want(s.Post(bulkPath, "all", "1", "query", "status=ACTIVE", "action", "CANCEL", "typed", "12", "previewed", "f1", "key", "k"), http.StatusUnprocessableEntity, "13 contracts are selected now", "Cancel 11 contracts")
}

func TestBadInputIsRefusedAtItsField(t *testing.T) {
	t.Parallel()
	s, _ := openBulk(t)
	for _, row := range []struct {
		name   string
		fields []string
		status int
		says   string
	}{
		{"no days", []string{"id", "8", "action", "MOVE_NEXT"}, 422, "Give a number of days or a date"},
		{"days that are no number", []string{"id", "8", "action", "MOVE_NEXT", "days", "one"}, 422, "is not a whole number"},
		{"a day that is none", []string{"id", "8", "action", "MOVE_NEXT", "date", "2026-02-30"}, 422, "is not a day"},
		{"a price that is none", []string{"id", "8", "action", "SET_PRICE", "variant", "7", "price", "cheap"}, 422, "is not an amount"},
		{"a variant that is none", []string{"id", "8", "action", "SWAP_VARIANT", "variant", "x"}, 422, "variant"},
		{"an e-mail without text", []string{"id", "8", "action", "SEND_EMAIL", "subject", "New", "text", " "}, 422, "Text has 0 characters"},
		{"an unknown action", []string{"id", "8", "action", "DELETE"}, 422, "is not an action"},
		{"a contract that is no number", []string{"id", "x", "action", "PAUSE"}, 400, "is not the number of a contract"},
		{"an unknown search", []string{"all", "1", "query", "view=x", "action", "PAUSE"}, 400, "unknown parameter"},
	} {
		t.Run(row.name, func(t *testing.T) { s.Want(s.Post(bulkPath+"/preview", row.fields...), row.status, row.says) })
	}
}

func TestEMailIsWrittenAndConfirmedByCount(t *testing.T) {
	t.Parallel()
	s, _ := openBulk(t)
	s.Want(s.Post(bulkPath+"/new", "id", "8", "action", "SEND_EMAIL"), http.StatusOK, `name="subject"`, `name="text"`, "What was sent cannot be taken back")
	p := s.Post(bulkPath+"/preview", "id", "8", "action", "SEND_EMAIL", "subject", "A <b>tea", "text", "One.\n\nTwo."+strings.Repeat(" x", 100))
	s.Want(p, http.StatusOK, "The subject is “A &lt;b&gt;tea”, and the text begins “One. Two. x x", "x x…”", "Type 12, the number of selected contracts", "Send to 11 contracts")
}

func TestActionWithoutParametersIsPreviewedAtOnce(t *testing.T) {
	t.Parallel()
	s, j := openBulk(t)
	s.Want(s.Post(bulkPath+"/new", "id", "8", "action", "SKIP_NEXT"), http.StatusOK, "Skip an order of 11 contracts")
	s.Want(s.Post(bulkPath+"/new", "id", "8"), http.StatusOK, "Choose an action", "Send portal link")
	j.seen.Possible, j.seen.Effects = 0, nil
	if p := s.Post(bulkPath+"/new", "id", "8", "action", "RESUME"); strings.Contains(p.Text, `action="`+bulkPath+`"`) {
		t.Error("an action that is possible for no contract can be started")
	}
}

func TestBulkRolesAndOtherStores(t *testing.T) {
	t.Parallel()
	s, j := openBulk(t)
	j.list = []bulk.Job{{ID: 5, Action: bulk.Action{Kind: bulk.Pause}, Status: bulk.Running, Total: 2}}
	s.Want(s.Get(bulkPath+"/6"), http.StatusNotFound)
	s.Want(s.Get(bulkPath+"/x"), http.StatusNotFound)
	s.Want(s.Get("/admin/stores/second/bulk/5"), http.StatusNotFound)
	s.Add("eva@staff.example", staff.Analyst)
	s.SignIn("eva@staff.example")
	p := s.Get(bulkPath + "/5")
	if s.Want(p, http.StatusOK, "Pausing 2 contracts"); strings.Contains(p.Text, "Stop the action") {
		t.Error("an analyst is offered to stop a job")
	}
	for _, path := range []string{"/new", "/preview", "", "/5/stop", "/5/retry"} {
		s.Want(s.Post(bulkPath+path, "id", "8", "action", "PAUSE"), http.StatusForbidden)
	}
	if len(j.started) > 0 {
		t.Error("an analyst started a job")
	}
}

func TestListWithoutJobsSaysHowToBegin(t *testing.T) {
	t.Parallel()
	s, _ := openBulk(t)
	s.Want(s.Get(bulkPath), http.StatusOK, "No bulk action yet", "Show contracts")
}
