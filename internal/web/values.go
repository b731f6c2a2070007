package web

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
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
