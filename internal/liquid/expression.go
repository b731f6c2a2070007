package liquid

import (
	"strconv"
	"strings"
)

// expression is something that has a value.
type expression interface {
	value(c *Context) (any, error)
}

type literal struct{ v any }

func (l literal) value(*Context) (any, error) { return l.v, nil }

// path is a variable and what is read of it.
type path struct {
	name  string
	steps []expression
	line  int
}

func (p path) value(c *Context) (any, error) {
	v, known := c.scope[p.name]
	if !known {
		v, known = c.objects[p.name]
	}
	if !known && !c.names[p.name] {
		return nil, at(p.line, "there is no object %q", p.name)
	}
	for _, s := range p.steps {
		key, err := s.value(c)
		if err != nil {
			return nil, err
		}
		if v, err = member(v, key); err != nil {
			return nil, at(p.line, "%s", err.Error())
		}
	}
	return v, nil
}

// span is a range of whole numbers.
type span struct {
	from, to expression
	line     int
}

func (s span) value(c *Context) (any, error) {
	from, err := s.from.value(c)
	if err != nil {
		return nil, err
	}
	to, err := s.to.value(c)
	if err != nil {
		return nil, err
	}
	first, last := whole(from), whole(to)
	if limit := c.engine.Limits.Range; limit > 0 && last > first && (last-first >= limit || last-first < 0) {
		return nil, at(s.line, "(%d..%d) has more than %d numbers", first, last, limit)
	}
	if last > first && (last-first >= maxSteps || last-first < 0) {
		last = first + maxSteps
	}
	list := []any{}
	for i := first; i <= last; i++ {
		list = append(list, i)
	}
	return list, nil
}

// call is a filter with its arguments.
type call struct {
	name   string
	filter Filter
	args   []expression
	named  map[string]expression
	line   int
}

// filtered is an expression with filters behind it.
type filtered struct {
	of    expression
	calls []call
}

func (f filtered) value(c *Context) (any, error) {
	v, err := f.of.value(c)
	for _, one := range f.calls {
		if err != nil {
			return nil, err
		}
		var args []any
		var named map[string]any
		if args, named, err = values(c, one.args, one.named); err != nil {
			return nil, err
		}
		if v, err = one.filter(c, v, args, named); err != nil {
			return nil, at(one.line, "filter %s: %s", one.name, err.Error())
		}
		if text, ok := v.(string); ok {
			if err := tooLong(one.line, len(text), c.engine.Limits.Text); err != nil {
				return nil, err
			}
		}
	}
	return v, err
}

// values computes arguments.
func values(c *Context, list []expression, names map[string]expression) ([]any, map[string]any, error) {
	args, named := make([]any, len(list)), make(map[string]any, len(names))
	var err error
	for i, e := range list {
		if args[i], err = e.value(c); err != nil {
			return nil, nil, err
		}
	}
	for name, e := range names {
		if named[name], err = e.value(c); err != nil {
			return nil, nil, err
		}
	}
	return args, named, nil
}

// condition is a comparison, or two conditions.
type condition struct {
	op          string // "", an operator, "and" or "or"
	left, right expression
	line        int
}

func (d condition) value(c *Context) (any, error) {
	left, err := d.left.value(c)
	if err != nil || d.op == "" {
		return left, err
	}
	if d.op == "and" && !truthy(left) || d.op == "or" && truthy(left) {
		return truthy(left), nil
	}
	right, err := d.right.value(c)
	if err != nil {
		return nil, err
	}
	switch d.op {
	case "and", "or":
		return truthy(right), nil
	case "==":
		return equal(left, right), nil
	case "!=", "<>":
		return !equal(left, right), nil
	case "contains":
		return contains(left, right), nil
	}
	order, ok := compare(left, right)
	if !ok {
		if left == nil || right == nil {
			return false, nil
		}
		return nil, at(d.line, "%s and %s cannot be compared", show(left), show(right))
	}
	return map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[d.op], nil
}

// words are literals with a name.
var words = map[string]any{"true": true, "false": false, "nil": nil, "null": nil, "empty": empty{}, "blank": blank{}}

// lexer reads the inside of a tag or an output.
type lexer struct {
	engine *Engine
	words  []string
	line   int
}

// operators, the longer ones first.
var operators = []string{"==", "!=", "<>", "<=", ">=", "..", "<", ">", "|", ":", ",", ".", "[", "]", "(", ")", "="}

func lex(e *Engine, source string, line int) (*lexer, error) {
	l := &lexer{engine: e, line: line}
	for source = strings.TrimSpace(source); source != ""; source = strings.TrimSpace(source) {
		n := 0
		switch first := source[0]; {
		case first == '"' || first == '\'':
			end := strings.IndexByte(source[1:], first)
			if end < 0 {
				return nil, at(line, "a text is not closed: %s", source)
			}
			n = end + 2
		case letter(first):
			for n < len(source) && (letter(source[n]) || digit(source[n]) || source[n] == '-' || source[n] == '?') {
				n++
			}
		case digit(first) || first == '-' && len(source) > 1 && digit(source[1]):
			for n = 1; n < len(source) && (digit(source[n]) || source[n] == '.' && n+1 < len(source) && digit(source[n+1])); n++ {
			}
		default:
			for _, op := range operators {
				if strings.HasPrefix(source, op) {
					n = len(op)
					break
				}
			}
			if n == 0 {
				return nil, at(line, "unexpected %q", source[:1])
			}
		}
		l.words = append(l.words, source[:n])
		source = source[n:]
	}
	return l, nil
}

func letter(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' }
func digit(b byte) bool  { return b >= '0' && b <= '9' }

// peek returns a word ahead, or "".
func (l *lexer) peek(n int) string {
	if n < len(l.words) {
		return l.words[n]
	}
	return ""
}

func (l *lexer) next() string {
	w := l.peek(0)
	if w != "" {
		l.words = l.words[1:]
	}
	return w
}

// take takes the next word if it is the given one.
func (l *lexer) take(w string) bool {
	if l.peek(0) != w {
		return false
	}
	l.next()
	return true
}

func (l *lexer) expect(w string) error {
	if !l.take(w) {
		return at(l.line, "expected %q and found %q", w, l.peek(0))
	}
	return nil
}

// done reports words that nothing has taken.
func (l *lexer) done() error {
	if len(l.words) > 0 {
		return at(l.line, "unexpected %q", strings.Join(l.words, " "))
	}
	return nil
}

// name takes a name.
func (l *lexer) name() (string, error) {
	w := l.next()
	if w == "" || !letter(w[0]) {
		return "", at(l.line, "expected a name and found %q", w)
	}
	return w, nil
}

// primary reads a value without filters.
func (l *lexer) primary() (expression, error) {
	w := l.next()
	switch {
	case w == "":
		return nil, at(l.line, "a value is missing")
	case w[0] == '"' || w[0] == '\'':
		return literal{w[1 : len(w)-1]}, nil
	case w == "(":
		from, err := l.primary()
		if err != nil {
			return nil, err
		}
		if err = l.expect(".."); err != nil {
			return nil, err
		}
		to, err := l.primary()
		if err != nil {
			return nil, err
		}
		return span{from, to, l.line}, l.expect(")")
	case digit(w[0]) || w[0] == '-':
		return number(w, l.line)
	case !letter(w[0]):
		return nil, at(l.line, "unexpected %q", w)
	}
	if v, ok := words[w]; ok && l.peek(0) != "." {
		return literal{v}, nil
	}
	p := path{name: w, line: l.line}
	for {
		switch {
		case l.take("."):
			name, err := l.name()
			if err != nil {
				return nil, err
			}
			p.steps = append(p.steps, literal{name})
		case l.take("["):
			key, err := l.primary()
			if err != nil {
				return nil, err
			}
			if err = l.expect("]"); err != nil {
				return nil, err
			}
			p.steps = append(p.steps, key)
		default:
			return p, nil
		}
	}
}

func number(w string, line int) (expression, error) {
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		return literal{n}, nil
	}
	f, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return nil, at(line, "%q is not a number", w)
	}
	return literal{f}, nil
}

// expression reads a value with its filters.
func (l *lexer) expression() (expression, error) {
	of, err := l.primary()
	if err != nil || l.peek(0) != "|" {
		return of, err
	}
	f := filtered{of: of}
	for l.take("|") {
		one := call{line: l.line}
		if one.name, err = l.name(); err != nil {
			return nil, err
		}
		known := false
		if one.filter, known = l.engine.Filters[one.name]; !known {
			if one.filter, known = filters[one.name]; !known {
				return nil, at(l.line, "there is no filter %q", one.name)
			}
		}
		if l.take(":") {
			if one.args, one.named, err = l.arguments(); err != nil {
				return nil, err
			}
		}
		f.calls = append(f.calls, one)
	}
	return f, nil
}

// arguments reads values and named values, separated by commas.
func (l *lexer) arguments() (list []expression, named map[string]expression, err error) {
	named = map[string]expression{}
	for more := true; more; more = l.take(",") {
		name := ""
		if l.peek(1) == ":" {
			name = l.next()
			l.next()
		}
		e, err := l.primary()
		if err != nil {
			return nil, nil, err
		}
		if name == "" {
			list = append(list, e)
		} else {
			named[name] = e
		}
	}
	return list, named, nil
}

// condition reads comparisons with "and" and "or" between them, which bind from the right.
func (l *lexer) condition() (expression, error) {
	left, err := l.primary()
	if err != nil {
		return nil, err
	}
	d := condition{left: left, line: l.line}
	switch w := l.peek(0); w {
	case "==", "!=", "<>", "<", "<=", ">", ">=", "contains":
		d.op = l.next()
		if d.right, err = l.primary(); err != nil {
			return nil, err
		}
	}
	if w := l.peek(0); w == "and" || w == "or" {
		l.next()
		rest, err := l.condition()
		if err != nil {
			return nil, err
		}
		return condition{op: w, left: d, right: rest, line: l.line}, nil
	}
	return d, nil
}
