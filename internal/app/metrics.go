package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/base/clock"
)

// gaugeTime is how long one collection may ask the database.
const gaugeTime = 2 * time.Second

// gauges tells how much waits. They are read when they are asked for.
type gauges struct {
	app  *App
	desc map[string]*prometheus.Desc // by name
}

func newGauges(a *App) gauges {
	g := gauges{a, map[string]*prometheus.Desc{}}
	for _, m := range []telemetry.Metric{
		telemetry.AttemptsDue, telemetry.AttemptsInFlight, telemetry.InboxWaiting, telemetry.InboxGivenUp, telemetry.StoresFrozen, telemetry.TasksOldestDue,
	} {
		g.desc[m.Name] = m.Desc()
	}
	return g
}

// Describe lists the gauges.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range g.desc {
		to <- d
	}
}

// Collect reads the gauges. A database that does not answer has none.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gaugeTime)
	defer cancel()
	values, err := g.read(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(g.desc[telemetry.AttemptsDue.Name], err)
		return
	}
	for name, value := range values {
		to <- prometheus.MustNewConstMetric(g.desc[name], prometheus.GaugeValue, value)
	}
}

// read returns the values by name.
func (g gauges) read(ctx context.Context) (map[string]float64, error) {
	b, err := g.app.Store.Shops().Backlog(ctx, g.app.options.Clock.Now())
	if err != nil {
		return nil, err
	}
	frozen, err := g.app.Store.Shops().Frozen(ctx)
	if err != nil {
		return nil, err
	}
	queue, err := g.app.Store.QueueState(ctx)
	if err != nil {
		return nil, err
	}
	waits := 0.0
	if !queue.OldestDue.IsZero() {
		waits = max(0, clock.System{}.Now().Sub(queue.OldestDue).Seconds()) // the queue keeps the machine's time
	}
	return map[string]float64{
		telemetry.AttemptsDue.Name: float64(b.Due), telemetry.AttemptsInFlight.Name: float64(b.InFlight),
		telemetry.InboxWaiting.Name: float64(b.Waiting), telemetry.InboxGivenUp.Name: float64(b.GivenUp),
		telemetry.StoresFrozen.Name: float64(frozen), telemetry.TasksOldestDue.Name: waits,
	}, nil
}
