package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/tracing"
)

// Defaults of the options.
const (
	DefaultMaxWorkers   = 10
	DefaultPollInterval = time.Second
	DefaultCooldown     = 50 * time.Millisecond
	DefaultTimeout      = 10 * time.Minute
)

const (
	// rescueAfter is how long beyond its timeout a task may be marked as
	// running before it is taken for lost with the node that ran it.
	rescueAfter = 5 * time.Minute
	// noteTimeout is how long the database may take to note that a task has ended.
	noteTimeout = time.Minute
	// keepDone is how long finished tasks stay to be looked at.
	keepDone = time.Hour
	// maxTries is how often a task is tried. What it was to do is found again
	// by the sweep.
	maxTries = 8
)

// Options say how tasks are run. The zero value is the default.
type Options struct {
	MaxWorkers   int            // tasks that this process runs at once, not counting those that have yielded
	PollOnly     bool           // do not listen to the database, which connection poolers need
	PollInterval time.Duration  // between fetches without a notification
	Cooldown     time.Duration  // between looks at the least
	Timeout      time.Duration  // of one task: its context ends then
	Log          *slog.Logger   // nil: silent
	Tracer       tracing.Tracer // marks tasks
	// Observe is given each task that has ended; nil: none is.
	Observe func(kind string, took time.Duration, err error)
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.PollInterval, DefaultPollInterval)
	set(&o.Cooldown, min(DefaultCooldown, o.PollInterval))
	set(&o.Timeout, DefaultTimeout)
	if o.MaxWorkers == 0 {
		o.MaxWorkers = DefaultMaxWorkers
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Runner carries out tasks until it is stopped.
type Runner struct {
	stop, halt func(context.Context) error
	scheduler  *scheduler
}

// Run begins to carry out tasks. They end when ctx does; Stop is the gentle way.
func (q *Queue[TTx]) Run(ctx context.Context, h *Handlers, o Options) (*Runner, error) {
	if q.notifier != nil && o.Cooldown == 0 {
		o.Cooldown = time.Millisecond // fetching is cheap: the queue is in this process
	}
	o = o.withDefaults()
	c := newScheduler(ctx, o, q.addAgain)
	workers, err := h.workers(c, func(ctx context.Context, row *rivertype.JobRow) {
		// River would note the end too, but up to a quarter of a second later;
		// until then the queue is not idle. So an error here costs only time.
		//
		// A task whose context has ended is noted all the same: a commit that is given up may
		// still happen, and on PostgreSQL River panics when one happens while it notes the
		// same end.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
		defer cancel()
		if err := q.complete(ctx, row); err != nil {
			o.Log.DebugContext(ctx, "the end of a task is noted late", "task", row.Kind, "error", err)
		}
		q.end()
	})
	if err != nil {
		return nil, fmt.Errorf("register the handlers of tasks: %w", err)
	}
	client, err := river.NewClient(q.driver, &river.Config{
		CompletedJobRetentionPeriod: keepDone,
		FetchCooldown:               o.Cooldown,
		FetchPollInterval:           o.PollInterval,
		Hooks:                       []rivertype.Hook{&waiting{}},
		JobTimeout:                  o.Timeout,
		Logger:                      o.Log,
		PollOnly:                    o.PollOnly,
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.MaxWorkers}},
		RescueStuckJobsAfter:        o.Timeout + rescueAfter,
		RetryPolicy:                 backoff{clock.System{}},
		Workers:                     workers,
	})
	if err != nil {
		return nil, fmt.Errorf("configure the job queue: %w", err)
	}
	q.scheduler.Store(c) // before anything can rest, or the queue would look idle
	if err := client.Start(ctx); err != nil {
		return nil, fmt.Errorf("start the job queue: %w", err)
	}
	return &Runner{stop: client.Stop, halt: client.StopAndCancel, scheduler: c}, nil
}

// Stop fetches no more tasks and waits for those that run. When ctx ends first, it cancels
// their contexts and waits for them to return.
func (r *Runner) Stop(ctx context.Context) error {
	defer r.scheduler.stop(ctx)
	err := r.stop(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	if err := r.halt(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}
	return nil
}

// backoff spaces the tries of a task that fails.
type backoff struct{ clock clock.Clock }

// Delays between tries. The shortest must be longer than the interval of River's
// scheduler, five seconds: a task due sooner would be made
// available at once, and there may be an equal one already.
const (
	shortestWait = 10 * time.Second
	longestWait  = 10 * time.Minute
)

// NextRetry returns the instant of the next try.
func (b backoff) NextRetry(row *rivertype.JobRow) time.Time {
	return b.clock.Now().Add(min(shortestWait<<min(len(row.Errors), 10), longestWait))
}
