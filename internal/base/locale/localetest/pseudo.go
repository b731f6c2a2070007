// Package localetest has made-up languages for tests.
package localetest

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/perennialhq/perennial/internal/base/locale"
)

// isolate and end stand around each text of the pseudo language: what is between them is
// written from right to left, letter by letter.
const (
	isolate = "\u2067\u202e"
	end     = "\u202c\u2069"
)

// WithPseudo returns the files of a catalogue and a language that is written from right
// to left: its texts are the English ones with the marks that turn their letters around,
// a third longer.
func WithPseudo(t testing.TB, files fs.FS) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: raw}
	}
	var english, turned map[string]any = nil, map[string]any{}
	if err := json.Unmarshal(all[locale.Fallback+".json"].Data, &english); err != nil {
		t.Fatal(err)
	}
	for key, value := range english {
		forms, plural := value.(map[string]any)
		if !plural {
			turned[key] = turn(value.(string))
			continue
		}
		every := map[string]string{}
		for _, form := range locale.Forms(locale.Pseudo) {
			every[form] = turn(forms["other"].(string))
		}
		turned[key] = every
	}
	raw, err := json.Marshal(turned)
	if err != nil {
		t.Fatal(err)
	}
	all[locale.Pseudo+".json"] = &fstest.MapFile{Data: raw}
	return all
}

func turn(text string) string {
	return isolate + text + strings.Repeat(" ‥", 1+len(text)/6) + end
}
