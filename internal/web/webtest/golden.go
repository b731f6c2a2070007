package webtest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/perennialhq/perennial/internal/base/goldentest"
)

// Golden compares an answer's JSON, indented, with a file of the testdata.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.TrimSpace(got), "", "  "); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, got)
	}
	pretty.WriteByte('\n')
	SameAs(t, filepath.Join("testdata", name), pretty.Bytes())
}

// SameAs compares bytes with a committed file, which -update rewrites.
func SameAs(t *testing.T, path string, got []byte) {
	t.Helper()
	goldentest.Same(t, path, got)
}
