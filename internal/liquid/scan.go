package liquid

import "strings"

// kind is what a token of a template is.
type kind int

const (
	text   kind = iota
	output      // {{ … }}
	tag         // {% … %}
)

type token struct {
	kind kind
	text string // without braces
	line int
}

// raws are tags whose body is not Liquid.
var raws = map[string]bool{"raw": true, "comment": true, "doc": true, "schema": true}

// scan cuts a source into tokens. The tokens of a tag in raws are the tag with its body
// behind it, as text, and its end.
func scan(source string) ([]token, error) {
	var tokens []token
	line, trim := 1, false
	add := func(s string) {
		if trim {
			s = strings.TrimLeft(s, " \t\r\n")
		}
		tokens = append(tokens, token{text, s, line})
	}
	trimBefore := func() {
		if n := len(tokens) - 1; n >= 0 && tokens[n].kind == text {
			tokens[n].text = strings.TrimRight(tokens[n].text, " \t\r\n")
		}
	}
	for source != "" {
		start := strings.Index(source, "{")
		for start >= 0 && !strings.HasPrefix(source[start:], "{{") && !strings.HasPrefix(source[start:], "{%") {
			next := strings.Index(source[start+1:], "{")
			if next < 0 {
				start = -1
				break
			}
			start += 1 + next
		}
		if start < 0 {
			add(source)
			return tokens, nil
		}
		add(source[:start])
		line += strings.Count(source[:start], "\n")
		source = source[start:]
		of, end := output, "}}"
		if source[1] == '%' {
			of, end = tag, "%}"
		}
		stop := strings.Index(source, end)
		if stop < 0 {
			return nil, at(line, "%s is not closed", source[:2])
		}
		body := source[2:stop]
		if strings.HasPrefix(body, "-") {
			trimBefore()
			body = body[1:]
		}
		if trim = strings.HasSuffix(body, "-"); trim {
			body = body[:len(body)-1]
		}
		tokens = append(tokens, token{of, strings.TrimSpace(body), line})
		line += strings.Count(source[:stop], "\n")
		source = source[stop+2:]
		name, _ := cut(strings.TrimSpace(body))
		if of != tag || !raws[name] {
			continue
		}
		from, to := endOf(source, name)
		if from < 0 {
			return nil, at(line, "{%% %s %%} is not closed", name)
		}
		tokens = append(tokens, token{text, source[:from], line})
		line += strings.Count(source[:to], "\n")
		trim = strings.HasSuffix(source[:to], "-%}")
		source = source[to:]
	}
	return tokens, nil
}

// endOf returns where the end tag of a raw tag begins and ends; -1 when there is none.
func endOf(source, name string) (from, to int) {
	for at := 0; ; {
		i := strings.Index(source[at:], "{%")
		if i < 0 {
			return -1, -1
		}
		from = at + i
		length := strings.Index(source[from:], "%}")
		if length < 0 {
			return -1, -1
		}
		to = from + length + 2
		if strings.TrimSpace(strings.Trim(source[from+2:to-2], "-")) == "end"+name {
			return from, to
		}
		at = from + 2
	}
}
