package locale

import (
	"slices"

	"golang.org/x/text/language"
)

// FormText is the text of a plural form, or of a text without forms under "".
type FormText struct{ Form, Text string }

// Defaults returns the texts of a key in a language by form, in CLDR's order, and whether the
// language has the text: if not, they are the English ones, for the forms of the language.
// A key that is not known has none.
func (c *Catalogue) Defaults(tag, key string) (list []FormText, translated bool) {
	e, english := c.texts[tag][key], c.texts[Fallback][key]
	if english == nil || c.texts[tag] == nil {
		return nil, false
	}
	shown := e
	if e == nil {
		shown = english
	}
	if !english.isPlural() {
		return []FormText{{"", shown[""]}}, e != nil
	}
	for _, form := range Forms(tag) {
		text := shown[form]
		if text == "" {
			text = shown[other]
		}
		list = append(list, FormText{form, text})
	}
	return list, e != nil
}

// Placeholders returns the placeholders of a text, by name.
func (c *Catalogue) Placeholders(key string) []string { return c.texts[Fallback][key].names() }

// LeftOut returns the placeholders of a key that a text for it lacks, save {n}, which plural
// forms may leave out.
func (c *Catalogue) LeftOut(key, text string) []string {
	has, _ := placeholders(text)
	return slices.DeleteFunc(without(c.Placeholders(key), "n"), func(n string) bool { return slices.Contains(has, n) })
}

// Example returns the smallest number above 0 that has a plural form in a language, below a
// thousand; 0: there is none, or it is 0.
func Example(tag, form string) int64 {
	of := language.Make(tag)
	for n := range int64(1000) {
		if n > 0 && formOf(of, n) == form {
			return n
		}
	}
	return 0
}
