// Package liquid renders templates in Liquid, the language of the platform's themes. It
// knows the language; what a host adds to it (filters, tags with a body, snippets) comes
// from an Engine. Like the platform it does not escape what it writes. Unlike the
// platform it is strict: a tag, a filter, an object or a property that does not exist is
// an error with its line.
package liquid

import (
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// Filter changes a value: {{ in | name: args, key: named }}.
type Filter func(c *Context, in any, args []any, named map[string]any) (any, error)

// Block is a tag with a body: {% name args %}…{% endname %}. It returns what stands in its
// place; body renders what is inside.
type Block func(c *Context, args []any, named map[string]any, body func() (string, error)) (string, error)

// Engine is what a host adds to the language.
type Engine struct {
	Filters map[string]Filter // by name; one of the language's own names replaces it
	Blocks  map[string]Block  // by name
	// Snippets returns the source of what {% render 'name' %} names; nil: there are none.
	Snippets func(name string) (string, error)
	// Escape has values escaped for HTML when they are written, unless they are of type HTML.
	Escape bool
	Limits Limits
}

// HTML is a text that is written as it is.
type HTML string

// Limits are those of one rendering by an author who is not trusted. 0: the limit is not set.
type Limits struct {
	Output int           // bytes of the text that is written, and of each that is captured
	Text   int           // bytes of a value that a filter makes
	Range  int64         // numbers of (1..n)
	Time   time.Duration // on the wall
}

// Template is a source that was read.
type Template struct {
	Name   string
	Schema string // JSON text of {% schema %}; empty: none

	engine *Engine
	nodes  []node
	names  map[string]bool // that the template assigns
}

// Object is a host's value with named properties. Reading another property is an error,
// where a map[string]any gives nil.
type Object struct {
	Name       string
	Properties map[string]any
}

// Error is what is wrong with a template, and where.
type Error struct {
	Template string
	Line     int // from 1
	Message  string
}

// Error returns the message behind its place.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Template, e.Line, e.Message) }

// Parse reads a source. What is wrong with it is an *Error.
func (e *Engine) Parse(name, source string) (*Template, error) {
	p := &parser{engine: e, template: &Template{Name: name, engine: e, names: map[string]bool{}}}
	var err error
	if p.tokens, err = scan(source); err == nil {
		p.template.nodes, _, err = p.until(nil)
	}
	if err != nil {
		return nil, p.template.located(err)
	}
	return p.template, nil
}

// Limits of one rendering.
const (
	maxSteps = 200_000
	maxDepth = 20 // of snippets in snippets
)

// stepsPerLook is after how many steps the clock is looked at.
const stepsPerLook = 64

// Render writes the template with the given objects. What goes wrong is an *Error.
func (t *Template) Render(objects map[string]any) (string, error) {
	steps := 0
	c := &Context{engine: t.engine, objects: objects, scope: map[string]any{}, names: t.names, steps: &steps}
	if limit := t.engine.Limits.Time; limit > 0 {
		c.until = clock.System{}.Now().Add(limit)
	}
	return t.render(c)
}

func (t *Template) render(c *Context) (string, error) {
	c.template = t.Name
	var out strings.Builder
	if err := run(c, t.nodes, &out); err != nil {
		return "", t.located(err)
	}
	return out.String(), nil
}

// tooLong is the error of a text that is longer than a limit, or nil.
func tooLong(line, size, limit int) error {
	if limit > 0 && size > limit {
		return at(line, "the text is longer than %d bytes", limit)
	}
	return nil
}

// located gives an error of the template its name.
func (t *Template) located(err error) error {
	if e, ok := err.(*Error); ok && e.Template == "" { //nolint:errorlint // they are never wrapped
		e.Template = t.Name
	}
	return err
}

// Context is a rendering under way.
type Context struct {
	engine   *Engine
	template string
	objects  map[string]any  // of the host, in every snippet
	scope    map[string]any  // assigned here
	names    map[string]bool // that may be read before they are assigned
	steps    *int
	until    time.Time // when the rendering ends; zero: when it is done
}

// Object returns one of the host's objects, or nil.
func (c *Context) Object(name string) any { return c.objects[name] }

// step counts what a rendering does.
func (c *Context) step(line int) error {
	if *c.steps++; *c.steps > maxSteps {
		return at(line, "the template does not end: more than %d steps", maxSteps)
	}
	if *c.steps%stepsPerLook == 0 && !c.until.IsZero() && (clock.System{}).Now().After(c.until) {
		return at(line, "the template takes longer than %s", c.engine.Limits.Time)
	}
	return nil
}

// at is an error in a line.
func at(line int, format string, args ...any) *Error {
	return &Error{Line: line, Message: fmt.Sprintf(format, args...)}
}
