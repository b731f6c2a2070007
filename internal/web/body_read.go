package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 1 << 20

// limitBody refuses a request whose body is too large, whether or not its operation
// reads one. A body that does not say its length is read for that.
func limitBody(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if r.ContentLength >= 0 && r.ContentLength <= MaxBody {
		next(ctx)
		return
	}
	if _, err := ReadBody(r); err != nil {
		WriteError(w, r, err)
		return
	}
	next(ctx)
}

// ReadBody reads a request's whole body, which can be read again afterwards. One that
// is too large is a fault of kind TooLarge.
func ReadBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody { // no use in waiting for it
		return nil, tooLarge()
	}
	text, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, fault.Because(fault.Invalid, err, "the body could not be read")
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return text, nil
}

// AllowBody lets the body of a request have so many bytes in place of MaxBody. It is called before
// the body is read.
func AllowBody(w http.ResponseWriter, r *http.Request, most int64) {
	if body := traceOf(r.Context()).body; body != nil {
		r.Body = http.MaxBytesReader(w, body, most)
	}
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes", MaxBody).Code("bodyTooLarge")
}
