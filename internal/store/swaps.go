package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

var (
	_ swap.Tx   = (*Tx)(nil)
	_ swap.Book = (*DB)(nil)
)

// Swaps returns the store of the swap feature.
func (db *DB) Swaps() swap.Store {
	return readScope(db, func(tx *Tx) swap.Tx { return tx }, func(tx *Tx) swap.ReadTx { return tx })
}

// swapRow is a row of swap_rules.
type swapRow struct {
	bun.BaseModel `bun:"table:swap_rules,alias:w"`

	ShopID        int64 `bun:"shop_id,pk"`
	ID            int64 `bun:"id,pk"`
	Line          string
	Name          string
	Sources       string // JSON
	Destinations  string // JSON
	FirstOrder    bool
	EveryOrder    bool
	Cycle         int64
	Sequence      int64
	CarryDiscount bool
	Discount      string
	Shifts        bool
	ShiftDays     int64
	NoEmail       bool
	SwitchedOff   bool
	CreatedAt     int64
	UpdatedAt     int64
	Version       int64
	Variants      string // JSON
}

func (r *swapRow) Columns(m *mapping, rule *swap.Rule) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &rule.ID)
	mapText(m, &r.Line, &rule.Line)
	mapText(m, &r.Name, &rule.Name)
	mapJSON(m, "sources", &r.Sources, &rule.Sources)
	mapJSON(m, "destinations", &r.Destinations, &rule.Destinations)
	mapSame(m, &r.FirstOrder, &rule.FirstOrder)
	mapSame(m, &r.EveryOrder, &rule.EveryOrder)
	mapInt(m, &r.Cycle, &rule.Cycle)
	mapInt(m, &r.Sequence, &rule.Sequence)
	mapSame(m, &r.CarryDiscount, &rule.CarryDiscount)
	mapText(m, &r.Discount, &rule.Discount)
	mapSame(m, &r.NoEmail, &rule.NoEmail)
	mapSame(m, &r.SwitchedOff, &rule.Off)
	mapTime(m, &r.CreatedAt, &rule.CreatedAt)
	mapTime(m, &r.UpdatedAt, &rule.UpdatedAt)
	mapSame(m, &r.Version, &rule.Version)
	mapJSON(m, "variants", &r.Variants, &rule.Variants)
	if m.toRow {
		r.Shifts = rule.ShiftDays != nil
	} else if r.Shifts {
		rule.ShiftDays = new(int)
	}
	if r.Shifts {
		mapInt(m, &r.ShiftDays, rule.ShiftDays)
	}
	m.within(r.ID)
}

func noRule(id swap.ID) error {
	return fault.New(fault.NotFound, "swap rule %d does not exist", id).Entity("productSwap").Code("productSwapNotFound")
}

// SwapRules returns all rules of the shop, unlocked.
func (tx *Tx) SwapRules(ctx context.Context) ([]swap.Rule, error) {
	var rows []swapRow
	if err := tx.q.NewSelect().Model(&rows).Where("w.shop_id = ?", tx.of).Order("w.sequence", "w.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the swap rules: %w", err)
	}
	return readRows[swap.Rule](rows)
}

// SwapRule returns a rule of the line, locked, or NotFound.
func (tx *Tx) SwapRule(ctx context.Context, line shop.Line, id swap.ID) (swap.Rule, error) {
	var rows []swapRow
	q := tx.q.NewSelect().Model(&rows).Where("w.shop_id = ?", tx.of).Where("w.line = ?", line).Where("w.id = ?", id)
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return swap.Rule{}, fmt.Errorf("read swap rule %d: %w", id, err)
	}
	if len(rows) == 0 {
		return swap.Rule{}, noRule(id)
	}
	return readRow[swap.Rule](rows[0])
}

// PutSwapRule inserts a rule whose ID is 0, giving it one, and writes others if
// their Version is still what was read. It raises the version.
func (tx *Tx) PutSwapRule(ctx context.Context, r *swap.Rule) error {
	if err := putOne[swapRow](ctx, tx, r, func(r *swap.Rule) (*swap.ID, *int64) { return &r.ID, &r.Version }, "productSwap", "The swap rule"); err != nil {
		return err
	}
	return tx.reprice(ctx)
}

// KeepSold stores of the rules what the shop sells of the products that they name. A rule that has
// it already, or has changed since it was read, is not written. The version stays, as the rule
// is what it was.
func (tx *Tx) KeepSold(ctx context.Context, rules []swap.Rule, sold map[int64]platform.Variant) error {
	changed := false
	for _, r := range rules {
		now := make(map[int64]platform.Variant)
		for _, id := range swap.Variants([]swap.Rule{r}) {
			if v, is := sold[id]; is {
				now[id] = v
			}
		}
		if maps.Equal(now, r.Variants) {
			continue
		}
		changed = true
		text, err := jsonText(now)
		if err != nil {
			return err
		}
		_, err = tx.q.NewUpdate().Model((*swapRow)(nil)).Set("variants = ?", text).Where("w.shop_id = ?", tx.of).Where("w.id = ?", r.ID).
			Where("w.version = ?", r.Version).Exec(ctx)
		if err != nil {
			return fmt.Errorf("keep the products of swap rule %d: %w", r.ID, err)
		}
	}
	if !changed {
		return nil
	}
	return tx.reprice(ctx)
}

// DeleteSwapRule removes a rule and what is noted of its use.
func (tx *Tx) DeleteSwapRule(ctx context.Context, id swap.ID) error {
	if _, err := tx.q.NewDelete().Model((*swapUseRow)(nil)).Where("u.shop_id = ?", tx.of).Where("u.rule_id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("remove the uses of swap rule %d: %w", id, err)
	}
	if _, err := tx.q.NewDelete().Model((*swapNoticeRow)(nil)).Where("n.shop_id = ?", tx.of).Where("n.rule_id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("remove the notices of swap rule %d: %w", id, err)
	}
	if _, err := tx.q.NewDelete().Model((*swapRow)(nil)).Where("w.shop_id = ?", tx.of).Where("w.id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("remove swap rule %d: %w", id, err)
	}
	return tx.reprice(ctx)
}

// swapNoticeRow is a row of swap_notices.
type swapNoticeRow struct {
	bun.BaseModel `bun:"table:swap_notices,alias:n"`

	ShopID     int64 `bun:"shop_id,pk"`
	ContractID int64 `bun:"contract_id,pk"`
	RuleID     int64 `bun:"rule_id,pk"`
	VariantID  int64 `bun:"variant_id,pk"`
	Price      int64 `bun:"price,pk"`
	Currency   string
	FromAt     int64
	Kept       int64  // -1: the rule does not last
	Pricing    string // JSON
}

// SwapNotices returns the notices of higher prices, by contract, without locking.
func (tx *Tx) SwapNotices(ctx context.Context, contracts []contract.ID) (map[contract.ID][]swap.Notice, error) {
	notices := make(map[contract.ID][]swap.Notice)
	if len(contracts) == 0 {
		return notices, nil
	}
	var rows []swapNoticeRow
	err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", tx.of).Where("n.contract_id IN (?)", bun.List(contracts)).
		Order("n.contract_id", "n.rule_id", "n.variant_id", "n.from_at").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the notices of %d contracts: %w", len(contracts), err)
	}
	for _, r := range rows {
		currency := money.Currency(r.Currency)
		n := swap.Notice{Rule: swap.ID(r.RuleID), Variant: r.VariantID, Price: money.Amount{Minor: r.Price, Currency: currency}, From: instant(r.FromAt)}
		if r.Kept >= 0 {
			n.Kept = money.Amount{Minor: r.Kept, Currency: currency}
		}
		prices, err := parsePricing(r.Pricing, currency)
		if err != nil {
			return nil, fmt.Errorf("read a notice of contract %d: %w", r.ContractID, err)
		}
		if of, has := prices[""]; has {
			n.Pricing = &of
		}
		notices[contract.ID(r.ContractID)] = append(notices[contract.ID(r.ContractID)], n)
	}
	return notices, nil
}

// AddSwapNotices records notices. Of two of the same price the earlier one counts, and one of a rule that was
// removed meanwhile is left out.
func (tx *Tx) AddSwapNotices(ctx context.Context, list []billing.Notice) error {
	var rules []swap.ID
	if err := tx.q.NewSelect().Model((*swapRow)(nil)).Column("id").Where("w.shop_id = ?", tx.of).Scan(ctx, &rules); err != nil {
		return fmt.Errorf("read which swap rules there are: %w", err)
	}
	var rows []swapNoticeRow
	for _, n := range list {
		if !slices.Contains(rules, n.Rule) {
			continue
		}
		row := swapNoticeRow{
			ShopID: int64(tx.of), ContractID: int64(n.Contract), RuleID: int64(n.Rule), VariantID: n.Variant, Price: n.Price.Minor, Currency: string(n.Price.Currency),
			FromAt: millis(n.From), Kept: -1,
		}
		if n.Kept.Currency != "" {
			row.Kept = n.Kept.Minor
		}
		if n.Pricing != nil {
			var err error
			if row.Pricing, err = pricingText(map[string]contract.Pricing{"": *n.Pricing}); err != nil {
				return err
			}
		}
		rows = append(rows, row)
	}
	added, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, contract_id, rule_id, variant_id, price) DO NOTHING")
	if err != nil || added == int64(len(rows)) {
		return err
	}
	for _, r := range rows {
		_, err := tx.q.NewUpdate().Model(&r).Column("from_at").WherePK().Where("from_at > ?", r.FromAt).Exec(ctx)
		if err != nil {
			return fmt.Errorf("let a notice of contract %d count earlier: %w", r.ContractID, err)
		}
	}
	return nil
}

// swapUseRow is a row of swap_uses.
type swapUseRow struct {
	bun.BaseModel `bun:"table:swap_uses,alias:u"`

	ShopID     int64 `bun:"shop_id,pk"`
	ContractID int64 `bun:"contract_id,pk"`
	RuleID     int64 `bun:"rule_id,pk"`
}

// SwapUses says, without locking, which rules that act once for a contract have
// acted.
func (tx *Tx) SwapUses(ctx context.Context, contracts []contract.ID) (map[contract.ID]map[swap.ID]bool, error) {
	uses := make(map[contract.ID]map[swap.ID]bool)
	if len(contracts) == 0 {
		return uses, nil
	}
	var rows []swapUseRow
	err := tx.q.NewSelect().Model(&rows).Where("u.shop_id = ?", tx.of).Where("u.contract_id IN (?)", bun.List(contracts)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the uses of swap rules: %w", err)
	}
	for _, r := range rows {
		of := contract.ID(r.ContractID)
		if uses[of] == nil {
			uses[of] = make(map[swap.ID]bool)
		}
		uses[of][swap.ID(r.RuleID)] = true
	}
	return uses, nil
}

// AddSwapUses notes that rules have acted. Those that are noted already stay, and
// a rule that was removed meanwhile needs no note.
func (tx *Tx) AddSwapUses(ctx context.Context, uses []billing.SwapUse) error {
	var rows []swapUseRow
	for _, u := range uses {
		left, err := tx.q.NewSelect().Model((*swapRow)(nil)).Where("w.shop_id = ?", tx.of).Where("w.id = ?", u.Rule).Exists(ctx)
		if err != nil {
			return fmt.Errorf("read swap rule %d: %w", u.Rule, err)
		}
		if left {
			rows = append(rows, swapUseRow{ShopID: int64(tx.of), ContractID: int64(u.Contract), RuleID: int64(u.Rule)})
		}
	}
	_, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, contract_id, rule_id) DO NOTHING")
	return err
}

// swapFields are the fields by which the list of rules can be sorted; they are
// those of swap.SortFields.
var swapFields = map[string]field{
	"id": {"id", whole}, "name": {"name", text}, "ruleSequence": {"sequence", whole}, "forBillingCycle": {"cycle", whole},
}

// SwapRuleOf returns a rule of the line, or NotFound.
func (db *DB) SwapRuleOf(ctx context.Context, of shop.ID, line shop.Line, id swap.ID) (swap.Rule, error) {
	var rows []swapRow
	err := db.in(of).NewSelect().Model(&rows).Where("w.shop_id = ?", of).Where("w.line = ?", line).Where("w.id = ?", id).Scan(ctx)
	if err != nil {
		return swap.Rule{}, fmt.Errorf("read swap rule %d: %w", id, err)
	}
	if len(rows) == 0 {
		return swap.Rule{}, noRule(id)
	}
	return readRow[swap.Rule](rows[0])
}

// SwapRulesOf returns a page of the line's rules and how many there are.
func (db *DB) SwapRulesOf(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]swap.Rule, int, error) {
	var rows []swapRow
	q := db.in(of).NewSelect().Model(&rows).Where("w.shop_id = ?", of).Where("w.line = ?", line)
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "ruleSequence"}, {Field: "id"}}
	}
	total, err := fetch(ctx, q, swapFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("list the swap rules: %w", err)
	}
	list, err := readRows[swap.Rule](rows)
	return list, total, err
}

// mostHolders is how many contracts with a variant are counted, and looked at for those that are
// ACTIVE.
const mostHolders = 10_000

// CountHolders returns how many contracts of the line have a variant among their lines, of any
// status, and false when there are more than that.
func (db *DB) CountHolders(ctx context.Context, of shop.ID, line shop.Line, variant int64) (n int, all bool, err error) {
	found := db.in(of).NewSelect().Distinct().TableExpr("contract_lines AS l").ColumnExpr("l.contract_id").Where("l.shop_id = ?", of).Where("l.variant_id = ?", variant).
		Where("l.line = ?", line).Limit(mostHolders + 1)
	count, err := db.in(of).NewSelect().TableExpr("(?) AS f", found).Count(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("count the contracts with variant %d: %w", variant, err)
	}
	return int(min(count, mostHolders)), count <= mostHolders, nil
}

// Holders returns at most limit ACTIVE contracts of the line that have a variant among their
// lines, by id, after one.
func (db *DB) Holders(ctx context.Context, of shop.ID, line shop.Line, variant int64, after contract.ID, limit int) ([]contract.Contract, error) {
	found := db.in(of).NewSelect().TableExpr("contract_lines AS l").ColumnExpr("l.contract_id").Where("l.shop_id = ?", of).Where("l.variant_id = ?", variant).
		Where("l.line = ?", line).Where("l.contract_id > ?", after).OrderExpr("l.contract_id").Limit(mostHolders)
	var rows []contractRow
	err := db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.id IN (?)", found).Where("c.status = ?", contract.Active).
		Order("c.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the contracts with variant %d: %w", variant, err)
	}
	return readRows[contract.Contract](rows)
}
