package locale

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// ProblemKind says what is wrong with a translation.
type ProblemKind string

const (
	// Missing is a text that the language lacks. Readers see the English one.
	Missing ProblemKind = "missing"
	// Unfit is a text that was left out: its key, its placeholders or its plural forms
	// are not those of the English text.
	Unfit ProblemKind = "unfit"
)

// Problem is a text of a language that readers do not see.
type Problem struct {
	Language string
	Key      string
	Kind     ProblemKind
	Reason   string // what does not fit; empty for Missing
}

// Problems returns what is wrong with the translations, by language and key.
func (c *Catalogue) Problems() []Problem { return slices.Clone(c.problems) }

// compare holds every language against English, and takes out what does not fit.
func (c *Catalogue) compare() {
	english := c.texts[Fallback]
	for _, l := range c.languages[1:] {
		of, forms := c.texts[l], Forms(l)
		for key, e := range of {
			if reason := unfit(e, english[key], forms); reason != "" {
				delete(of, key)
				c.problems = append(c.problems, Problem{l, key, Unfit, reason})
			}
		}
		for key := range english {
			if of[key] == nil && !slices.ContainsFunc(c.problems, func(p Problem) bool { return p.Language == l && p.Key == key }) {
				c.problems = append(c.problems, Problem{l, key, Missing, ""})
			}
		}
	}
	slices.SortFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.Key, b.Key))
	})
}

// unfit says why a translation cannot stand for an English text; empty: it can.
func unfit(e, english entry, forms []string) string {
	if english == nil {
		return "English has no such key"
	}
	if e.isPlural() != english.isPlural() {
		return "one of this text and the English one has plural forms"
	}
	if got, want := without(e.names(), "n"), without(english.names(), "n"); !slices.Equal(got, want) {
		return fmt.Sprintf("the placeholders are %s; English has %s", braces(got), braces(want))
	}
	if !slices.Contains(english.names(), "n") && slices.Contains(e.names(), "n") {
		return "English has no placeholder {n}"
	}
	if !e.isPlural() {
		return ""
	}
	for _, f := range forms {
		if e[f] == "" {
			return fmt.Sprintf("the plural form %q is missing", f)
		}
	}
	for f := range e {
		if !slices.Contains(forms, f) {
			return fmt.Sprintf("the language has no plural form %q", f)
		}
	}
	return ""
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// braces writes placeholders as texts have them.
func braces(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "{" + strings.Join(names, "}, {") + "}"
}

// fits says why a merchant's text cannot stand for an English one; nil: it can.
func fits(own string, english entry) error {
	names, err := placeholders(own)
	if err != nil {
		return err
	}
	known := english.names()
	for _, n := range names {
		if !slices.Contains(known, n) {
			if len(known) == 0 {
				return fmt.Errorf("the text has no value for {%s}: it has no placeholders", n)
			}
			return fmt.Errorf("the text has no value for {%s}: its placeholders are %s", n, braces(known))
		}
	}
	return nil
}

// CheckOverride says why a merchant's text cannot stand for the text of a key in a
// language: the language, the key or the plural form is not known, the text is empty, or
// it has a placeholder that the default lacks. The error is a fault.Invalid.
func (c *Catalogue) CheckOverride(tag, key, form, text string) error {
	english, known := c.texts[Fallback][key]
	switch {
	case !slices.Contains(c.languages, tag):
		return fault.New(fault.Invalid, "%q is not a language of these texts: use %s", tag, strings.Join(c.languages, ", ")).Code("language").Field("language")
	case !known:
		return fault.New(fault.Invalid, "%q is not the key of a text", key).Code("key").Field("key")
	case english.isPlural() && !slices.Contains(Forms(tag), form):
		return fault.New(fault.Invalid, "%q is not a plural form of %s: use %s", form, tag, strings.Join(Forms(tag), ", ")).Code("form").Field("form")
	case !english.isPlural() && form != "":
		return fault.New(fault.Invalid, "the text %s has no plural forms", key).Code("form").Field("form")
	case strings.TrimSpace(text) == "":
		return fault.New(fault.Invalid, "the text is empty").Code("text").Field("text")
	}
	if err := fits(text, english); err != nil {
		return fault.New(fault.Invalid, "%s", err.Error()).Code("text").Field("text")
	}
	return nil
}
