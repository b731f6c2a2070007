package web

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/idempotency"
)

// repeatable reports whether an operation takes the header: those that change
// something do, unless callers are applications or not signed in.
func (g Gate) repeatable(op Operation) bool {
	return op.Method != http.MethodGet && !g.Apps && !op.Public
}

// repeatErrors lists what the header lets an operation answer in addition to its own
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
			"Values belong to the caller and to method and path. " + unkept,
	}
}
