package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/sheet"
)

// line returns a record as a line of JSON. Fields are in the order of the type, so that equal
// records are equal bytes.
func (t Type) line(to []byte, r Record) ([]byte, error) {
	if len(r) != len(t.Fields) {
		return nil, fault.New(fault.Internal, "a record of %s has %d values, not %d", t.Name, len(r), len(t.Fields))
	}
	to = append(to, '{')
	for i, f := range t.Fields {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(append(append(to, '"'), f.Name...), '"', ':')
		switch v := r[i].(type) {
		case nil:
			to = append(to, "null"...)
		case int64:
			to = strconv.AppendInt(to, v, 10)
		case bool:
			to = strconv.AppendBool(to, v)
		case time.Time:
			to = append(append(append(to, '"'), v.UTC().Format(instant)...), '"')
		case Document:
			to = v.appendTo(to)
		case string:
			to = appendText(to, v)
		default:
			return nil, fault.New(fault.Internal, "%s.%s has a value of type %T", t.Name, f.Name, v)
		}
	}
	return append(to, "}\n"...), nil
}

func appendText(to []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string never fails
	return append(to, quoted...)
}

// appendTo writes an object or a list as it is, and any other text as a text: what is read from
// the line is the same, byte for byte.
func (d Document) appendTo(to []byte) []byte {
	if d.embeds() {
		return append(to, d...)
	}
	return appendText(to, string(d))
}

func (d Document) embeds() bool {
	return d != "" && (d[0] == '{' || d[0] == '[') && !strings.ContainsAny(string(d), "\r\n") && json.Valid([]byte(d))
}

// record reads a line.
func (t Type) record(line []byte) (Record, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(line, &values); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if values == nil {
		return nil, fmt.Errorf("it is no JSON object")
	}
	r := make(Record, len(t.Fields))
	for i, f := range t.Fields {
		raw, found := values[f.Name]
		if !found {
			return nil, fmt.Errorf("field %s is missing", f.Name)
		}
		v, err := f.parse(raw)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		r[i] = v
		delete(values, f.Name)
	}
	for name := range values {
		return nil, fmt.Errorf("field %.60q is unknown", name)
	}
	return r, nil
}

func (f Field) parse(raw json.RawMessage) (any, error) {
	none := bytes.Equal(raw, []byte("null"))
	switch f.Kind {
	case Number, Own:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is no whole number", raw)
		}
		return n, nil
	case Truth:
		switch string(raw) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%.40q is neither true nor false", raw)
	case At, Due:
		if none {
			return nil, nil
		}
		text, err := parseText(raw)
		if err != nil {
			return nil, err
		}
		return parseInstant(text)
	case JSON:
		switch {
		case none:
			return nil, nil
		case raw[0] == '{' || raw[0] == '[':
			return Document(raw), nil
		}
		text, err := parseText(raw)
		return Document(text), err
	}
	return parseText(raw)
}

func parseText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("%.40q is no text", raw)
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

// compareKeys compares the keys of two records.
func (t Type) compareKeys(a, b Record) int {
	for i := range t.Key {
		if c := compareValues(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case int64:
		n, _ := b.(int64)
		return cmp.Compare(a, n)
	case string:
		text, _ := b.(string)
		return cmp.Compare(a, text)
	case time.Time:
		at, _ := b.(time.Time)
		return a.Compare(at)
	}
	return 0
}

// row returns a record as a row of a table for people. No value is a formula.
func (t Type) row(r Record) []string {
	cells := make([]string, len(r))
	for i, v := range r {
		switch v := v.(type) {
		case nil:
		case time.Time:
			cells[i] = v.UTC().Format(instant)
		case string:
			cells[i] = sheet.Cell(v)
		case Document:
			cells[i] = sheet.Cell(string(v))
		default:
			cells[i] = fmt.Sprint(v)
		}
	}
	return cells
}

// names returns the header of the table.
func (t Type) names() []string {
	list := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		list[i] = f.Name
	}
	return list
}
