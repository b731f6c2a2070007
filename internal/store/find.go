package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// FindContracts returns at most limit contracts of both lines of a shop that a text names: by
// number, by the name of an order, or by a part of the customer's name or address. Exact is
// whether the first one has the number, or is the only one with an order of that name; it is
// found by an index. Of parts, which have at least three characters, no more are read than
// limit of each kind.
func (db *DB) FindContracts(ctx context.Context, of shop.ID, words string, limit int) (list []contract.Contract, exact bool, err error) {
	words = clean(fold(words))
	number, _ := strconv.ParseInt(words, 10, 64) // anything else is the number of none
	whole, err := db.idsOf(ctx, db.in(of).NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", of).Where("c.id = ?", number))
	if err != nil {
		return nil, false, err
	}
	ordered, err := db.idsOf(ctx, db.ordersNamed(of, words, limit))
	if err != nil {
		return nil, false, err
	}
	if exact = len(whole) > 0 || len(ordered) == 1; !exact && len(ordered) == 0 {
		if ordered, err = db.idsOf(ctx, db.ordersNamed(of, "#"+words, limit)); err != nil {
			return nil, false, err
		}
		exact = len(ordered) == 1
	}
	ids := slices.Concat(whole, ordered)
	if utf8.RuneCountInString(words) >= shortPart {
		parts := []*bun.SelectQuery{db.contractsOfCustomers(of, words), db.termsWith(of, termOrder, words)}
		if number > 0 {
			parts = append(parts, db.termsWith(of, termNumber, words))
		}
		for _, q := range parts {
			found, err := db.idsOf(ctx, q.Limit(int64(limit)))
			if err != nil {
				return nil, false, err
			}
			ids = append(ids, found...)
		}
	}
	list, err = db.contractsInOrder(ctx, of, ids, limit)
	return list, exact, err
}

// ordersNamed selects the contracts with an order of exactly the name.
func (db *DB) ordersNamed(of shop.ID, name string, limit int) *bun.SelectQuery {
	return db.termsWith(of, termOrder, name).Where("t.term = ?", name).Distinct().Limit(int64(limit))
}

// contractsOfCustomers selects the contracts whose customer's name or address contains a text.
func (db *DB) contractsOfCustomers(of shop.ID, part string) *bun.SelectQuery {
	if db.customerTerm(part) {
		return db.termsWith(of, termCustomer, part)
	}
	return facetsOf(db).query(of).Column("id").Where("f.shop_id = ?", of).Where(`f.customer_folded LIKE ? ESCAPE '\'`, anywhere(part))
}

// idsOf reads the contracts that a query selects.
func (db *DB) idsOf(ctx context.Context, q *bun.SelectQuery) ([]contract.ID, error) {
	var ids []contract.ID
	if err := q.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("find contracts: %w", err)
	}
	return ids, nil
}

// contractsInOrder reads at most limit contracts, each once, in the order of the ids.
func (db *DB) contractsInOrder(ctx context.Context, of shop.ID, ids []contract.ID, limit int) ([]contract.Contract, error) {
	var once []contract.ID
	for _, id := range ids {
		if len(once) < limit && !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	list, err := db.readContracts(ctx, of, once)
	slices.SortFunc(list, func(a, b contract.Contract) int { return slices.Index(once, a.ID) - slices.Index(once, b.ID) })
	return list, err
}

// readContracts reads contracts, by id.
func (db *DB) readContracts(ctx context.Context, of shop.ID, ids []contract.ID) ([]contract.Contract, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []contractRow
	if err := db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.id IN (?)", bun.List(ids)).Order("c.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d contracts: %w", len(ids), err)
	}
	return readRows[contract.Contract](rows)
}

// MatchingRows returns at most limit contracts that pass the filter, by id, after one.
func (db *DB) MatchingRows(ctx context.Context, of shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.Contract, error) {
	ids, err := db.MatchingContracts(ctx, of, f, after, limit)
	if err != nil {
		return nil, err
	}
	return db.readContracts(ctx, of, ids)
}
