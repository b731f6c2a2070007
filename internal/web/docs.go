package web

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.js
var docsScript []byte

// reference is the interface as its pages show it. It is made once for all services of a
// process.
type reference struct {
	once  sync.Once
	shown docsView
}

// of returns the reference of a document, which it makes on the first call.
func (t *reference) of(doc *huma.OpenAPI, root string, keyed bool) docsView {
	t.once.Do(func() { t.shown = newDocsView(doc, root, keyed) })
	return t.shown
}

// serveReference serves the pages of the reference: the index with its search, a page for
// each resource, and a page for each shape.
func (a *API) serveReference(people *reference, root string) {
	page := func(find func(r *http.Request, v docsView) (name string, shown docsView)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			name, v := find(r, people.of(a.Document(), root, a.gate.keyed()))
			status := http.StatusOK
			if name == "docs-missing" {
				if !WantsPage(r) {
					WriteError(w, r, pathNotFound(r))
					return
				}
				status = http.StatusNotFound
			}
			writePage(w, r, status, name, documentPolicy(), v)
		}
	}
	a.mux.HandleFunc("GET "+root+"/docs", page(func(r *http.Request, v docsView) (string, docsView) {
		return "docs-index", v.search(r.URL.Query().Get("q"))
	}))
	a.mux.HandleFunc("GET "+root+"/docs/docs.js", func(w http.ResponseWriter, _ *http.Request) {
		writeDocument(w, "text/javascript; charset=utf-8", docsScript)
	})
	a.mux.HandleFunc("GET "+root+"/docs/shapes", page(func(_ *http.Request, v docsView) (string, docsView) {
		v.Heading, v.Slug, v.Shapes = shapesName, shapesSlug, v.allShapes
		return "docs-shapes", v
	}))
	a.mux.HandleFunc("GET "+root+"/docs/shapes/{name}", page(func(r *http.Request, v docsView) (string, docsView) {
		return v.shapePage(r.PathValue("name"))
	}))
	a.mux.HandleFunc("GET "+root+"/docs/{slug...}", page(func(r *http.Request, v docsView) (string, docsView) {
		return v.groupPage(r.PathValue("slug"))
	}))
}

// Name and path of the page that lists the shapes.
const (
	shapesName = "Shapes"
	shapesSlug = "shapes"
)

// docsView is what a page of the reference shows.
type docsView struct {
	Root, Title, Version, Description string
	Keyed                             bool // callers hold keys

	Heading    string // of the page
	Slug       string // of the page's entry in Nav
	Query      string // the search; empty: none
	Nav        []docsGroup
	Groups     []docsGroup // operations that the page lists
	Operations []docsOperation
	Shapes     []docsShape // that the page lists
	Shape      *docsShape
	Repeat     string // what is said of Idempotency-Key; empty: no operation of the page takes one

	allShapes []docsShape
}

// docsGroup is the operations of a resource.
type docsGroup struct {
	Name, Slug string
	Count      int
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Description, Scope, Curl string
	Parameters                                          []docsField
	Filters                                             []docsFilter
	Inputs                                              []docsInput
	Sample                                              string // a body to begin with; empty: none
	Body                                                *docsShape
	Answer                                              docsType // of the body of the answer; empty: it has none
	Errors                                              []string
	Repeat                                              string // what is said of Idempotency-Key; empty: it takes none
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
	Name, In, Description string
	Type                  docsType
	Required              bool
}

// docsFilter is a field that a list can be filtered by.
type docsFilter struct {
	Name      string
	Type      docsType
	Operators string
}

// docsType is a type in words; some words link to a shape.
type docsType []docsWord

type docsWord struct {
	Text  string
	Shape string // path of the shape's page; empty: the word links to nothing
}

func (t docsType) String() string {
	var b strings.Builder
	for _, w := range t {
		b.WriteString(w.Text)
	}
	return b.String()
}

// OperationsOf returns the operations of a path, in the order in which they are shown.
func OperationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// newDocsView describes a document, its operations grouped by their tags.
func newDocsView(doc *huma.OpenAPI, root string, keyed bool) docsView {
	v := docsView{
		Root: root, Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description, Keyed: keyed, Heading: doc.Info.Title,
	}
	d := describer{doc: doc, root: root}
	byTag := map[string][]docsOperation{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range OperationsOf(doc.Paths[path]) {
			byTag[op.Tags[0]] = append(byTag[op.Tags[0]], d.operation(op))
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		v.Groups = append(v.Groups, docsGroup{tag, strings.ReplaceAll(strings.ToLower(tag), " ", "-"), len(byTag[tag]), byTag[tag]})
	}
	shapes := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		shape := d.shape(name, shapes[name])
		for i := range shape.Fields {
			shape.Fields[i].Required = false // it is said of bodies: answers have every field
		}
		v.allShapes = append(v.allShapes, shape)
	}
	v.Nav = append(slices.Clone(v.Groups), docsGroup{Name: shapesName, Slug: shapesSlug, Count: len(v.allShapes)})
	return v
}

// maxSearch is how much of a search is read, in bytes.
const maxSearch = 100

// search keeps the operations and shapes in which every word of the query occurs; all
// operations when there is no query.
func (v docsView) search(query string) docsView {
	query = strings.TrimSpace(strings.ToValidUTF8(query[:min(len(query), maxSearch)], ""))
	if query == "" {
		return v
	}
	v.Query, v.Heading = query, query+" · "+v.Title
	words := strings.Fields(strings.ToLower(query))
	var groups []docsGroup
	for _, g := range v.Groups {
		g.Operations = slices.DeleteFunc(slices.Clone(g.Operations), func(op docsOperation) bool { return !op.mentions(g.Name, words) })
		if len(g.Operations) > 0 {
			groups = append(groups, g)
		}
	}
	v.Groups = groups
	for _, s := range v.allShapes {
		if s.mentions(words) {
			v.Shapes = append(v.Shapes, s)
		}
	}
	return v
}

// Found says in words how much a search has found.
func (v docsView) Found() string {
	found := 0
	for _, g := range v.Groups {
		found += len(g.Operations)
	}
	return fmt.Sprintf("%s and %s", count(found, "operation"), count(len(v.Shapes), "shape"))
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// mentions reports whether each word occurs in what is said of the operation.
func (op docsOperation) mentions(group string, words []string) bool {
	said := []string{group, op.ID, op.Method, op.Path, op.Summary, op.Description, op.Scope, op.Answer.String()}
	for _, p := range op.Parameters {
		said = append(said, p.Name)
	}
	for _, f := range op.Filters {
		said = append(said, f.Name)
	}
	if op.Body != nil {
		said = append(said, op.Body.Name)
		for _, f := range op.Body.Fields {
			said = append(said, f.Name)
		}
	}
	return containsAll(said, words)
}

// mentions reports whether each word occurs in the shape's name, fields or values.
func (s docsShape) mentions(words []string) bool {
	said := append([]string{s.Name}, s.Values...)
	for _, f := range s.Fields {
		said = append(said, f.Name)
	}
	return containsAll(said, words)
}

func containsAll(said, words []string) bool {
	text := strings.ToLower(strings.Join(said, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// groupPage returns the page of a resource.
func (v docsView) groupPage(slug string) (string, docsView) {
	i := slices.IndexFunc(v.Groups, func(g docsGroup) bool { return g.Slug == slug })
	if i < 0 {
		v.Heading = "Page not found"
		return "docs-missing", v
	}
	v.Heading, v.Slug, v.Operations = v.Groups[i].Name, slug, v.Groups[i].Operations
	for _, op := range v.Operations {
		v.Repeat = cmp.Or(v.Repeat, op.Repeat)
	}
	return "docs-group", v
}

// shapePage returns the page of a shape.
func (v docsView) shapePage(name string) (string, docsView) {
	i := slices.IndexFunc(v.allShapes, func(s docsShape) bool { return s.Name == name })
	if i < 0 {
		v.Heading = "Page not found"
		return "docs-missing", v
	}
	v.Heading, v.Slug, v.Shape = name, shapesSlug, &v.allShapes[i]
	var users []docsGroup
	for _, g := range v.Groups {
		g.Operations = slices.DeleteFunc(slices.Clone(g.Operations), func(op docsOperation) bool { return !op.uses(name) })
		users = append(users, g)
	}
	v.Groups = slices.DeleteFunc(users, func(g docsGroup) bool { return len(g.Operations) == 0 })
	return "docs-shape", v
}

// uses reports whether the operation's body or answer is of the named shape.
func (op docsOperation) uses(shape string) bool {
	return op.Body != nil && op.Body.Name == shape || slices.ContainsFunc(op.Answer, func(w docsWord) bool { return w.Text == shape })
}

// describer turns parts of a document into what the pages show.
type describer struct {
	doc  *huma.OpenAPI
	root string
}

func (d describer) operation(op *huma.Operation) docsOperation {
	shown := docsOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description}
	if scope, ok := op.Extensions["x-scope"]; ok {
		shown.Scope = text(scope)
	}
	for _, p := range op.Parameters {
		field := docsField{Name: p.Name, In: p.In, Type: d.typeOf(p.Schema), Description: p.Description, Required: p.Required}
		if field.Description == "" && p.Schema != nil {
			field.Description = p.Schema.Description
		}
		if !strings.HasPrefix(p.Name, "pageable.") && p.Name != keyParam {
			input := docsInput{Name: p.Name, In: p.In, Required: p.Required}
			if p.Required && p.Schema != nil && len(p.Schema.Examples) > 0 {
				input.Value = text(p.Schema.Examples[0])
			}
			shown.Inputs = append(shown.Inputs, input)
		}
		switch {
		case p.Name == repeatHeader:
			shown.Repeat = field.Description
		case isFilter(p):
			shown.addFilter(field)
		default:
			shown.Parameters = append(shown.Parameters, field)
		}
	}
	if op.RequestBody != nil {
		content := op.RequestBody.Content[mediaJSON].Schema
		shown.Sample = sample(d.doc, content)
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
		} else if media := response.Content[mediaJSON]; media != nil {
			shown.Answer = d.typeOf(media.Schema)
		}
	}
	shown.Curl = curl(op, shown.Sample)
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
func (op *docsOperation) addFilter(p docsField) {
	name, operator, _ := strings.Cut(p.Name, ".")
	if last := len(op.Filters) - 1; last >= 0 && op.Filters[last].Name == name {
		op.Filters[last].Operators += " ." + operator
		return
	}
	op.Filters = append(op.Filters, docsFilter{name, p.Type, "." + operator})
}

// isFilter reports whether a parameter is a criterion on a field.
func isFilter(p *huma.Param) bool {
	_, suffix, found := strings.Cut(p.Name, ".")
	return found && !strings.HasPrefix(p.Name, "pageable.") && suffix != ""
}

// maxInline is the longest body that a command line holds, in bytes; a longer one is in a
// file.
const maxInline = 160

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

func (d describer) shape(name string, s *huma.Schema) docsShape {
	shown := docsShape{Name: name}
	if s == nil {
		return shown
	}
	shown.Description = s.Description
	for _, v := range s.Enum {
		shown.Values = append(shown.Values, text(v))
	}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		shown.Fields = append(shown.Fields, docsField{
			Name: field, Type: d.typeOf(p), Description: p.Description, Required: slices.Contains(s.Required, field),
		})
	}
	return shown
}

// typeOf returns a type in words.
func (d describer) typeOf(s *huma.Schema) docsType {
	switch {
	case s == nil:
		return nil
	case s.Ref != "":
		name := referred(s)
		return docsType{{name, d.root + "/docs/" + shapesSlug + "/" + name}}
	case s.Type == huma.TypeArray:
		return append(docsType{{Text: "list of "}}, d.typeOf(s.Items)...)
	case len(s.OneOf) > 0:
		var words docsType
		for i, one := range s.OneOf {
			if i > 0 {
				words = append(words, docsWord{Text: " or "})
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
	return docsType{{Text: name}}
}

func text(v any) string { return fmt.Sprint(v) }

// referred returns the name of the shape that a schema refers to.
func referred(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
}
