package web

import (
	"bytes"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// JSONBody is a JSON object that an operation decodes itself. Embed it in the
// operation's input.
type JSONBody struct {
	text []byte
}

// Resolve reads the body.
func (b *JSONBody) Resolve(ctx huma.Context) []error { return b.read(ctx, '{', "object") }

// JSONList is JSONBody for an operation whose body is a JSON array.
type JSONList struct{ JSONBody }

// Resolve reads the body.
func (b *JSONList) Resolve(ctx huma.Context) []error { return b.read(ctx, '[', "array") }

// OptionalBody is JSONBody for an operation that takes everything from the query too.
type OptionalBody struct{ JSONBody }

// Resolve reads the body, if there is one.
func (b *OptionalBody) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	text, err := ReadBody(r)
	if err != nil {
		return []error{err}
	}
	if len(bytes.TrimSpace(text)) == 0 { // a request may not state its length
		return nil
	}
	return b.JSONBody.Resolve(ctx)
}

// Into is JSONBody's; without a body it leaves everything alone.
func (b *OptionalBody) Into(v any) error {
	if b.text == nil {
		return nil
	}
	return b.JSONBody.Into(v)
}

// maxDepth is how deep the objects and arrays of a body may be nested.
const maxDepth = 32

func (b *JSONBody) read(ctx huma.Context, first byte, kind string) []error {
	r, _ := humago.Unwrap(ctx)
	text, err := ReadBody(r)
	if err != nil {
		return []error{err}
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return []error{fault.New(fault.Invalid, "a JSON body is required").Code("bodyMissing")}
	}
	if err := checkMedia(r.Header); err != nil {
		return []error{err}
	}
	if err := CheckText("the body", "", string(text)); err != nil {
		return []error{err}
	}
	if text[0] != first {
		return []error{fault.New(fault.Invalid, "the body must be a JSON %s", kind).Code("bodyMalformed")}
	}
	if depth(text) > maxDepth {
		return []error{fault.New(fault.Invalid, "the body is nested deeper than %d levels", maxDepth).Code("bodyTooDeep")}
	}
	if path, found := nulPath(text); found {
		return []error{fault.New(fault.Invalid, "field '%s' contains a NUL character", path).Field(path)}
	}
	b.text = text
	return nil
}

// checkMedia refuses a body that says it is compressed or is not JSON. What it holds is
// not decompressed here, where a small body could become a large one. A body without
// a Content-Type is read as JSON, and so is one with the type of a form, which curl and
// others send when their user names none.
func checkMedia(header http.Header) error {
	const encoding, kind = "Content-Encoding", "Content-Type"
	for coding := range strings.SplitSeq(strings.Join(header.Values(encoding), ","), ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return fault.New(fault.UnsupportedMediaType, "%s %q is not supported; send the body uncompressed", encoding, coding).Code("contentEncoding").Field(encoding)
		}
	}
	given := header.Get(kind)
	media, _, err := mime.ParseMediaType(given)
	if given == "" || err == nil && (media == mediaJSON || media == mediaForm || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
		return nil
	}
	return unsupportedType(given)
}

func unsupportedType(given string) error {
	return fault.New(fault.UnsupportedMediaType, "Content-Type %q is not supported; send the body as %s", given, mediaJSON).Code("contentType").Field("Content-Type")
}

// depth returns how deep the objects and arrays of a JSON text are nested.
func depth(text []byte) int {
	deepest, level := 0, 0
	quoted, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// Into puts the body's fields into v and leaves alone what the body does not
// name. Its failures are Invalid and name the field.
func (b *JSONBody) Into(v any) error { return DecodeJSON(b.text, v) }

// CheckLengths refuses a body in which a text is longer than its field's
// maxLength says. It looks at the fields of v and not below them.
func CheckLengths(v any) error {
	body := reflect.ValueOf(v)
	for i := range body.NumField() {
		field := body.Type().Field(i)
		longest, err := strconv.Atoi(field.Tag.Get("maxLength"))
		if err != nil || field.Type.Kind() != reflect.String {
			continue
		}
		if n := utf8.RuneCountInString(body.Field(i).String()); n > longest {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return fault.New(fault.Invalid, "field '%s' has %d characters: at most %d are allowed", name, n, longest).Code("bodyField").Field(name)
		}
	}
	return nil
}
