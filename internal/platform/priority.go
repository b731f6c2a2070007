package platform

import "context"

type interactiveKey struct{}

// Interactive marks a context in which a person waits for the answer. A client
// that has to wait for the platform's limits serves such calls first.
func Interactive(ctx context.Context) context.Context {
	return context.WithValue(ctx, interactiveKey{}, true)
}

// IsInteractive reports whether a person waits for what is done in ctx.
func IsInteractive(ctx context.Context) bool {
	marked, _ := ctx.Value(interactiveKey{}).(bool)
	return marked
}
