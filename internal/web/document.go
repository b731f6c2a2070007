package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

//go:embed docs.html
var docsPage string

//go:embed docs.js
var docsScript []byte

// Documents holds what an audience's documents say, by line: they depend on the
// program only, so all services of a process share them. The zero value is empty. Its
// methods may be called from many goroutines.
type Documents struct {
	mutex  sync.Mutex
	byLine map[shop.Line]*document
}

// document is the description of one line's interface. The first service that registers
// its operations computes the schemas; the services after it only read them.
type document struct {
	mutex    sync.Mutex // held while operations are registered
	schemas  huma.Registry
	finished bool // the schemas are all there and do not change any more

	machine, people rendering
}

// of returns the document of a line.
func (d *Documents) of(l shop.Line) *document {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.byLine[l] == nil {
		if d.byLine == nil {
			d.byLine = map[shop.Line]*document{}
		}
		d.byLine[l] = &document{schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)}
	}
	return d.byLine[l]
}

// complete finishes the schemas once the first service has registered its operations.
func (d *document) complete() {
	if d.finished {
		return
	}
	allowNulls(d.schemas)
	showNumbers(d.schemas)
	d.finished = true
}

// rendering is a document as it is sent.
type rendering struct {
	once sync.Once
	body []byte
	err  error
}

// from returns what render writes, which it does on the first call.
func (t *rendering) from(api *huma.OpenAPI, render func(*huma.OpenAPI) ([]byte, error)) ([]byte, error) {
	t.once.Do(func() { t.body, t.err = render(api) })
	return t.body, t.err
}

// serveDocument serves the description of the interface: for machines at
// /openapi.json, for people at /docs. Both are written when they are first requested.
func (a *API) serveDocument(d *document) {
	machine := func() ([]byte, error) {
		return d.machine.from(a.Document(), func(doc *huma.OpenAPI) ([]byte, error) { return json.Marshal(doc) })
	}
	people := func() ([]byte, error) { return d.people.from(a.Document(), renderDocs) }
	a.mux.HandleFunc("GET /openapi.json", serve("application/json", machine))
	a.mux.HandleFunc("GET /docs.js", serve("text/javascript; charset=utf-8", func() ([]byte, error) { return docsScript, nil }))
	a.mux.HandleFunc("GET /docs", serve("text/html; charset=utf-8", people))
}

func serve(media string, content func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := content()
		if err != nil {
			WriteError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(body) // the client is gone
	}
}

// docsView is what the page shows.
type docsView struct {
	Title, Version, Description string
	Operations                  []docsOperation
	Shapes                      []docsShape
}

type docsOperation struct {
	ID, Method, Path, Summary, Description, Scope, Curl string
	Parameters, Filters                                 []docsField
	Inputs                                              []docsInput
	Sample                                              string // a body to begin with; empty: none
	Body                                                *docsShape
	Answer                                              string // the type of what comes back; empty: nothing
	Errors                                              []string
}

type docsShape struct {
	Name, Description string
	Fields            []docsField
	Values            []string
}

// docsInput is a parameter that a reader can send.
type docsInput struct {
	Name, In, Value string
	Required        bool
}

type docsField struct {
	Name, In, Type, Description string
	Required                    bool
}

// OperationsOf returns the operations of a path, in the order in which they are shown.
func OperationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

func renderDocs(doc *huma.OpenAPI) ([]byte, error) {
	page, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, err
	}
	view := docsView{Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range OperationsOf(doc.Paths[path]) {
			view.Operations = append(view.Operations, describe(doc, op))
		}
	}
	slices.SortStableFunc(view.Operations, func(a, b docsOperation) int { return cmp.Compare(a.Path, b.Path) })
	shapes := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		view.Shapes = append(view.Shapes, shape(name, shapes[name]))
	}
	var out bytes.Buffer
	err = page.Execute(&out, view)
	return out.Bytes(), err
}

func describe(doc *huma.OpenAPI, op *huma.Operation) docsOperation {
	d := docsOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description}
	if scope, ok := op.Extensions["x-scope"]; ok {
		d.Scope = text(scope)
	}
	for _, p := range op.Parameters {
		field := docsField{Name: p.Name, In: p.In, Type: typeOf(p.Schema), Description: p.Description, Required: p.Required}
		if field.Description == "" && p.Schema != nil {
			field.Description = p.Schema.Description
		}
		if !strings.HasPrefix(p.Name, "pageable.") && p.Name != keyParam {
			input := docsInput{Name: p.Name, In: p.In, Required: p.Required}
			if p.Required && p.Schema != nil && len(p.Schema.Examples) > 0 {
				input.Value = text(p.Schema.Examples[0])
			}
			d.Inputs = append(d.Inputs, input)
		}
		if isFilter(p) {
			d.Filters = append(d.Filters, field)
		} else {
			d.Parameters = append(d.Parameters, field)
		}
	}
	if op.RequestBody != nil {
		content := op.RequestBody.Content[mediaJSON].Schema
		d.Sample = sample(doc, content)
		if content.Type == huma.TypeArray {
			content = content.Items
		}
		name := referred(content)
		body := shape(name, doc.Components.Schemas.Map()[name])
		d.Body = &body
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		if response.Ref != "" {
			response = doc.Components.Responses[response.Ref[strings.LastIndex(response.Ref, "/")+1:]]
		}
		if !strings.HasPrefix(status, "2") {
			d.Errors = append(d.Errors, status+" "+reason(status))
		} else if media := response.Content[mediaJSON]; media != nil {
			d.Answer = typeOf(media.Schema)
		}
	}
	d.Curl = curl(op, d.Sample)
	return d
}

// reason returns the phrase that goes with a status.
func reason(status string) string {
	code, err := strconv.Atoi(status)
	if err != nil {
		return "" // not a single status
	}
	return http.StatusText(code)
}

// isFilter reports whether a parameter is a criterion on a field.
func isFilter(p *huma.Param) bool {
	_, suffix, found := strings.Cut(p.Name, ".")
	return found && !strings.HasPrefix(p.Name, "pageable.") && suffix != ""
}

func curl(op *huma.Operation, body string) string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if op.Method != http.MethodGet {
		b.WriteString(" -X " + op.Method)
	}
	if len(op.Security) > 0 && op.Security[0][appScheme] != nil {
		b.WriteString(` -u "$APP_ID:$APP_SECRET"`)
	} else if len(op.Security) > 0 && op.Security[0][proxyScheme] != nil {
		b.WriteString(` -b "$SESSION"`)
	} else {
		b.WriteString(` -H "X-API-Key: $API_KEY"`)
	}
	if op.RequestBody != nil {
		b.WriteString(` -H "Content-Type: application/json" -d '` + strings.Join(strings.Fields(body), " ") + `'`)
	}
	b.WriteString(` "$BASE_URL` + strings.ReplaceAll(op.Path, "{id}", "1") + `"`)
	return b.String()
}

// sample writes a JSON text of a shape, with examples where the document has
// them.
func sample(doc *huma.OpenAPI, s *huma.Schema) string {
	text, err := json.MarshalIndent(sampleValue(doc, s, 0), "", "  ")
	if err != nil {
		return "{}"
	}
	return string(text)
}

// deepestSample is how deep a sample is nested.
const deepestSample = 6

func sampleValue(doc *huma.OpenAPI, s *huma.Schema, level int) any {
	if s != nil && s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
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
		return []any{sampleValue(doc, s.Items, level+1)}
	case s.Type == huma.TypeObject:
		fields := map[string]any{}
		for name, p := range s.Properties {
			if level == 0 || slices.Contains(s.Required, name) {
				fields[name] = sampleValue(doc, p, level+1)
			}
		}
		return fields
	case len(s.OneOf) > 0:
		return sampleValue(doc, s.OneOf[0], level+1)
	case s.Type == huma.TypeInteger, s.Type == huma.TypeNumber:
		return 1
	case s.Type == huma.TypeBoolean:
		return false
	}
	return ""
}

func shape(name string, s *huma.Schema) docsShape {
	d := docsShape{Name: name}
	if s == nil {
		return d
	}
	d.Description = s.Description
	for _, v := range s.Enum {
		d.Values = append(d.Values, text(v))
	}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		d.Fields = append(d.Fields, docsField{
			Name: field, Type: typeOf(p), Description: p.Description, Required: slices.Contains(s.Required, field),
		})
	}
	return d
}

func typeOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return referred(s)
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(s.Items)
	case len(s.OneOf) > 0:
		names := make([]string, len(s.OneOf))
		for i, one := range s.OneOf {
			names[i] = typeOf(one)
		}
		return strings.Join(names, " or ")
	}
	name := s.Type
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}

func text(v any) string { return fmt.Sprint(v) }

func referred(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
}
