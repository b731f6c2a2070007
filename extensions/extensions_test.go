package extensions_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/perennialhq/perennial/extensions"
	"github.com/perennialhq/perennial/internal/sandbox/storefront/theme"
)

// languages are those in which shoppers and merchants read the extension.
var languages = []string{"de", "en", "es", "fr", "it", "ja", "nl", "pt-BR"}

// What the platform accepts.
const (
	maxLiquid     = 100 << 10 // bytes, all files
	maxLocale     = 15 << 10  // bytes, each file
	maxStylesheet = 100 << 10
	maxName       = 25 // characters
	maxScript     = 10 << 10
)

var (
	settingTypes = []string{"checkbox", "product", "select", "text"} // that we use, of the platform's
	forbidden    = regexp.MustCompile(`\{%-?\s*(include|layout|section|sections|javascript|stylesheet)\b`)
	usesSetting  = regexp.MustCompile(`block\.settings\.(\w+)`)
	translates   = regexp.MustCompile(`'([\w.]+)'\s*\|\s*t\b([^}\n|]*)`)
	passed       = regexp.MustCompile(`(\w+):`)
	places       = regexp.MustCompile(`\{\{\s*\w+\s*\}\}`)
)

// contents returns the texts of the files that match a pattern, by name.
func contents(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := fs.Glob(extensions.Storefront(), pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	found := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(extensions.Storefront(), name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}

// flat returns the texts of a file of words by their keys.
func flat(t *testing.T, name, text string) map[string]string {
	t.Helper()
	var words map[string]any
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	found := map[string]string{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				walk(strings.TrimPrefix(at+"."+key, "."), below)
			}
		case string:
			found[at] = v
		default:
			t.Errorf("%s: %s is not a text", name, at)
		}
	}
	walk("", words)
	return found
}

func TestFilesKeepToLimitsOfThePlatform(t *testing.T) {
	t.Parallel()
	folders := map[string][]string{".": {".toml"}, "blocks": {".liquid"}, "snippets": {".liquid"}, "assets": {".css", ".js"}, "locales": {".json"}}
	liquid := 0
	err := fs.WalkDir(extensions.Storefront(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !slices.Contains(folders[path.Dir(name)], path.Ext(name)) {
			t.Errorf("%s is not a file that the platform takes", name)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		most := map[string]int64{".css": maxStylesheet, ".js": maxScript, ".json": maxLocale, ".liquid": maxLiquid}[path.Ext(name)]
		if most > 0 && info.Size() > most {
			t.Errorf("%s has %d bytes, and may have %d", name, info.Size(), most)
		}
		if path.Ext(name) == ".liquid" {
			liquid += int(info.Size())
		}
		return nil
	})
	if err != nil || liquid > maxLiquid {
		t.Errorf("%d bytes of Liquid, %v", liquid, err)
	}
	toml := contents(t, "shopify.extension.toml")["shopify.extension.toml"]
	if !regexp.MustCompile(`^name = "[^"]+"\ntype = "theme"\n$`).MatchString(toml) {
		t.Errorf("the extension's settings are %s", toml)
	}
	for name, text := range contents(t, "assets/*.js") {
		if strings.Contains(text, "import") || strings.Contains(text, "innerHTML") || strings.Contains(text, "https://") {
			t.Errorf("%s loads other code, or writes markup from texts", name)
		}
	}
}

func TestSchemasOfBlocksAreValid(t *testing.T) {
	t.Parallel()
	e, err := theme.Read(extensions.Storefront())
	if err != nil {
		t.Fatal(err)
	}
	editor := flat(t, "en.default.schema", contents(t, "locales/en.default.schema.json")["locales/en.default.schema.json"])
	used := map[string]bool{}
	for file, text := range contents(t, "blocks/*.liquid") {
		b, _ := e.Block(strings.TrimSuffix(path.Base(file), ".liquid"))
		schema := b.Schema
		labels := []string{schema.Name}
		if schema.Target != "section" {
			t.Errorf("%s: the target is %q", file, schema.Target)
		}
		for _, asset := range []string{schema.Stylesheet, schema.Javascript} {
			if asset != "" {
				contents(t, "assets/"+asset)
			}
		}
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s: blocks must not use %s", file, found)
		}
		has := map[string]bool{}
		for _, s := range schema.Settings {
			if has[s.ID] || !slices.Contains(settingTypes, s.Type) {
				t.Errorf("%s: the setting %q of type %q exists twice, or the type is unknown", file, s.ID, s.Type)
			}
			has[s.ID] = true
			labels = append(labels, s.Label)
			if s.Info != "" {
				labels = append(labels, s.Info)
			}
			hasDefault := s.Type != "select"
			for _, c := range s.Options {
				labels = append(labels, c.Label)
				hasDefault = hasDefault || c.Value == s.Default
			}
			if _, isBool := s.Default.(bool); !hasDefault || s.Default == "" || (s.Type == "checkbox") != isBool {
				t.Errorf("%s: the default of %q is %v", file, s.ID, s.Default)
			}
			if !regexp.MustCompile(`block\.settings\.` + s.ID + `\b`).MatchString(text) {
				t.Errorf("%s: nothing uses the setting %q", file, s.ID)
			}
		}
		for _, use := range usesSetting.FindAllStringSubmatch(text, -1) {
			if !has[use[1]] {
				t.Errorf("%s: there is no setting %q", file, use[1])
			}
		}
		for _, label := range labels {
			key, ok := strings.CutPrefix(label, "t:")
			if _, known := editor[key]; !ok || !known {
				t.Errorf("%s: there are no words for %q", file, label)
			}
			used[key] = true
		}
	}
	for key := range editor {
		if !used[key] {
			t.Errorf("nothing uses the words %q", key)
		}
	}
}

func TestTranslationsAreComplete(t *testing.T) {
	t.Parallel()
	for kind, suffix := range map[string]string{"shoppers": ".json", "merchants": ".schema.json"} {
		byLanguage := map[string]map[string]string{}
		for name, text := range contents(t, "locales/*.json") {
			language := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".json"), ".schema")
			if strings.HasSuffix(name, ".schema.json") == (suffix == ".schema.json") {
				byLanguage[strings.TrimSuffix(language, ".default")] = flat(t, name, text)
			}
		}
		if got := slices.Sorted(maps.Keys(byLanguage)); !slices.Equal(got, languages) {
			t.Fatalf("the languages of %s are %v", kind, got)
		}
		for language, words := range byLanguage {
			for key, english := range byLanguage["en"] {
				text, ok := words[key]
				if !ok || text == "" || strings.TrimSpace(text) != text {
					t.Errorf("%s, for %s: %q is %q", language, kind, key, text)
				}
				want, got := places.FindAllString(english, -1), places.FindAllString(text, -1)
				if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
					t.Errorf("%s, for %s: %q has the places %v, and must have %v", language, kind, key, got, want)
				}
				if strings.HasSuffix(key, ".name") && utf8.RuneCountInString(text) > maxName {
					t.Errorf("%s, for %s: %q is too long for a name", language, kind, text)
				}
			}
			if len(words) != len(byLanguage["en"]) {
				t.Errorf("%s, for %s, has %d texts of %d", language, kind, len(words), len(byLanguage["en"]))
			}
		}
		if kind != "shoppers" {
			continue
		}
		used := map[string]bool{}
		for _, pattern := range []string{"blocks/*.liquid", "snippets/*.liquid"} {
			for name, text := range contents(t, pattern) {
				for _, use := range translates.FindAllStringSubmatch(text, -1) {
					if used[use[1]] = true; byLanguage["en"][use[1]] == "" {
						t.Errorf("%s: there are no words for %q", name, use[1])
					}
					var wanted, given []string
					for _, place := range places.FindAllString(byLanguage["en"][use[1]], -1) {
						wanted = append(wanted, strings.Trim(place, "{ }"))
					}
					for _, value := range passed.FindAllStringSubmatch(use[2], -1) {
						given = append(given, value[1])
					}
					if slices.Sort(wanted); !slices.Equal(slices.Sorted(slices.Values(given)), wanted) {
						t.Errorf("%s: %q gets the values %v, and needs %v", name, use[1], given, wanted)
					}
				}
			}
		}
		for key := range byLanguage["en"] {
			if !used[key] {
				t.Errorf("nothing uses the words %q", key)
			}
		}
	}
}
