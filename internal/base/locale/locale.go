// Package locale speaks the subscriber's language: texts with placeholders and plural
// forms from catalogues, and dates, amounts, numbers and lists as a language writes them.
//
// Values are text and never HTML: templates escape what they are given.
package locale

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Fallback is the language of the reference catalogue. A text that another language
// lacks is shown in it.
const Fallback = "en"

// Pseudo is a language that tests add to see whether pages work from right to left. It
// has the formats of English.
const Pseudo = "ar-XB"

// Catalogue is the texts of one part of the product in all its languages. It does not
// change and can be used by many goroutines.
type Catalogue struct {
	languages []string                    // Fallback first, the others by tag
	tags      []language.Tag              // of languages, in their order
	texts     map[string]map[string]entry // by language and key
	matcher   language.Matcher
	problems  []Problem
}

// Load reads a catalogue: one file for each language, named by its tag, such as
// "en.json" and "pt-BR.json". A file is one object of keys and texts; a text is a string
// with placeholders such as "{name}", or an object of the plural forms that its language
// distinguishes ("one", "other", …), which the placeholder {n} chooses from.
//
// A file that cannot be read, a language without formats and a missing English file are
// errors. A translation that does not fit the English text is left out, so that readers
// see English instead of a broken text, and is one of Problems.
func Load(files fs.FS) (*Catalogue, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	c := &Catalogue{texts: make(map[string]map[string]entry)}
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".json")
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if c.texts[tag], err = readLanguage(tag, raw); err != nil {
			return nil, fmt.Errorf("texts in %s: %w", name, err)
		}
	}
	if c.texts[Fallback] == nil {
		return nil, fmt.Errorf("texts: there is no %s.json", Fallback)
	}
	c.languages = slices.SortedFunc(maps.Keys(c.texts), func(a, b string) int {
		if a == Fallback {
			return -1
		}
		if b == Fallback {
			return 1
		}
		return cmp.Compare(a, b)
	})
	for _, l := range c.languages {
		c.tags = append(c.tags, language.Make(l))
	}
	c.matcher = language.NewMatcher(c.tags)
	for key, e := range c.texts[Fallback] {
		if reason := unfit(e, e, Forms(Fallback)); reason != "" {
			return nil, fmt.Errorf("texts in %s.json: %s: %s", Fallback, key, reason)
		}
	}
	c.compare()
	return c, nil
}

// readLanguage reads the file of a language.
func readLanguage(tag string, raw []byte) (map[string]entry, error) {
	parsed, err := language.Parse(tag)
	if err != nil || parsed.String() != tag {
		return nil, fmt.Errorf("%q is not the canonical tag of a language", tag)
	}
	if _, known := formatsOf(parsed); !known {
		return nil, fmt.Errorf("language %s has no formats: add them to formats.go", tag)
	}
	return readEntries(raw)
}

// Languages returns the tags of the languages, English first.
func (c *Catalogue) Languages() []string { return slices.Clone(c.languages) }

// Keys returns the keys of the English texts, by name.
func (c *Catalogue) Keys() []string { return slices.Sorted(maps.Keys(c.texts[Fallback])) }

// Language returns the language whose texts a reader with a tag gets.
func (c *Catalogue) Language(tag string) string {
	_, index, _ := c.matcher.Match(language.Make(c.Match(tag)))
	return c.languages[index]
}

// Match returns the tag of the first wish that one of the languages satisfies: a tag
// such as "de-AT", or the value of a header Accept-Language. It keeps the wish's region,
// which decides about dates and amounts. Without such a wish it is English. Wishes are
// given by rank: the query's, the customer's, the browser's, the store's.
func (c *Catalogue) Match(wishes ...string) string {
	for _, w := range wishes {
		if len(w) > maxWish {
			continue
		}
		tags, _, err := language.ParseAcceptLanguage(strings.ReplaceAll(w, "_", "-"))
		if err != nil || len(tags) == 0 {
			continue
		}
		if tag, found := c.match(tags); found {
			return tag.String()
		}
	}
	return Fallback
}

// maxWish is the size in bytes of the longest wish that is read. Browsers send less than 100.
const maxWish = 500

// match returns the language that suits one of the tags best, with the region of that tag.
func (c *Catalogue) match(tags []language.Tag) (language.Tag, bool) {
	_, index, confidence := c.matcher.Match(tags...)
	if confidence == language.No {
		return language.Und, false
	}
	base, _ := c.tags[index].Base()
	for _, t := range tags {
		b, _, region := t.Raw()
		if _, i, _ := c.matcher.Match(t); i != index || b != base || region == (language.Region{}) {
			continue
		}
		if in, err := language.Raw.Compose(base, region); err == nil {
			return in, true
		}
	}
	return c.tags[index], true
}
