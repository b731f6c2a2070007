package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Type is the type of a metric.
type Type string

// The types.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Metric describes one metric.
type Metric struct {
	Name   string
	Type   Type
	Labels []string
	Help   string
}

// The metrics that are read from the database when they are fetched.
var (
	AttemptsDue      = Metric{"perennial_attempts_due", Gauge, nil, "Billing attempts that are due and not taken up, up to 10000."}
	AttemptsInFlight = Metric{"perennial_attempts_in_flight", Gauge, nil, "Billing attempts in flight: sent to the platform, result not known yet."}
	InboxWaiting     = Metric{"perennial_inbox_waiting", Gauge, nil, "Webhooks of the platform that wait to be worked."}
	InboxGivenUp     = Metric{"perennial_inbox_given_up", Gauge, nil, "Webhooks of the platform that could not be worked and wait for a person."}
	StoresFrozen     = Metric{"perennial_stores_frozen", Gauge, nil, "Stores that are frozen: nothing of them is charged until an operator lifts the freeze."}
	TasksOldestDue   = Metric{"perennial_tasks_oldest_due_seconds", Gauge, nil, "How long the task has been due that waits longest for a worker; 0 when none waits."}
)

// The metrics that the process counts.
var (
	requests         = Metric{"perennial_http_requests_total", Counter, []string{"method", "route", "status"}, "HTTP requests that were answered. The route is the pattern of the path; none: no path fits."}
	requestDuration  = Metric{"perennial_http_request_duration_seconds", Histogram, []string{"method", "route"}, "How long HTTP requests took."}
	tasks            = Metric{"perennial_tasks_total", Counter, []string{"kind", "result"}, "Background tasks that ended: done, or failed and tried again."}
	taskDuration     = Metric{"perennial_task_duration_seconds", Histogram, []string{"kind"}, "How long background tasks took, with the time that they waited for the platform's limit."}
	platformCalls    = Metric{"perennial_platform_calls_total", Counter, []string{"document", "result"}, "Calls of the platform by GraphQL document: answered, refused, not_found, throttled, disconnected, unknown (the answer was lost) or failed."}
	platformDuration = Metric{"perennial_platform_call_duration_seconds", Histogram, []string{"document"}, "How long calls of the platform took, with the time that they waited for the store's limit."}
	platformPoints   = Metric{"perennial_platform_points_total", Counter, []string{"document"}, "Points that the platform counted for the calls."}
	requestsDropped  = Metric{"perennial_request_log_dropped_total", Counter, nil, "Requests that are missing in the API log: too many waited to be written, or the database did not take them."}
	buildInfo        = Metric{"perennial_build_info", Gauge, []string{"version"}, "1; the label names the version of this node."}
)

// List returns every metric of the service, in the order of the documentation.
func List() []Metric {
	return []Metric{
		AttemptsDue, AttemptsInFlight, InboxWaiting, InboxGivenUp, StoresFrozen, TasksOldestDue,
		requests, requestDuration, tasks, taskDuration, platformCalls, platformDuration, platformPoints, requestsDropped, buildInfo,
	}
}

// Desc returns the description of a gauge without labels.
func (m Metric) Desc() *prometheus.Desc { return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil) }

func (m Metric) counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func (m Metric) histogram(buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: buckets}, m.Labels)
}
