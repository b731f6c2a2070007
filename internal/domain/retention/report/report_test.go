package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
)

func TestReportSumsGroupsByReasonOfferAndTrial(t *testing.T) {
	t.Parallel()
	r := sum([]Group{
		{Version: 2, Reason: "price", Offer: flow.Discount, Shown: true, Arm: session.Treated, Outcome: session.Accepted, Sessions: 6, Ripe: 4, Survived: 3, Costs: 900},
		{Version: 2, Reason: "price", Offer: flow.Discount, Shown: true, Arm: session.Treated, Outcome: session.Cancelled, Sessions: 4, Ripe: 4, Survived: 0},
		{Version: 2, Reason: "price", Offer: flow.Discount, Arm: session.HeldBack, Outcome: session.Cancelled, Sessions: 8, Ripe: 8, Band: 4},
		{Version: 2, Reason: "price", Offer: flow.Discount, Arm: session.HeldBack, Outcome: session.Kept, Sessions: 2, Ripe: 1, Survived: 1, PlanGroup: 7},
		{Version: 1, Reason: "away", Offer: flow.Pause, Shown: true, Outcome: session.Scheduled, Sessions: 1},
		{Reason: "", Outcome: session.Abandoned, Sessions: 3, Ripe: 3, Survived: 2},
		{Reason: "away", Sessions: 5},
	})
	want := Tally{Sessions: 29, Open: 5, Shown: 11, Accepted: 6, Kept: 2, Abandoned: 3, Scheduled: 1, Cancelled: 12, Ripe: 8, Survived: 6}
	if diff := cmp.Diff(want, r.Tally); diff != "" || r.Costs != 900 {
		t.Errorf("costs %d, %s", r.Costs, diff)
	}
	if saved, takers, lasting := r.Saved(), r.Takers(), r.Lasting(); saved != (Share{11, 24}) || takers != (Share{6, 11}) || lasting != (Share{6, 8}) {
		t.Errorf("saved %v, takers %v, lasting %v", saved, takers, lasting)
	}
	if r.Reasons[0].Key != "price" || r.Reasons[0].Sessions != 20 || len(r.Reasons) != 3 {
		t.Errorf("reasons %+v", r.Reasons)
	}
	if len(r.Offers) != 2 || r.Offers[0].Key != "DISCOUNT" || r.Offers[0].Sessions != 10 || r.Offers[0].Accepted != 6 {
		t.Errorf("offers %+v: those that were held back are no offers", r.Offers)
	}
	if len(r.Plans) != 2 || len(r.Ages) != 2 || r.Ages[1].Key != "4" || r.Ages[1].Sessions != 8 {
		t.Errorf("plans %+v, ages %+v", r.Plans, r.Ages)
	}
	if len(r.Trials) != 1 {
		t.Fatalf("trials %+v", r.Trials)
	}
	trial := r.Trials[0]
	if trial.Treated.Kept != (Share{6, 10}) || trial.Held.Kept != (Share{2, 10}) || trial.Treated.Lasting != (Share{3, 8}) || trial.Held.Lasting != (Share{1, 9}) {
		t.Errorf("trial %+v", trial)
	}
	if d := trial.Kept(); d.Is < 0.399 || d.Is > 0.401 || d.Low > d.Is || d.High < d.Is {
		t.Errorf("the offer makes a difference of %+v", d)
	}
}
