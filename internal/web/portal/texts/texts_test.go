// Package texts_test checks the portal's texts: that each language fits English, and that the
// portal's code and its texts name the same keys.
package texts_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/base/locale/localetest"
)

func load(t *testing.T, files fs.FS) *locale.Catalogue {
	t.Helper()
	c, err := locale.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A text that does not fit is never shown, so it is a mistake. A text that is missing is shown
// in English, and is work to do: it is listed here, and TestEveryTextIsTranslated, which `make
// soak` runs before a release, fails for it.
func TestTranslationsFitEnglish(t *testing.T) {
	t.Parallel()
	c := load(t, os.DirFS("."))
	if got := strings.Join(c.Languages(), " "); got != "en de es fr it ja nl pt-BR" {
		t.Errorf("the languages are %s", got)
	}
	for _, p := range c.Problems() {
		if p.Kind == locale.Missing {
			t.Logf("%s lacks %s", p.Language, p.Key)
			continue
		}
		t.Errorf("%s: %s: %s", p.Language, p.Key, p.Reason)
	}
}

// What French sets before these signs is a space that breaks no line.
func TestFrenchSignsKeepTheirSpace(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("fr.json")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`[^\n]*(?: [?!;»]|« | : )[^\n]*`).FindAllString(strings.ReplaceAll(string(raw), `": `, ""), -1); found != nil {
		t.Errorf("these need a space that breaks no line:\n%s", strings.Join(found, "\n"))
	}
}

func TestPseudoLanguageHasEveryText(t *testing.T) {
	t.Parallel()
	c := load(t, localetest.WithPseudo(t, os.DirFS(".")))
	for _, p := range c.Problems() {
		if p.Language == locale.Pseudo {
			t.Errorf("%+v", p)
		}
	}
	if p := c.Printer(locale.Pseudo, nil); p.Dir() != "rtl" || !strings.Contains(p.Text("home.title"), "\u202e") {
		t.Errorf("%s %q", p.Dir(), p.Text("home.title"))
	}
}

// sources returns the Go files and templates below a folder, without tests.
func sources(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, "_test.go") || filepath.Ext(file) != ".go" && filepath.Ext(file) != ".html" {
			return err
		}
		raw, err := os.ReadFile(file)
		all.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// problemPrefix is what the keys of failures begin with. The code of the failure follows.
const problemPrefix = "problem."

func TestEveryTextIsUsed(t *testing.T) {
	t.Parallel()
	pages, domain := sources(t, ".."), sources(t, "../../../domain")+sources(t, "../../../platform")
	for _, key := range load(t, os.DirFS(".")).Keys() {
		if !used(pages, domain, key) {
			t.Errorf("no page of the portal shows %s: delete it in every language", key)
		}
	}
}

// used reports whether a key is written in the pages: as a whole, in two parts that are joined
// at a dot, or as the code of a failure.
func used(pages, domain, key string) bool {
	key = strings.TrimSuffix(key, ".membership") // a variant is used where its text is
	if strings.Contains(pages, `"`+key+`"`) {
		return true
	}
	if code, failure := strings.CutPrefix(key, problemPrefix); failure {
		return strings.Contains(pages+domain, `"`+code+`"`)
	}
	for i, c := range key {
		if c != '.' {
			continue
		}
		if strings.Contains(pages, `"`+key[:i+1]+`"`) || strings.Contains(pages, `"`+key[:i]+`"`) && strings.Contains(pages, `"`+key[i:]+`"`) {
			return true
		}
	}
	return false
}

// named finds the keys that pages name: v.T("key") in Go, .T "key" in templates.
var named = regexp.MustCompile(`\bT[( ]"([a-zA-Z][\w.-]*)"(\s*\+)?`)

func TestEveryKeyThatPagesNameIsInEnglish(t *testing.T) {
	t.Parallel()
	english := load(t, os.DirFS("."))
	count := 0
	for _, found := range named.FindAllStringSubmatch(sources(t, ".."), -1) {
		if key := found[1]; found[2] == "" && english.Printer("en", nil).Text(key) == key {
			t.Errorf("en.json lacks %s", key)
		}
		count++
	}
	if count < 50 {
		t.Errorf("only %d keys are named: the search looks in the wrong place", count)
	}
}
