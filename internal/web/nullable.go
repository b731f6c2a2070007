package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// nullType is JSON's own null, as a type.
const nullType = "null"

// allowNulls lets the document say that a field that is a pointer to an object
// may be null, which the library leaves out. Fields that are left out when they
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
			if p == nil || p.Ref == "" || f.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
				continue
			}
			s.Properties[field] = &huma.Schema{OneOf: []*huma.Schema{{Ref: p.Ref}, {Type: nullType}}, Description: p.Description}
		}
	}
}
