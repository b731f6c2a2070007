package liquid

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values are nil, bool, int64, float64, string, []any, map[string]any and *Object.

type (
	empty struct{} // equals an empty text, list or map
	blank struct{} // equals also nil, false and a text of spaces
)

// truthy reports what "if" does: everything holds but nil and false.
func truthy(v any) bool { return v != nil && v != false }

// Text returns how a value is written.
func Text(v any) string {
	switch v := v.(type) {
	case nil, empty, blank:
		return ""
	case string:
		return v
	case HTML:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	case []any:
		var b strings.Builder
		for _, one := range v {
			b.WriteString(Text(one))
		}
		return b.String()
	case *Object:
		return v.Name
	}
	return show(v)
}

// show is a value in a message.
func show(v any) string {
	if o, ok := v.(*Object); ok {
		return o.Name
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(text)
}

// numeric returns a number; a text that is no number is 0.
func numeric(v any) any {
	switch v := v.(type) {
	case int64, float64:
		return v
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			return f
		}
	}
	return int64(0)
}

func float(v any) float64 {
	switch n := numeric(v).(type) {
	case float64:
		return n
	case int64:
		return float64(n)
	}
	return 0
}

// whole returns a number without its decimals.
func whole(v any) int64 {
	if n, ok := numeric(v).(int64); ok {
		return n
	}
	return int64(float(v))
}

func equal(a, b any) bool {
	if _, ok := a.(empty); ok {
		a, b = b, a
	} else if _, ok := a.(blank); ok {
		a, b = b, a
	}
	switch b.(type) {
	case empty:
		return isEmpty(a)
	case blank:
		s, ok := a.(string)
		return !truthy(a) || isEmpty(a) || ok && strings.TrimSpace(s) == ""
	}
	if order, ok := compare(a, b); ok {
		return order == 0
	}
	x, isList := a.([]any)
	y, isListToo := b.([]any)
	if isList && isListToo {
		return slices.EqualFunc(x, y, equal)
	}
	if isList || isListToo {
		return false
	}
	if _, ok := a.(map[string]any); ok {
		return false
	}
	return a == b
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// compare orders two numbers or two texts.
func compare(a, b any) (int, bool) {
	x, ok := a.(string)
	y, okToo := b.(string)
	if ok && okToo {
		return strings.Compare(x, y), true
	}
	n, ok := a.(int64)
	m, okToo := b.(int64)
	if ok && okToo {
		return int(min(max(n-m, -1), 1)), true
	}
	if !isNumber(a) || !isNumber(b) {
		return 0, false
	}
	d := float(a) - float(b)
	switch {
	case d < 0:
		return -1, true
	case d > 0:
		return 1, true
	}
	return 0, true
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

func contains(v, part any) bool {
	switch v := v.(type) {
	case string:
		return part != nil && strings.Contains(v, Text(part))
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return equal(one, part) })
	case map[string]any:
		_, ok := v[Text(part)]
		return ok
	}
	return false
}

// member reads one property.
func member(v, key any) (any, error) {
	name, _ := key.(string)
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // what nothing has is nothing, as on the platform
	case *Object:
		p, ok := v.Properties[name]
		if !ok {
			return nil, fmt.Errorf("%s has no property %q", v.Name, Text(key))
		}
		return p, nil
	case map[string]any:
		if p, ok := v[Text(key)]; ok || name != "size" {
			return p, nil
		}
		return int64(len(v)), nil
	case []any:
		switch name {
		case "size":
			return int64(len(v)), nil
		case "first":
			return element(v, 0), nil
		case "last":
			return element(v, -1), nil
		case "":
			return element(v, whole(key)), nil
		}
	case string:
		if name == "size" {
			return int64(utf8.RuneCountInString(v)), nil
		}
	}
	return nil, errors.New(show(v) + " has no property " + strconv.Quote(Text(key)))
}

// element returns one of a list, counted from the end when i is negative; nil: none.
func element(list []any, i int64) any {
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil
	}
	return list[i]
}

// rounded returns a number with some decimals, half away from zero; whole without.
func rounded(f float64, decimals int64) any {
	if decimals <= 0 {
		return int64(math.Round(f))
	}
	scale := math.Pow10(int(min(decimals, 15)))
	return math.Round(f*scale) / scale
}
