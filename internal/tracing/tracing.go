// Package tracing marks requests, tasks, calls of the platform and transactions as spans
// of OpenTelemetry. What a span says is made by the functions of this package only, and
// none of them takes a text of a person, a path, a query or a message of an error.
package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// scope names the spans' maker.
const scope = "github.com/perennialhq/perennial"

// Tracer begins spans that belong to no other span of this process. The zero value begins
// none.
type Tracer struct{ tracer trace.Tracer }

// New returns the tracer of a provider.
func New(p trace.TracerProvider) Tracer { return Tracer{p.Tracer(scope)} }

// Span is work that has begun. The zero value is not recorded.
type Span struct{ span trace.Span }

// Attribute is what a span says of its work.
type Attribute = attribute.KeyValue

// Request begins the span of an HTTP request. It continues the trace of ctx.
func (t Tracer) Request(ctx context.Context) (context.Context, Span) {
	return t.begin(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
}

func (t Tracer) begin(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, Span) {
	if t.tracer == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, Span{span}
}

// Call begins the span of a call of the platform within the span of ctx. Without one it is
// not recorded.
func Call(ctx context.Context, document string) (context.Context, Span) {
	return within(ctx, "platform "+document, trace.SpanKindClient, attribute.String("graphql.document.name", document))
}

// Transaction begins the span of a transaction on a shop's data likewise; shop is 0 where it
// belongs to none.
func Transaction(ctx context.Context, shop int64) (context.Context, Span) {
	return within(ctx, "transaction", trace.SpanKindClient, Shop(shop))
}

// ReadOnly begins the span of a transaction that reads a shop's data likewise.
func ReadOnly(ctx context.Context, shop int64) (context.Context, Span) {
	return within(ctx, "read-only transaction", trace.SpanKindClient, Shop(shop))
}

func within(ctx context.Context, name string, kind trace.SpanKind, attributes ...Attribute) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Recording reports whether the span is recorded: what is not needs no attributes.
func (s Span) Recording() bool { return s.span != nil && s.span.IsRecording() }

// Set adds what is known now.
func (s Span) Set(attributes ...Attribute) {
	if s.Recording() {
		s.span.SetAttributes(attributes...)
	}
}

// Answered says what was asked and answered over HTTP. The route is a pattern.
func (s Span) Answered(method, route string, status int) {
	if !s.Recording() {
		return
	}
	name := method
	if route != "" {
		name += " " + route
		s.span.SetAttributes(attribute.String("http.route", route))
	}
	s.span.SetName(name)
	s.span.SetAttributes(attribute.String("http.request.method", method), attribute.Int("http.response.status_code", status))
	if status >= 500 {
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the work. Of an error it keeps the kind: messages may name persons.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, kindOf(err))
		s.span.SetAttributes(attribute.String("error.type", kindOf(err)))
	}
	s.span.End()
}

func kindOf(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return fault.KindOf(err).String()
}

// Shop is the number by which the service knows a store.
func Shop(id int64) Attribute { return attribute.Int64("perennial.shop.id", id) }

// Points is what the platform counted for a call.
func Points(n float64) Attribute { return attribute.Float64("perennial.platform.points", n) }

// Runs is how often something was begun until it ended.
func Runs(n int) Attribute { return attribute.Int("perennial.runs", n) }

// RequestID is the id that the answer and the log name.
func RequestID(id string) Attribute { return attribute.String("perennial.request.id", id) }
