package web

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
)

// keeps reports whether an answer is final. One that asks the client to come
// again is not, nor one about the caller or about us. Its size does not matter: what
// made a thing would make another one.
func keeps(a idempotency.Answer) bool {
	switch {
	case a.Status >= http.StatusInternalServerError, a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, a.Status == http.StatusTooManyRequests:
		return false
	case len(http.Header(a.Header).Values("Retry-After")) > 0:
		return false
	}
	return true
}

// inDoubt reports whether an answer leaves open whether the request was carried out.
func inDoubt(a idempotency.Answer) bool {
	var p Problem
	return a.Status == http.StatusInternalServerError ||
		a.Status == http.StatusServiceUnavailable && json.Unmarshal(a.Body, &p) == nil && p.ErrorKey == fault.InDoubt
}

// withoutSecret returns the answer as it is kept: a secret that is shown once is not
// kept anywhere. An answer that has the secret is a JSON object.
func withoutSecret(a idempotency.Answer, secret string) idempotency.Answer {
	var fields map[string]json.RawMessage
	if secret == "" || json.Unmarshal(a.Body, &fields) != nil || fields[secret] == nil {
		return a
	}
	fields[secret] = json.RawMessage("null")
	text, err := json.Marshal(fields)
	if err != nil { // of what was just read: it cannot happen, and nothing is kept then
		text = nil
	}
	a.Body = text
	return a
}

// heldAnswer keeps an answer back. Its header holds only what the operation
// set: what every answer carries is the request's own and never repeated.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header that the operation sets.
func (h *heldAnswer) Header() http.Header { return h.header }

// Write adds to the body.
func (h *heldAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }

// WriteHeader sets the status, the first time.
func (h *heldAnswer) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *heldAnswer) answer() idempotency.Answer {
	a := idempotency.Answer{Status: h.status, Header: h.header, Body: h.body.Bytes()}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return a
}

func sendAnswer(w http.ResponseWriter, a idempotency.Answer) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client is gone
}
