// Package reference turns an OpenAPI document into the pages of a reference for people: an
// index with a search, a page for each resource and one for each shape. Serving them is
// left to its callers.
package reference

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Templates defines a template for each kind of page, for html/template. Those who parse
// it also define "top", the beginning of a page with the given title, and "brand".
//
//go:embed pages.html
var Templates string

// Script is the script of the pages, which they load from docs/docs.js below the root.
//
//go:embed reference.js
var Script []byte

// Options are what a document does not say of its interface.
type Options struct {
	Root         string            // path below which the pages are served
	Keyed        bool              // callers hold keys: the pages ask for one to send requests
	KeyParam     string            // parameter with a key, which a reader does not type for each request
	RepeatHeader string            // parameter that is explained once a page
	Credentials  map[string]string // arguments of curl by security scheme
}

// Reference is an interface as its pages show it. Its methods may be called from many
// goroutines.
type Reference struct {
	start  Page
	shapes []shape
}

// Name and path of the page that lists the shapes.
const (
	shapesName = "Shapes"
	shapesSlug = "shapes"
)

// New describes a document, its operations grouped by their tags.
func New(doc *huma.OpenAPI, o Options) *Reference {
	d := describer{Options: o, doc: doc}
	byTag := map[string][]operation{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range Operations(doc.Paths[path]) {
			byTag[op.Tags[0]] = append(byTag[op.Tags[0]], d.operation(op))
		}
	}
	r := &Reference{start: Page{
		Root: o.Root, Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description, Keyed: o.Keyed, Heading: doc.Info.Title,
	}}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		r.start.Groups = append(r.start.Groups, group{tag, strings.ReplaceAll(strings.ToLower(tag), " ", "-"), len(byTag[tag]), byTag[tag]})
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := d.shape(name, schemas[name])
		for i := range s.Fields {
			s.Fields[i].Required = false // it is said of bodies: answers have every field
		}
		r.shapes = append(r.shapes, s)
	}
	r.start.Nav = append(slices.Clone(r.start.Groups), group{Name: shapesName, Slug: shapesSlug, Count: len(r.shapes)})
	return r
}

// Index returns the page with the operations and shapes in which every word of the query
// occurs; with all operations when there is no query.
func (r *Reference) Index(query string) Page {
	p := r.start
	p.Template = "docs-index"
	words := p.ask(query)
	if len(words) == 0 {
		return p
	}
	p.Groups = keep(p.Groups, func(g group, op operation) bool { return op.mentions(g.Name, words) })
	for _, s := range r.shapes {
		if s.mentions(words) {
			p.Shapes = append(p.Shapes, s)
		}
	}
	return p
}

// Group returns the page of a resource.
func (r *Reference) Group(slug string) Page {
	p := r.start
	i := slices.IndexFunc(p.Groups, func(g group) bool { return g.Slug == slug })
	if i < 0 {
		return r.missing()
	}
	p.Template, p.Heading, p.Slug, p.Operations = "docs-group", p.Groups[i].Name, slug, p.Groups[i].Operations
	for _, op := range p.Operations {
		p.Repeat = cmp.Or(p.Repeat, op.Repeat)
	}
	return p
}

// Shapes returns the page that lists the shapes.
func (r *Reference) Shapes() Page {
	p := r.start
	p.Template, p.Heading, p.Slug, p.Shapes = "docs-shapes", shapesName, shapesSlug, r.shapes
	return p
}

// Shape returns the page of a shape and of the operations that use it.
func (r *Reference) Shape(name string) Page {
	p := r.start
	i := slices.IndexFunc(r.shapes, func(s shape) bool { return s.Name == name })
	if i < 0 {
		return r.missing()
	}
	p.Template, p.Heading, p.Slug, p.Shape = "docs-shape", name, shapesSlug, &r.shapes[i]
	p.Groups = keep(p.Groups, func(_ group, op operation) bool { return op.uses(name) })
	return p
}

// missing returns the page that answers for one that does not exist.
func (r *Reference) missing() Page {
	p := r.start
	p.Template, p.Heading, p.Missing = "docs-missing", "Page not found", true
	return p
}

// keep returns the groups with those of their operations that match, without empty groups.
func keep(groups []group, match func(group, operation) bool) []group {
	var kept []group
	for _, g := range groups {
		g.Operations = slices.DeleteFunc(slices.Clone(g.Operations), func(op operation) bool { return !match(g, op) })
		if len(g.Operations) > 0 {
			kept = append(kept, g)
		}
	}
	return kept
}
