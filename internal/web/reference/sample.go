package reference

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxInline is the longest body that a command line holds, in bytes; a longer one is in a
// file.
const maxInline = 160

// curl writes the command line that calls an operation with a body.
func (d describer) curl(op *huma.Operation, body string) string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if op.Method != http.MethodGet {
		b.WriteString(" -X " + op.Method)
	}
	if len(op.Security) > 0 {
		for scheme := range op.Security[0] {
			b.WriteString(" " + d.Credentials[scheme])
		}
	}
	if op.RequestBody != nil {
		body = "'" + strings.Join(strings.Fields(body), " ") + "'"
		if len(body) > maxInline {
			body = "@body.json"
		}
		b.WriteString(` -H "Content-Type: application/json" -d ` + body)
	}
	b.WriteString(` "$BASE_URL` + strings.ReplaceAll(op.Path, "{id}", "1") + `"`)
	return b.String()
}

// sample writes a JSON text of a shape, with examples where the document has
// them.
func (d describer) sample(s *huma.Schema) string {
	text, err := json.MarshalIndent(d.sampleValue(s, 0), "", "  ")
	if err != nil {
		return "{}"
	}
	return string(text)
}

// deepestSample is how deep a sample is nested.
const deepestSample = 6

func (d describer) sampleValue(s *huma.Schema, level int) any {
	if s != nil && s.Ref != "" {
		s = d.doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case s == nil || level > deepestSample:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == huma.TypeArray:
		return []any{d.sampleValue(s.Items, level+1)}
	case s.Type == huma.TypeObject:
		fields := map[string]any{}
		for name, p := range s.Properties {
			if level == 0 || slices.Contains(s.Required, name) {
				fields[name] = d.sampleValue(p, level+1)
			}
		}
		return fields
	case len(s.OneOf) > 0:
		return d.sampleValue(s.OneOf[0], level+1)
	case s.Type == huma.TypeInteger, s.Type == huma.TypeNumber:
		return 1
	case s.Type == huma.TypeBoolean:
		return false
	}
	return ""
}
