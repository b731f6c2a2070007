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

type restKey struct{}

// WithRest returns the context of a task that may rest: begin is called for each rest,
// and what it returns at the end of it, also by several parts of the task at once.
func WithRest(ctx context.Context, begin func() (end func())) context.Context {
	return context.WithValue(ctx, restKey{}, begin)
}

// Rest says that what is done in ctx waits for something to which no worker can help, so
// that others may work meanwhile. The function that it returns is called when the wait is
// over, and returns when the task may go on.
func Rest(ctx context.Context) (end func()) {
	if begin, ok := ctx.Value(restKey{}).(func() (end func())); ok {
		return begin()
	}
	return func() {}
}
