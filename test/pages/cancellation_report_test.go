package pages

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/cancellations"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// leavers is a report of customers who started to cancel.
type leavers struct{}

func (leavers) Current(context.Context, shop.ID) (flow.Flow, error) { return flow.Default("EUR"), nil }

func (leavers) Versions(context.Context, shop.ID) ([]flow.Flow, error) { return nil, nil }

func (leavers) Publish(_ context.Context, _ shop.ID, f flow.Flow, _ int, _ activity.Actor) (flow.Flow, error) {
	return f, nil
}

func (leavers) Report(context.Context, shop.ID, time.Time, time.Time) (report.Report, error) {
	all := report.Tally{Sessions: 140, Open: 2, Shown: 90, Accepted: 41, Kept: 14, Abandoned: 5, Scheduled: 8, Cancelled: 70, Ripe: 30, Survived: 21}
	one := []report.Line{{Key: "too-much", Tally: all}}
	return report.Report{Tally: all, Costs: 45_000, Reasons: one, Offers: []report.Line{{Key: "SKIP", Tally: all}}, Plans: []report.Line{{Key: "7", Tally: all}}, Ages: []report.Line{{Key: "1", Tally: all}}}, nil
}

func (leavers) Scope(context.Context, shop.Shop) (analytics.Scope, error) {
	return analytics.Scope{Groups: []analytics.PlanGroup{{ID: 7, Name: "Coffee"}}}, nil
}

func TestReportOfCancellationsCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, cancellations.New(cancellations.Options{Flows: leavers{}, Reports: leavers{}, Figures: leavers{}, Clock: s.Clock}))
	})
	v := &visit{t: t, tab: browser.Tab(t), of: "cancellations"}
	v.tab.Open(s.URL + "/admin")
	v.fill("#email", dashboardtest.Owner)
	v.tab.Submit("#password", dashboardtest.Password)
	v.open("report", s.URL+dashboardtest.At+"/cancellations", http.StatusOK)
	browsertest.Eval[bool](v.tab, "document.querySelectorAll('details.tip').forEach(d => d.open = true), true")
	v.look("report open", http.StatusOK, http.StatusOK)
}
