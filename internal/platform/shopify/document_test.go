package shopify

import (
	"fmt"
	goast "go/ast"
	goparser "go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
)

// maxCost is the most that the platform carries out one document for.
const maxCost = 1000

func loadSchema(t *testing.T) *ast.Schema {
	t.Helper()
	s, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sentDocuments returns every document that the client can send, by name.
func sentDocuments(t *testing.T) map[string]string {
	t.Helper()
	generated, err := goparser.ParseFile(token.NewFileSet(), "admin/generated.go", nil, goparser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]string{}
	goast.Inspect(generated, func(n goast.Node) bool {
		v, ok := n.(*goast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := strings.CutSuffix(v.Names[0].Name, "_Operation"); ok {
			text, err := strconv.Unquote(v.Values[0].(*goast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			printed[name] = text
		}
		return true
	})
	if len(printed) < 30 {
		t.Fatalf("only %d documents were found", len(printed))
	}
	for shape, ops := range draftShapes() {
		text, _, err := draftDocument("draft", ops)
		if err != nil {
			t.Fatal(err)
		}
		printed["ChangeDraft: "+shape] = text
	}
	c := New(Options{})
	for n := 1; n <= platform.MaxCharges; n++ {
		printed[fmt.Sprintf("CycleState × %d", n)] = c.questions[n].text
		printed[fmt.Sprintf("Charge × %d", n)] = c.charges[n].text
	}
	return printed
}

func TestEveryDocumentIsValidAndWithinCost(t *testing.T) {
	t.Parallel()
	s := loadSchema(t)
	for name, text := range sentDocuments(t) {
		doc, errs := gqlparser.LoadQuery(s, text)
		if errs != nil {
			t.Errorf("%s: %v\n%s", name, errs, text)
			continue
		}
		points := costOf(t, s, doc)
		if name == "Contracts" {
			// As if the platform counted each of the nodes.
			points *= contractsAtOnce
		}
		if name == "Details" {
			points *= detailsAtOnce
		}
		if name == "ProductVariants" {
			points *= platform.MaxProducts
		}
		if name == "Attempts" || name == "Variants" || name == "Customers" {
			points *= platform.MaxIDs
		}
		if points >= maxCost {
			t.Errorf("%s costs %d points", name, points)
		}
		t.Logf("%s: %d points", name, points)
	}
}

func TestBatchHasAliasPerQuery(t *testing.T) {
	t.Parallel()
	s := loadSchema(t)
	c := New(Options{})
	for n := 1; n <= platform.MaxCharges; n++ {
		questions, charges := gqlparser.MustLoadQuery(s, c.questions[n].text), gqlparser.MustLoadQuery(s, c.charges[n].text)
		got := map[string]bool{}
		for _, f := range append(fields(questions), fields(charges)...) {
			got[f.Alias] = true
			if last := f.Alias[len(f.Alias)-1]; last < '0' || last > '9' {
				t.Errorf("field %s of a batch of %d has no number", f.Alias, n)
			}
			for _, a := range f.Arguments {
				if number := digits(f.Alias); digits(a.Value.Raw) != number {
					t.Errorf("field %s of a batch of %d takes variable %s", f.Alias, n, a.Value.Raw)
				}
			}
		}
		for i := range n {
			for _, alias := range []string{"cycle", "contract", "charge"} {
				if !got[alias+strconv.Itoa(i)] {
					t.Errorf("a batch of %d has no field %s%d", n, alias, i)
				}
			}
		}
		if len(got) != 3*n {
			t.Errorf("a batch of %d has %d fields, want %d", n, len(got), 3*n)
		}
	}
}

func fields(doc *ast.QueryDocument) []*ast.Field {
	var found []*ast.Field
	for _, s := range doc.Operations[0].SelectionSet {
		found = append(found, s.(*ast.Field))
	}
	return found
}

func digits(s string) string {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	return s[i:]
}

// costOf adds up a document by the formula that fits the platform's own
// figures. Members of a union are added up, although only one can come true.
func costOf(t *testing.T, s *ast.Schema, doc *ast.QueryDocument) int {
	t.Helper()
	op := doc.Operations[0]
	if op.Operation != ast.Mutation {
		return costOfSelection(t, s, op.SelectionSet)
	}
	points := 0
	for _, f := range fields(doc) {
		points += 10
		for _, child := range f.SelectionSet {
			spread, ok := child.(*ast.FragmentSpread)
			if !ok {
				points += costOfSelection(t, s, child.(*ast.Field).SelectionSet)
				continue
			}
			for _, grandchild := range spread.Definition.SelectionSet {
				points += costOfSelection(t, s, grandchild.(*ast.Field).SelectionSet)
			}
		}
	}
	return points
}

// free lists the objects that cost nothing, with what is inside them.
var free = map[string]bool{"PageInfo": true, "MoneyV2": true, "MoneyBag": true, "MailingAddress": true, "UserError": true}

func costOfSelection(t *testing.T, s *ast.Schema, set ast.SelectionSet) int {
	t.Helper()
	points := 0
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.FragmentSpread:
			points += costOfSelection(t, s, sel.Definition.SelectionSet)
		case *ast.InlineFragment:
			points += costOfSelection(t, s, sel.SelectionSet)
		case *ast.Field:
			points += costOfField(t, s, sel)
		}
	}
	return points
}

func costOfField(t *testing.T, s *ast.Schema, f *ast.Field) int {
	t.Helper()
	named := s.Types[f.Definition.Type.Name()]
	if named.IsLeafType() || free[named.Name] {
		return 0
	}
	first := f.Arguments.ForName("first")
	if first == nil {
		return 1 + costOfSelection(t, s, f.SelectionSet)
	}
	n, err := strconv.Atoi(first.Value.Raw)
	if err != nil {
		t.Fatalf("page size of %s: %v", f.Name, err)
	}
	children := 0
	for _, child := range f.SelectionSet {
		if nodes, ok := child.(*ast.Field); ok && nodes.Name == "nodes" {
			children = costOfSelection(t, s, nodes.SelectionSet)
		}
	}
	return 2 + int(math.Max(1, math.Floor(2*math.Log(float64(n)))))*(1+children)
}
