package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ contract.Directory = (*DB)(nil)

// contractFields are the fields by which the search can be sorted; they are
// those of contract.SortFields.
var contractFields = map[string]field{
	"id":                       {"id", whole},
	"subscription_contract_id": {"id", whole},
	"created_at":               {"created_at", whole},
	"updated_at":               {"updated_at", whole},
	"next_billing_date":        {"next_billing_date", whole},
	"status":                   {"status", text},
	"customer_id":              {"customer_id", whole},
	"customer_name":            {"name_folded", text},
	"customer_email":           {"email_folded", text},
	"order_name":               {"origin_order_name", text},
	"order_amount":             {"order_amount", whole},
}

// notFacets are the columns of contractFields that contract_facets lacks.
var notFacets = map[string]bool{"updated_at": true, "next_billing_date": true, "origin_order_name": true, "name_folded": true, "email_folded": true}

// Search returns the page of a shop's contracts that pass the filter, oldest
// first unless the page says otherwise, and how many there are.
//
// The count comes first, because it decides how the page is found: few hits are
// collected and sorted; for many, the order is walked until the page is full. The
// database's own planner confuses the two.
func (db *DB) Search(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) ([]contract.Contract, int, error) {
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "created_at"}}
	}
	order, err := orderOf(p.Sort)
	if err != nil {
		return nil, 0, err
	}
	n, err := db.tally(ctx, of, f)
	if err != nil {
		return nil, 0, fmt.Errorf("count contracts: %w", err)
	}
	if p.Offset() >= n.hits {
		return nil, n.hits, nil
	}
	var rows []contractRow
	if err := db.hits(of, f, order, p, n, &rows).Scan(ctx); err != nil {
		return nil, 0, fmt.Errorf("search contracts: %w", err)
	}
	list, err := readRows[contract.Contract](rows)
	return list, n.hits, err
}

// ordering is a column by which contracts are sorted.
type ordering struct {
	column string
	desc   bool
}

// orderOf returns the columns of an order. The number of the contract breaks ties,
// so that no contract is on two pages or on none, and goes the way of the last field.
func orderOf(sorts []page.Sort) ([]ordering, error) {
	var order []ordering
	byID := false
	for _, s := range sorts {
		f, known := contractFields[s.Field]
		if !known {
			return nil, fault.New(fault.Invalid, "the list cannot be sorted by %q", s.Field).Field("sort")
		}
		order = append(order, ordering{f.column, s.Desc})
		byID = byID || f.column == "id"
	}
	if !byID {
		order = append(order, ordering{"id", len(order) > 0 && order[len(order)-1].desc})
	}
	return order, nil
}

// sorted sorts a query's rows of the alias.
func sorted(q *bun.SelectQuery, alias string, order []ordering) *bun.SelectQuery {
	for _, o := range order {
		q = q.OrderExpr("?.? ?", ident(alias), ident(o.column), directionOf(o.desc))
	}
	return q
}

// hits returns the query for a page of contracts whose count is known.
func (db *DB) hits(of shop.ID, f contract.Filter, order []ordering, p page.Request, n tally, into *[]contractRow) *bun.SelectQuery {
	few := n.few(p)
	foreign := false // sorted by what contract_facets lacks
	for _, o := range order {
		foreign = foreign || notFacets[o.column]
	}
	from := facetsOf(db)
	if dated(f) || foreign && !few {
		from = contractsOfShop(db)
	}
	from.walked = !few
	paged := func(q *bun.SelectQuery) *bun.SelectQuery { return q.Limit(int64(p.Size)).Offset(int64(p.Offset())) }

	ids := from.where(from.query(of).Column("id"), of, f)
	whole := db.in(of).NewSelect().Model(into).Where("c.shop_id = ?", of)
	if !few {
		ids = paged(sorted(ids, from.alias, order))
		return sorted(whole.Join("JOIN (?) AS h ON h.id = c.id", ids), "c", order)
	}
	if from.alias == "f" && foreign {
		collected := bun.NewWithQuery("h", ids).Materialized()
		return paged(sorted(whole.WithQuery(collected).Join("JOIN h ON h.id = c.id"), "c", order))
	}
	if l := lineConditions(f); len(l) == 1 && onlyLines(f) {
		ids = db.linesInOrder(of, f.Line, l[0], order)
	} else {
		for _, o := range order {
			if o.column != "id" {
				ids = ids.Column(o.column)
			}
		}
	}
	collected := bun.NewWithQuery("h", ids).Materialized()
	chosen := paged(sorted(db.in(of).NewSelect().TableExpr("h").ColumnExpr("h.id"), "h", order))
	return sorted(whole.WithQuery(collected).Join("JOIN (?) AS p ON p.id = c.id", chosen), "c", order)
}

// linesInOrder selects the contracts with a line, and by what they are sorted.
// That is looked up for each: joined, a planner that takes every look for a read
// of the disk would rather read the facets of all contracts.
func (db *DB) linesInOrder(of shop.ID, line shop.Line, l lineCondition, order []ordering) *bun.SelectQuery {
	found := db.linesWith(of, line, l).ColumnExpr("DISTINCT l.contract_id AS id")
	q := db.in(of).NewSelect().TableExpr("(?) AS l", found).ColumnExpr("l.id")
	for _, o := range order {
		if o.column != "id" {
			q = q.ColumnExpr("(SELECT f.? FROM own_contract_facets AS f WHERE f.shop_id = ? AND f.id = l.id) AS ?", ident(o.column), of, ident(o.column))
		}
	}
	return q
}

// dated reports whether the filter asks for what billing changes, which contract_facets lacks.
func dated(f contract.Filter) bool {
	return !f.UpdatedFrom.IsZero() || !f.UpdatedTo.IsZero() || !f.NextFrom.IsZero() || !f.NextTo.IsZero() || f.Failing || f.Ending
}
