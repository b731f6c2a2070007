package reference

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Operations returns the operations of a path, in the order in which they are shown.
func Operations(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// mediaType is the only type of the bodies that are described.
const mediaType = "application/json"

// describer turns parts of a document into what the pages show.
type describer struct {
	Options

	doc *huma.OpenAPI
}

func (d describer) operation(op *huma.Operation) operation {
	shown := operation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description}
	if scope, ok := op.Extensions["x-scope"]; ok {
		shown.Scope = fmt.Sprint(scope)
	}
	for _, p := range op.Parameters {
		f := field{Name: p.Name, In: p.In, Type: d.typeOf(p.Schema), Description: p.Description, Required: p.Required}
		if f.Description == "" && p.Schema != nil {
			f.Description = p.Schema.Description
		}
		if !strings.HasPrefix(p.Name, "pageable.") && p.Name != d.KeyParam {
			in := input{Name: p.Name, In: p.In, Required: p.Required}
			if p.Required && p.Schema != nil && len(p.Schema.Examples) > 0 {
				in.Value = fmt.Sprint(p.Schema.Examples[0])
			}
			shown.Inputs = append(shown.Inputs, in)
		}
		switch {
		case p.Name == d.RepeatHeader:
			shown.Repeat = f.Description
		case isFilter(p):
			shown.addFilter(f)
		default:
			shown.Parameters = append(shown.Parameters, f)
		}
	}
	if op.RequestBody != nil {
		content := op.RequestBody.Content[mediaType].Schema
		shown.Sample = d.sample(content)
		if content.Type == huma.TypeArray {
			content = content.Items
		}
		name := referred(content)
		body := d.shape(name, d.doc.Components.Schemas.Map()[name])
		shown.Body = &body
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		if response.Ref != "" {
			response = d.doc.Components.Responses[response.Ref[strings.LastIndex(response.Ref, "/")+1:]]
		}
		if !strings.HasPrefix(status, "2") {
			shown.Errors = append(shown.Errors, status+" "+reason(status))
		} else if media := response.Content[mediaType]; media != nil {
			shown.Answer = d.typeOf(media.Schema)
		}
	}
	shown.Curl = d.curl(op, shown.Sample)
	return shown
}

// reason returns the phrase that goes with a status.
func reason(status string) string {
	code, err := strconv.Atoi(status)
	if err != nil {
		return "" // not a single status
	}
	return http.StatusText(code)
}

// addFilter adds a criterion, beside those of the same field.
func (op *operation) addFilter(p field) {
	name, operator, _ := strings.Cut(p.Name, ".")
	if last := len(op.Filters) - 1; last >= 0 && op.Filters[last].Name == name {
		op.Filters[last].Operators += " ." + operator
		return
	}
	op.Filters = append(op.Filters, filter{name, p.Type, "." + operator})
}

// isFilter reports whether a parameter is a criterion on a field.
func isFilter(p *huma.Param) bool {
	_, suffix, found := strings.Cut(p.Name, ".")
	return found && !strings.HasPrefix(p.Name, "pageable.") && suffix != ""
}

func (d describer) shape(name string, s *huma.Schema) shape {
	shown := shape{Name: name}
	if s == nil {
		return shown
	}
	shown.Description = s.Description
	for _, v := range s.Enum {
		shown.Values = append(shown.Values, fmt.Sprint(v))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		shown.Fields = append(shown.Fields, field{
			Name: name, Type: d.typeOf(p), Description: p.Description, Required: slices.Contains(s.Required, name),
		})
	}
	return shown
}

// typeOf returns a type in words.
func (d describer) typeOf(s *huma.Schema) typeName {
	switch {
	case s == nil:
		return nil
	case s.Ref != "":
		name := referred(s)
		return typeName{{name, d.Root + "/docs/" + shapesSlug + "/" + name}}
	case s.Type == huma.TypeArray:
		return append(typeName{{Text: "list of "}}, d.typeOf(s.Items)...)
	case len(s.OneOf) > 0:
		var words typeName
		for i, one := range s.OneOf {
			if i > 0 {
				words = append(words, word{Text: " or "})
			}
			words = append(words, d.typeOf(one)...)
		}
		return words
	}
	name := s.Type
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	if s.Nullable {
		name += " or null"
	}
	return typeName{{Text: name}}
}

// referred returns the name of the shape that a schema refers to.
func referred(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
}
