package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// checkFigures compares the merchants' figures with what a rebuild from the histories makes of
// them, and with the overview.
func checkFigures(t *testing.T, b *bench) {
	t.Helper()
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
		checkOverview(t, b, s, kept)
	}
}

// checkOverview compares the overview of a store with its days.
func checkOverview(t *testing.T, b *bench, s shop.Shop, kept analytics.Tables) {
	t.Helper()
	service := analytics.Service{Store: b.front.running().Store.Figures(), Clock: b.clock}
	o, err := service.Overview(t.Context(), s, 30)
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[analytics.Dimension]int64)
	var mrr, revenue int64
	for _, d := range kept.Days {
		if d.Currency == o.Currency {
			mrr += d.MRR - last[d.Dimension]
			last[d.Dimension] = d.MRR
			revenue += d.Revenue
		}
	}
	subscribers := kept.SubscriberDays[len(kept.SubscriberDays)-1].Subscribers
	if o.MRR.Value != mrr || mrr == 0 || o.Subscribers.Value != subscribers || subscribers == 0 || o.Revenue.Value <= 0 || revenue <= 0 || len(o.MRR.Trend) != 30 {
		t.Errorf("%s: the overview is %+v, with MRR %d, %d subscribers and renewals of %d by its days", s.Domain, o, mrr, subscribers, revenue)
	}
}
