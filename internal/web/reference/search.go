package reference

import (
	"fmt"
	"slices"
	"strings"
)

// maxSearch is how much of a search is read, in bytes.
const maxSearch = 100

// ask notes the query on the page and returns its words.
func (p *Page) ask(query string) []string {
	query = strings.TrimSpace(strings.ToValidUTF8(query[:min(len(query), maxSearch)], ""))
	if query == "" {
		return nil
	}
	p.Query, p.Heading = query, query+" · "+p.Title
	return strings.Fields(strings.ToLower(query))
}

// Found says in words how much a search has found.
func (p Page) Found() string {
	found := 0
	for _, g := range p.Groups {
		found += len(g.Operations)
	}
	return fmt.Sprintf("%s and %s", count(found, "operation"), count(len(p.Shapes), "shape"))
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// mentions reports whether each word occurs in what is said of the operation.
func (op operation) mentions(group string, words []string) bool {
	said := []string{group, op.ID, op.Method, op.Path, op.Summary, op.Description, op.Scope, op.Answer.String()}
	for _, p := range op.Parameters {
		said = append(said, p.Name)
	}
	for _, f := range op.Filters {
		said = append(said, f.Name)
	}
	if op.Body != nil {
		said = append(said, op.Body.Name)
		for _, f := range op.Body.Fields {
			said = append(said, f.Name)
		}
	}
	return containsAll(said, words)
}

// mentions reports whether each word occurs in the shape's name, fields or values.
func (s shape) mentions(words []string) bool {
	said := append([]string{s.Name}, s.Values...)
	for _, f := range s.Fields {
		said = append(said, f.Name)
	}
	return containsAll(said, words)
}

func containsAll(said, words []string) bool {
	text := strings.ToLower(strings.Join(said, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// uses reports whether the operation's body or answer is of the named shape.
func (op operation) uses(shape string) bool {
	return op.Body != nil && op.Body.Name == shape || slices.ContainsFunc(op.Answer, func(w word) bool { return w.Text == shape })
}
