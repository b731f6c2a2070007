package dashboard

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/intake"
)

// Departure is what becomes of a store that has uninstalled the app. Template "gone" shows it.
type Departure struct {
	Since, Cancels string
	Contracts      int
	Over           bool // the platform has cancelled them
}

// Departure returns what pages say of the departure of the store, or nil when it has the app.
func (v Visit) Departure(is intake.Departure, now time.Time) *Departure {
	if is.DisconnectedAt.IsZero() {
		return nil
	}
	return &Departure{Since: v.Instant(is.DisconnectedAt), Cancels: v.Instant(is.CancelsAt), Contracts: is.Contracts, Over: !now.Before(is.CancelsAt)}
}
