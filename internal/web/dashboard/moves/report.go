package moves

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// writeTime is how long it may take to send a piece of a report.
const writeTime = 30 * time.Second

// report answers with every contract of a move as a file, which is sent as it is read.
func (m *room) report(write func(mv Moves, ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error, kind, ending string) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		id, err := moveID(r)
		if err != nil {
			return err
		}
		if _, err := m.Moves.Progress(r.Context(), v.Shop.ID, id); err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="move-%d.%s"`, id, ending))
		h.Set("X-Content-Type-Options", "nosniff")
		if err := write(m.Moves, r.Context(), v.Shop.ID, id, pieces{w, http.NewResponseController(w)}); err != nil {
			web.Note(r.Context(), err)
			panic(http.ErrAbortHandler) // the answer has begun: only a cut connection says that it is not whole
		}
		return nil
	}
}

// pieces gives each piece of an answer time to be sent.
type pieces struct {
	http.ResponseWriter

	control *http.ResponseController
}

// Write writes a piece.
func (p pieces) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(clock.System{}.Now().Add(writeTime)) // where that is not possible, the server's limit holds
	return p.ResponseWriter.Write(b)
}
