// Package schema holds the platform's whole Admin schema, so that documents can
// be checked without asking the platform. The file beside it is under the
// licence in LICENSE.admin-schema.
package schema

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// Version is the version of the Admin API that the schema describes.
const Version = "2026-10"

// oneOf declares a directive of the GraphQL language that the schema uses and
// the parser's own prelude lacks.
const oneOf = `directive @oneOf on INPUT_OBJECT`

//go:embed admin_2026-10.graphql.gz
var compressed []byte

// SDL returns the schema's text.
func SDL() (string, error) { return text() }

// Load returns the parsed schema. It is parsed once; callers share it and must
// not change it.
func Load() (*ast.Schema, error) { return parsed() }

var text = sync.OnceValues(func() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return "", fmt.Errorf("open the embedded schema: %w", err)
	}
	sdl, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("read the embedded schema: %w", err)
	}
	return string(sdl), nil
})

var parsed = sync.OnceValues(func() (*ast.Schema, error) {
	sdl, err := text()
	if err != nil {
		return nil, err
	}
	s, err := gqlparser.LoadSchema(
		&ast.Source{Name: "oneof.graphql", Input: oneOf, BuiltIn: true},
		&ast.Source{Name: "admin_" + Version + ".graphql", Input: sdl},
	)
	if err != nil {
		return nil, fmt.Errorf("parse the embedded schema: %w", err)
	}
	return s, nil
})
