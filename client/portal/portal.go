// Package portal calls the interface of shoppers who are signed in at a store.
package portal

import (
	"net/http"

	"github.com/perennialhq/perennial/client"
	"github.com/perennialhq/perennial/client/internal/call"
)

// Client calls the operations as one shopper.
type Client struct{ caller *call.Caller }

// ID is the number of an object or its graph id, such as gid://shopify/Order/1.
type ID = client.ID

// New returns a client for a store's own domain, such as https://shop.example.com. The HTTP client
// has the cookies of the shopper's session there; see client.WithHTTPClient.
func New(address string, options ...client.Option) *Client {
	return &Client{call.New(address, func(*http.Request) {}, options)}
}
