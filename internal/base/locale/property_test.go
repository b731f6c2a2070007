package locale_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/perennialhq/perennial/internal/base/locale"
)

// Values are written as they are, whatever they contain: a placeholder in a value is
// not filled, and nothing but placeholders changes.
func TestPlaceholdersAreFilledOnceAndNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[^{}]{0,8}`)
		name := rapid.StringMatching(`[a-zA-Z]{1,6}`)
		var text, want strings.Builder
		text.WriteString("x")
		want.WriteString("x")
		values := map[string]string{}
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			between, n := plain.Draw(t, "text"), name.Draw(t, "name")
			if _, has := values[n]; !has {
				values[n] = rapid.String().Draw(t, "value")
			}
			text.WriteString(between + "{" + n + "}")
			want.WriteString(between + values[n])
		}
		raw, err := json.Marshal(map[string]string{"k": text.String()})
		if err != nil {
			t.Fatal(err)
		}
		c, err := locale.Load(files("en.json", string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		var args []any
		for n, v := range values {
			args = append(args, n, v)
		}
		if got := c.Printer("en", nil).Text("k", args...); got != want.String() {
			t.Fatalf("%q filled with %q: %q, want %q", text.String(), values, got, want.String())
		}
	})
}

// What CheckOverride accepts is shown, and what it refuses is not.
func FuzzOverride(f *testing.F) {
	for _, s := range []string{"Hi {name}", "{name}{name}", "{nam}", "{", "}", "{}", "{{name}}", "a\x00b", "<b>{name}</b>", " "} {
		f.Add(s)
	}
	c, err := locale.Load(files("en.json", `{"k": "Hello {name}"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, own string) {
		err := c.CheckOverride("en", "k", "", own)
		got := c.Printer("en", map[string]string{"k": own}).Text("k", "name", "Ada")
		if err == nil && got != strings.ReplaceAll(own, "{name}", "Ada") {
			t.Errorf("%q was accepted and is shown as %q", own, got)
		}
		if err != nil && strings.TrimSpace(own) != "" && got != "Hello Ada" {
			t.Errorf("%q was refused (%v) and is shown as %q", own, err, got)
		}
	})
}

// A header is never answered with a language that the catalogue lacks.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{"de-AT,de;q=0.9", "*", "zh-Hant-TW", "x-private", "en-u-rg-gbzzzz", "i-klingon", "de;q=abc", ",,,"} {
		f.Add(s)
	}
	c, err := locale.Load(files("en.json", "{}", "de.json", "{}", "pt-BR.json", "{}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		tag := c.Match(header)
		if again := c.Match(tag); again != tag {
			t.Errorf("%q leads to %s, and that to %s", header, tag, again)
		}
		if l := c.Printer(tag, nil).Lang(); !slices.Contains(c.Languages(), l) {
			t.Errorf("%q is answered in %s", header, l)
		}
	})
}
