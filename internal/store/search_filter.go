package store

import (
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// source is a table in which the search looks: contract_facets where that is
// enough, and otherwise contracts.
type source struct {
	db                *DB
	alias             string
	prepaid, imported string // conditions
	walked            bool   // many hits are expected: parts of texts are looked for row by row
	query             func(of shop.ID) *bun.SelectQuery
}

func facetsOf(db *DB) source {
	return source{db: db, alias: "f", prepaid: "f.prepaid", imported: "f.imported", query: func(of shop.ID) *bun.SelectQuery { return db.in(of).NewSelect().Model((*facetRow)(nil)) }}
}

func contractsOfShop(db *DB) source {
	return source{
		db: db, alias: "c", prepaid: "c.billing_count <> c.delivery_count", imported: "(c.imported_id <> '')",
		query: func(of shop.ID) *bun.SelectQuery { return db.in(of).NewSelect().Model((*contractRow)(nil)) },
	}
}

// where adds every condition of the filter. Only contracts knows the dates that
// billing changes.
func (s source) where(q *bun.SelectQuery, of shop.ID, f contract.Filter) *bun.SelectQuery {
	q = q.Where("?.shop_id = ?", ident(s.alias), of).Where("?.line = ?", ident(s.alias), f.Line)
	q = s.byDates(q, f)
	q = s.byCases(q, f)
	q = s.byFacets(q, f)
	q = s.byLines(q, of, f)
	q = s.byParts(q, of, f)
	if f.CustomerID != 0 {
		q = q.Where("?.customer_id = ?", ident(s.alias), f.CustomerID)
	}
	if f.CustomerEmail != "" {
		q = q.Where("?.id IN (?)", ident(s.alias), s.db.withEmail(of, f.CustomerEmail).Column("id"))
	}
	return q
}

// withEmail selects a shop's contracts whose customers have the address.
func (db *DB) withEmail(of shop.ID, email string) *bun.SelectQuery {
	return db.in(of).NewSelect().Model((*contractRow)(nil)).Where("c.shop_id = ?", of).Where("c.email_folded = ?", fold(clean(email)))
}

func (s source) byDates(q *bun.SelectQuery, f contract.Filter) *bun.SelectQuery {
	for _, span := range []struct {
		column   string
		from, to time.Time
	}{
		{"created_at", f.CreatedFrom, f.CreatedTo}, {"updated_at", f.UpdatedFrom, f.UpdatedTo}, {"next_billing_date", f.NextFrom, f.NextTo},
	} {
		if !span.from.IsZero() {
			q = q.Where("?.? >= ?", ident(s.alias), ident(span.column), millis(span.from))
		}
		if !span.to.IsZero() { // 0 is no date, and not before every other
			q = q.Where("?.? BETWEEN 1 AND ?", ident(s.alias), ident(span.column), millis(span.to))
		}
	}
	return q
}

// byCases adds the conditions on what a merchant looks after. Partial indexes, which are found
// by these words, have the few contracts that meet them.
func (s source) byCases(q *bun.SelectQuery, f contract.Filter) *bun.SelectQuery {
	if f.Failing {
		q = q.Where("?.dunning <> ''", ident(s.alias))
	}
	if f.Ending {
		q = q.Where("?.status IN ('ACTIVE', 'PAUSED')", ident(s.alias)).Where("(?.ending <> '' OR ?.expire_at > 0)", ident(s.alias), ident(s.alias))
	}
	return q
}

// byFacets adds the conditions on what has few values, and on the amount.
func (s source) byFacets(q *bun.SelectQuery, f contract.Filter) *bun.SelectQuery {
	alias := ident(s.alias)
	if f.Status != "" {
		q = q.Where("?.status = ?", alias, f.Status)
	}
	if f.DeliveryInterval != nil {
		q = q.Where("?.delivery_interval = ?", alias, f.DeliveryInterval.String())
	}
	if f.DeliveryCount != 0 {
		q = q.Where("?.delivery_count = ?", alias, f.DeliveryCount)
	}
	q = s.either(q, s.prepaid, f.Prepaid)
	q = s.either(q, s.imported, f.Imported)
	return byAmount(q, s.alias, f)
}

// byAmount adds the bounds of an amount.
func byAmount(q *bun.SelectQuery, alias string, f contract.Filter) *bun.SelectQuery {
	if f.MinAmount != nil {
		q = q.Where("?.order_amount >= ?", ident(alias), *f.MinAmount)
	}
	if f.MaxAmount != nil {
		q = q.Where("?.order_amount <= ?", ident(alias), *f.MaxAmount)
	}
	return q
}

// either adds a condition or its opposite, in words by which partial indexes are
// found.
func (s source) either(q *bun.SelectQuery, condition string, want *bool) *bun.SelectQuery {
	switch {
	case want == nil:
		return q
	case *want:
		return q.Where(condition)
	}
	return q.Where("NOT " + condition)
}

func (s source) byLines(q *bun.SelectQuery, of shop.ID, f contract.Filter) *bun.SelectQuery {
	for _, l := range lineConditions(f) {
		q = q.Where("?.id IN (?)", ident(s.alias), s.db.linesWith(of, f.Line, l).Column("contract_id"))
	}
	return q
}

// lineCondition is a product, variant or selling plan that a line must have.
type lineCondition struct {
	column string
	id     int64
}

func lineConditions(f contract.Filter) []lineCondition {
	var list []lineCondition
	for _, l := range []lineCondition{{"product_id", f.ProductID}, {"variant_id", f.VariantID}, {"selling_plan_id", f.SellingPlanID}} {
		if l.id != 0 {
			list = append(list, l)
		}
	}
	return list
}

func (db *DB) linesWith(of shop.ID, line shop.Line, l lineCondition) *bun.SelectQuery {
	return db.in(of).NewSelect().Model((*lineRow)(nil)).Where("l.shop_id = ?", of).Where("l.? = ?", ident(l.column), l.id).Where("l.line = ?", line)
}

// shortPart is the length below which no index knows the parts of a text.
const shortPart = 3

func (s source) byParts(q *bun.SelectQuery, of shop.ID, f contract.Filter) *bun.SelectQuery {
	if part := clean(fold(f.IDPart)); part != "" {
		if s.walked || utf8.RuneCountInString(part) < shortPart {
			q = q.Where(`CAST(?.id AS text) LIKE ? ESCAPE '\'`, ident(s.alias), anywhere(part))
		} else {
			q = q.Where("?.id IN (?)", ident(s.alias), s.db.termsWith(of, termNumber, part))
		}
	}
	if part := clean(fold(f.CustomerPart)); part != "" {
		q = s.byCustomer(q, of, f.Line, part)
	}
	if part := clean(fold(f.OrderPart)); part != "" {
		q = q.Where("?.id IN (?)", ident(s.alias), s.db.termsWith(of, termOrder, part))
	}
	return q
}

// byCustomer adds the condition that the name or the address contains a text.
func (s source) byCustomer(q *bun.SelectQuery, of shop.ID, line shop.Line, part string) *bun.SelectQuery {
	if s.db.customerTerm(part) && !s.walked {
		return q.Where("?.id IN (?)", ident(s.alias), s.db.termsWith(of, termCustomer, part))
	}
	contains := `? LIKE ? ESCAPE '\'`
	if s.walked { // PostgreSQL takes IS NOT NULL for true of nearly every row, and walks
		contains = `NULLIF((?) LIKE ? ESCAPE '\', false) IS NOT NULL`
	}
	text := bun.Safe("f.customer_folded")
	if s.alias == "f" {
		return q.Where(contains, text, anywhere(part))
	}
	facets := facetsOf(s.db).query(of).Where("f.shop_id = ?", of)
	if s.walked {
		return q.Where(contains, facets.ColumnExpr("?", text).Where("f.id = ?.id", ident(s.alias)), anywhere(part))
	}
	return q.Where("?.id IN (?)", ident(s.alias), facets.Column("id").Where("f.line = ?", line).Where(contains, text, anywhere(part)))
}

// customerTerm reports whether a part of an address or a name is found as a part of a
// term.
func (db *DB) customerTerm(part string) bool {
	return db.engine.dialect().customerTerms && utf8.RuneCountInString(part) >= shortPart
}

// termsWith selects the contracts with a term of the kind that contains a text.
func (db *DB) termsWith(of shop.ID, kind, part string) *bun.SelectQuery {
	terms := db.in(of).NewSelect().Model((*termRow)(nil)).Column("contract_id").Where("t.shop_id = ?", of).Where("t.kind = ?", kind)
	return db.engine.dialect().part(terms, part)
}

// anywhere is the pattern of texts that contain a text.
func anywhere(part string) string { return "%" + escapeLike(part) + "%" }
