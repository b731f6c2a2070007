// Package inbound takes webhooks off the wire: the platform's, and those of the provider of SMS. Whether
// they are genuine and what they mean is left to the domain.
package inbound

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// Receiver takes one delivery in. When it returns nil the delivery is durable.
// It fails with Unauthenticated when the signature is wrong, Invalid when the
// delivery cannot be read, NotFound when it concerns a shop that we do not
// serve, and Unavailable when it should be delivered again.
type Receiver interface {
	Receive(ctx context.Context, header func(name string) string, body []byte) error
}

// New returns the handler of POST /webhooks and everything below it.
func New(to Receiver, frame web.Frame) http.Handler {
	mux := http.NewServeMux()
	receive := func(w http.ResponseWriter, r *http.Request) {
		if err := take(to, r); err != nil {
			web.WriteError(w, r, err)
			return
		}
		w.WriteHeader(http.StatusOK)
	}
	mux.HandleFunc("POST /webhooks", receive)
	mux.HandleFunc("POST /webhooks/{rest...}", receive)
	return frame.Around(web.Routes(mux))
}

func take(to Receiver, r *http.Request) error {
	body, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	err = to.Receive(r.Context(), r.Header.Get, body)
	if fault.Is(err, fault.NotFound) {
		// A shop that has left us: the platform would repeat what is refused.
		web.Note(r.Context(), err)
		return nil
	}
	return err
}
