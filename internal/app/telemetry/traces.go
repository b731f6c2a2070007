// Package telemetry sets up what the service reports about itself: traces, which are sent
// to a collector, and metrics, which are fetched.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/tracing"
)

// Variables of OpenTelemetry that say whether and how traces are sent. The library reads
// all others itself.
const (
	endpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	disabled       = "OTEL_SDK_DISABLED"
)

// overHTTP is the protocol that is spoken.
const overHTTP = "http/protobuf"

// Traces are sent to a collector. The zero value sends none.
type Traces struct{ provider *sdktrace.TracerProvider }

// NewTraces begins to send traces to the collector that the environment names, as the
// standard of OpenTelemetry says. It sends none where none is named. What cannot be sent is
// dropped and logged.
func NewTraces(ctx context.Context, version string, log *slog.Logger) (Traces, error) {
	if os.Getenv(endpoint) == "" && os.Getenv(tracesEndpoint) == "" || os.Getenv(disabled) == "true" {
		return Traces{}, nil
	}
	for _, name := range []string{tracesProtocol, protocol} {
		if p := os.Getenv(name); p != "" && p != overHTTP {
			return Traces{}, fault.New(fault.Invalid, "%s is %q: only %s is supported", name, p, overHTTP)
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return Traces{}, fmt.Errorf("set up the traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "perennial"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv(),
	)
	if err != nil {
		return Traces{}, fmt.Errorf("read what the environment says of the traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "error", err) }))
	return Traces{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}, nil
}

// Tracer returns what begins spans.
func (t Traces) Tracer() tracing.Tracer {
	if t.provider == nil {
		return tracing.Tracer{}
	}
	return tracing.New(t.provider)
}

// Close sends what has not been sent, until ctx ends.
func (t Traces) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}
