// Command generate writes the typed operations in ../admin: it unpacks the
// schema beside them for as long as the generator runs.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/Khan/genqlient/generate"

	"github.com/perennialhq/perennial/internal/platform/schema"
)

func main() {
	if err := run("admin"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// oneOf is part of the language, but not of the generator's parser.
const oneOf = "directive @oneOf on INPUT_OBJECT\n"

// run generates the code of the folder.
func run(folder string) (err error) {
	sdl, err := schema.SDL()
	if err != nil {
		return err
	}
	unpacked := filepath.Join(folder, "schema.graphql")
	if err := os.WriteFile(unpacked, []byte(oneOf+sdl), 0o600); err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(unpacked); err == nil {
			err = gone
		}
	}()
	config, err := generate.ReadAndValidateConfig(filepath.Join(folder, "genqlient.yaml"))
	if err != nil {
		return err
	}
	files, err := generate.Generate(config)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
