package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How a request that may be repeated is marked, and the answer that it gets
// when it was.
const (
	repeatHeader   = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
)

// settleTime is how long keeping an answer may take, whether or not its reader
// still waits.
const settleTime = 5 * time.Second

// changeTime is how long a change may take. It ends before others take it for dead.
const changeTime = idempotency.Lease - 2*settleTime

// toItsEnd lets a change be carried to its end although its caller hangs up: one that
// is left half done is asked for again, and done twice.
func toItsEnd(ctx huma.Context, next func(huma.Context)) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), changeTime)
	defer cancel()
	next(huma.WithContext(ctx, bounded))
}

// Answers keeps what requests of a shop were answered. It is shared by all
// nodes: of claims made at once it grants one.
type Answers interface {
	// Claim records a claim unless something stands against it, and returns
	// what is recorded then.
	Claim(ctx context.Context, of shop.ID, c idempotency.Claim) (idempotency.Record, error)
	// Keep records the answer to a claim. It does nothing for a claim that was
	// lost.
	Keep(ctx context.Context, of shop.ID, c idempotency.Claim, a idempotency.Answer) error
	// Release ends a claim without an answer. It does nothing for a claim that
	// was lost.
	Release(ctx context.Context, of shop.ID, c idempotency.Claim) error
}

// repeatable reports whether an operation takes the header: those that change
// something do, where callers have keys.
func (a *API) repeatable(op Operation) bool { return op.Method != http.MethodGet && a.gate.keyed() }

// repeatErrors lists what the header lets an operation answer besides its own
// errors.
var repeatErrors = [...]int{http.StatusConflict, http.StatusUnprocessableEntity}

// repeatParam describes the header.
func repeatParam(op Operation) *huma.Param {
	unkept := "Not kept, so that the value can be used again: 401, 403, 409, 429, answers from 500 on, and refusals of parameters, before the operation begins."
	if op.Once {
		unkept = "Not kept, so that the value can be used again: 401, 403, 409, 429, 503 with a Retry-After, and refusals of parameters, before the operation begins. " +
			"The operation is carried out at most once: after any other answer from 500 on, and where it stays 409 for more than a minute, look whether it was done before you send it with another value."
	}
	return &huma.Param{
		Name: repeatHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(idempotency.MaxKey), Pattern: `^[!-~]+$`},
		Description: "Makes it safe to send the request again: a value of your choice, of visible ASCII characters. For 24 hours the same request with the same value is not carried out again but given the first answer, with " +
			replayedHeader + ": true. With another query or body it is answered 422, and while the first is still being carried out 409. " +
			"Values belong to the API key and to method and path. " + unkept,
	}
}

// once lets a request through that carries no Idempotency-Key, or one that is
// new. To one that was carried out it gives the first answer.
func (a *API) once(op Operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) { a.carryOutOnce(ctx, op, next) }
}

func (a *API) carryOutOnce(ctx huma.Context, op Operation, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if len(r.Header.Values(repeatHeader)) == 0 {
		next(ctx)
		return
	}
	claim, err := a.gate.claim(ctx.Context(), r, op)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	of := CallerOf(ctx.Context()).Shop.ID
	known, err := a.gate.Answers.Claim(r.Context(), of, claim)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	switch known.Check(claim) {
	case idempotency.Answered:
		w.Header().Set(replayedHeader, "true")
		sendAnswer(w, *known.Answer)
	case idempotency.Running:
		still := fault.New(fault.Conflict, "a request with this %s is still being carried out: send it again in a moment", repeatHeader)
		if op.Once {
			still.Message += ". If it is answered so after a minute, nobody knows how it ended: look whether it was done before you send it with another value"
		}
		WriteError(w, r, still.Code("idempotencyKeyInUse").Field(repeatHeader))
	case idempotency.Reused:
		reused := fault.New(fault.Invalid, "this %s belongs to another request to the same path: its query or body differs", repeatHeader).
			Code("idempotencyKeyReused").Field(repeatHeader)
		traceOf(r.Context()).failed(reused)
		writeProblem(w, newProblem(r, kindAnswer{status: http.StatusUnprocessableEntity, title: "The idempotency key belongs to another request"}, reused))
	default:
		a.gate.carryOut(ctx, of, claim, op, next)
	}
}

// claim returns a claim on the request, for which the body is read.
func (g Gate) claim(ctx context.Context, r *http.Request, op Operation) (idempotency.Claim, error) {
	values := r.Header.Values(repeatHeader)
	if len(values) > 1 {
		return idempotency.Claim{}, fault.New(fault.Invalid, "%s is given %d times: give it once", repeatHeader, len(values)).Code("idempotencyKeyInvalid").Field(repeatHeader)
	}
	key, err := idempotency.ParseKey(values[0])
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return idempotency.Claim{}, f.Field(repeatHeader)
	}
	body, err := ReadBody(r)
	if err != nil {
		return idempotency.Claim{}, err
	}
	return idempotency.Request{
		Caller: CallerOf(ctx).Key.ID, Line: g.Line, Method: r.Method, Path: r.URL.Path, Query: traceOf(ctx).url.RawQuery, Body: body, Key: key, Once: op.Once,
	}.Claim(g.Clock.Now()), nil
}

type executionKey struct{}

// execution is a claimed request that is carried out.
type execution struct {
	claim idempotency.Claim
	begun bool // it reached its operation
}

// RequestName returns what tells a request that may come again from all others of its
// store, for an operation that cannot leave it to the kept answers alone because what it
// does must never be done twice. It is empty for a request without an Idempotency-Key.
func RequestName(ctx context.Context) string {
	e, ok := ctx.Value(executionKey{}).(*execution)
	if !ok {
		return ""
	}
	return e.claim.RequestID()
}

// noted returns the operation so that it notes its beginning: an answer given
// before says nothing of what the operation would have done.
func noted[I, O any](handle func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		if e, ok := ctx.Value(executionKey{}).(*execution); ok {
			e.begun = true
		}
		return handle(ctx, in)
	}
}

// carryOut lets a claimed request through, settles the claim, and only then
// answers: an answer that a client has seen is one that it can see again.
func (g Gate) carryOut(ctx huma.Context, of shop.ID, claim idempotency.Claim, op Operation, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	settling := context.WithoutCancel(r.Context())
	release := func() error {
		bounded, cancel := context.WithTimeout(settling, settleTime)
		defer cancel()
		return g.Answers.Release(bounded, of, claim)
	}
	done := false
	defer func() {
		if !done { // a panic passes through: the frame answers it
			if err := release(); err != nil {
				Note(r.Context(), err)
			}
		}
	}()
	e := execution{claim: claim}
	held := &heldAnswer{header: http.Header{}}
	next(humago.NewContext(ctx.Operation(), r.WithContext(context.WithValue(ctx.Context(), executionKey{}, &e)), held))
	done = true
	answer := held.answer()
	doubt := op.Once && inDoubt(answer)
	if doubt {
		held.header.Del("Retry-After") // the same request gets the same answer
	}
	var err error
	if e.begun && (doubt || keeps(answer)) {
		bounded, cancel := context.WithTimeout(settling, settleTime)
		defer cancel()
		err = g.Answers.Keep(bounded, of, claim, without(answer, op.Secret))
	} else {
		err = release()
	}
	if err != nil {
		Note(r.Context(), err) // it was carried out all the same, and the claim ends by itself
	}
	sendAnswer(w, answer)
}

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

// without returns the answer as it is kept: a secret that is shown once is not
// kept anywhere. An answer that has the secret is a JSON object.
func without(a idempotency.Answer, secret string) idempotency.Answer {
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
	_, _ = w.Write(a.Body) // the client is gone: there is nobody left to tell
}
