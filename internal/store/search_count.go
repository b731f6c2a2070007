package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// tally is how many contracts a search finds.
type tally struct {
	hits int
	all  int // contracts of the line
}

// stepCost is how much dearer it is to look at a contract on a walk than to
// collect a hit: on a walk every condition is tried, some by a look elsewhere.
const stepCost = 4

// few reports whether it is less work to collect all hits than to walk through
// the line's contracts until a page of them is full: a walk passes all/hits
// contracts for each hit.
func (t tally) few(p page.Request) bool {
	return float64(t.hits)*float64(t.hits) <= stepCost*float64(p.Offset()+p.Size)*float64(t.all)
}

// standingRow is what is known without counting.
type standingRow struct {
	Hits    int64 // by the facets that have few values
	Total   int64
	Version int64
}

// tally returns how many contracts pass a filter, exactly.
//
// What has few values was counted when it was written. The rest is counted now,
// and the number remembered for as long as nothing changes that the filter asks
// for.
func (db *DB) tally(ctx context.Context, of shop.ID, f contract.Filter) (tally, error) {
	var known standingRow
	counted := facetsOf(db)
	counted.alias, counted.prepaid, counted.imported = "n", "n.prepaid", "n.imported"
	passing := counted.byFacets(db.summing((*countRow)(nil), of, f.Line), fewValues(f))
	all := db.summing((*countRow)(nil), of, f.Line)
	err := db.in(of).NewSelect().ColumnExpr("CAST((?) AS bigint) AS hits, CAST((?) AS bigint) AS total, (?) AS version", passing, all, db.version(of, f.Line)).Scan(ctx, &known)
	if err != nil {
		return tally{}, err
	}
	n := tally{hits: int(known.Hits), all: int(known.Total)}
	if n.hits == 0 || fewValues(f) == f {
		return n, nil
	}
	key, err := countKey("contracts", of, f)
	if err != nil {
		return tally{}, err
	}
	if hits, ok := db.counts.get(key, known.Version); ok && steady(f) {
		n.hits = hits
		return n, nil
	}
	var exact standingRow
	if err := db.in(of).NewSelect().ColumnExpr("(?) AS hits, (?) AS version", db.counting(of, f), db.version(of, f.Line)).Scan(ctx, &exact); err != nil {
		return tally{}, err
	}
	n.hits = int(exact.Hits)
	if steady(f) {
		db.counts.put(key, exact.Version, n.hits, maxCounts)
	}
	return n, nil
}

// version selects the present version of what a line's contracts are found by.
func (db *DB) version(of shop.ID, line shop.Line) *bun.SelectQuery {
	return db.in(of).NewSelect().Model((*versionRow)(nil)).ColumnExpr("COALESCE(MAX(v.version), 0)").Where("v.shop_id = ?", of).Where("v.line = ?", line)
}

// fewValues returns the part of a filter that contract_counts can answer.
func fewValues(f contract.Filter) contract.Filter {
	return contract.Filter{
		Line: f.Line, Status: f.Status, DeliveryInterval: f.DeliveryInterval, DeliveryCount: f.DeliveryCount, Prepaid: f.Prepaid, Imported: f.Imported,
	}
}

// steady reports whether the number of hits changes only with the version: it
// does not when billing changes what is asked for.
func steady(f contract.Filter) bool { return !dated(f) && f.OrderPart == "" }

// counting selects the number of contracts that pass a filter.
func (db *DB) counting(of shop.ID, f contract.Filter) *bun.SelectQuery {
	if l := lineConditions(f); len(l) == 1 && onlyLines(f) { // one index knows it all
		return db.linesWith(of, f.Line, l[0]).ColumnExpr("COUNT(DISTINCT l.contract_id)")
	}
	if onlyAmounts(f) {
		return byAmount(db.summing((*amountCountRow)(nil), of, f.Line), "n", f)
	}
	if part := clean(fold(f.CustomerPart)); onlyCustomers(f) && !db.customerTerm(part) {
		return db.summing((*customerCountRow)(nil), of, f.Line).Where(`n.customer_folded LIKE ? ESCAPE '\'`, anywhere(part))
	}
	from := facetsOf(db)
	if dated(f) {
		from = contractsOfShop(db)
	}
	from.walked = narrow(f)
	return from.where(from.query(of).ColumnExpr("COUNT(*)"), of, f)
}

// summing selects the number of a line's contracts by rows of a table of counts.
func (db *DB) summing(model any, of shop.ID, line shop.Line) *bun.SelectQuery {
	return db.in(of).NewSelect().Model(model).ColumnExpr("COALESCE(SUM(n.n), 0)").Where("n.shop_id = ?", of).Where("n.line = ?", line)
}

// onlyLines reports whether a filter asks for nothing but lines.
func onlyLines(f contract.Filter) bool {
	f.ProductID, f.VariantID, f.SellingPlanID = 0, 0, 0
	return f == contract.Filter{Line: f.Line}
}

// onlyAmounts reports whether a filter asks for nothing but amounts.
func onlyAmounts(f contract.Filter) bool {
	f.MinAmount, f.MaxAmount = nil, nil
	return f == contract.Filter{Line: f.Line}
}

// onlyCustomers reports whether a filter asks for nothing but a part of a customer's
// address or name.
func onlyCustomers(f contract.Filter) bool {
	f.CustomerPart = ""
	return f == contract.Filter{Line: f.Line}
}

// countKey names a filter of something of a shop.
func countKey(what string, of shop.ID, filter any) (string, error) {
	text, err := json.Marshal(filter)
	return fmt.Sprintf("%s %d %s", what, of, text), err
}

// maxCounts is how many counts are remembered.
const maxCounts = 10_000
