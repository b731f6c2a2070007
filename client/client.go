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
	options = append(options, untyped, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set(keyHeader, key)
		return nil
	}))
	return NewClientWithResponses(address, options...)
}

// untyped takes the type off answers that are empty: the service says of every answer
// that it is JSON, and what is generated would read nothing as JSON.
func untyped(c *Client) error {
	if c.Client == nil {
		c.Client = &http.Client{}
	}
	c.Client = emptied{c.Client}
	return nil
}

type emptied struct{ HttpRequestDoer }

// Do sends a request.
func (e emptied) Do(r *http.Request) (*http.Response, error) {
	answer, err := e.HttpRequestDoer.Do(r)
	if err == nil && answer.ContentLength == 0 {
		answer.Header.Del("Content-Type")
	}
	return answer, err
}
