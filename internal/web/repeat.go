package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// settleTime is how long keeping an answer may take, whether or not its reader
// still waits.
const settleTime = 5 * time.Second

// changeTime is how long a change may take. It ends before its claim expires, after which the
// request may run again.
const changeTime = idempotency.Lease - 2*settleTime

// withoutCancel lets a change complete although its caller disconnects: the client would
// repeat a change that was left half done, and it would be made twice.
func withoutCancel(ctx huma.Context, next func(huma.Context)) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), changeTime)
	defer cancel()
	next(huma.WithContext(ctx, bounded))
}

// once lets a request through that carries no Idempotency-Key, or one that is
// new. To one that was carried out it gives the first answer.
func (g Gate) once(op Operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) { g.carryOutOnce(ctx, op, next) }
}

func (g Gate) carryOutOnce(ctx huma.Context, op Operation, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if len(r.Header.Values(repeatHeader)) == 0 {
		next(ctx)
		return
	}
	claim, err := g.claim(ctx.Context(), r, op)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	of := CallerOf(ctx.Context()).Shop.ID
	known, err := g.Answers.Claim(r.Context(), of, claim)
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
			still.Message += ". If the answer is the same after a minute, the outcome is not known: check whether it was carried out before you send it with another value"
		}
		WriteError(w, r, still.Code("idempotencyKeyInUse").Field(repeatHeader))
	case idempotency.Reused:
		reused := fault.New(fault.Invalid, "this %s belongs to another request to the same path: its query or body differs", repeatHeader).
			Code("idempotencyKeyReused").Field(repeatHeader)
		traceOf(r.Context()).failed(reused)
		writeProblem(w, newProblem(r, kindAnswer{status: http.StatusUnprocessableEntity, title: "The idempotency key belongs to another request"}, reused))
	default:
		g.carryOut(ctx, of, claim, op, next)
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
		Caller: CallerOf(ctx).Key.ID, Customer: CallerOf(ctx).Actor.Customer, Line: g.Line, Method: r.Method, Path: r.URL.Path, Query: traceOf(ctx).url.RawQuery, Body: body, Key: key, Once: op.Once,
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

// markBegun returns an operation that records that it has begun: an answer given before
// that is not kept.
func markBegun[I, O any](handle func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
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
		err = g.Answers.Keep(bounded, of, claim, withoutSecret(answer, op.Secret))
	} else {
		err = release()
	}
	if err != nil {
		Note(r.Context(), err) // it was carried out all the same, and the claim expires
	}
	sendAnswer(w, answer)
}
