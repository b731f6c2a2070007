// Package task says what a unit of background work is to the code that asks for
// one. Who carries it out, and when, is the job package's affair.
package task

import "context"

// Task is work to be done after the change that asks for it is committed. It is
// a small struct of ids that can be written as JSON; two equal tasks that wait
// at the same time are one. It may be carried out more than once.
type Task interface {
	// Kind names the work. It is stored and must not change.
	Kind() string
}

// Yielder lets a task give up its worker while it waits. Several goroutines of the task
// may yield at the same time.
type Yielder interface {
	// Yield begins a rest. What it returns ends it.
	Yield() (end func())
	// Done ends a part: others of the task go on.
	Done()
}

type yielderKey struct{}

// WithYielder returns the context of a task that may rest.
func WithYielder(ctx context.Context, r Yielder) context.Context {
	return context.WithValue(ctx, yielderKey{}, r)
}

// Yield says that what is done in ctx waits for something to which no worker can help, so
// that others may work meanwhile. The function that it returns is called when the wait is
// over, and returns when the task may go on.
func Yield(ctx context.Context) (end func()) {
	if r, ok := ctx.Value(yielderKey{}).(Yielder); ok {
		return r.Yield()
	}
	return func() {}
}

// Done says that one of several parts of a task which are done at once is over, so that
// others may work while the rest of them wait.
func Done(ctx context.Context) {
	if r, ok := ctx.Value(yielderKey{}).(Yielder); ok {
		r.Done()
	}
}
