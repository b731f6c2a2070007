package web

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
)

// CheckText refuses what is not text: databases do not keep it. What names the
// text in the message, param the parameter or field at fault.
func CheckText(what, param, s string) error {
	if !utf8.ValidString(s) {
		return fault.New(fault.Invalid, "%s is not valid UTF-8", what).Field(param)
	}
	if strings.ContainsRune(s, 0) {
		return fault.New(fault.Invalid, "%s contains a NUL character", what).Field(param)
	}
	return nil
}

// MissingParameter is the failure that a required parameter is absent. Clients
// match on its words, which name the type as the interface always has.
func MissingParameter(name, typeName string) error {
	return fault.New(fault.Invalid, "Required request parameter '%s' for method parameter type %s is not present", name, typeName).
		Code("parameterMissing").Field(name)
}

// IDFormat marks a parameter that is a number or a graph id.
const IDFormat = "id"

// ParseInt reads a whole number of 64 bits.
func ParseInt(param, value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fault.New(fault.Invalid, "parameter '%s' is beyond the range of a 64-bit integer", param).Field(param)
	}
	if err != nil {
		return 0, fault.New(fault.Invalid, "parameter '%s' must be a whole number, and %q is not", param, value).Field(param)
	}
	return n, nil
}

// ParseID reads a numeric or a graph id of an object of the given type, or 0
// when the value is empty.
func ParseID(objectType, param, value string) (int64, error) {
	if value == "" {
		return 0, nil
	}
	id, err := gid.Parse(objectType, value)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return 0, f.Field(param)
	}
	return id, err
}

// ParseEnum reads one of the values, in any letter case.
func ParseEnum[T ~string](param, value string, values []T) (T, error) {
	names := make([]string, len(values))
	for i, v := range values {
		if strings.EqualFold(value, string(v)) {
			return v, nil
		}
		names[i] = string(v)
	}
	return "", fault.New(fault.Invalid, "%q is not a value of '%s': use one of %s", value, param, strings.Join(names, ", ")).Field(param)
}
