package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// JSONBody is a JSON object that an operation reads by itself. Embed it in the
// operation's input.
type JSONBody struct {
	text []byte
}

// Resolve reads the body. Whatever content type it claims, it is read as JSON.
func (b *JSONBody) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	text, err := ReadBody(r)
	if err != nil {
		return []error{err}
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return []error{fault.New(fault.Invalid, "a JSON body is required").Keyed("bodyMissing")}
	}
	if err := CheckText("the body", "", string(text)); err != nil {
		return []error{err}
	}
	if text[0] != '{' {
		return []error{fault.New(fault.Invalid, "the body must be a JSON object").Keyed("bodyMalformed")}
	}
	b.text = text
	return nil
}

// Into puts the body's fields into v and leaves alone what the body does not
// name. Its failures are Invalid and name the field.
func (b *JSONBody) Into(v any) error {
	err := json.Unmarshal(b.text, v)
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "field '%s' cannot be a %s", wrong.Field, wrong.Value).Keyed("bodyField").At(wrong.Field)
	}
	return fault.Because(fault.Invalid, err, "the body is not well-formed JSON: %s", strings.TrimPrefix(err.Error(), "json: ")).Keyed("bodyMalformed")
}

// ReadBody reads a request's whole body. One that is too large is a fault of
// kind TooLarge.
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
	return text, nil
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes", MaxBody).Keyed("bodyTooLarge")
}
