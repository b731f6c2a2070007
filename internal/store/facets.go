package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// facetRow is a row of contract_facets: by what a contract is found, save for
// what billing changes.
type facetRow struct {
	bun.BaseModel `bun:"table:contract_facets,select:own_contract_facets,alias:f"`

	ShopID           int64 `bun:"shop_id,pk"`
	ID               int64 `bun:"id,pk"` // of the contract
	Line             string
	Status           string
	DeliveryInterval string
	DeliveryCount    int64
	Prepaid          bool
	Imported         bool
	OrderAmount      int64
	CreatedAt        int64
	CustomerID       int64
	CustomerFolded   string // address, a line feed, name
}

// countRow is a row of contract_counts: how many contracts share the facets that
// have few values.
type countRow struct {
	bun.BaseModel `bun:"table:contract_counts,alias:n"`

	ShopID           int64  `bun:"shop_id,pk"`
	Line             string `bun:"line,pk"`
	Status           string `bun:"status,pk"`
	DeliveryInterval string `bun:"delivery_interval,pk"`
	DeliveryCount    int64  `bun:"delivery_count,pk"`
	Prepaid          bool   `bun:"prepaid,pk"`
	Imported         bool   `bun:"imported,pk"`
	N                int64
}

// customerCountRow is a row of customer_counts: how many contracts of a line have
// a customer's address and name.
type customerCountRow struct {
	bun.BaseModel `bun:"table:customer_counts,select:own_customer_counts,alias:n"`

	ShopID         int64  `bun:"shop_id,pk"`
	Line           string `bun:"line,pk"`
	CustomerFolded string `bun:"customer_folded,pk"`
	N              int64
}

// amountCountRow is a row of amount_counts: how many contracts of a line come to an
// amount.
type amountCountRow struct {
	bun.BaseModel `bun:"table:amount_counts,alias:n"`

	ShopID      int64  `bun:"shop_id,pk"`
	Line        string `bun:"line,pk"`
	OrderAmount int64  `bun:"order_amount,pk"`
	N           int64
}

// versionRow is a row of search_versions: it changes with every change of what
// the contracts of a line are found by.
type versionRow struct {
	bun.BaseModel `bun:"table:search_versions,alias:v"`

	ShopID  int64  `bun:"shop_id,pk"`
	Line    string `bun:"line,pk"`
	Version int64
}

func facetRowOf(of shop.ID, c contract.Contract) facetRow {
	return facetRow{
		ShopID: int64(of), ID: int64(c.ID), Line: string(c.Line), Status: string(c.Status),
		DeliveryInterval: c.Delivery.Interval.String(), DeliveryCount: int64(c.Delivery.Count), Prepaid: c.PrepaidByCount(), Imported: c.ImportedID != "",
		OrderAmount: c.Amount().Milli(), CreatedAt: millis(c.CreatedAt), CustomerID: c.Customer.ID,
		CustomerFolded: atMost(maxCustomerText, strings.ReplaceAll(clean(fold(c.Customer.Email)), "\n", " ")+"\n"+clean(fold(c.Customer.Name))),
	}
}

// maxCustomerText is how many bytes of a customer's address and name are searched:
// less than a key of PostgreSQL's indexes may have.
const maxCustomerText = 2000

// atMost returns the beginning of a text that has at most n bytes.
func atMost(n int, text string) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// group returns the row of contract_counts that counts the contract.
func (r facetRow) group() countRow {
	return countRow{
		ShopID: r.ShopID, Line: r.Line, Status: r.Status, DeliveryInterval: r.DeliveryInterval, DeliveryCount: r.DeliveryCount, Prepaid: r.Prepaid, Imported: r.Imported,
	}
}

// putFacets makes contract_facets and the counts follow contracts that were
// written, and notes their lines in touched where something changed. The rows of
// the contracts are locked by now, and with them their facets.
func (tx *Tx) putFacets(ctx context.Context, contracts []contract.Contract, rewritten []contract.ID, touched map[string]bool) error {
	had := make(map[int64]facetRow)
	if len(rewritten) > 0 {
		var rows []facetRow
		err := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", tx.of).Where("f.id IN (?)", bun.List(rewritten)).Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the facets of %d contracts: %w", len(rewritten), err)
		}
		for _, r := range rows {
			had[r.ID] = r
		}
	}
	var changed []facetRow
	more := newCounts()
	for _, c := range contracts {
		want := facetRowOf(tx.of, c)
		old, there := had[want.ID]
		if there && old == want {
			continue
		}
		if there {
			more.add(old, -1)
			touched[old.Line] = true
		}
		more.add(want, 1)
		touched[want.Line] = true
		changed = append(changed, want)
	}
	_, err := insert(ctx, tx, changed, `ON CONFLICT (shop_id, id) DO UPDATE SET line = excluded.line, status = excluded.status,
		delivery_interval = excluded.delivery_interval, delivery_count = excluded.delivery_count, prepaid = excluded.prepaid, imported = excluded.imported,
		order_amount = excluded.order_amount, created_at = excluded.created_at, customer_id = excluded.customer_id,
		customer_folded = excluded.customer_folded`)
	if err != nil {
		return err
	}
	return tx.addCounts(ctx, more)
}

// counts is by how much the numbers of contracts that share something change.
type counts struct {
	groups    map[countRow]int64
	customers map[customerCountRow]int64
	amounts   map[amountCountRow]int64
}

func newCounts() counts {
	return counts{make(map[countRow]int64), make(map[customerCountRow]int64), make(map[amountCountRow]int64)}
}

func (c counts) add(r facetRow, n int64) {
	c.groups[r.group()] += n
	c.customers[customerCountRow{ShopID: r.ShopID, Line: r.Line, CustomerFolded: r.CustomerFolded}] += n
	c.amounts[amountCountRow{ShopID: r.ShopID, Line: r.Line, OrderAmount: r.OrderAmount}] += n
}

// addCounts changes counts. Rows are written in one order by everybody, so that
// two transactions do not wait for each other.
func (tx *Tx) addCounts(ctx context.Context, more counts) error {
	groups, _ := changedCounts(more.groups, func(r *countRow, n int64) { r.N = n }, func(a, b countRow) int {
		number := func(yes bool) int {
			if yes {
				return 1
			}
			return 0
		}
		return cmp.Or(
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Status, b.Status), cmp.Compare(a.DeliveryInterval, b.DeliveryInterval),
			cmp.Compare(a.DeliveryCount, b.DeliveryCount), number(a.Prepaid)-number(b.Prepaid), number(a.Imported)-number(b.Imported),
		)
	})
	_, err := insert(ctx, tx, groups, `ON CONFLICT (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported)
		DO UPDATE SET n = contract_counts.n + excluded.n`)
	if err != nil {
		return err
	}
	customers, fewer := changedCounts(more.customers, func(r *customerCountRow, n int64) { r.N = n }, func(a, b customerCountRow) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.CustomerFolded, b.CustomerFolded))
	})
	if err := addValues(ctx, tx, customers, "customer_folded", fewer); err != nil {
		return err
	}
	amounts, fewer := changedCounts(more.amounts, func(r *amountCountRow, n int64) { r.N = n }, func(a, b amountCountRow) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.OrderAmount, b.OrderAmount))
	})
	return addValues(ctx, tx, amounts, "order_amount", fewer)
}

// changedCounts returns the rows whose numbers change, in order, and whether a number
// falls.
func changedCounts[R comparable](more map[R]int64, set func(*R, int64), order func(a, b R) int) (rows []R, fewer bool) {
	for row, n := range more {
		if n != 0 {
			set(&row, n)
			rows = append(rows, row)
			fewer = fewer || n < 0
		}
	}
	slices.SortFunc(rows, order)
	return rows, fewer
}

// addValues changes the counts of contracts that share a value. A value that no contract
// has any more is deleted: it may be the name of a customer who was erased.
func addValues[R any](ctx context.Context, tx *Tx, rows []R, value string, fewer bool) error {
	table, _ := tableOf[R](tx)
	if _, err := insert(ctx, tx, rows, fmt.Sprintf("ON CONFLICT (shop_id, line, %s) DO UPDATE SET n = %s.n + excluded.n", value, table)); err != nil {
		return err
	}
	if !fewer {
		return nil
	}
	if _, err := tx.q.NewDelete().Model((*R)(nil)).Where("n.shop_id = ?", tx.of).Where("n.n = 0").Exec(ctx); err != nil {
		return fmt.Errorf("forget what no contract has in %s: %w", table, err)
	}
	return nil
}

// raiseVersions says that what the contracts of some lines are found by has
// changed. Who else changes that waits from here on until the transaction ends,
// so that a version stands for one state of the contracts.
func (tx *Tx) raiseVersions(ctx context.Context, touched map[string]bool) error {
	rows := make([]versionRow, 0, len(touched))
	for _, line := range slices.Sorted(maps.Keys(touched)) {
		rows = append(rows, versionRow{ShopID: int64(tx.of), Line: line, Version: 1})
	}
	_, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, line) DO UPDATE SET version = search_versions.version + 1")
	return err
}
