package store

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
)

// field is a column that a list may be asked about. Names of columns come from
// maps of these and never from a caller.
type field struct {
	column string
	kind   columnKind
}

// meet narrows a query by a criterion. An absent text is stored as an empty one
// and an absent number as 0.
func (d dialect) meet(q *bun.SelectQuery, fields map[string]field, c page.Criterion) (*bun.SelectQuery, error) {
	f, known := fields[c.Field]
	if !known {
		return nil, fault.New(fault.Invalid, "the list cannot be filtered by %q", c.Field).Field(c.Field)
	}
	name := ident(f.column)
	var values []any
	if f.kind == text {
		for _, t := range c.Texts {
			values = append(values, clean(t))
		}
	} else {
		for _, n := range c.Numbers {
			values = append(values, n)
		}
	}
	if c.Op != page.Specified && c.Op != page.In && c.Op != page.NotIn && len(values) != 1 {
		return nil, fault.New(fault.Invalid, "%s.%s takes one value", c.Field, c.Op).Field(c.Field)
	}
	switch c.Op {
	case page.Equals:
		return q.Where("? = ?", name, values[0]), nil
	case page.NotEquals:
		return q.Where("? <> ?", name, values[0]), nil
	case page.In:
		if len(values) == 0 {
			return q.Where("1 = 0"), nil
		}
		return q.Where("? IN (?)", name, bun.List(values)), nil
	case page.NotIn:
		if len(values) == 0 {
			return q, nil
		}
		return q.Where("? NOT IN (?)", name, bun.List(values)), nil
	case page.Specified:
		empty := any("")
		if f.kind != text {
			empty = 0
		}
		if c.Present {
			return q.Where("? <> ?", name, empty), nil
		}
		return q.Where("? = ?", name, empty), nil
	case page.GreaterThan:
		return q.Where("? > ?", name, values[0]), nil
	case page.GreaterThanOrEqual:
		return q.Where("? >= ?", name, values[0]), nil
	case page.LessThan:
		return q.Where("? < ?", name, values[0]), nil
	case page.LessThanOrEqual:
		return q.Where("? <= ?", name, values[0]), nil
	case page.Contains, page.DoesNotContain:
		if f.kind != text {
			break
		}
		not := bun.Safe("")
		if c.Op == page.DoesNotContain {
			not = "NOT"
		}
		return q.Where(`? ? ? ? ESCAPE '\'`, name, not, bun.Safe(d.like), "%"+escapeLike(clean(c.Texts[0]))+"%"), nil
	}
	return nil, fault.New(fault.Invalid, "%s.%s is not a comparison that this list knows", c.Field, c.Op).Field(c.Field)
}

// fetch reads a page of a query and returns how many rows there are in all. The
// rows' number breaks ties, so that no row is on two pages or on none. It goes the
// way of the last field: what is sorted by an instant and descends has the newest
// first, even among those of one instant.
func fetch(ctx context.Context, q *bun.SelectQuery, fields map[string]field, p page.Request, got func() int) (int, error) {
	byID := false
	direction := bun.Safe("ASC")
	for _, s := range p.Sort {
		f, known := fields[s.Field]
		if !known {
			return 0, fault.New(fault.Invalid, "the list cannot be sorted by %q", s.Field).Field("sort")
		}
		direction = directionOf(s.Desc)
		q = q.OrderExpr("?TableAlias.? ?", ident(f.column), direction)
		byID = byID || f.column == "id"
	}
	if !byID {
		q = q.OrderExpr("?TableAlias.id ?", direction)
	}
	if p.Size > 0 {
		q = q.Limit(int64(p.Size)).Offset(int64(p.Offset()))
	}
	if err := q.Scan(ctx); err != nil {
		return 0, err
	}
	// The last page gives the total.
	if n := got(); p.Size <= 0 || n < p.Size && (n > 0 || p.Page == 0) {
		return p.Offset() + n, nil
	}
	all, err := q.Count(ctx)
	return int(all), err
}

func directionOf(desc bool) bun.Safe {
	if desc {
		return "DESC"
	}
	return "ASC"
}
