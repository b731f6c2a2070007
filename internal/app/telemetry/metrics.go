package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/perennialhq/perennial/internal/platform/shopify"
)

// Metrics measures what the service does. Its methods may be called from many goroutines.
type Metrics struct {
	*prometheus.Registry

	requests, tasks, calls, points      *prometheus.CounterVec
	dropped                             prometheus.Counter
	requestTime, taskTime, platformTime *prometheus.HistogramVec
}

// Upper bounds of the buckets of durations, in seconds.
var (
	requestBuckets = []float64{.005, .02, .05, .1, .25, .5, 1, 2.5, 10}
	taskBuckets    = []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300}
	callBuckets    = []float64{.05, .1, .25, .5, 1, 2.5, 5, 15, 60}
)

// NewMetrics returns metrics in a registry of their own, beside those of Go and of the
// process and the given collectors.
func NewMetrics(version string, more ...prometheus.Collector) (*Metrics, error) {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		requests: requests.counter(), tasks: tasks.counter(), calls: platformCalls.counter(), points: platformPoints.counter(), dropped: requestsDropped.counter().WithLabelValues(),
		requestTime: requestDuration.histogram(requestBuckets), taskTime: taskDuration.histogram(taskBuckets), platformTime: platformDuration.histogram(callBuckets),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildInfo.Name, Help: buildInfo.Help}, buildInfo.Labels)
	info.WithLabelValues(version).Set(1)
	for _, c := range append(more,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.tasks, m.calls, m.points, m.requestTime, m.taskTime, m.platformTime, m.dropped, info,
	) {
		if err := m.Registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// noRoute stands for a path that nothing is served at.
const noRoute = "none"

// Request counts a request that was answered.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = noRoute
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTime.WithLabelValues(method, route).Observe(took.Seconds())
}

// Dropped counts requests that are missing in the API log.
func (m *Metrics) Dropped(n int) { m.dropped.Add(float64(n)) }

// Task counts a task that has ended.
func (m *Metrics) Task(kind string, took time.Duration, err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.tasks.WithLabelValues(kind, result).Inc()
	m.taskTime.WithLabelValues(kind).Observe(took.Seconds())
}

// Call counts a call of the platform that has ended.
func (m *Metrics) Call(c shopify.Call) {
	m.calls.WithLabelValues(c.Document, string(c.Result)).Inc()
	m.points.WithLabelValues(c.Document).Add(c.Points)
	m.platformTime.WithLabelValues(c.Document).Observe(c.Took.Seconds())
}
