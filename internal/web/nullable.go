package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// nullType is JSON's own null, as a type.
const nullType = "null"

// showNumbers lets the document say that an exact number is
// one: the library takes it for the text that it is kept as.
func showNumbers(schemas huma.Registry) {
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[field]
			if p == nil || f.Type != reflect.TypeFor[json.Number]() {
				continue
			}
			p.Type, p.Format = huma.TypeNumber, "double"
			for i, example := range p.Examples {
				p.Examples[i] = json.Number(fmt.Sprint(example))
			}
		}
	}
}

// allowNulls lets the document say that a field that is a pointer to an object
// or one of a few values may be null, which the library leaves out. Fields that are left out when they
// are empty are never null.
func allowNulls(schemas huma.Registry) {
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[field]
			if p != nil && p.Nullable && len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
				p.Enum = append(p.Enum, nil) // what an enum does not list is not valid, whatever the type says
			}
			if p == nil || p.Ref == "" || f.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
				continue
			}
			s.Properties[field] = &huma.Schema{OneOf: []*huma.Schema{{Ref: p.Ref}, {Type: nullType}}, Description: p.Description}
		}
	}
}
