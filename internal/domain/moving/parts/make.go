package parts

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/moving"
)

const (
	// madeAtOnce is how many parts a step makes.
	madeAtOnce = 32
	// makeFor is how long a step makes parts, and makeTime how long one of them may take: together
	// shorter than a worker has the move.
	makeFor  = time.Minute
	makeTime = time.Minute
)

// make makes a batch of the parts that go. When none is left, all are made.
func (j *job) make(ctx context.Context, p *moving.Parts) error {
	batch, err := j.ready(ctx)
	if err != nil {
		return err
	}
	if len(batch) == 0 {
		p.Make = false
		return nil
	}
	for _, part := range batch {
		if j.Clock.Now().Sub(j.now) > makeFor {
			break
		}
		if err := j.makeOne(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// ready returns the parts that are made next: all are of one kind.
func (j *job) ready(ctx context.Context) (batch []moving.Part, err error) {
	err = j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) error {
		for _, kind := range moving.PartKinds {
			if batch, err = tx.MoveParts(ctx, j.move.ID, moving.PartMatch{Kind: kind, Stages: []moving.PartStage{moving.PartReady}}, moving.PartKey{}, madeAtOnce); err != nil || len(batch) > 0 {
				return err
			}
		}
		return nil
	})
	return batch, err
}

// makeOne makes a part and notes it. One that is refused stays.
func (j *job) makeOne(ctx context.Context, part moving.Part) error {
	within, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	err := j.maker(part.Kind).make(within, j, &part)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err == nil:
		part.Stage, part.MadeAt, part.Reason = moving.PartMade, j.Clock.Now(), ""
	case passing(err):
		j.Log.WarnContext(ctx, "a part of a move was not made", "shop", j.store.Domain, "move", part.Move, "kind", part.Kind, "part", part.There, "error", err)
		return err
	default:
		text, code := refusal(err)
		_, come := j.move.Places()
		part.Reason = text
		part.Findings = append(part.Findings, moving.Finding{Fit: moving.Stays, Code: code, Text: fmt.Sprintf("It was refused %s: %s.", come, text)})
		part.Judge(part.Findings)
	}
	return j.put(ctx, part)
}
