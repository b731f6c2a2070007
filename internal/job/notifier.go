package job

import (
	"context"
	"sync"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// near is River's SQLite driver with notifications that stay in the process: on
// SQLite the process that adds tasks is the one that runs them, so nothing needs
// to be written or asked for. River's own imitation is a table that it polls.
type near struct {
	*riversqlite.Driver
	bell *notifier
}

// SupportsListener says that there is something to listen to.
func (near) SupportsListener() bool { return true }

// SupportsListenNotify says that River itself has nothing to send: the bell is
// rung when a transaction has committed.
func (near) SupportsListenNotify() bool { return false }

// GetListener returns an ear for the bell.
func (n near) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{bell: n.bell}
}

// notifier tells the listeners of a process that there are new tasks.
type notifier struct {
	mu   sync.Mutex
	ears map[*listener]chan struct{}
}

func (b *notifier) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rung := range b.ears {
		select {
		case rung <- struct{}{}:
		default: // a notification is pending: one is enough
		}
	}
}

// listener implements River's listener on a bell.
type listener struct {
	bell *notifier
	rung chan struct{}
}

// What River calls a new task, and what it says of it.
const (
	insertTopic   = "river_insert"
	insertPayload = `{"queue":"` + river.QueueDefault + `"}`
)

// Connect begins to listen.
func (e *listener) Connect(context.Context) error {
	e.bell.mu.Lock()
	defer e.bell.mu.Unlock()
	if e.bell.ears == nil {
		e.bell.ears = make(map[*listener]chan struct{})
	}
	e.rung = make(chan struct{}, 1)
	e.bell.ears[e] = e.rung
	return nil
}

// Close ends listening.
func (e *listener) Close(context.Context) error {
	e.bell.mu.Lock()
	defer e.bell.mu.Unlock()
	delete(e.bell.ears, e)
	return nil
}

// WaitForNotification waits for the bell or for the end of ctx.
func (e *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.rung:
		return &riverdriver.Notification{Topic: insertTopic, Payload: insertPayload}, nil
	}
}

// Listen does nothing: there is one topic.
func (e *listener) Listen(context.Context, string) error { return nil }

// Unlisten does nothing.
func (e *listener) Unlisten(context.Context, string) error { return nil }

// Ping finds the bell always there.
func (e *listener) Ping(context.Context) error { return nil }

// Schema is empty: SQLite has none.
func (e *listener) Schema() string { return "" }

// SetAfterConnectExec does nothing: nothing is connected.
func (e *listener) SetAfterConnectExec(string) {}
