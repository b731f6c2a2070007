package simulator

import (
	"fmt"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/base/money"
)

// The executor walks the checked document and writes the answer. It is our own
// rather than a library's because the whole schema then needs no Go types, what
// is not simulated is found before anything is changed, and the actual
// cost falls out of the walk.

// fieldFunc answers a field of an object.
type fieldFunc func(x *exec, self any, a args) any

// fields answer a type's fields, by name.
type fields map[string]fieldFunc

// registry holds the fields of every simulated type.
type registry map[string]fields

// object is a value with its type in the schema.
type object struct {
	kind string
	val  any
}

// moneyBag is an amount that is shown in the store's and the buyer's currency.
type moneyBag money.Amount

// payload is what a mutation answers with.
type payload []part

// part is a field of a payload.
type part struct {
	name  string
	value any
}

// userError is an entry of a payload's userErrors.
type userError struct {
	Code    string
	Field   []string
	Message string
}

// userErrors turns at most one refusal into a payload's list.
func userErrors(e *userError) part {
	if e == nil {
		return part{"userErrors", []userError(nil)}
	}
	return part{"userErrors", []userError{*e}}
}

// exec is the execution of one operation.
type exec struct {
	s      *Simulator
	shop   *store
	app    string // owner of what the app of the token makes
	at     installation
	doc    *document
	op     *ast.OperationDefinition
	vars   args
	out    []byte
	errors []apiError
	failed *apiError // of the root field under way: it becomes null
	broken bool      // the whole answer's data becomes null
}

// group is a field of the answer with everything that was selected under its
// name.
type group struct {
	alias string
	field *ast.Field
	sets  []ast.SelectionSet
	kinds map[string][]*group // what is selected below, by the type of the object
}

// collect returns the fields that are selected of an object of the given type.
func (x *exec) collect(sets []ast.SelectionSet, kind string) []*group {
	var list []*group
	byAlias := map[string]*group{}
	var walk func(set ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, sel := range set {
			switch sel := sel.(type) {
			case *ast.Field:
				if !wanted(sel.Directives, x.vars) {
					continue
				}
				g := byAlias[sel.Alias]
				if g == nil {
					g = &group{alias: sel.Alias, field: sel, kinds: map[string][]*group{}}
					byAlias[sel.Alias] = g
					list = append(list, g)
				}
				if sel.SelectionSet != nil {
					g.sets = append(g.sets, sel.SelectionSet)
				}
			case *ast.InlineFragment:
				if wanted(sel.Directives, x.vars) && x.s.isA(kind, sel.TypeCondition) {
					walk(sel.SelectionSet)
				}
			case *ast.FragmentSpread:
				f := x.doc.query.Fragments.ForName(sel.Name)
				if wanted(sel.Directives, x.vars) && x.s.isA(kind, f.TypeCondition) {
					walk(f.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		walk(set)
	}
	return list
}

// isA reports whether an object type satisfies a fragment's condition.
func (s *Simulator) isA(kind, condition string) bool {
	if condition == "" || condition == kind {
		return true
	}
	def := s.schema.Types[condition]
	if def == nil || !def.IsAbstractType() {
		return false
	}
	for _, p := range s.schema.PossibleTypes[condition] {
		if p.Name == kind {
			return true
		}
	}
	return false
}

// below returns the fields that a group selects of an object's type.
func (x *exec) below(g *group, kind string) []*group {
	list, ok := g.kinds[kind]
	if !ok {
		list = x.collect(g.sets, kind)
		g.kinds[kind] = list
	}
	return list
}

// run executes the operation and returns its data and its actual cost. Root
// fields run one after the other.
func (x *exec) run() (data []byte, cost int) {
	root := rootType(x.s.schema, x.op)
	key := planKey{x.op, root.Name}
	plan, known := x.doc.plans[key]
	if !known {
		plan = x.collect([]ast.SelectionSet{x.op.SelectionSet}, root.Name)
		if x.doc.constant {
			x.doc.plans[key] = plan
		}
	}
	x.out = append(x.out, '{')
	for i, g := range plan {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		x.name(g.alias)
		cost += x.root(g, root)
	}
	x.out = append(x.out, '}')
	if x.broken {
		return []byte("null"), cost
	}
	return x.out, cost
}

func (x *exec) root(g *group, root *ast.Definition) int {
	if g.field.Name == "__typename" {
		x.string(root.Name)
		return 0
	}
	x.failed = nil
	v := x.s.tables[root.Name][g.field.Name](x, nil, x.s.arguments(g.field, x.vars))
	if x.failed != nil {
		e := *x.failed
		e.Locations, e.Path = at1(g.field.Position), []string{g.alias}
		x.errors = append(x.errors, e)
		x.broken = x.broken || g.field.Definition.Type.NonNull
		x.null()
		return 0
	}
	cost := x.value(g, v)
	if root.Name == "Mutation" {
		if p, ok := v.(object); ok && p.val != nil {
			cost += mutationCost - 1 - x.payloadObjects(g, p)
		}
	}
	return cost
}

// payloadObjects counts the objects that stand directly in a payload, which cost
// nothing.
func (x *exec) payloadObjects(g *group, p object) int {
	n := 0
	for _, f := range x.below(g, p.kind) {
		for _, part := range p.val.(payload) {
			if part.name != f.field.Name {
				continue
			}
			switch v := part.value.(type) {
			case object:
				if v.val != nil {
					n++
				}
			case []object:
				if len(v) > 0 {
					n++
				}
			}
		}
	}
	return n
}

// fail makes the root field under way null, with an error beside the data.
func (x *exec) fail(code, format string, a ...any) {
	if x.failed == nil {
		x.failed = &apiError{Message: fmt.Sprintf(format, a...), Extensions: &extensions{Code: code}}
	}
}

// value writes the value of a field and returns its cost.
func (x *exec) value(g *group, v any) int {
	switch v := v.(type) {
	case nil:
		x.null()
	case string:
		x.string(v)
	case bool:
		x.out = strconv.AppendBool(x.out, v)
	case int:
		x.out = strconv.AppendInt(x.out, int64(v), 10)
	case float64:
		x.out = strconv.AppendFloat(x.out, v, 'f', -1, 64)
	case time.Time:
		if v.IsZero() {
			x.null()
		} else {
			x.string(stamp(v))
		}
	case []string:
		x.out = append(x.out, '[')
		for i, s := range v {
			x.comma(i)
			x.string(s)
		}
		x.out = append(x.out, ']')
	case money.Amount:
		x.money(g, v)
	case moneyBag:
		x.bag(g, v)
	case object:
		return x.object(g, v)
	case []object:
		return x.list(g, v)
	case []userError:
		x.userErrors(g, v)
	case *page:
		return x.page(g, v)
	default:
		panic(fmt.Sprintf("field %s answers with a %T", g.field.Name, v))
	}
	return 0
}

// object writes an object. A nil value is null.
func (x *exec) object(g *group, o object) int {
	if o.val == nil {
		x.null()
		return 0
	}
	cost := 1
	x.out = append(x.out, '{')
	table := x.s.tables[o.kind]
	parts, isPayload := o.val.(payload)
	for i, f := range x.below(g, o.kind) {
		x.comma(i)
		x.name(f.alias)
		switch {
		case f.field.Name == "__typename":
			x.string(o.kind)
		case isPayload:
			cost += x.value(f, parts.get(f.field.Name))
		case table[f.field.Name] == nil:
			x.errors = append(x.errors, *notSimulated(f.field, o.kind))
			x.broken = true
			x.null()
		default:
			cost += x.value(f, table[f.field.Name](x, o.val, x.s.arguments(f.field, x.vars)))
		}
	}
	x.out = append(x.out, '}')
	if def := x.s.schema.Types[o.kind]; def.Name == "Count" {
		return countCost
	} else if free(def) {
		return 0
	}
	return cost
}

func (p payload) get(name string) any {
	for _, f := range p {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// list writes objects; the dearest of them counts.
func (x *exec) list(g *group, list []object) int {
	dearest := 0
	x.out = append(x.out, '[')
	for i, o := range list {
		x.comma(i)
		dearest = max(dearest, x.object(g, o))
	}
	x.out = append(x.out, ']')
	return dearest
}

// userErrors writes a payload's refusals. Which type they have does not matter:
// all of them have the same fields.
func (x *exec) userErrors(g *group, list []userError) {
	kind := g.field.Definition.Type.Name()
	x.out = append(x.out, '[')
	for i, e := range list {
		x.comma(i)
		x.out = append(x.out, '{')
		for j, f := range x.below(g, kind) {
			x.comma(j)
			x.name(f.alias)
			switch f.field.Name {
			case "__typename":
				x.string(kind)
			case "message":
				x.string(e.Message)
			case "code":
				x.value(f, textOrNull(e.Code))
			case "field":
				if e.Field == nil {
					x.null()
				} else {
					x.value(f, e.Field)
				}
			default:
				x.null()
			}
		}
		x.out = append(x.out, '}')
	}
	x.out = append(x.out, ']')
}

// on adapts a typed function to a field.
func on[T any](fn func(x *exec, self T, a args) any) fieldFunc {
	return func(x *exec, self any, a args) any { return fn(x, self.(T), a) }
}

// get adapts a function of the object alone to a field.
func get[T any](fn func(self T) any) fieldFunc {
	return func(_ *exec, self any, _ args) any { return fn(self.(T)) }
}

// always answers a field with one value.
func always(v any) fieldFunc { return func(*exec, any, args) any { return v } }

// typed returns an object of a type, null when the pointer is nil.
func typed[T any](kind string, v *T) object {
	if v == nil {
		return object{kind: kind}
	}
	return object{kind, v}
}
