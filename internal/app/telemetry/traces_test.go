package telemetry_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/tracing"
)

// traced begins a service whose spans are kept.
func traced(t *testing.T) (service, *tracetest.InMemoryExporter) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))
	return begin(t, tracing.New(provider)), kept
}

func find(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	var names []string
	for _, s := range spans {
		if s.Name == name {
			return s
		}
		names = append(names, s.Name)
	}
	t.Fatalf("there is no span %q among %q", name, names)
	return tracetest.SpanStub{}
}

func valueOf(s tracetest.SpanStub, key string) attribute.Value {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

// A request, the task that it asks for, the platform's answers and the task's transactions
// are one trace.
func TestRequestAndItsTaskAreOneTrace(t *testing.T) {
	t.Parallel()
	s, kept := traced(t)
	s.webhook("shop/update", `{"myshopify_domain":"`+domain+`"}`)
	s.work()
	spans := kept.GetSpans()
	request := find(t, spans, "POST /webhooks")
	task := find(t, spans, "task intake_work")
	if task.Parent.SpanID() != request.SpanContext.SpanID() || task.SpanContext.TraceID() != request.SpanContext.TraceID() {
		t.Errorf("the task's parent is %v, want the request %v", task.Parent, request.SpanContext)
	}
	within := map[string]int{}
	for _, span := range spans {
		if span.Parent.SpanID() == task.SpanContext.SpanID() {
			within[span.Name]++
		}
	}
	if within["transaction"] == 0 || within["platform Store"] == 0 {
		t.Errorf("within the task: %v", within)
	}
	call := find(t, spans, "platform Store")
	if valueOf(call, "perennial.platform.points").AsFloat64() <= 0 || valueOf(call, "graphql.document.name").AsString() != "Store" {
		t.Errorf("the call says %v", call.Attributes)
	}
	if valueOf(request, "http.route").AsString() != "/webhooks" || valueOf(request, "http.response.status_code").AsInt64() != http.StatusOK {
		t.Errorf("the request says %v", request.Attributes)
	}
}

// Tasks that tasks ask for begin traces of their own, so that none grows for ever.
func TestTaskOfTaskLinksToItsOrigin(t *testing.T) {
	t.Parallel()
	s, kept := traced(t)
	s.webhook("shop/update", `{"myshopify_domain":"`+domain+`"}`)
	s.work()
	for _, span := range kept.GetSpans() {
		if !strings.HasPrefix(span.Name, "task ") || !span.Parent.IsValid() {
			continue
		}
		if parent := span.Parent; len(span.Links) > 0 {
			t.Errorf("%s has the parent %v and links", span.Name, parent)
		}
	}
	ctx, span := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))).Task(t.Context(), "first", tracing.Origin{})
	origin := tracing.OriginOf(ctx)
	span.End(nil)
	if !origin.Linked {
		t.Fatalf("a task's own origin is %+v", origin)
	}
	kept.Reset()
	_, second := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))).Task(t.Context(), "second", origin)
	second.End(nil)
	if got := find(t, kept.GetSpans(), "task second"); got.Parent.IsValid() || len(got.Links) != 1 {
		t.Errorf("parent %v, links %v", got.Parent, got.Links)
	}
}

// Whatever a request, a task or a call of the platform is about, no span names a person or
// holds a secret: not by the path, the query, a header, a body or an error's message.
func TestSpansHoldNoPersonalDataAndNoSecrets(t *testing.T) {
	t.Parallel()
	s, kept := traced(t)
	if got := s.get("/api/external/v2/subscription-contract-details?search=" + name + "&api_key=" + s.key); got.Code >= 500 {
		t.Fatalf("the list is answered %d: %s", got.Code, got.Body)
	}
	s.get("/api/external/v2/subscription-contracts/" + email)
	s.get("/" + email + "/" + s.key)
	r := httptest.NewRequestWithContext(t.Context(), "X"+name, "/api/external/v2/subscription-contracts", strings.NewReader(email))
	r.Header.Set("Traceparent", "00-"+strings.Repeat("ab", 16)+"-"+strings.Repeat("cd", 8)+"-01")
	s.do(r)
	s.webhook("customers/redact", `{"shop_domain":"`+domain+`","customer":{"id":1,"email":"`+email+`"}}`)
	s.work()
	spans := kept.GetSpans()
	text, err := json.Marshal(spans)
	must(t, err)
	for _, secret := range []string{email, name, s.key, appSecret, token, "shopper"} {
		if strings.Contains(strings.ToLower(string(text)), strings.ToLower(secret)) {
			t.Errorf("spans hold %q", secret)
		}
	}
	if strings.Contains(string(text), strings.Repeat("ab", 16)) {
		t.Error("a caller that is no trusted proxy chooses the trace")
	}
	find(t, spans, "GET /api/external/v2/subscription-contract-details")
	find(t, spans, "GET")
}

// receiver is a collector that speaks OTLP over HTTP.
type receiver struct {
	mu    sync.Mutex
	spans map[string]string // name → service
	key   string
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var got collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &got) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key = r.Header.Get("X-Key")
	for _, from := range got.ResourceSpans {
		service := ""
		for _, a := range from.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range from.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans[span.Name] = service
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// What was not sent when the service ends is sent before.
func TestTracesReachCollectorBeforeServiceEnds(t *testing.T) {
	c := &receiver{spans: map[string]string{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Key=hidden")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "600000") // nothing is sent before the end
	set := settings(t, "http://127.0.0.1:1")
	_, err := app.Migrate(t.Context(), set.Database)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	addresses, ended := make(chan string, 3), make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.Options{Settings: set, Clock: clock.System{}, Log: slog.New(listening{slog.DiscardHandler, addresses}), Kind: app.Production})
	}()
	res, err := http.Get("http://" + <-addresses + "/p/" + domain) //nolint:noctx // it is there
	must(t, err)
	must(t, res.Body.Close())
	stop()
	must(t, <-ended)
	if c.spans["GET /p/{shop}"] != "perennial" || c.key != "hidden" {
		t.Errorf("received %v with the header %q", c.spans, c.key)
	}
}

func TestTracesAreOffUnlessCollectorIsNamed(t *testing.T) {
	for _, row := range []struct {
		name     string
		env      map[string]string
		on, fail bool
	}{
		{"nothing is set", nil, false, false},
		{"a collector is named", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true, false},
		{"one of traces is named", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, true, false},
		{"it is switched off", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false, false},
		{"another protocol", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, value := range row.env {
				t.Setenv(name, value)
			}
			traces, err := telemetry.NewTraces(t.Context(), "v1", slog.New(slog.DiscardHandler))
			if (err != nil) != row.fail {
				t.Fatalf("got %v", err)
			}
			if on := traces.Tracer() != (tracing.Tracer{}); on != row.on {
				t.Errorf("on %t, want %t", on, row.on)
			}
			must(t, traces.Close(t.Context()))
		})
	}
}

// listening is a log that reports the addresses on which a service listens.
type listening struct {
	slog.Handler
	addresses chan<- string
}

func (l listening) Enabled(context.Context, slog.Level) bool { return true }

func (l listening) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "listening" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "address" {
				l.addresses <- a.Value.String()
			}
			return true
		})
	}
	return nil
}
