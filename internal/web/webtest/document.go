package webtest

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/web"
)

// Committed compares the document of an audience, a package of internal/web, with a file
// of the folder api.
func Committed(t *testing.T, file, audience string, api *web.API) {
	t.Helper()
	got, err := api.Document().YAML()
	if err != nil {
		t.Fatal(err)
	}
	SameAs(t, "../../../api/"+file, append([]byte("# Generated from the code: go test ./internal/web/"+audience+" -run Document -update. Do not edit.\n"), got...))
}

// Valid reads a document and fails the test where it is not valid OpenAPI.
func Valid(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	return doc
}
