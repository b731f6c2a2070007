package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// State is how the queue does, for an operator to see.
type State struct {
	OldestDue time.Time // when the task that waits longest for a worker became due; zero: none waits
	OldestRun time.Time // when the task that has run longest was begun; zero: none runs
	PausedAt  time.Time // when the queue was paused; zero: it is not
	GivenUp   int       // tasks that failed for good and are still kept, up to maxListed
}

// maxListed is the highest number of tasks that State counts.
const maxListed = 100

// State returns how the queue does.
func (q *Queue[TTx]) State(ctx context.Context) (State, error) {
	var s State
	due, err := q.first(ctx, river.JobListOrderByScheduledAt, rivertype.JobStateAvailable)
	if err != nil {
		return s, err
	}
	if due != nil {
		s.OldestDue = due.ScheduledAt
	}
	running, err := q.first(ctx, river.JobListOrderByTime, rivertype.JobStateRunning)
	if err != nil {
		return s, err
	}
	if running != nil && running.AttemptedAt != nil {
		s.OldestRun = *running.AttemptedAt
	}
	given, err := q.inserter.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateDiscarded).First(maxListed))
	if err != nil {
		return s, fmt.Errorf("list the tasks that were given up: %w", err)
	}
	s.GivenUp = len(given.Jobs)
	named, err := q.inserter.QueueGet(ctx, river.QueueDefault)
	switch {
	case errors.Is(err, rivertype.ErrNotFound): // no worker was ever started
	case err != nil:
		return s, fmt.Errorf("read the state of the queue: %w", err)
	case named.PausedAt != nil:
		s.PausedAt = *named.PausedAt
	}
	return s, nil
}

// first returns the first task in a state, or nil.
func (q *Queue[TTx]) first(ctx context.Context, by river.JobListOrderByField, state rivertype.JobState) (*rivertype.JobRow, error) {
	list, err := q.inserter.JobList(ctx, river.NewJobListParams().States(state).OrderBy(by, river.SortOrderAsc).First(1))
	if err != nil {
		return nil, fmt.Errorf("list the tasks that are %s: %w", state, err)
	}
	if len(list.Jobs) == 0 {
		return nil, nil
	}
	return list.Jobs[0], nil
}

// StaleAfter is how long a task may be marked as running before it is taken for lost.
const StaleAfter = DefaultTimeout + rescueAfter
