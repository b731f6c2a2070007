package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/extensions"
)

func TestExtensionIsWrittenAndReplaced(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "extensions", "storefront")
	for range 2 { // an update replaces the files
		var said strings.Builder
		if err := (&appExtensionCommand{To: to}).Run(&said); err != nil || !strings.Contains(said.String(), "files are in "+to) {
			t.Fatalf("%v, %q", err, said.String())
		}
		err := fs.WalkDir(extensions.Storefront(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			want, err := fs.ReadFile(extensions.Storefront(), name)
			if err != nil {
				return err
			}
			if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != string(want) {
				t.Errorf("%s was written as %q, %v", name, got, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, "shopify.extension.toml"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
