package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Origin is where a task was asked for, in a form that is stored with it. The zero value is
// not known.
type Origin struct {
	Traceparent string `json:"traceparent,omitempty"` // as W3C Trace Context writes it
	// Linked says that the task begins a trace of its own, which links to this one: tasks
	// that ask for tasks would make a trace without an end.
	Linked bool `json:"linked,omitempty"`
}

const traceparent = "traceparent"

// OriginOf returns where ctx is.
func OriginOf(ctx context.Context) Origin {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return Origin{}
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	_, inTask := ctx.Value(taskKey{}).(bool)
	return Origin{carrier[traceparent], inTask}
}

// Continue returns a context whose next span continues the trace that a caller names in
// its header.
func Continue(ctx context.Context, header string) context.Context {
	if header == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: header})
}

type taskKey struct{}

// Task begins the span of a task. It belongs to the trace of the request that asked for
// the task.
func (t Tracer) Task(ctx context.Context, kind string, from Origin) (context.Context, Span) {
	if t.tracer == nil {
		return ctx, Span{}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attribute.String("perennial.task.kind", kind))}
	if there := Continue(context.Background(), from.Traceparent); from.Linked {
		options = append(options, trace.WithLinks(trace.LinkFromContext(there)))
	} else if parent := trace.SpanContextFromContext(there); parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	return t.begin(context.WithValue(ctx, taskKey{}, true), "task "+kind, options...)
}
