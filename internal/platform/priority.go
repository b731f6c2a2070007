package platform

import "context"

// Priority is the order in which a client that has to wait for the platform's limits
// serves calls.
type Priority int

// The priorities, the first served first.
const (
	ForPerson  Priority = iota // a person waits for the answer
	Background                 // charges and what keeps up with the platform
	Bulk                       // reads or changes much, and may take hours
)

type priorityKey struct{}

// Interactive marks a context in which a person waits for the answer. A client
// that has to wait for the platform's limits serves such calls first. A context that is
// marked InBulk stays so: what acts on many contracts calls the same services as a person.
func Interactive(ctx context.Context) context.Context {
	if PriorityOf(ctx) == Bulk {
		return ctx
	}
	return context.WithValue(ctx, priorityKey{}, ForPerson)
}

// InBulk marks a context in which much is read or changed and nothing waits for the end. A client
// that has to wait for the platform's limits serves such calls last.
func InBulk(ctx context.Context) context.Context {
	return context.WithValue(ctx, priorityKey{}, Bulk)
}

// PriorityOf returns the priority of what is done in ctx: Background unless it is marked.
func PriorityOf(ctx context.Context) Priority {
	if p, marked := ctx.Value(priorityKey{}).(Priority); marked {
		return p
	}
	return Background
}

// IsInteractive reports whether a person waits for what is done in ctx.
func IsInteractive(ctx context.Context) bool { return PriorityOf(ctx) == ForPerson }
