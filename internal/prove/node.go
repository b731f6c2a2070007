package prove

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/store"
)

// node is a process of the service. When it dies everything in its memory goes:
// tasks, numbers, caches, what it knew of the platform's limits.
type node struct {
	w      *world
	id     int
	skew   time.Duration // by which its clock is wrong
	jump   time.Duration // the part of that which ends without a restart
	app    *app.App      // nil: dead
	paused time.Time     // until when it does not run
	fibers []*fiber
}

// Now is the node's own clock.
func (n *node) Now() time.Time { return clock.Trim(n.w.now.Add(n.skew)) }

// How the nodes are set.
const (
	callTimeout    = 15 * time.Second
	reconcileEvery = 24 * time.Hour
	appSecret      = "the secret of a simulated app"
	publicURL      = "https://perennial.example.com"
)

// start assembles the service on the database, as a new process does.
func (n *node) start() error {
	a, err := app.On(n.w.root.Fork(n), app.Options{
		Settings: config.Server{
			Platform: config.Platform{
				PlatformURL: "https://{shop}", APIVersion: schema.Version, AppSecret: appSecret, PublicURL: n.w.public,
				CallTimeout: 1000 * time.Hour, // the machine's: calls end by the simulation's time
			},
			ReconcileEvery: reconcileEvery,
		},
		Clock: n, Log: slog.New(slog.DiscardHandler), Kind: app.Sandbox,
		Simulated: n.simulated(),
	})
	if err != nil {
		return fmt.Errorf("start node %d: %w", n.id, err)
	}
	n.app = a
	n.w.note("start", n.String())
	n.w.stir()
	n.w.dispatch()
	return nil
}

// simulated is what the simulation puts in the place of the machine.
func (n *node) simulated() *app.Simulated {
	s := &app.Simulated{Platform: clientTransport{n}, Wait: n.wait, Mail: letters{n.w}}
	if n.w.pair != nil {
		s.Peers, s.Keys = peerTransport{n}, keys{n}
	}
	return s
}

// die ends the process where it is.
func (n *node) die() {
	n.app = nil
	n.paused = time.Time{}
	fibers := n.fibers
	n.fibers = nil
	for _, f := range fibers {
		f.end()
	}
	n.w.note("die", n.String())
}

func (n *node) String() string { return fmt.Sprintf("%sn%d", n.w.name, n.id) }

// able reports whether the node can begin something.
func (n *node) able() bool { return n.app != nil && !n.paused.After(n.w.now) }

// spawn begins something in the node's process.
func (n *node) spawn(name string, do func(ctx context.Context, a *app.App)) {
	a := n.app
	f := newFiber(n, name, func() { do(context.Background(), a) })
	n.fibers = append(n.fibers, f)
	n.w.at(n.w.now, func() { n.w.resume(f) })
}

// wait is how the client of the platform lets time pass.
func (n *node) wait(_ context.Context, least, most time.Duration) error {
	n.w.sleep(n.w.between(least, most))
	return nil
}

// Transact is the seam of the node's store: time passes, and anything can
// happen, before a transaction begins and after it has ended.
func (n *node) Transact(_ context.Context, run func(commit bool) error) error {
	w := n.w
	w.sleep(w.between(0, 2*time.Millisecond))
	switch w.databaseFault() {
	case DatabaseAway:
		return errAway
	case DatabaseConflict:
		err := run(false)
		w.sleep(w.between(time.Millisecond, 50*time.Millisecond))
		return err
	case CommitLost:
		if err := run(true); err != nil {
			return err
		}
		w.sleep(w.between(time.Millisecond, 5*time.Second))
		return errCommitLost
	}
	err := run(true)
	w.sleep(w.between(0, 2*time.Millisecond))
	return err
}

// Enqueue is given the tasks of a transaction that has committed.
func (n *node) Enqueue(tasks []task.Task) {
	for _, t := range tasks {
		if !slices.Contains(n.w.queue, t) {
			n.w.queue = append(n.w.queue, t)
		}
	}
	n.w.dispatch()
}

var _ store.TxInterceptor = (*node)(nil)

// letters takes e-mails, as a mail server would.
type letters struct{ w *world }

// Send takes every letter.
func (l letters) Send(_ context.Context, list []notify.Email) []error {
	l.w.sleep(l.w.between(time.Millisecond, time.Second))
	return make([]error, len(list))
}

var _ http.RoundTripper = clientTransport{}
