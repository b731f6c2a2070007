package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Mapping has the name of a column, as in the header, by the name of the field that it holds.
type Mapping map[string]string

// Guess maps the fields of a kind to the columns whose names say what they hold.
func Guess(kind Kind, header []string) Mapping {
	m := make(Mapping)
	columns := make(map[string]string)
	for _, name := range slices.Backward(header) {
		if name != "" {
			columns[spell(name)] = name
		}
	}
	fields := Fields(kind)
	take := func(f Field, spelling string) {
		if name, is := columns[spelling]; is && m[f.Name] == "" {
			m[f.Name] = name
		}
	}
	for _, f := range fields {
		take(f, spell(f.Name))
		take(f, spell(f.Label))
	}
	for _, f := range fields {
		for _, s := range f.spellings {
			take(f, s)
		}
	}
	return m
}

// Check says what keeps a file with a header from being read.
func (m Mapping) Check(kind Kind, header []string) []string {
	var missing []string
	labels := make(map[string]string)
	for _, f := range Fields(kind) {
		labels[f.Name] = f.Label
		if f.Required && m[f.Name] == "" {
			missing = append(missing, fmt.Sprintf("%s has no column: choose the one that has it (%s)", f.Label, f.About))
		}
	}
	for _, pair := range alternatives[kind] {
		if m[pair[0]] == "" && m[pair[1]] == "" {
			missing = append(missing, fmt.Sprintf("neither %s nor %s has a column: choose one", labels[pair[0]], labels[pair[1]]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		label, known := labels[name]
		switch column := m[name]; {
		case !known:
			missing = append(missing, fmt.Sprintf("%.60q is not a field", name))
		case column != "" && !slices.Contains(header, column):
			missing = append(missing, fmt.Sprintf("%s has the column %.60q, which the file lacks", label, column))
		}
	}
	return missing
}

// spell returns the letters and digits of a name in lower case.
func spell(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

func spelled(names ...string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = spell(name)
	}
	return list
}
