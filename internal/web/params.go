package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
)

// Opt is an optional parameter: absent differs from its zero value.
type Opt[T any] struct {
	Value T
	Set   bool
}

// Schema describes the value.
func (Opt[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver is where the library puts the value.
func (o *Opt[T]) Receiver() reflect.Value { return reflect.ValueOf(o).Elem().Field(0) }

// OnParamSet notes that the value was given.
func (o *Opt[T]) OnParamSet(isSet bool, _ any) { o.Set = isSet }

// AnyID is an id in a JSON body: a number, or a text that holds a number or a
// graph id. Empty when it is absent or null.
type AnyID string

// Schema describes both.
func (AnyID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger, Format: "int64"}, {Type: huma.TypeString}}}
}

// UnmarshalJSON reads either.
func (id *AnyID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(id))
	}
	var n json.Number
	err := json.Unmarshal(text, &n) // null leaves it empty
	*id = AnyID(n)
	return err
}

// Parse returns the number of an object of the given type, or 0 when the id is
// empty. The field is the one at fault.
func (id AnyID) Parse(objectType, field string) (int64, error) {
	return ParseID(objectType, field, string(id))
}

// Decimal is an exact number, such as an amount of money.
type Decimal string

// Schema describes the number.
func (Decimal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
}

// Ptr returns the value, or nil when it was not given.
func (o Opt[T]) Ptr() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// Some returns a pointer to v, or nil when v is the zero value: what is unknown
// is null on the wire.
func Some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// checkParameters refuses a request whose parameters are not what its operation
// describes. The library then finds nothing to complain of, in words that are
// not the interface's.
func (a *API) checkParameters(ctx huma.Context, next func(huma.Context)) {
	if err := checkParameters(ctx); err != nil {
		r, w := humago.Unwrap(ctx)
		WriteError(w, r, err)
		return
	}
	known := map[string]bool{}
	for _, p := range ctx.Operation().Parameters {
		known[p.Name] = known[p.Name] || p.In == "query"
	}
	traceOf(ctx.Context()).known = known
	next(ctx)
}

func checkParameters(ctx huma.Context) error {
	r, _ := humago.Unwrap(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Because(fault.Invalid, err, "the query is not well formed: percent-encode names and values")
	}
	if err := CheckText("the path", "", r.URL.Path); err != nil {
		return err
	}
	for name, values := range query {
		if err := CheckText("the name of a parameter", "", name); err != nil {
			return err
		}
		for _, v := range values {
			if err := CheckText("parameter '"+name+"'", name, v); err != nil {
				return err
			}
		}
	}
	for _, p := range ctx.Operation().Parameters {
		if p.In == "header" { // who reads it checks it
			continue
		}
		values := query[p.Name]
		if p.In == "path" {
			values = []string{ctx.Param(p.Name)}
		}
		if err := checkParameter(p, values); err != nil {
			return err
		}
	}
	// The library takes a name without a value for the value true; this writes
	// it as an empty one, which is absent.
	r.URL.RawQuery = query.Encode()
	return nil
}

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

func checkParameter(p *huma.Param, values []string) error {
	if p.Schema == nil || p.Schema.Type == huma.TypeArray {
		return nil
	}
	if len(values) > 1 {
		return fault.New(fault.Invalid, "parameter '%s' is given %d times: give it once", p.Name, len(values)).Field(p.Name)
	}
	if len(values) == 0 || values[0] == "" {
		if p.Required {
			return MissingParameter(p.Name, typeName(p.Schema))
		}
		return nil
	}
	return checkValue(p.Name, p.Schema, values[0])
}

func checkValue(name string, s *huma.Schema, value string) error {
	switch s.Type {
	case huma.TypeInteger:
		n, err := ParseInt(name, value)
		if err != nil {
			return err
		}
		return checkRange(name, s, float64(n), value)
	case huma.TypeNumber:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fault.New(fault.Invalid, "parameter '%s' must be a number, and %q is not", name, value).Field(name)
		}
		return checkRange(name, s, f, value)
	case huma.TypeBoolean:
		if _, err := strconv.ParseBool(value); err != nil {
			return fault.New(fault.Invalid, "parameter '%s' must be true or false, and %q is neither", name, value).Field(name)
		}
	case huma.TypeString:
		if s.MaxLength != nil && utf8.RuneCountInString(value) > *s.MaxLength {
			return fault.New(fault.Invalid, "parameter '%s' is longer than %d characters", name, *s.MaxLength).Field(name)
		}
	}
	return nil
}

func checkRange(name string, s *huma.Schema, n float64, value string) error {
	if s.Minimum != nil && n < *s.Minimum {
		return fault.New(fault.Invalid, "parameter '%s' is %s and must be at least %s", name, value, decimal(*s.Minimum)).Field(name)
	}
	if s.Maximum != nil && n > *s.Maximum {
		return fault.New(fault.Invalid, "parameter '%s' is %s and must be at most %s", name, value, decimal(*s.Maximum)).Field(name)
	}
	return nil
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// MissingParameter is the failure that a required parameter is absent. Clients
// match on its words, which name the type as the interface always has.
func MissingParameter(name, typeName string) error {
	return fault.New(fault.Invalid, "Required request parameter '%s' for method parameter type %s is not present", name, typeName).
		Code("parameterMissing").Field(name)
}

// IDFormat marks a parameter that is a number or a graph id.
const IDFormat = "id"

func typeName(s *huma.Schema) string {
	switch {
	case s.Format == IDFormat:
		return "Long"
	case s.Type == huma.TypeInteger && s.Format == "int32":
		return "Integer"
	case s.Type == huma.TypeInteger:
		return "Long"
	case s.Type == huma.TypeNumber:
		return "Double"
	case s.Type == huma.TypeBoolean:
		return "Boolean"
	}
	return "String"
}

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
