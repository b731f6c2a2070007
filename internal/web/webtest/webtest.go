// Package webtest says what every audience's document must keep to.
package webtest

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/web/reference"
)

// alwaysNull is how the description of a field puts it that has never a value.
var alwaysNull = regexp.MustCompile(`Always null\b|null here`)

// Described fails the test for everything in a document that is not described in
// words: a parameter, a header, a field of a shape, an answer. A field that holds
// one value must show an example too, unless its values are listed or it is only
// true or false.
func Described(t *testing.T, doc *huma.OpenAPI) {
	t.Helper()
	fields := 0
	shapes := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		for field, p := range shapes[name].Properties {
			fields++
			if p.Description == "" {
				t.Errorf("field %s of %s is not described", field, name)
			}
			if wantsExample(p) && len(p.Examples) == 0 {
				t.Errorf("field %s of %s has no example", field, name)
			}
		}
	}
	if fields == 0 {
		t.Error("the document has no fields: the test looks at the wrong place")
	}
	for path, item := range doc.Paths {
		for _, op := range reference.Operations(item) {
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("parameter %s of %s %s is not described", p.Name, op.Method, path)
				}
			}
			for status, answer := range op.Responses {
				if answer.Ref == "" {
					answered(t, op.Method+" "+path+" "+status, answer)
				}
			}
		}
	}
	for name, answer := range doc.Components.Responses {
		answered(t, name, answer)
	}
	for name, header := range doc.Components.Headers {
		if header.Description == "" {
			t.Errorf("header %s is not described", name)
		}
	}
}

func answered(t *testing.T, name string, answer *huma.Response) {
	t.Helper()
	if answer.Description == "" {
		t.Errorf("answer %s is not described", name)
	}
	for header, h := range answer.Headers {
		if h.Description == "" && h.Ref == "" {
			t.Errorf("header %s of answer %s is not described", header, name)
		}
	}
}

// wantsExample reports whether a field holds one value of many.
func wantsExample(p *huma.Schema) bool {
	single := p.Type == huma.TypeString || p.Type == huma.TypeInteger || p.Type == huma.TypeNumber
	return single && len(p.Enum) == 0 && !alwaysNull.MatchString(p.Description)
}
