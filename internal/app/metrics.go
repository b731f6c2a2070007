package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gaugeTime is how long one collection may ask the database.
const gaugeTime = 2 * time.Second

// gauges tells how much waits. They are read when they are asked for.
type gauges struct {
	app      *App
	due      *prometheus.Desc
	inFlight *prometheus.Desc
	inbox    *prometheus.Desc
	givenUp  *prometheus.Desc
}

func newGauges(a *App) gauges {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("perennial_"+name, help, nil, nil)
	}
	return gauges{
		app:      a,
		due:      describe("attempts_due", "Billing attempts that are due and not taken up, up to 10000."),
		inFlight: describe("attempts_in_flight", "Billing attempts in flight: sent to the platform, result not known yet."),
		inbox:    describe("inbox_waiting", "Events that wait to be worked."),
		givenUp:  describe("inbox_given_up", "Events that could not be worked and wait for a person."),
	}
}

// Describe lists the gauges.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.due, g.inFlight, g.inbox, g.givenUp} {
		to <- d
	}
}

// Collect reads the gauges. A database that does not answer has none.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gaugeTime)
	defer cancel()
	b, err := g.app.Store.Shops().Backlog(ctx, g.app.options.Clock.Now())
	if err != nil {
		to <- prometheus.NewInvalidMetric(g.due, err)
		return
	}
	for desc, value := range map[*prometheus.Desc]int{g.due: b.Due, g.inFlight: b.InFlight, g.inbox: b.Waiting, g.givenUp: b.GivenUp} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
	}
}
