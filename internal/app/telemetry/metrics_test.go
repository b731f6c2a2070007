package telemetry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/tracing"
)

// gathered returns the metrics of a service that has answered requests, worked tasks and
// called the platform, by name.
func gathered(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	s := begin(t, tracing.Tracer{})
	s.get("/api/external/v2/subscription-contract-details")
	s.get("/nowhere/at/all")
	s.webhook("shop/update", `{"myshopify_domain":"`+domain+`"}`)
	s.work()
	families, err := s.Metrics.Gather()
	must(t, err)
	found := map[string]*dto.MetricFamily{}
	for _, f := range families {
		found[f.GetName()] = f
	}
	return found
}

func TestListDescribesEveryMetric(t *testing.T) {
	t.Parallel()
	found := gathered(t)
	listed := map[string]bool{}
	for _, m := range telemetry.List() {
		listed[m.Name] = true
		f := found[m.Name]
		if f == nil {
			t.Errorf("%s is listed and not reported", m.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != string(m.Type) || f.GetHelp() != m.Help {
			t.Errorf("%s is a %s (%s), listed as %s (%s)", m.Name, got, f.GetHelp(), m.Type, m.Help)
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		if want := slices.Sorted(slices.Values(m.Labels)); !slices.Equal(labels, want) {
			t.Errorf("%s has the labels %v, listed are %v", m.Name, labels, want)
		}
	}
	for name := range found {
		if !listed[name] && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is reported and not listed", name)
		}
	}
}

// Labels have few values: no path, no id, no person.
func TestLabelsAreNoPathsAndNoPersons(t *testing.T) {
	t.Parallel()
	s := begin(t, tracing.Tracer{})
	s.get("/api/external/v2/subscription-contracts/" + email)
	s.get("/" + email)
	s.do(httptest.NewRequestWithContext(t.Context(), "X"+name, "/", nil))
	w := httptest.NewRecorder()
	s.Ops.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, secret := range []string{email, name, domain, s.key} {
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
	if !strings.Contains(w.Body.String(), `perennial_http_requests_total{method="GET",route="none",status="404"}`) {
		t.Error("a path that is not served is not counted as such")
	}
}

const root = "../../../"

func TestDocumentExplainsEveryMetric(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/metrics.md"))
	must(t, err)
	var want strings.Builder
	want.WriteString("| Metric | Type | Labels | Says |\n|---|---|---|---|\n")
	for _, m := range telemetry.List() {
		labels := "–"
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
	}
	if !strings.Contains(string(text), "\n"+want.String()+"\n") {
		t.Errorf("docs/metrics.md lacks this table:\n%s", want.String())
	}
	for _, name := range metricName.FindAllString(string(text), -1) {
		if !slices.ContainsFunc(telemetry.List(), func(m telemetry.Metric) bool { return m.Name == name }) {
			t.Errorf("docs/metrics.md names %s, which does not exist", name)
		}
	}
}

var metricName = regexp.MustCompile(`\b(?:perennial|go|process)_[a-z_]+`)

// A dashboard is a file for Grafana. Its queries matter here.
type dashboard struct {
	Title  string
	Panels []struct {
		Title, Description string
		Targets            []struct{ Expr string }
	}
}

// The dashboard asks for metrics that exist, and for all that the service has.
func TestDashboardShowsEveryMetric(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "deploy/grafana/perennial.json"))
	must(t, err)
	var d dashboard
	must(t, json.Unmarshal(text, &d))
	found := gathered(t)
	shown := map[string]bool{}
	for _, p := range d.Panels {
		if p.Title == "" || p.Description == "" && len(p.Targets) > 0 {
			t.Errorf("the panel %q lacks a title or an explanation", p.Title)
		}
		for _, target := range p.Targets {
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				if found[name] == nil {
					for _, suffix := range []string{"_bucket", "_sum", "_count"} {
						if base, ok := strings.CutSuffix(name, suffix); ok && found[base].GetType() == dto.MetricType_HISTOGRAM {
							name = base
						}
					}
				}
				if found[name] == nil {
					t.Errorf("the panel %q asks for %s, which does not exist", p.Title, name)
				}
				shown[name] = true
			}
		}
	}
	for _, m := range telemetry.List() {
		if !shown[m.Name] {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
}
