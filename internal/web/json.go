package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// DecodeJSON puts the fields of a JSON text into v and leaves alone what it does not
// name. Its failures are Invalid and name the field.
func DecodeJSON(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := fieldPath(text, wrong)
		return fault.New(fault.Invalid, "field '%s' cannot be %s", path, jsonKind(wrong.Value)).Code("bodyField").Field(path)
	}
	return fault.Because(fault.Invalid, err, "the body is not well-formed JSON%s", malformedAt(err)).Code("bodyMalformed")
}

// jsonKind names what package encoding/json found in place of a field's type.
func jsonKind(found string) string {
	switch {
	case found == "bool":
		return "a boolean"
	case found == "array" || found == "object":
		return "an " + found
	case strings.HasPrefix(found, "number "):
		return "the " + found
	}
	return "a " + found
}

// malformedAt says where a text stops being JSON.
func malformedAt(err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return ""
	case strings.HasPrefix(syntax.Error(), "unexpected end"):
		return ": it ends too early"
	}
	return fmt.Sprintf(": unexpected character at byte %d", syntax.Offset)
}
