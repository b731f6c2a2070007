package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestFiguresOfYearEqualRebuild(t *testing.T) {
	t.Parallel()
	b := start(t, Options{Contracts: 40})
	b.advance("P1Y")
	a := b.front.running()
	stores, err := a.Store.Shops().All(t.Context())
	if err != nil || len(stores) == 0 {
		t.Fatalf("%d stores, %v", len(stores), err)
	}
	for _, s := range stores {
		kept := storetest.Figures(t, a.Store, s.ID)
		storetest.CheckFigures(t, kept)
		r := analytics.Rebuilder{Store: a.Store.AnalyticsRebuild(), Clock: b.clock}
		done, err := r.Rebuild(t.Context(), s.ID)
		if err != nil || done.Differs || done.Added != 0 {
			t.Errorf("%s: the rebuild did %+v, %v", s.Domain, done, err)
		}
		t.Logf("%s: %+v, %d days, %d cohort months, %d failures", s.Domain, done, len(kept.Days), len(kept.Cohorts), len(kept.Failures))
	}
	svc := analytics.Service{Store: a.Store.Figures(), Clock: b.clock}
	o, err := svc.Overview(t.Context(), stores[0], 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", o)
}
