// Package client calls the admin interface with types. The operations are
// generated from the interface's own document.
package client

import (
	"context"
	"net/http"
)

//go:generate go run ./generate

// keyHeader carries the key of the store.
const keyHeader = "X-API-Key"

// New returns a client for the interface at an address such as
// https://subscriptions.example.com, with a key of the store. Answers that are no
// success are not errors: each operation's response has the status and, in
// JSONDefault, what the service said.
func New(address, key string, options ...ClientOption) (*ClientWithResponses, error) {
	options = append(options, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set(keyHeader, key)
		return nil
	}))
	return NewClientWithResponses(address, options...)
}
