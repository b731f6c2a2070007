// Package client calls the admin and the loyalty interface of Perennial. Packages portal and
// partner call those of shoppers and of applications.
//
// A method that fails returns an *Error when the service answered, and otherwise the error of
// the HTTP client. Nothing is tried again: give a call that changes something a key with
// WithIdempotencyKey, and repeat it under the same key.
package client

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/client/internal/call"
)

// Client calls the operations with a key of one store.
type Client struct{ caller *call.Caller }

// Option changes how requests are sent.
type Option = call.Option

// Error is an answer that is no success. Match it with errors.AsType.
type Error = call.Error

// ID is the number of an object or its graph id, such as gid://shopify/Order/1.
type ID = call.ID

// New returns a client for the service at an address such as https://subscriptions.example.com.
// The address of the memberships host makes it one for memberships.
func New(address, key string, options ...Option) *Client {
	return &Client{call.New(address, func(r *http.Request) { r.Header.Set("X-API-Key", key) }, options)}
}

// WithHTTPClient sends requests with c instead of http.DefaultClient.
func WithHTTPClient(c *http.Client) Option { return func(to *call.Caller) { to.HTTP = c } }

// WithIdempotencyKey makes the calls under ctx carry the key: for 24 hours the same call with the
// same key is not carried out again but given its first answer.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return call.WithIdempotencyKey(ctx, key)
}

// WithHeader makes the calls under ctx write the headers of their answers to header, such as
// X-Total-Count and Link of lists and the RateLimit headers.
func WithHeader(ctx context.Context, header *http.Header) context.Context {
	return call.WithHeader(ctx, header)
}
