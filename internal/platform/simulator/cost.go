package simulator

import (
	"math"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// bucket is the leaky bucket of cost points that an app has in a store.
type bucket struct {
	level  float64
	filled time.Time
}

func (s *Simulator) fullBucket() bucket {
	return bucket{s.opts.CostMaximum, s.opts.ThrottleClock.Now()}
}

// refill adds what was restored since the last time.
func (b *bucket) refill(maximum, restore float64, now time.Time) {
	if elapsed := now.Sub(b.filled).Seconds(); elapsed > 0 {
		b.level = min(b.level+elapsed*restore, maximum)
		b.filled = now
	}
}

// SetBudget gives every app in every store a bucket of so many points, which is full, and has so
// many restored in a second.
func (s *Simulator) SetBudget(maximum, restore float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.CostMaximum, s.opts.CostRestore = maximum, restore
	for _, sh := range s.state.shops {
		sh.bucket = s.fullBucket()
		for _, is := range sh.Others {
			is.bucket = s.fullBucket()
		}
	}
}

// throttleStatus is the state of a bucket in an answer.
type throttleStatus struct {
	MaximumAvailable   float64 `json:"maximumAvailable"`
	CurrentlyAvailable int     `json:"currentlyAvailable"`
	RestoreRate        float64 `json:"restoreRate"`
}

type costReport struct {
	Requested int            `json:"requestedQueryCost"`
	Actual    *int           `json:"actualQueryCost"`
	Status    throttleStatus `json:"throttleStatus"`
}

func (s *Simulator) throttle(b *bucket) throttleStatus {
	return throttleStatus{s.opts.CostMaximum, int(b.level), s.opts.CostRestore}
}

// Costs that do not follow from the shape of a document. They and the formula
// were fitted to recorded answers.
const (
	mutationCost   = 10
	connectionCost = 2
	countCost      = 10
	maxPage        = 250
)

// pageWeight is how often the nodes of a connection count.
func pageWeight(n int) int {
	if n == 0 {
		return 0
	}
	return max(1, int(math.Floor(2*math.Log(float64(n)))))
}

// free reports whether objects of a type cost nothing, with all below them.
func free(d *ast.Definition) bool {
	switch d.Name {
	case "PageInfo", "MoneyV2", "MoneyBag", "MailingAddress", "LocationAddress", "DisplayableError":
		return true
	}
	for _, i := range d.Interfaces {
		if i == "DisplayableError" {
			return true
		}
	}
	return false
}

// coster computes what an operation is expected to cost.
type coster struct {
	s       *Simulator
	q       *ast.QueryDocument
	vars    args
	refused *apiError
}

// requested returns the expected cost of an operation, or why the platform would
// not compute it.
func (s *Simulator) requested(doc *document, op *ast.OperationDefinition, vars args) (int, *apiError) {
	if cost, known := doc.cost[op]; known {
		return cost, nil
	}
	c := coster{s: s, q: doc.query, vars: vars}
	total := 0
	if op.Operation == ast.Mutation {
		walkSelected(doc.query, op.SelectionSet, vars, func(f *ast.Field) {
			total += mutationCost
			walkSelected(doc.query, f.SelectionSet, vars, func(p *ast.Field) {
				own := c.field(p)
				if d := s.schema.Types[p.Definition.Type.Name()]; d != nil && !d.IsLeafType() && !free(d) && !isConnection(d) {
					own-- // the payload's own objects are free, what is below them is not
				}
				total += own
			})
		})
	} else {
		total = c.set(op.SelectionSet, s.schema.Query)
	}
	if c.refused == nil && doc.constant {
		doc.cost[op] = total
	}
	return total, c.refused
}

// walkSelected visits the fields of a selection that are not left out, through
// fragments.
func walkSelected(q *ast.QueryDocument, set ast.SelectionSet, vars args, visit func(*ast.Field)) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if wanted(sel.Directives, vars) {
				visit(sel)
			}
		case *ast.InlineFragment:
			if wanted(sel.Directives, vars) {
				walkSelected(q, sel.SelectionSet, vars, visit)
			}
		case *ast.FragmentSpread:
			if f := q.Fragments.ForName(sel.Name); f != nil && wanted(sel.Directives, vars) {
				walkSelected(q, f.SelectionSet, vars, visit)
			}
		}
	}
}

// wanted evaluates @skip and @include.
func wanted(list ast.DirectiveList, vars args) bool {
	for _, d := range list {
		if d.Name != "skip" && d.Name != "include" {
			continue
		}
		arg := d.Arguments.ForName("if")
		on := arg.Value.Raw == "true"
		if arg.Value.Kind == ast.Variable {
			on = vars.flag(arg.Value.Raw)
		}
		if on == (d.Name == "skip") {
			return false
		}
	}
	return true
}

func isConnection(d *ast.Definition) bool { return strings.HasSuffix(d.Name, "Connection") }

// set returns the cost of a selection of a type's fields. Of the fragments on an
// abstract type the dearest counts.
func (c *coster) set(set ast.SelectionSet, parent *ast.Definition) int {
	total, dearest := 0, 0
	fragment := func(on string, inner ast.SelectionSet) {
		cost := c.set(inner, parent)
		if parent.IsAbstractType() && on != "" && on != parent.Name {
			dearest = max(dearest, cost)
			return
		}
		total += cost
	}
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if wanted(sel.Directives, c.vars) {
				total += c.field(sel)
			}
		case *ast.InlineFragment:
			if wanted(sel.Directives, c.vars) {
				fragment(sel.TypeCondition, sel.SelectionSet)
			}
		case *ast.FragmentSpread:
			if f := c.q.Fragments.ForName(sel.Name); f != nil && wanted(sel.Directives, c.vars) {
				fragment(f.TypeCondition, f.SelectionSet)
			}
		}
	}
	return total + dearest
}

func (c *coster) field(f *ast.Field) int {
	if f.Definition == nil || strings.HasPrefix(f.Name, "__") {
		return 0
	}
	d := c.s.schema.Types[f.Definition.Type.Name()]
	switch {
	case d.IsLeafType() || free(d):
		return 0
	case d.Name == "Count":
		return countCost
	case isConnection(d):
		return c.connection(f, d)
	}
	return 1 + c.set(f.SelectionSet, d)
}

func (c *coster) connection(f *ast.Field, d *ast.Definition) int {
	n, refused := pageSize(f, c.s.arguments(f, c.vars))
	if refused != nil {
		if c.refused == nil {
			c.refused = refused
		}
		return 0
	}
	total := connectionCost
	walkSelected(c.q, f.SelectionSet, c.vars, func(part *ast.Field) {
		inner := c.s.schema.Types[part.Definition.Type.Name()]
		switch part.Name {
		case "nodes":
			total += pageWeight(n) * (1 + c.set(part.SelectionSet, inner))
		case "edges":
			children := 0
			walkSelected(c.q, part.SelectionSet, c.vars, func(e *ast.Field) {
				if e.Name == "node" {
					children += c.set(e.SelectionSet, c.s.schema.Types[e.Definition.Type.Name()])
				}
			})
			total += pageWeight(n) * (1 + children)
		default:
			total += c.field(part)
		}
	})
	return total
}

// pageSize returns how many nodes a connection is asked for, or why it is
// refused.
func pageSize(f *ast.Field, a args) (int, *apiError) {
	refuse := func(message string) (int, *apiError) {
		return 0, &apiError{Message: message, Locations: at1(f.Position), Path: []string{f.Alias}, Extensions: &extensions{Code: codeBadRequest}}
	}
	first, last := a.has("first"), a.has("last")
	n := a.int("first")
	if last {
		n = a.int("last")
	}
	switch {
	case !first && !last:
		return refuse("you must provide one of first or last")
	case first && last:
		return refuse("providing both first and last is not supported")
	case n < 0 || n > maxPage:
		return refuse("first and last must be between 0 and 250")
	}
	return n, nil
}
