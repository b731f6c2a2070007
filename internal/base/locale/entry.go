package locale

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// entry is a text in one language: its forms by name, or one text under "".
type entry map[string]string

// other is the form of numbers that no other form is for. Every plural text has it.
const other = "other"

// formNames are CLDR's plural forms, in its order.
var formNames = []string{"zero", "one", "two", "few", "many", other}

// plurals are the names of the library's forms.
var plurals = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: other,
}

// isPlural reports whether the text has forms.
func (e entry) isPlural() bool { return e[other] != "" }

// form returns the text for a number in a language, or without one that of "other".
func (e entry) form(of language.Tag, n int64, counted bool) string {
	if !e.isPlural() {
		return e[""]
	}
	if counted {
		if text, has := e[formOf(of, n)]; has {
			return text
		}
	}
	return e[other]
}

// formOf returns the name of the plural form that a language has for a number.
func formOf(of language.Tag, n int64) string {
	// The rules look at the last six digits and at whether there are more, so that a
	// larger number has the form of the same digits after a million.
	const million = 1_000_000
	if n = max(n, -n); n >= 10*million || n < 0 {
		n = million + max(n%million, -(n%million))
	}
	return plurals[plural.Cardinal.MatchPlural(of, int(n), 0, 0, 0, 0)]
}

// Forms returns the plural forms that a language has for whole numbers below a thousand,
// in CLDR's order. "other" is always one of them.
func Forms(tag string) []string {
	of, has := language.Make(tag), map[string]bool{other: true}
	for n := range int64(1000) {
		has[formOf(of, n)] = true
	}
	return slices.DeleteFunc(slices.Clone(formNames), func(f string) bool { return !has[f] })
}

// readEntries reads the object of a file. A key that comes twice is an error.
func readEntries(raw []byte) (map[string]entry, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not UTF-8")
	}
	entries := make(map[string]entry)
	err := members(raw, func(key string, value json.RawMessage) error {
		e, err := readEntry(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if _, twice := entries[key]; twice {
			return fmt.Errorf("%s comes twice", key)
		}
		if !isKey(key) {
			return fmt.Errorf("%q is not a key: use letters and digits, with dots between the parts", key)
		}
		entries[key] = e
		return nil
	})
	return entries, err
}

// members calls visit with each member of an object, in order.
func members(raw []byte, visit func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("it is not a JSON object"), err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := visit(fmt.Sprint(key), value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more after the object")
	}
	return nil
}

// readEntry reads a text or an object of plural forms.
func readEntry(value json.RawMessage) (entry, error) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		if one == "" {
			return nil, errors.New("the text is empty")
		}
		_, err := placeholders(one)
		return entry{"": one}, err
	}
	e := make(entry)
	err := members(value, func(form string, value json.RawMessage) error {
		var text string
		if err := json.Unmarshal(value, &text); err != nil || text == "" {
			return fmt.Errorf("form %q is not a text", form)
		}
		if !slices.Contains(formNames, form) {
			return fmt.Errorf("%q is not a plural form: use %s", form, strings.Join(formNames, ", "))
		}
		if _, twice := e[form]; twice {
			return fmt.Errorf("form %q comes twice", form)
		}
		e[form] = text
		_, err := placeholders(text)
		return err
	})
	if err == nil && !e.isPlural() {
		err = errors.New(`the form "other" is missing`)
	}
	return e, err
}

// isKey reports whether a key is made of letters, digits, dots, hyphens and underscores.
func isKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// names returns the placeholders of all forms, by name.
func (e entry) names() []string {
	all := make(map[string]bool)
	for _, text := range e {
		found, _ := placeholders(text)
		for _, name := range found {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// placeholders returns the names of a text's placeholders in their order, also those
// that come twice. A brace that belongs to none is an error.
func placeholders(text string) ([]string, error) {
	var names []string
	for rest := text; ; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return names, nil
		}
		name, after, found := strings.Cut(rest[at+1:], "}")
		if rest[at] == '}' || !found || !isName(name) {
			return nil, fmt.Errorf("a brace in %q belongs to no placeholder: write {name}, with letters only", text)
		}
		names, rest = append(names, name), after
	}
}

// isName reports whether a placeholder can have the name.
func isName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// fill replaces the placeholders of a text. One without a value stays as it is, so that
// it is seen.
func fill(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for rest := text; ; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			b.WriteString(rest)
			return b.String()
		}
		name, after, found := strings.Cut(rest[at+1:], "}")
		if !found {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:at])
		if v, has := value(name); has {
			b.WriteString(v)
		} else {
			b.WriteString(rest[at : at+len(name)+2])
		}
		rest = after
	}
}
