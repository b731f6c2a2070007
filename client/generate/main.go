// Command generate writes the typed operations of package client from the
// interface's document. Every operation can fail in the same words, so that the
// client has one shape for all failures instead of one for each status and media
// type.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	if err := run("../api/openapi.yaml", "document.json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run generates from a copy of the document that exists only meanwhile.
func run(document, reduced string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(document)
	if err != nil {
		return err
	}
	reduce(doc)
	text, err := doc.MarshalJSON()
	if err != nil {
		return err
	}
	if err := os.WriteFile(reduced, text, 0o600); err != nil {
		return err
	}
	generator := exec.CommandContext(context.Background(), "go", "tool", "-modfile=../tools/go.mod", "oapi-codegen", "-config", "config.yaml", reduced)
	generator.Stdout, generator.Stderr = os.Stdout, os.Stderr
	err = generator.Run()
	return errors.Join(err, os.Remove(reduced))
}

// failure is the name of the answer that stands for every failure.
const failure = "Failure"

// reduce lets every operation answer success or a failure, and leaves out a spelling of a
// parameter that differs from another one only in its hyphens: in Go they have one name.
func reduce(doc *openapi3.T) {
	problem := openapi3.NewSchemaRef("#/components/schemas/Problem", nil)
	doc.Components.Responses = openapi3.ResponseBodies{failure: &openapi3.ResponseRef{
		Value: openapi3.NewResponse().WithDescription("What went wrong.").WithContent(openapi3.Content{"application/json": {Schema: problem}}),
	}}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			spelt := map[string]bool{}
			op.Parameters = slices.DeleteFunc(op.Parameters, func(p *openapi3.ParameterRef) bool {
				name := strings.ToLower(strings.ReplaceAll(p.Value.Name, "-", ""))
				twice := spelt[name] && p.Value.In == openapi3.ParameterInQuery
				spelt[name] = true
				return twice
			})
			for status := range op.Responses.Map() {
				if status[0] != '2' {
					op.Responses.Delete(status)
				}
			}
			op.Responses.Set("default", &openapi3.ResponseRef{Ref: "#/components/responses/" + failure})
		}
	}
}
