package liquid

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// node is a part of a template.
type node interface {
	write(c *Context, out *strings.Builder) error
}

// Ways to leave the body of a loop.
var (
	errBreak    = errors.New("break outside a loop")
	errContinue = errors.New("continue outside a loop")
)

func run(c *Context, list []node, out *strings.Builder) error {
	for _, n := range list {
		if err := n.write(c, out); err != nil {
			return err
		}
	}
	return nil
}

// verbatim is text between tags.
type verbatim string

func (v verbatim) write(c *Context, out *strings.Builder) error {
	out.WriteString(string(v))
	return tooLong(0, out.Len(), c.engine.Limits.Output)
}

// group is what {% liquid %} holds.
type group []node

func (g group) write(c *Context, out *strings.Builder) error { return run(c, g, out) }

type echo struct {
	of   expression
	line int
}

func (e echo) write(c *Context, out *strings.Builder) error {
	if err := c.step(e.line); err != nil {
		return err
	}
	v, err := e.of.value(c)
	if err != nil {
		return err
	}
	if c.engine.Escape {
		out.WriteString(escaped(v))
	} else {
		out.WriteString(Text(v))
	}
	return tooLong(e.line, out.Len(), c.engine.Limits.Output)
}

type assign struct {
	name string
	of   expression
	line int
}

func (a assign) write(c *Context, _ *strings.Builder) error {
	if err := c.step(a.line); err != nil {
		return err
	}
	v, err := a.of.value(c)
	if err == nil {
		c.scope[a.name] = v
	}
	return err
}

type capture struct {
	name string
	body []node
	line int
}

func (a capture) write(c *Context, _ *strings.Builder) error {
	var out strings.Builder
	if err := run(c, a.body, &out); err != nil {
		return err
	}
	c.scope[a.name] = c.written(out.String())
	return c.step(a.line)
}

// written returns a text that the template has written, as a value: where values are escaped it is
// HTML already.
func (c *Context) written(text string) any {
	if c.engine.Escape {
		return HTML(text)
	}
	return text
}

type branch struct {
	test expression
	body []node
}

// choice is if, unless or case: the first branch whose test holds.
type choice struct {
	branches []branch
	line     int
}

func (d choice) write(c *Context, out *strings.Builder) error {
	if err := c.step(d.line); err != nil {
		return err
	}
	for _, b := range d.branches {
		v, err := b.test.value(c)
		if err != nil {
			return err
		}
		if truthy(v) {
			return run(c, b.body, out)
		}
	}
	return nil
}

type not struct{ of expression }

func (n not) value(c *Context) (any, error) {
	v, err := n.of.value(c)
	return !truthy(v), err
}

// anyOf holds when one of its tests does.
type anyOf []expression

func (a anyOf) value(c *Context) (any, error) {
	for _, test := range a {
		if v, err := test.value(c); err != nil || truthy(v) {
			return truthy(v), err
		}
	}
	return false, nil
}

// jump is break or continue.
type jump string

func (j jump) write(*Context, *strings.Builder) error {
	if j == "break" {
		return errBreak
	}
	return errContinue
}

type loop struct {
	name            string
	over            expression
	limit, offset   expression // nil: none
	reversed        bool
	body, otherwise []node
	line            int
}

func (l loop) write(c *Context, out *strings.Builder) error {
	list, err := l.items(c)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return run(c, l.otherwise, out)
	}
	outer, inLoop := c.scope["forloop"]
	was, shadows := c.scope[l.name]
	defer func() {
		restore(c.scope, "forloop", outer, inLoop)
		restore(c.scope, l.name, was, shadows)
	}()
	n := int64(len(list))
	for i, v := range list {
		if err := c.step(l.line); err != nil {
			return err
		}
		k := int64(i)
		c.scope[l.name] = v
		c.scope["forloop"] = &Object{"forloop", map[string]any{
			"index": k + 1, "index0": k, "rindex": n - k, "rindex0": n - k - 1, "length": n, "first": k == 0, "last": k == n-1, "parentloop": outer,
		}}
		switch err := run(c, l.body, out); {
		case errors.Is(err, errBreak):
			return nil
		case err != nil && !errors.Is(err, errContinue):
			return err
		}
	}
	return nil
}

func restore(scope map[string]any, name string, v any, had bool) {
	delete(scope, name)
	if had {
		scope[name] = v
	}
}

// items returns what a loop goes through.
func (l loop) items(c *Context) ([]any, error) {
	v, err := l.over.value(c)
	if err != nil {
		return nil, err
	}
	var list []any
	switch v := v.(type) {
	case []any:
		list = slices.Clone(v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, []any{key, v[key]})
		}
	case string:
		if v != "" {
			list = []any{v}
		}
	}
	if l.offset != nil {
		from, err := l.offset.value(c)
		if err != nil {
			return nil, err
		}
		list = list[min(max(whole(from), 0), int64(len(list))):]
	}
	if l.limit != nil {
		most, err := l.limit.value(c)
		if err != nil {
			return nil, err
		}
		list = list[:min(max(whole(most), 0), int64(len(list)))]
	}
	if l.reversed {
		slices.Reverse(list)
	}
	return list, nil
}

// render is a snippet with the values that it gets. It sees the host's objects and no
// other variable.
type render struct {
	name     string
	named    map[string]expression
	template *Template
	line     int
}

func (r render) write(c *Context, out *strings.Builder) error {
	_, named, err := values(c, nil, r.named)
	if err != nil {
		return err
	}
	inner := *c
	inner.scope, inner.names = named, r.template.names
	text, err := r.template.render(&inner)
	out.WriteString(text)
	return err
}

// hosted is a tag of the host.
type hosted struct {
	name  string
	block Block
	args  []expression
	named map[string]expression
	body  []node
	line  int
}

func (h hosted) write(c *Context, out *strings.Builder) error {
	args, named, err := values(c, h.args, h.named)
	if err != nil {
		return err
	}
	var inside error
	s, err := h.block(c, args, named, func() (string, error) {
		var body strings.Builder
		inside = run(c, h.body, &body)
		return body.String(), inside
	})
	if inside != nil {
		return inside
	}
	if err != nil {
		return at(h.line, "tag %s: %s", h.name, err.Error())
	}
	out.WriteString(s)
	return nil
}
