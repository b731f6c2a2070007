package liquid

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// filters are the language's own.
var filters = map[string]Filter{
	"append":        texts(func(s string, args []string) string { return s + args[0] }, 1),
	"prepend":       texts(func(s string, args []string) string { return args[0] + s }, 1),
	"upcase":        texts(func(s string, _ []string) string { return strings.ToUpper(s) }, 0),
	"downcase":      texts(func(s string, _ []string) string { return strings.ToLower(s) }, 0),
	"strip":         texts(func(s string, _ []string) string { return strings.TrimSpace(s) }, 0),
	"escape":        escapeOnce,
	"url_encode":    texts(func(s string, _ []string) string { return url.QueryEscape(s) }, 0),
	"strip_html":    texts(func(s string, _ []string) string { return markup.ReplaceAllString(s, "") }, 0),
	"newline_to_br": marked(func(s string) string { return strings.ReplaceAll(s, "\n", "<br />\n") }),
	"remove":        texts(func(s string, args []string) string { return strings.ReplaceAll(s, args[0], "") }, 1),
	"replace":       texts(func(s string, args []string) string { return strings.ReplaceAll(s, args[0], args[1]) }, 2),
	"capitalize":    texts(func(s string, _ []string) string { return capital(s) }, 0),
	"split":         plain(split, 1),
	"join":          plain(func(in any, args []any) (any, error) { return join(in, args[0]), nil }, 1),
	"truncate":      truncate,
	"default":       orElse,
	"json":          plain(func(in any, _ []any) (any, error) { text, err := json.Marshal(in); return string(text), err }, 0),
	"size":          plain(func(in any, _ []any) (any, error) { return size(in) }, 0),
	"first":         plain(func(in any, _ []any) (any, error) { return member(in, "first") }, 0),
	"last":          plain(func(in any, _ []any) (any, error) { return member(in, "last") }, 0),
	"map":           plain(func(in any, args []any) (any, error) { return project(in, args[0]) }, 1),
	"where":         where,
	"plus":          numbers(func(a, b float64) float64 { return a + b }),
	"minus":         numbers(func(a, b float64) float64 { return a - b }),
	"times":         numbers(func(a, b float64) float64 { return a * b }),
	"at_least":      numbers(math.Max),
	"at_most":       numbers(math.Min),
	"divided_by":    plain(divide, 1),
	"modulo":        plain(modulo, 1),
	"round":         round,
	"floor":         plain(func(in any, _ []any) (any, error) { return int64(math.Floor(float(in))), nil }, 0),
	"ceil":          plain(func(in any, _ []any) (any, error) { return int64(math.Ceil(float(in))), nil }, 0),
	"abs":           plain(func(in any, _ []any) (any, error) { return like(math.Abs(float(in)), in), nil }, 0),
}

// plain is a filter that has so many arguments and nothing to do with the rendering.
func plain(f func(in any, args []any) (any, error), takes int) Filter {
	return func(_ *Context, in any, args []any, named map[string]any) (any, error) {
		if len(args) != takes || len(named) > 0 {
			return nil, errors.New("it has the wrong number of arguments")
		}
		return f(in, args)
	}
}

func texts(f func(s string, args []string) string, takes int) Filter {
	return plain(func(in any, args []any) (any, error) {
		list := make([]string, len(args))
		for i, a := range args {
			list[i] = Text(a)
		}
		return f(Text(in), list), nil
	}, takes)
}

// escapeOnce is the filter "escape". What is escaped when it is written is not escaped twice.
func escapeOnce(c *Context, in any, args []any, named map[string]any) (any, error) {
	if len(args)+len(named) > 0 {
		return nil, errors.New("it has the wrong number of arguments")
	}
	if c.engine.Escape {
		return HTML(escaped(in)), nil
	}
	return escape(Text(in)), nil
}

// marked is a filter that makes markup of a text, in which HTML has its meaning already.
func marked(f func(escaped string) string) Filter {
	return func(c *Context, in any, args []any, named map[string]any) (any, error) {
		switch {
		case len(args)+len(named) > 0:
			return nil, errors.New("it has the wrong number of arguments")
		case c.engine.Escape:
			return HTML(f(escaped(in))), nil
		}
		return f(Text(in)), nil
	}
}

// escaped returns a value as HTML.
func escaped(v any) string {
	if safe, ok := v.(HTML); ok {
		return string(safe)
	}
	return escape(Text(v))
}

// numbers is a filter of two numbers, whole if both are.
func numbers(f func(a, b float64) float64) Filter {
	return plain(func(in any, args []any) (any, error) { return like(f(float(in), float(args[0])), in, args[0]), nil }, 1)
}

// like returns a result: whole if what it comes from is.
func like(f float64, of ...any) any {
	for _, v := range of {
		if _, ok := numeric(v).(int64); !ok {
			return f
		}
	}
	return int64(f)
}

func divide(in any, args []any) (any, error) {
	d := float(args[0])
	if _, whole := numeric(args[0]).(int64); d == 0 && whole {
		return nil, errors.New("divided by 0")
	}
	if _, isWhole := numeric(args[0]).(int64); isWhole {
		if _, isWhole := numeric(in).(int64); isWhole {
			return int64(math.Floor(float(in) / d)), nil
		}
	}
	return float(in) / d, nil
}

func modulo(in any, args []any) (any, error) {
	d := float(args[0])
	if d == 0 {
		return nil, errors.New("divided by 0")
	}
	f := math.Mod(float(in), d)
	if f != 0 && (f < 0) != (d < 0) {
		f += d
	}
	return like(f, in, args[0]), nil
}

func round(_ *Context, in any, args []any, _ map[string]any) (any, error) {
	decimals := int64(0)
	if len(args) > 0 {
		decimals = whole(args[0])
	}
	return rounded(float(in), decimals), nil
}

// markup is what strip_html takes away.
var markup = regexp.MustCompile(`(?s)<script.*?</script>|<!--.*?-->|<style.*?</style>|<.*?>`)

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func escape(s string) string { return escapes.Replace(s) }

func capital(s string) string {
	runes := []rune(strings.ToLower(s))
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}

func split(in any, args []any) (any, error) {
	list := []any{}
	if s := Text(in); s != "" {
		for part := range strings.SplitSeq(s, Text(args[0])) {
			list = append(list, part)
		}
	}
	for len(list) > 0 && list[len(list)-1] == "" { // as Ruby does
		list = list[:len(list)-1]
	}
	return list, nil
}

func join(in, with any) string {
	list, ok := in.([]any)
	if !ok {
		return Text(in)
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = Text(v)
	}
	return strings.Join(parts, Text(with))
}

// truncate shortens a text to a number of characters, those of its end included.
func truncate(_ *Context, in any, args []any, _ map[string]any) (any, error) {
	length, end := int64(50), "..."
	if len(args) > 0 {
		length = whole(args[0])
	}
	if len(args) > 1 {
		end = Text(args[1])
	}
	runes := []rune(Text(in))
	if int64(len(runes)) <= length {
		return Text(in), nil
	}
	return string(runes[:max(length-int64(len([]rune(end))), 0)]) + end, nil
}

// orElse gives nil, false and what is empty another value.
func orElse(_ *Context, in any, args []any, named map[string]any) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("it has no other value")
	}
	if in == false && truthy(named["allow_false"]) {
		return in, nil
	}
	if !truthy(in) || isEmpty(in) {
		return args[0], nil
	}
	return in, nil
}

func size(in any) (any, error) {
	switch in.(type) {
	case string, []any, map[string]any:
		return member(in, "size")
	}
	return int64(0), nil
}

func project(in, name any) (any, error) {
	list, ok := in.([]any)
	if !ok {
		list = []any{in}
	}
	out := make([]any, len(list))
	for i, v := range list {
		var err error
		if out[i], err = member(v, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// where keeps what has a property, or one of a value.
func where(_ *Context, in any, args []any, _ map[string]any) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("it has no property")
	}
	list, ok := in.([]any)
	if !ok {
		return []any{}, nil
	}
	var failed error
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		is, err := member(v, args[0])
		if err != nil {
			failed = err
		}
		if len(args) == 1 {
			return !truthy(is)
		}
		return !equal(is, args[1])
	}), failed
}
