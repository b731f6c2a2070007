package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ contract.Customers = (*DB)(nil)

// ofCustomer selects the contracts of a customer.
func (db *DB) ofCustomer(q *bun.SelectQuery, of shop.ID, line shop.Line, customer int64) *bun.SelectQuery {
	return q.Where("c.shop_id = ?", of).Where("c.customer_id = ?", customer).Where("c.line = ?", line)
}

// ContractIDs returns the numbers of a customer's contracts, ascending.
func (db *DB) ContractIDs(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.ID, error) {
	var ids []contract.ID
	q := db.ofCustomer(db.in(of).NewSelect().Model((*contractRow)(nil)).Column("id"), of, line, customer)
	if err := q.Order("c.id").Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("read the contracts of customer %d: %w", customer, err)
	}
	return ids, nil
}

// ContractsOf returns a customer's contracts, oldest first.
func (db *DB) ContractsOf(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.Contract, error) {
	var rows []contractRow
	q := db.ofCustomer(db.in(of).NewSelect().Model(&rows), of, line, customer)
	if err := q.Order("c.created_at", "c.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of customer %d: %w", customer, err)
	}
	return readRows[contract.Contract](rows)
}

// summaryRow is what the contracts of one customer come to.
type summaryRow struct {
	CustomerID int64
	Active     int64
	Inactive   int64
	NextOrder  int64 // 0: none
	Lifetime   int64
	Currency   string
	Currencies int64
}

// result is what a group of contracts comes to.
type result string

// in writes the result for a table.
func (r result) in(alias string) string { return strings.ReplaceAll(string(r), "{t}", alias) }

// Results of the contracts of one customer. {t} stands for the table, and ?
// for contract.Active.
const (
	activeOf    result = "SUM(CASE WHEN {t}.status = ? THEN 1 ELSE 0 END)"
	inactiveOf  result = "SUM(CASE WHEN {t}.status = ? THEN 0 ELSE 1 END)"
	nextOrderOf result = "COALESCE(MIN(CASE WHEN {t}.status = ? AND {t}.next_billing_date > 0 THEN {t}.next_billing_date END), 0)"
	lifetimeOf  result = "CAST(SUM({t}.lifetime) AS bigint)"
)

// lifetimeShown is lifetimeOf as it is shown, in thousandths of the main unit, so that
// amounts of several currencies are in the order of their numbers. Contracts of
// different currencies come to none.
var lifetimeShown = result("CASE WHEN COUNT(DISTINCT {t}.currency) > 1 THEN -1 ELSE CAST(SUM({t}.lifetime) AS bigint) * MIN(CASE" +
	" WHEN {t}.currency IN (" + codes(money.WithExponent(0)) + ") THEN 1000 WHEN {t}.currency IN (" + codes(money.WithExponent(3)) + ") THEN 1 ELSE 10 END) END")

// codes writes the currencies as texts of SQL.
func codes(list []money.Currency) string {
	quoted := make([]string, len(list))
	for i, c := range list {
		quoted[i] = "'" + string(c) + "'"
	}
	return strings.Join(quoted, ", ")
}

// summaryField is a result by which customers can be sorted.
type summaryField struct {
	result
	active  bool // it names contract.Active
	foreign bool // contract_facets lacks it
}

// summaryFields are those of contract.CustomerSortFields.
var summaryFields = map[string]summaryField{
	"customerId": {result: "{t}.customer_id"}, "id": {result: "{t}.customer_id"}, "name": {result: "MAX({t}.name_folded)", foreign: true}, "email": {result: "MAX({t}.email_folded)", foreign: true},
	"activeSubscriptions": {result: activeOf, active: true}, "inActiveSubscriptions": {result: inactiveOf, active: true},
	"nextOrderDate": {result: nextOrderOf, active: true, foreign: true}, "lifetimeValue": {result: lifetimeShown, foreign: true},
}

// Customers returns a page of the customers that pass the filter, by their
// numbers unless the page says otherwise, and how many there are.
func (db *DB) Customers(ctx context.Context, of shop.ID, f contract.CustomerFilter, p page.Request) ([]contract.CustomerSummary, int, error) {
	ids, err := db.customersOn(ctx, of, f, p)
	if err != nil {
		return nil, 0, err
	}
	total := p.Offset() + len(ids)
	if len(ids) == p.Size || len(ids) == 0 && p.Page > 0 { // the last page gives the total
		if total, err = db.countCustomers(ctx, of, f); err != nil {
			return nil, 0, err
		}
	}
	found, err := db.summaries(ctx, of, f.Line, ids)
	return found, total, err
}

// customersOn returns the customers of a page.
func (db *DB) customersOn(ctx context.Context, of shop.ID, f contract.CustomerFilter, p page.Request) ([]int64, error) {
	foreign, byID := false, false
	for _, s := range p.Sort {
		by, known := summaryFields[s.Field]
		if !known {
			return nil, fault.New(fault.Invalid, "customers cannot be sorted by %q", s.Field).Field("sort")
		}
		foreign = foreign || by.foreign
		byID = byID || s.Field == "customerId" || s.Field == "id"
	}
	from := facetsOf(db)
	if foreign {
		from = contractsOfShop(db)
	}
	q := from.customers(of, f)
	direction := directionOf(false)
	for _, s := range p.Sort {
		direction = directionOf(s.Desc)
		if by := summaryFields[s.Field]; by.active {
			q = q.OrderExpr(by.in(from.alias)+" ?", contract.Active, direction)
		} else {
			q = q.OrderExpr(by.in(from.alias)+" ?", direction)
		}
	}
	if !byID {
		q = q.OrderExpr("?.customer_id ?", ident(from.alias), direction)
	}
	var ids []int64
	if err := q.Limit(int64(p.Size)).Offset(int64(p.Offset())).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("list customers: %w", err)
	}
	return ids, nil
}

// customers selects the customers that pass the filter, by their contracts.
func (s source) customers(of shop.ID, f contract.CustomerFilter) *bun.SelectQuery {
	alias := ident(s.alias)
	q := s.query(of).ColumnExpr("?.customer_id", alias).GroupExpr("?.customer_id", alias).
		Where("?.shop_id = ?", alias, of).Where("?.line = ?", alias, f.Line).Where("?.customer_id <> 0", alias)
	for _, found := range s.db.customersWith(of, f) { // any one contract of a customer may meet it
		q = q.Where("?.customer_id IN (?)", alias, found.Column("customer_id"))
	}
	if f.Several {
		q = q.Having(activeOf.in(s.alias)+" > 1", contract.Active)
	}
	return q
}

// customersWith selects, for each condition on who a customer is, the contracts that meet
// it.
func (db *DB) customersWith(of shop.ID, f contract.CustomerFilter) []*bun.SelectQuery {
	var list []*bun.SelectQuery
	if f.Email != "" {
		list = append(list, db.withEmail(of, f.Email).Where("c.line = ?", f.Line))
	}
	if f.NamePart != "" {
		behind := "%\n" + anywhere(clean(fold(f.NamePart))) // the address
		list = append(list, facetsOf(db).query(of).Where("f.shop_id = ?", of).Where("f.line = ?", f.Line).Where(`f.customer_folded LIKE ? ESCAPE '\'`, behind))
	}
	return list
}

// countCustomers counts as tally does.
func (db *DB) countCustomers(ctx context.Context, of shop.ID, f contract.CustomerFilter) (int, error) {
	key, err := countKey("customers", of, f)
	if err != nil {
		return 0, err
	}
	var version int64
	if err := db.version(of, f.Line).Scan(ctx, &version); err != nil {
		return 0, fmt.Errorf("count customers: %w", err)
	}
	if n, ok := db.counts.get(key, version); ok {
		return n, nil
	}
	each := facetsOf(db).customers(of, f)
	counting := db.in(of).NewSelect().TableExpr("(?) AS each", each).ColumnExpr("COUNT(*)")
	var exact standingRow
	if err := db.in(of).NewSelect().ColumnExpr("(?) AS hits, (?) AS version", counting, db.version(of, f.Line)).Scan(ctx, &exact); err != nil {
		return 0, fmt.Errorf("count customers: %w", err)
	}
	db.counts.put(key, exact.Version, int(exact.Hits), maxCounts)
	return int(exact.Hits), nil
}

// summaries returns what the contracts of customers come to, in the order of the
// customers.
func (db *DB) summaries(ctx context.Context, of shop.ID, line shop.Line, ids []int64) ([]contract.CustomerSummary, error) {
	list := make([]contract.CustomerSummary, 0, len(ids))
	if len(ids) == 0 {
		return list, nil
	}
	theirs := func(into any) *bun.SelectQuery {
		return db.in(of).NewSelect().Model(into).Where("c.shop_id = ?", of).Where("c.line = ?", line).Where("c.customer_id IN (?)", bun.List(ids))
	}
	var sums []summaryRow
	err := theirs((*contractRow)(nil)).ColumnExpr("c.customer_id").ColumnExpr(activeOf.in("c")+" AS active", contract.Active).
		ColumnExpr(inactiveOf.in("c")+" AS inactive", contract.Active).ColumnExpr(nextOrderOf.in("c")+" AS next_order", contract.Active).
		ColumnExpr(lifetimeOf.in("c")+" AS lifetime, MIN(c.currency) AS currency, COUNT(DISTINCT c.currency) AS currencies").Group("c.customer_id").Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("sum up %d customers: %w", len(ids), err)
	}
	var named []contractRow
	if err := theirs(&named).Column("customer_id", "customer_name", "customer_email").Order("c.created_at", "c.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the names of %d customers: %w", len(ids), err)
	}
	who := make(map[int64]contractRow, len(ids))
	for _, r := range named { // the newest contract comes last
		who[r.CustomerID] = r
	}
	byID := make(map[int64]summaryRow, len(ids))
	for _, r := range sums {
		byID[r.CustomerID] = r
	}
	for _, id := range ids {
		r, known := byID[id]
		if !known { // gone since the page was read
			continue
		}
		list = append(list, contract.CustomerSummary{
			ID: id, Name: who[id].CustomerName, Email: who[id].CustomerEmail, Active: int(r.Active), Inactive: int(r.Inactive),
			NextOrder: instant(r.NextOrder), Lifetime: money.Amount{Minor: r.Lifetime, Currency: money.Currency(r.Currency)}, Mixed: r.Currencies > 1,
		})
	}
	return list, nil
}
