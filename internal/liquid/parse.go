package liquid

import (
	"slices"
	"strings"
	"unicode"
)

// parser turns tokens into nodes.
type parser struct {
	engine   *Engine
	template *Template
	tokens   []token
	depth    int // of snippets
}

// until reads nodes up to one of the given tags, which it returns; without tags it reads
// everything.
func (p *parser) until(ends []string) ([]node, token, error) {
	var list []node
	for len(p.tokens) > 0 {
		t := p.tokens[0]
		p.tokens = p.tokens[1:]
		switch t.kind {
		case text:
			if t.text != "" {
				list = append(list, verbatim(t.text))
			}
			continue
		case output:
			e, err := p.only(t, t.text, (*lexer).expression)
			if err != nil {
				return nil, t, err
			}
			list = append(list, echo{e, t.line})
			continue
		}
		name, rest := cut(t.text)
		if slices.Contains(ends, name) {
			return list, token{tag, t.text, t.line}, nil
		}
		n, err := p.tag(t, name, rest)
		if e, ok := err.(*Error); ok && e.Line == 0 { //nolint:errorlint // they are never wrapped
			e.Line = t.line // that of the tag which is not closed
		}
		if err != nil {
			return nil, t, err
		}
		if n != nil {
			list = append(list, n)
		}
	}
	if len(ends) > 0 {
		return nil, token{}, at(0, "%s is missing at the end", ends[len(ends)-1])
	}
	return list, token{}, nil
}

// cut parts the name of a tag from what follows.
func cut(tag string) (name, rest string) {
	i := strings.IndexFunc(tag, unicode.IsSpace)
	if i < 0 {
		return tag, ""
	}
	return tag[:i], strings.TrimSpace(tag[i:])
}

// only reads a whole text with one of the lexer's methods.
func (p *parser) only(t token, source string, read func(*lexer) (expression, error)) (expression, error) {
	l, err := lex(p.engine, source, t.line)
	if err != nil {
		return nil, err
	}
	e, err := read(l)
	if err != nil {
		return nil, err
	}
	return e, l.done()
}

func (p *parser) tag(t token, name, rest string) (node, error) {
	if strings.HasPrefix(name, "#") {
		return nil, nil //nolint:nilnil // a comment is nothing
	}
	if raws[name] {
		return p.raw(name), nil
	}
	switch name {
	case "echo":
		e, err := p.only(t, rest, (*lexer).expression)
		return echo{e, t.line}, err
	case "liquid":
		return p.lines(t, rest)
	case "assign":
		return p.assign(t, rest)
	case "capture":
		return p.capture(t, rest)
	case "if", "unless":
		return p.choose(t, name, rest)
	case "case":
		return p.switches(t, rest)
	case "for":
		return p.loop(t, rest)
	case "break", "continue":
		return jump(name), nil
	case "render":
		return p.snippet(t, rest)
	}
	b, known := p.engine.Blocks[name]
	if !known {
		return nil, at(t.line, "there is no tag %q", name)
	}
	l, err := lex(p.engine, rest, t.line)
	if err != nil {
		return nil, err
	}
	n := hosted{name: name, block: b, line: t.line}
	if len(l.words) > 0 {
		if n.args, n.named, err = l.arguments(); err != nil {
			return nil, err
		}
	}
	if err = l.done(); err != nil {
		return nil, err
	}
	n.body, _, err = p.until([]string{"end" + name})
	return n, err
}

// raw takes the body of a tag that is not Liquid.
func (p *parser) raw(name string) node {
	body := ""
	if len(p.tokens) > 0 && p.tokens[0].kind == text {
		body = p.tokens[0].text
		p.tokens = p.tokens[1:]
	}
	switch name {
	case "schema":
		p.template.Schema = body
	case "raw":
		return verbatim(body)
	}
	return nil
}

// lines reads {% liquid %}: a tag on each line.
func (p *parser) lines(t token, source string) (node, error) {
	inner := &parser{engine: p.engine, template: p.template}
	for i, l := range strings.Split(source, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			inner.tokens = append(inner.tokens, token{tag, l, t.line + i})
		}
	}
	list, _, err := inner.until(nil)
	return group(list), err
}

func (p *parser) assign(t token, rest string) (node, error) {
	name, value, ok := strings.Cut(rest, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return nil, at(t.line, "assign needs a name and a value")
	}
	p.template.names[name] = true
	e, err := p.only(t, value, (*lexer).expression)
	return assign{name, e, t.line}, err
}

func (p *parser) capture(t token, name string) (node, error) {
	name = strings.Trim(name, `"'`)
	p.template.names[name] = true
	body, _, err := p.until([]string{"endcapture"})
	return capture{name, body, t.line}, err
}

func (p *parser) choose(t token, name, rest string) (node, error) {
	n := choice{line: t.line}
	test, err := p.only(t, rest, (*lexer).condition)
	if err != nil {
		return nil, err
	}
	if name == "unless" {
		test = not{test}
	}
	for {
		body, end, err := p.until([]string{"elsif", "else", "end" + name})
		if err != nil {
			return nil, err
		}
		n.branches = append(n.branches, branch{test, body})
		word, rest := cut(end.text)
		switch word {
		case "else":
			test = literal{true}
		case "elsif":
			if test, err = p.only(end, rest, (*lexer).condition); err != nil {
				return nil, err
			}
		default:
			return n, nil
		}
	}
}

func (p *parser) switches(t token, rest string) (node, error) {
	of, err := p.only(t, rest, (*lexer).primary)
	if err != nil {
		return nil, err
	}
	n := choice{line: t.line}
	_, end, err := p.until([]string{"when", "else", "endcase"}) // what stands before the first is nothing
	for err == nil {
		var tests []expression
		word, rest := cut(end.text)
		switch word {
		case "endcase":
			return n, nil
		case "else":
			tests = []expression{literal{true}}
		default:
			if tests, err = p.when(end, rest, of); err != nil {
				return nil, err
			}
		}
		var body []node
		if body, end, err = p.until([]string{"when", "else", "endcase"}); err != nil {
			return nil, err
		}
		n.branches = append(n.branches, branch{anyOf(tests), body})
	}
	return nil, err
}

// when reads the values of a case, separated by "or" or commas.
func (p *parser) when(t token, rest string, of expression) ([]expression, error) {
	l, err := lex(p.engine, rest, t.line)
	if err != nil {
		return nil, err
	}
	var tests []expression
	for {
		e, err := l.primary()
		if err != nil {
			return nil, err
		}
		tests = append(tests, condition{op: "==", left: of, right: e, line: t.line})
		if !l.take("or") && !l.take(",") {
			return tests, l.done()
		}
	}
}

func (p *parser) loop(t token, rest string) (node, error) {
	l, err := lex(p.engine, rest, t.line)
	if err != nil {
		return nil, err
	}
	n := loop{line: t.line}
	if n.name, err = l.name(); err != nil {
		return nil, err
	}
	if err = l.expect("in"); err != nil {
		return nil, err
	}
	if n.over, err = l.primary(); err != nil {
		return nil, err
	}
	for len(l.words) > 0 {
		switch w := l.next(); w {
		case "reversed":
			n.reversed = true
		case "limit", "offset":
			if err = l.expect(":"); err != nil {
				return nil, err
			}
			e, err := l.primary()
			if err != nil {
				return nil, err
			}
			if w == "limit" {
				n.limit = e
			} else {
				n.offset = e
			}
		case ",":
		default:
			return nil, at(t.line, "unexpected %q", w)
		}
	}
	body, end, err := p.until([]string{"else", "endfor"})
	if err != nil {
		return nil, err
	}
	n.body = body
	if end.text == "else" {
		n.otherwise, _, err = p.until([]string{"endfor"})
	}
	return n, err
}

func (p *parser) snippet(t token, rest string) (node, error) {
	l, err := lex(p.engine, rest, t.line)
	if err != nil {
		return nil, err
	}
	name, err := l.primary()
	if err != nil {
		return nil, err
	}
	of, ok := name.(literal)
	text, isText := of.v.(string)
	if !ok || !isText {
		return nil, at(t.line, "render needs the name of a snippet, as a text")
	}
	n := render{name: text, line: t.line}
	if l.take(",") {
		var list []expression
		if list, n.named, err = l.arguments(); err == nil && len(list) > 0 {
			err = at(t.line, "what render passes on needs names")
		}
		if err != nil {
			return nil, err
		}
	}
	if err = l.done(); err != nil {
		return nil, err
	}
	if p.engine.Snippets == nil {
		return nil, at(t.line, "there is no snippet %q", text)
	}
	source, err := p.engine.Snippets(text)
	if err != nil {
		return nil, at(t.line, "there is no snippet %q", text)
	}
	if p.depth++; p.depth > maxDepth {
		return nil, at(t.line, "snippets render each other without end")
	}
	inner := &parser{engine: p.engine, template: &Template{Name: text, engine: p.engine, names: map[string]bool{}}, depth: p.depth}
	if inner.tokens, err = scan(source); err == nil {
		inner.template.nodes, _, err = inner.until(nil)
	}
	p.depth--
	n.template = inner.template
	if err != nil {
		return nil, inner.template.located(err)
	}
	return n, nil
}
