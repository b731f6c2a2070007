package job

import (
	"context"
	"encoding/json"

	"github.com/riverqueue/river/rivertype"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/tracing"
)

// metadata is what is stored with a task beyond its arguments. Equal tasks that wait are
// one, whatever theirs is: the first one's stays.
type metadata struct {
	Origin tracing.Origin `json:"origin"`
}

// metadataOf returns the metadata of a task that is asked for within ctx; nil: there is none.
func metadataOf(ctx context.Context) []byte {
	m := metadata{tracing.OriginOf(ctx)}
	if m == (metadata{}) {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil // two plain fields are always JSON
	}
	return text
}

// observed returns what carries out a task, marked and measured.
func (o Options) observed(row *rivertype.JobRow, fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		var m metadata
		_ = json.Unmarshal(row.Metadata, &m) // without an origin the task is a trace of its own
		start := clock.System{}.Now()
		ctx, span := o.Tracer.Task(ctx, row.Kind, m.Origin)
		err := fn(ctx)
		span.End(err)
		if o.Observe != nil {
			o.Observe(row.Kind, clock.System{}.Now().Sub(start), err)
		}
		return err
	}
}
