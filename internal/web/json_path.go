package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// level is an object or a list that a walk through a JSON text is in.
type level struct {
	list  bool
	index int    // of a list: the element that comes
	name  string // of an object: the field whose value comes
	named bool
}

// fieldPath returns where in a text a value of the wrong type stands, with the
// numbers of list elements, such as "lines[0].price".
func fieldPath(text []byte, wrong *json.UnmarshalTypeError) string {
	d := json.NewDecoder(bytes.NewReader(text))
	var in []level
	for {
		token, err := d.Token()
		if err != nil {
			return wrong.Field
		}
		delim, _ := token.(json.Delim)
		if delim == '}' || delim == ']' {
			in = next(in[:len(in)-1])
			continue
		}
		if n := len(in); n > 0 && !in[n-1].list && !in[n-1].named {
			in[n-1].name, in[n-1].named = token.(string), true
			continue
		}
		if d.InputOffset() >= wrong.Offset {
			// The offset is meaningless when part of the text was decoded separately.
			// The library also names structs that the wire does not show.
			path := pathOf(in)
			if fields := indices.ReplaceAllString(path, ""); fields == wrong.Field || strings.HasSuffix(wrong.Field, "."+fields) {
				return path
			}
			return wrong.Field
		}
		if delim != 0 {
			in = append(in, level{list: delim == '['})
			continue
		}
		in = next(in)
	}
}

// nulPath returns where in a JSON text a name or a value contains a NUL character,
// which can only be written as an escape.
func nulPath(text []byte) (string, bool) {
	if !bytes.Contains(text, []byte(`\u0000`)) {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var in []level
	for {
		token, err := d.Token()
		if err != nil {
			return "", false // the decoder reports what is wrong with it
		}
		delim, _ := token.(json.Delim)
		if delim == '}' || delim == ']' {
			in = next(in[:len(in)-1])
			continue
		}
		s, _ := token.(string)
		n := len(in)
		name := n > 0 && !in[n-1].list && !in[n-1].named
		if name {
			in[n-1].name, in[n-1].named = strings.ReplaceAll(s, "\x00", ""), true
		}
		switch {
		case strings.ContainsRune(s, 0):
			return pathOf(in), true
		case name:
		case delim != 0:
			in = append(in, level{list: delim == '['})
		default:
			in = next(in)
		}
	}
}

var indices = regexp.MustCompile(`\[\d+\]`)

// next steps over a value.
func next(in []level) []level {
	if n := len(in); n > 0 {
		in[n-1].index++
		in[n-1].named = false
	}
	return in
}

func pathOf(in []level) string {
	path := ""
	for i, l := range in {
		switch {
		case l.list:
			path += "[" + strconv.Itoa(l.index) + "]"
		case i > 0:
			path += "." + l.name
		default:
			path = l.name
		}
	}
	return path
}
