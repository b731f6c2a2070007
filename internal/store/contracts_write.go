package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// PutProgress writes what billing owns of contracts, if their versions are still
// what was read.
func (tx *Tx) PutProgress(ctx context.Context, contracts []contract.Contract) error {
	rows := make([]contractRow, len(contracts))
	m := mapping{toRow: true, of: tx.of}
	for i := range contracts {
		rows[i].progress(&m, &contracts[i])
		if m.err != nil {
			return fmt.Errorf("write contract %d: %w", contracts[i].ID, m.err)
		}
	}
	n, err := update(ctx, tx, rows, progress...)
	if err == nil && int(n) != len(rows) {
		err = contractChanged()
	}
	if err != nil {
		return err
	}
	for i := range contracts {
		contracts[i].Version++
	}
	tx.prices.wrote(contracts)
	tx.published.contracts = append(tx.published.contracts, contracts...)
	return nil
}

func contractChanged() error { return changed("subscriptionContract", "The subscription contract") }

// PutContracts inserts contracts whose Version is 0 and replaces the others if
// their versions are still what was read, with all by which they are found.
func (tx *Tx) PutContracts(ctx context.Context, contracts []contract.Contract) error {
	var added, kept []contractRow
	var rewritten []contract.ID
	for _, c := range contracts {
		row, err := rowOf[contractRow](tx.of, c)
		if err != nil {
			return fmt.Errorf("write contract %d: %w", c.ID, err)
		}
		if c.Version == 0 {
			row.Version = 1
			added = append(added, row)
		} else {
			kept = append(kept, row)
			rewritten = append(rewritten, c.ID)
		}
	}
	if _, err := insert(ctx, tx, added, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "The subscription contract has changed").Entity("subscriptionContract").Code("changedMeanwhile")
		}
		return err
	}
	n, err := update(ctx, tx, kept)
	if err != nil {
		return err
	}
	if int(n) != len(kept) {
		return contractChanged()
	}
	touched := make(map[string]bool)
	if err := tx.putFacets(ctx, contracts, rewritten, touched); err != nil {
		return err
	}
	if err := tx.putLines(ctx, contracts, rewritten, touched); err != nil {
		return err
	}
	if err := tx.putTerms(ctx, contracts, rewritten); err != nil {
		return err
	}
	if err := tx.raiseVersions(ctx, touched); err != nil {
		return err
	}
	for i := range contracts {
		contracts[i].Version++
	}
	tx.prices.wrote(contracts)
	tx.published.contracts = append(tx.published.contracts, contracts...)
	return nil
}

// lineRow is a row of contract_lines: by what a contract is found.
type lineRow struct {
	bun.BaseModel `bun:"table:contract_lines,alias:l"`

	ShopID        int64 `bun:"shop_id,pk"`
	ContractID    int64 `bun:"contract_id,pk"`
	Position      int64 `bun:"position,pk"`
	ProductID     int64
	VariantID     int64
	SellingPlanID int64
	Line          string // of the contract
}

// putLines makes contract_lines follow the lines of contracts. Those of contracts
// that existed are compared first, for they seldom change; where they did, touched
// notes it.
func (tx *Tx) putLines(ctx context.Context, contracts []contract.Contract, rewritten []contract.ID, touched map[string]bool) error {
	had := make(map[int64][]lineRow)
	if len(rewritten) > 0 {
		var rows []lineRow
		err := tx.q.NewSelect().Model(&rows).Where("l.shop_id = ?", tx.of).Where("l.contract_id IN (?)", bun.List(rewritten)).
			Order("l.contract_id", "l.position").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the lines of %d contracts: %w", len(rewritten), err)
		}
		for _, r := range rows {
			had[r.ContractID] = append(had[r.ContractID], r)
		}
	}
	var gone []int64
	var added []lineRow
	for _, c := range contracts {
		want := make([]lineRow, len(c.Lines))
		for i, l := range c.Lines {
			want[i] = lineRow{
				ShopID: int64(tx.of), ContractID: int64(c.ID), Position: int64(i + 1),
				ProductID: l.ProductID, VariantID: l.VariantID, SellingPlanID: l.SellingPlanID, Line: string(c.Line),
			}
		}
		if old := had[int64(c.ID)]; !slices.Equal(old, want) {
			if len(old) > 0 {
				gone = append(gone, int64(c.ID))
			}
			added = append(added, want...)
			touched[string(c.Line)] = true
		}
	}
	if len(gone) > 0 {
		_, err := tx.q.NewDelete().Model((*lineRow)(nil)).Where("l.shop_id = ?", tx.of).Where("l.contract_id IN (?)", bun.List(gone)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("remove the lines of %d contracts: %w", len(gone), err)
		}
	}
	_, err := insert(ctx, tx, added, "")
	return err
}

// termRow is a row of search_terms: a text that finds a contract by any part of it.
type termRow struct {
	bun.BaseModel `bun:"table:search_terms,select:own_search_terms,alias:t"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	ContractID int64
	Kind       string
	Term       string
}

// What a term is.
const (
	termNumber   = "number"
	termCustomer = "customer"
	termOrder    = "order"
)

// maxTerm is how many characters of a text can be searched: an index entry has
// an upper limit.
const maxTerm = 500

func termOf(of shop.ID, c contract.ID, kind, text string) termRow {
	text = clean(fold(text))
	if utf8.RuneCountInString(text) > maxTerm {
		text = string([]rune(text)[:maxTerm])
	}
	return termRow{ShopID: int64(of), ContractID: int64(c), Kind: kind, Term: text}
}

// putTerms makes search_terms follow contracts. Names of orders are only added:
// a contract is found by all it ever had.
func (tx *Tx) putTerms(ctx context.Context, contracts []contract.Contract, rewritten []contract.ID) error {
	had := make(map[termRow]int64)
	if len(rewritten) > 0 {
		var rows []termRow
		err := tx.q.NewSelect().Model(&rows).Where("t.shop_id = ?", tx.of).Where("t.contract_id IN (?)", bun.List(rewritten)).
			Where("t.kind IN (?, ?)", termNumber, termCustomer).Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the search terms of %d contracts: %w", len(rewritten), err)
		}
		for _, r := range rows {
			id := r.ID
			r.ID = 0
			had[r] = id
		}
	}
	var added []termRow
	for _, c := range contracts {
		want := []termRow{
			termOf(tx.of, c.ID, termNumber, strconv.FormatInt(int64(c.ID), 10)),
			termOf(tx.of, c.ID, termOrder, c.OriginOrderName),
		}
		if tx.dialect().customerTerms {
			want = append(want, termOf(tx.of, c.ID, termCustomer, c.Customer.Name), termOf(tx.of, c.ID, termCustomer, c.Customer.Email))
		}
		for _, term := range want {
			if _, there := had[term]; there {
				delete(had, term)
			} else if term.Term != "" {
				added = append(added, term)
			}
		}
	}
	var gone []int64
	for _, id := range had {
		gone = append(gone, id)
	}
	if len(gone) > 0 {
		_, err := tx.q.NewDelete().Model((*termRow)(nil)).Where("t.shop_id = ?", tx.of).Where("t.id IN (?)", bun.List(gone)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("remove %d search terms: %w", len(gone), err)
		}
	}
	return tx.addTerms(ctx, added)
}

// addTerms inserts terms; those that are there already stay.
func (tx *Tx) addTerms(ctx context.Context, terms []termRow) error {
	if len(terms) == 0 {
		return nil
	}
	first, err := tx.db.ids.take(len(terms))
	if err != nil {
		return err
	}
	for i := range terms {
		terms[i].ID = first + int64(i)
	}
	_, err = insert(ctx, tx, terms, "ON CONFLICT DO NOTHING")
	return err
}

func (tx *Tx) dialect() dialect {
	d := tx.db.engine.dialect()
	d.locks = d.locks && !tx.readOnly
	return d
}
