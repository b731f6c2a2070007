package job

import (
	"context"
	"sync"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// localDriver is River's SQLite driver with notifications that stay in the process: on
// SQLite the process that adds tasks is the one that runs them, so nothing needs
// to be written or asked for. River's own imitation is a table that it polls.
type localDriver struct {
	*riversqlite.Driver
	notifier *notifier
}

// SupportsListener says that there is something to listen to.
func (localDriver) SupportsListener() bool { return true }

// SupportsListenNotify says that River itself has nothing to send: the queue
// notifies when a transaction has committed.
func (localDriver) SupportsListenNotify() bool { return false }

// GetListener returns a listener of this process's notifier.
func (d localDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{notifier: d.notifier}
}

// notifier signals the listeners of a process that there are new tasks.
type notifier struct {
	mu        sync.Mutex
	listeners map[*listener]chan struct{}
}

func (n *notifier) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, signal := range n.listeners {
		select {
		case signal <- struct{}{}:
		default: // a notification is pending: one is enough
		}
	}
}

// listener implements River's listener on a notifier.
type listener struct {
	notifier *notifier
	signal   chan struct{}
}

// What River calls a new task, and what it says of it.
const (
	insertTopic   = "river_insert"
	insertPayload = `{"queue":"` + river.QueueDefault + `"}`
)

// Connect begins to listen.
func (l *listener) Connect(context.Context) error {
	l.notifier.mu.Lock()
	defer l.notifier.mu.Unlock()
	if l.notifier.listeners == nil {
		l.notifier.listeners = make(map[*listener]chan struct{})
	}
	l.signal = make(chan struct{}, 1)
	l.notifier.listeners[l] = l.signal
	return nil
}

// Close ends listening.
func (l *listener) Close(context.Context) error {
	l.notifier.mu.Lock()
	defer l.notifier.mu.Unlock()
	delete(l.notifier.listeners, l)
	return nil
}

// WaitForNotification waits for a signal or for the end of ctx.
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.signal:
		return &riverdriver.Notification{Topic: insertTopic, Payload: insertPayload}, nil
	}
}

// Listen does nothing: there is one topic.
func (l *listener) Listen(context.Context, string) error { return nil }

// Unlisten does nothing.
func (l *listener) Unlisten(context.Context, string) error { return nil }

// Ping does nothing: the notifier is in this process.
func (l *listener) Ping(context.Context) error { return nil }

// Schema is empty: SQLite has none.
func (l *listener) Schema() string { return "" }

// SetAfterConnectExec does nothing: nothing is connected.
func (l *listener) SetAfterConnectExec(string) {}
