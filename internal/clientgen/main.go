// Command clientgen writes the types and methods of the Go client, a module of its own in
// the folder client, from the documents of the interfaces.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:generate go run .

// root is the checkout, from this folder.
const root = "../.."

// target is a package of the client and the documents of its operations.
type target struct {
	folder    string
	documents []string
}

// The admin and the loyalty interface have the same keys and no operation in common.
var targets = []target{
	{"client", []string{"openapi", "loyalty"}},
	{"client/portal", []string{"portal"}},
	{"client/partner", []string{"partner"}},
}

func main() {
	for _, t := range targets {
		if err := t.generate(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "clientgen: %s: %v\n", t.folder, err)
			os.Exit(1)
		}
	}
}

// generate writes the package of t from a document that exists only meanwhile.
func (t target) generate(ctx context.Context) error {
	var whole *openapi3.T
	for _, name := range t.documents {
		doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "api", name+".yaml"))
		if err != nil {
			return err
		}
		if err := onlyPaths(doc); err != nil {
			return err
		}
		if whole == nil {
			whole = doc
		} else if err := merge(whole, doc); err != nil {
			return err
		}
	}
	reduce(whole)
	text, err := whole.MarshalJSON()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "perennial-clientgen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder for temporary files
	document := filepath.Join(folder, "document.json")
	if err := os.WriteFile(document, text, 0o600); err != nil {
		return err
	}
	generator := exec.CommandContext(ctx, "go", "tool", "-modfile="+root+"/tools/go.mod", "oapi-codegen", "-config", "config.yaml",
		"-package", filepath.Base(t.folder), "-o", filepath.Join(root, t.folder, "operations.gen.go"), document)
	generator.Stdout, generator.Stderr = os.Stdout, os.Stderr
	return generator.Run()
}

// merge adds the operations and schemas of other to doc.
func merge(doc, other *openapi3.T) error {
	for name, schema := range other.Components.Schemas {
		if name != problem && doc.Components.Schemas[name] != nil {
			return fmt.Errorf("two documents have a schema %s", name)
		}
		doc.Components.Schemas[name] = schema
	}
	for path, item := range other.Paths.Map() {
		if doc.Paths.Value(path) != nil {
			return errors.New("two documents have the path " + path)
		}
		doc.Paths.Set(path, item)
	}
	return nil
}

// problem is the schema of every failure, which the client knows by its own type.
const problem = "Problem"

// onlyPaths leaves out the webhooks, which a client does not send, and the schemas that only they
// have.
func onlyPaths(doc *openapi3.T) error {
	doc.Webhooks = nil
	named := map[string]bool{}
	var mark func(v any) error
	mark = func(v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		for _, m := range reference.FindAllSubmatch(text, -1) {
			if name := string(m[1]); !named[name] {
				named[name] = true
				if err := mark(doc.Components.Schemas[name].Value); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := errors.Join(mark(doc.Paths), mark(doc.Components.Responses)); err != nil {
		return err
	}
	maps.DeleteFunc(doc.Components.Schemas, func(name string, _ *openapi3.SchemaRef) bool { return !named[name] })
	return nil
}

// reference finds the name of a schema that another one or an operation refers to.
var reference = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// reduce leaves out what the client has one way for, whatever the operation: failures,
// the key, the Idempotency-Key, and fields that are not in the document.
func reduce(doc *openapi3.T) {
	delete(doc.Components.Schemas, problem)
	doc.Components.Responses, doc.Components.Headers = nil, nil
	for _, s := range doc.Components.Schemas {
		simplify(s)
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			reduceOperation(op)
		}
	}
}

func reduceOperation(op *openapi3.Operation) {
	spelt := map[string]bool{}
	op.Parameters = slices.DeleteFunc(op.Parameters, func(p *openapi3.ParameterRef) bool {
		name := goName(p.Value.Name)
		twice := spelt[name] && p.Value.In == openapi3.ParameterInQuery
		spelt[name] = true
		return twice || p.Value.In == openapi3.ParameterInHeader || name == "apikey"
	})
	for _, p := range op.Parameters {
		simplify(p.Value.Schema)
		if p.Value.Explode == nil || *p.Value.Explode {
			p.Value.Extensions = map[string]any{"x-oapi-codegen-extra-tags": map[string]any{"explode": "true"}}
		}
	}
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Value.Content {
			simplify(media.Schema)
		}
	}
	for status, response := range maps.Clone(op.Responses.Map()) {
		if status[0] != '2' {
			op.Responses.Delete(status)
			continue
		}
		response.Value.Headers = nil
		for _, media := range response.Value.Content {
			simplify(media.Schema)
		}
	}
}

// goName is the same for spellings that have one name in Go.
func goName(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// simplify takes from a schema what needs no type of its own in Go.
func simplify(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Ref != "" {
		return
	}
	s := ref.Value
	if s.AdditionalProperties.Schema == nil {
		s.AdditionalProperties = openapi3.AdditionalProperties{}
	}
	simplify(s.AdditionalProperties.Schema)
	simplify(s.Items)
	if s.Type != nil && s.Type.Includes(openapi3.TypeArray) {
		s.Type = &openapi3.Types{openapi3.TypeArray} // nil is null
	}
	fields := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		if other := fields[goName(name)]; other != "" { // JSON text beside what it holds
			s.Properties[other].Value.Extensions = map[string]any{"x-go-name": strings.ToUpper(other[:1]) + other[1:] + "Text"}
		}
		fields[goName(name)] = name
		simplify(field)
		if one := nullable(field); one != nil {
			s.Properties[name] = one
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
	if len(s.OneOf) == 2 && s.OneOf[1].Value.Type.Is(openapi3.TypeString) { // a number or a text
		s.OneOf, s.Type = nil, &openapi3.Types{openapi3.TypeString}
		s.Extensions = map[string]any{"x-go-type": "ID"}
	}
}

// nullable returns the schema of a field that may be null instead.
func nullable(field *openapi3.SchemaRef) *openapi3.SchemaRef {
	if field.Ref != "" || len(field.Value.OneOf) != 2 || !field.Value.OneOf[1].Value.Type.Is(openapi3.TypeNull) {
		return nil
	}
	return field.Value.OneOf[0]
}
