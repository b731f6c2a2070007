package inbound

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web"
)

// ReturnsPath is where providers of e-mail report what came back; the provider's name follows.
const ReturnsPath = "/hooks/mail/"

// Returns takes the reports of one provider of e-mail.
type Returns struct {
	Provider string // as its path names it
	// Read returns what a report says; nil when that is nothing about an address.
	Read func(body []byte) (*notify.Return, error)
	Take func(ctx context.Context, r notify.Return) error
}

// Handler answers the provider. A report about a letter that is not ours is accepted: the provider
// would repeat what is refused.
func (p Returns) Handler(frame web.Frame) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+ReturnsPath+p.Provider, func(w http.ResponseWriter, r *http.Request) {
		if err := p.take(r); err != nil {
			web.WriteError(w, r, err)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	return frame.Around(web.Routes(mux))
}

func (p Returns) take(r *http.Request) error {
	body, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	report, err := p.Read(body)
	if err != nil || report == nil {
		return err
	}
	if err = p.Take(r.Context(), *report); fault.Is(err, fault.NotFound) {
		web.Note(r.Context(), err)
		return nil
	}
	return err
}
