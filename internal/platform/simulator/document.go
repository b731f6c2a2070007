package simulator

import (
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// document is a query text that was parsed and checked against the whole schema.
type document struct {
	query    *ast.QueryDocument
	refused  []apiError // what the platform would answer instead of executing
	notDone  *apiError  // valid, but not simulated
	constant bool       // its cost and its fields do not depend on variables
	cost     map[*ast.OperationDefinition]int
	plans    map[planKey][]*group
}

// planKey names the fields that an operation selects of a type.
type planKey struct {
	op   *ast.OperationDefinition
	kind string
}

// documents keeps parsed documents by their text in two generations: when the
// new one is full, the old one is forgotten.
type documents struct {
	mu       sync.Mutex
	new, old map[string]*document
}

const documentsKept = 1024 // in each generation

func (d *documents) get(text string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc, ok := d.new[text]; ok {
		return doc
	}
	doc, ok := d.old[text]
	if ok {
		d.putLocked(text, doc)
	}
	return doc
}

func (d *documents) put(text string, doc *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.putLocked(text, doc)
}

func (d *documents) putLocked(text string, doc *document) {
	if d.new == nil || len(d.new) >= documentsKept {
		d.old, d.new = d.new, map[string]*document{}
	}
	d.new[text] = doc
}

// document parses and checks a text, or remembers it.
func (s *Simulator) document(text string) *document {
	if doc := s.docs.get(text); doc != nil {
		return doc
	}
	doc := s.check(text)
	s.docs.put(text, doc)
	return doc
}

func (s *Simulator) check(text string) *document {
	q, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return &document{refused: []apiError{parseError(err)}}
	}
	doc := &document{query: q, cost: map[*ast.OperationDefinition]int{}, plans: map[planKey][]*group{}}
	if errs := validator.Validate(s.schema, q); len(errs) > 0 {
		doc.refused = s.refusals(q, errs)
		return doc
	}
	doc.constant = !strings.Contains(text, "@") && !usesVariablePages(q)
	doc.notDone = s.unsimulated(q)
	return doc
}

// usesVariablePages reports whether a page size comes from a variable.
func usesVariablePages(q *ast.QueryDocument) bool {
	found := false
	visit := func(f *ast.Field) {
		for _, a := range f.Arguments {
			if (a.Name == "first" || a.Name == "last") && a.Value.Kind == ast.Variable {
				found = true
			}
		}
	}
	eachField(q, everywhere, visit)
	return found
}

// eachField visits every field of the operations and fragments of a document,
// save those in inline fragments that enter leaves out.
func eachField(q *ast.QueryDocument, enter func(*ast.InlineFragment) bool, visit func(*ast.Field)) {
	for _, op := range q.Operations {
		walkFields(op.SelectionSet, enter, visit)
	}
	for _, f := range q.Fragments {
		walkFields(f.SelectionSet, enter, visit)
	}
}

func walkFields(set ast.SelectionSet, enter func(*ast.InlineFragment) bool, visit func(*ast.Field)) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			visit(sel)
			walkFields(sel.SelectionSet, enter, visit)
		case *ast.InlineFragment:
			if enter(sel) {
				walkFields(sel.SelectionSet, enter, visit)
			}
		}
	}
}

func everywhere(*ast.InlineFragment) bool { return true }

// unsimulated returns the error for the first field that is valid and that the
// simulator has no answer for.
func (s *Simulator) unsimulated(q *ast.QueryDocument) *apiError {
	var first *apiError
	eachField(q, s.made, func(f *ast.Field) {
		if first != nil || f.ObjectDefinition == nil || s.answers(f.ObjectDefinition, f.Name) {
			return
		}
		first = notSimulated(f, f.ObjectDefinition.Name)
	})
	return first
}

// answers reports whether a field of a type has an answer. What an abstract type
// is turns out when it is executed.
func (s *Simulator) answers(parent *ast.Definition, name string) bool {
	if name == "__typename" || parent.IsAbstractType() {
		return true
	}
	if table, ok := s.tables[parent.Name]; ok {
		_, ok := table[name]
		return ok
	}
	return generic(parent)
}

// made reports whether there can be an object that an inline fragment is for.
// There is none of a union's member without a table, so that nothing that is
// selected of it is ever asked for.
func (s *Simulator) made(f *ast.InlineFragment) bool {
	if _, ok := s.tables[f.TypeCondition]; ok || f.TypeCondition == "" {
		return true
	}
	unions := s.schema.GetImplements(s.schema.Types[f.TypeCondition])
	return !slices.ContainsFunc(unions, func(d *ast.Definition) bool { return d.Kind == ast.Union })
}

// generic reports whether a type's fields are answered without a table: the
// wrappers that all operations share.
func generic(d *ast.Definition) bool {
	for _, suffix := range []string{"Payload", "Connection", "Edge", "UserError"} {
		if strings.HasSuffix(d.Name, suffix) {
			return true
		}
	}
	switch d.Name {
	case "PageInfo", "MoneyV2", "MoneyBag":
		return true
	}
	return false
}

// operation chooses the operation that a request means.
func (d *document) operation(name string) *ast.OperationDefinition {
	if name == "" {
		if len(d.query.Operations) == 1 {
			return d.query.Operations[0]
		}
		return nil
	}
	return d.query.Operations.ForName(name)
}
