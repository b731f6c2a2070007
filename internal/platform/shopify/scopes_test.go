package shopify

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/platform"
)

// rows reads a file of lines such as "name: text". A line that begins with # is a comment.
func rows(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if _, twice := list[name]; !ok || twice {
			t.Fatalf("%s: %q", file, line)
		}
		list[name] = strings.TrimSpace(value)
	}
	return list
}

// needs returns what the platform wants for the types and fields that a document reads:
// of each element one scope at least. A field has its own, or else those of its type.
func needs(doc *ast.QueryDocument, access map[string]string) map[string][]string {
	found := map[string][]string{}
	add := func(name string) {
		if access[name] == "" {
			return
		}
		for clause := range strings.SplitSeq(access[name], " and ") {
			found[clause] = strings.Split(clause, " or ")
		}
	}
	var walk func(set ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, sel := range set {
			switch n := sel.(type) {
			case *ast.Field:
				add(n.ObjectDefinition.Name + "." + n.Name)
				add(n.Definition.Type.Name())
				walk(n.SelectionSet)
			case *ast.InlineFragment:
				add(n.TypeCondition)
				walk(n.SelectionSet)
			case *ast.FragmentSpread:
				add(n.Definition.TypeCondition)
				walk(n.Definition.SelectionSet)
			}
		}
	}
	for _, op := range doc.Operations {
		walk(op.SelectionSet)
	}
	return found
}

// satisfies reports whether a scope is one of those wanted, or includes one of them.
func satisfies(scope string, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool {
		return len(platform.MissingScopes([]platform.Scope{{Name: w}}, []string{scope})) == 0
	})
}

// operationOf names the row of a document: batches and shapes of one operation share it.
func operationOf(document string) string {
	name, _, _ := strings.Cut(document, " × ")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// What the platform demands of an operation is what merchants are asked for, and nothing
// else is.
func TestScopesAreThoseThatOperationsNeed(t *testing.T) {
	t.Parallel()
	s, access, table := loadSchema(t), rows(t, "testdata/access.txt"), rows(t, "testdata/operation_scopes.txt")
	listed := platform.ScopeNames(platform.Scopes())
	for name := range access {
		on, field, isField := strings.Cut(name, ".")
		def := s.Types[on]
		if def == nil || isField && def.Fields.ForName(field) == nil {
			t.Errorf("access.txt: the schema has no %s", name)
		}
	}
	sent, needed := map[string]bool{}, map[string]bool{}
	for document, text := range sentDocuments(t) {
		doc, errs := gqlparser.LoadQuery(s, text)
		if errs != nil {
			t.Fatal(errs)
		}
		name := operationOf(document)
		row, known := table[name]
		if !known {
			t.Errorf("%s has no row in operation_scopes.txt", name)
			continue
		}
		sent[name] = true
		scopes, wanted := strings.Fields(row), needs(doc, access)
		for _, clause := range slices.Sorted(maps.Keys(wanted)) {
			if !slices.ContainsFunc(scopes, func(scope string) bool { return satisfies(scope, wanted[clause]) }) {
				t.Errorf("%s: its row lacks %s", document, clause)
			}
		}
		for _, scope := range scopes {
			if !slices.ContainsFunc(slices.Collect(maps.Values(wanted)), func(w []string) bool { return satisfies(scope, w) }) {
				t.Errorf("%s: it does not need %s", document, scope)
			}
		}
	}
	for name, row := range table {
		if !sent[name] && name != "app proxy" {
			t.Errorf("operation_scopes.txt: there is no operation %s", name)
		}
		for _, scope := range strings.Fields(row) {
			granted := platform.Scope{Name: scope}
			if len(platform.MissingScopes([]platform.Scope{granted}, listed)) != 0 {
				t.Errorf("%s needs %s, which merchants are not asked for", name, scope)
			}
			for _, l := range listed {
				if satisfies(l, []string{scope}) && (l == scope || strings.Contains(l, "read_")) {
					needed[l] = true
				}
			}
		}
	}
	for _, scope := range listed {
		if !needed[scope] {
			t.Errorf("merchants are asked for %s, which no operation needs", scope)
		}
	}
}
