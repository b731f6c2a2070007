// Package partner calls the interface of applications that act for many stores.
package partner

import (
	"net/http"

	"github.com/perennialhq/perennial/client"
	"github.com/perennialhq/perennial/client/internal/call"
)

// Client calls the operations as one application.
type Client struct{ caller *call.Caller }

// New returns a client for the service at an address, with the application's id and secret.
func New(address, id, secret string, options ...client.Option) *Client {
	return &Client{call.New(address, func(r *http.Request) { r.SetBasicAuth(id, secret) }, options)}
}
