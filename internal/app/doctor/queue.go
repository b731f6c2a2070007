package doctor

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/job"
)

// How long a task may be due before the check warns or fails.
const (
	dueLong    = 2 * time.Minute
	dueTooLong = 15 * time.Minute
)

// queue checks that tasks are worked.
func queue(ctx context.Context, c *checkup) Finding {
	const start = "see that a perennial serve with PERENNIAL_WORK=true runs, and read its log"
	s, err := c.db.QueueState(ctx)
	if err != nil {
		return failed("repair the database, then run perennial doctor again", "%v", err)
	}
	now := c.Clock.Now()
	waits, runs := since(now, s.OldestDue), since(now, s.OldestRun)
	switch {
	case !s.PausedAt.IsZero():
		return failed("resume it: UPDATE river_queue SET paused_at = NULL", "the queue has been paused since %s", s.PausedAt.UTC().Format(time.RFC3339))
	case waits > dueTooLong:
		return failed(start, "a task has been due for %s and no worker takes it", waits)
	case runs > job.StaleAfter:
		return failed("restart the nodes one by one: another one takes the task up again", "a task has been marked as running for %s", runs)
	case waits > dueLong:
		return warning(start+"; raise PERENNIAL_WORKERS when it is busy", "a task has been due for %s", waits)
	case s.GivenUp > 0:
		return warning("read perennial stuck for each store, and the log for the tasks' errors; the sweep begins what is due again", "%d tasks failed for good lately", s.GivenUp)
	}
	return ok("the oldest due task waits %s", waits)
}

// since returns how long ago an instant was; 0 for the zero time.
func since(now, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(0, now.Sub(at).Round(time.Second))
}
