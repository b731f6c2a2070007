package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var (
	_ plan.Tx   = (*Tx)(nil)
	_ plan.Book = (*DB)(nil)
)

// Plans returns the store of the plan feature.
func (db *DB) Plans() plan.Store {
	return readScope(db, func(tx *Tx) plan.Tx { return tx }, func(tx *Tx) plan.ReadTx { return tx })
}

// planGroupRow is a row of plan_groups.
type planGroupRow struct {
	bun.BaseModel `bun:"table:plan_groups,alias:g"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	PlatformID int64
	Line       string
	Name       string
	Terms      string // JSON
	State      string
	Pending    string // JSON; empty: nothing
	DueAt      int64  `bun:",nullzero"`
	CreatedAt  int64
	UpdatedAt  int64
	Version    int64
}

// planOptionRow is a row of plan_options.
type planOptionRow struct {
	bun.BaseModel `bun:"table:plan_options,alias:o"`

	ShopID   int64 `bun:"shop_id,pk"`
	ID       int64 `bun:"id,pk"`
	GroupID  int64
	Position int64
	Terms    string // JSON
}

// planItemRow is a row of plan_items.
type planItemRow struct {
	bun.BaseModel `bun:"table:plan_items,alias:i"`

	ShopID  int64  `bun:"shop_id,pk"`
	GroupID int64  `bun:"group_id,pk"`
	Kind    string `bun:"kind,pk"`
	ItemID  int64  `bun:"item_id,pk"`
	Title   string
}

// Kinds of items.
const (
	productItem = "PRODUCT"
	variantItem = "VARIANT"
)

func (r *planGroupRow) Columns(m *mapping, g *plan.Group) {
	mapJSON(m, "terms", &r.Terms, &g.Terms)
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &g.ID)
	mapSame(m, &r.PlatformID, &g.PlatformID)
	mapText(m, &r.Line, &g.Line)
	if m.toRow {
		r.Name = clean(g.Name) // groups are found and sorted by it
	}
	mapText(m, &r.State, &g.State)
	mapJSON(m, "pending", &r.Pending, &g.Pending)
	mapTime(m, &r.DueAt, &g.DueAt)
	mapTime(m, &r.CreatedAt, &g.CreatedAt)
	mapTime(m, &r.UpdatedAt, &g.UpdatedAt)
	mapSame(m, &r.Version, &g.Version)
	m.within(r.ID)
}

func (r *planOptionRow) Columns(m *mapping, o *plan.Option) {
	mapJSON(m, "terms", &r.Terms, o)
	m.shop(&r.ShopID)
	mapSame(m, &r.ID, &o.ID)
	m.within(r.ID)
}

// PlanGroup returns a group of any state with all that belongs to it, locked, or
// NotFound.
func (tx *Tx) PlanGroup(ctx context.Context, id plan.ID) (plan.Group, error) {
	var row planGroupRow
	q := tx.q.NewSelect().Model(&row).Where("g.shop_id = ?", tx.of).Where("g.id = ?", id)
	switch err := tx.dialect().forUpdate(q).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return plan.Group{}, plan.NotFound(id)
	case err != nil:
		return plan.Group{}, fmt.Errorf("read plan group %d: %w", id, err)
	}
	list, err := planGroupsOf(ctx, tx.q, tx.of, []planGroupRow{row}, true)
	if err != nil {
		return plan.Group{}, err
	}
	return list[0], nil
}

// planGroupsOf reads what belongs to groups.
func planGroupsOf(ctx context.Context, db bun.IDB, of shop.ID, rows []planGroupRow, items bool) ([]plan.Group, error) {
	list := make([]plan.Group, len(rows))
	at := map[int64]int{}
	ids := make([]int64, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = readRow[plan.Group](r); err != nil {
			return nil, err
		}
		at[r.ID], ids[i] = i, r.ID
	}
	if len(ids) == 0 {
		return list, nil
	}
	var options []planOptionRow
	err := db.NewSelect().Model(&options).Where("o.shop_id = ?", of).Where("o.group_id IN (?)", bun.List(ids)).Order("o.group_id", "o.position").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the options of %d plan groups: %w", len(ids), err)
	}
	for _, r := range options {
		o, err := readRow[plan.Option](r)
		if err != nil {
			return nil, err
		}
		g := &list[at[r.GroupID]]
		g.Options = append(g.Options, o)
	}
	if !items {
		return list, nil
	}
	var sold []planItemRow
	err = db.NewSelect().Model(&sold).Where("i.shop_id = ?", of).Where("i.group_id IN (?)", bun.List(ids)).Order("i.group_id", "i.kind", "i.item_id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is sold on %d plan groups: %w", len(ids), err)
	}
	for _, r := range sold {
		g, item := &list[at[r.GroupID]], platform.Titled{ID: r.ItemID, Title: r.Title}
		if r.Kind == productItem {
			g.Products = append(g.Products, item)
		} else {
			g.Variants = append(g.Variants, item)
		}
	}
	return list, nil
}

// PlanGroups returns, by selling plan, the groups to which selling plans belong,
// without their products and variants and without a lock. Plans that belong to
// none are left out.
func (tx *Tx) PlanGroups(ctx context.Context, sellingPlans []int64) (map[int64]plan.Group, error) {
	found := map[int64]plan.Group{}
	if len(sellingPlans) == 0 {
		return found, nil
	}
	var rows []planGroupRow
	of := tx.q.NewSelect().Model((*planOptionRow)(nil)).Column("o.group_id").Where("o.shop_id = ?", tx.of).Where("o.id IN (?)", bun.List(sellingPlans))
	if err := tx.q.NewSelect().Model(&rows).Where("g.shop_id = ?", tx.of).Where("g.id IN (?)", of).Order("g.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the groups of %d selling plans: %w", len(sellingPlans), err)
	}
	groups, err := planGroupsOf(ctx, tx.q, tx.of, rows, false)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		for _, o := range g.Options {
			if slices.Contains(sellingPlans, o.ID) {
				found[o.ID] = g
			}
		}
	}
	return found, nil
}

// PlansFor returns, by selling plan, the options that are selling plans, each with those of the
// variants that it sells, without a lock.
func (tx *Tx) PlansFor(ctx context.Context, sellingPlans []int64, variants map[int64]platform.Variant) (map[int64]order.Plan, error) {
	plans := make(map[int64]order.Plan, len(sellingPlans))
	if len(sellingPlans) == 0 || len(variants) == 0 {
		return plans, nil
	}
	var options []planOptionRow
	err := tx.q.NewSelect().Model(&options).Where("o.shop_id = ?", tx.of).Where("o.id IN (?)", bun.List(sellingPlans)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %d selling plans: %w", len(sellingPlans), err)
	}
	if len(options) == 0 {
		return plans, nil
	}
	groups, items := make([]int64, len(options)), make([]int64, 0, 2*len(variants))
	for i, o := range options {
		groups[i] = o.GroupID
	}
	for _, v := range variants {
		items = append(items, v.ID, v.ProductID)
	}
	var sold []planItemRow
	err = tx.q.NewSelect().Model(&sold).Where("i.shop_id = ?", tx.of).Where("i.group_id IN (?)", bun.List(groups)).Where("i.item_id IN (?)", bun.List(items)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is sold on %d selling plans: %w", len(options), err)
	}
	for _, r := range options {
		p := order.Plan{}
		if p.Option, err = readRow[plan.Option](r); err != nil {
			return nil, err
		}
		for _, v := range variants {
			if slices.ContainsFunc(sold, func(i planItemRow) bool {
				return i.GroupID == r.GroupID && (i.Kind == productItem && i.ItemID == v.ProductID || i.Kind == variantItem && i.ItemID == v.ID)
			}) {
				p.For = append(p.For, v.ID)
			}
		}
		plans[r.ID] = p
	}
	return plans, nil
}

// PlansReadyAt returns when the last of the groups is looked at next that are being made
// or changed; zero when none is.
func (tx *Tx) PlansReadyAt(ctx context.Context) (time.Time, error) {
	var due int64
	err := tx.q.NewSelect().Model((*planGroupRow)(nil)).ColumnExpr("COALESCE(MAX(g.due_at), 0)").Where("g.shop_id = ?", tx.of).
		Where("g.state IN (?)", bun.List([]plan.State{plan.Creating, plan.Updating})).Scan(ctx, &due)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for plan groups that are being made: %w", err)
	}
	return instant(due), nil
}

// PlanGroupsSelling returns the numbers of the line's groups in which one of the
// products or variants is sold; none named: in which anything is.
func (tx *Tx) PlanGroupsSelling(ctx context.Context, line shop.Line, of platform.Assigned) ([]plan.ID, error) {
	q := tx.q.NewSelect().Model((*planItemRow)(nil)).ColumnExpr("DISTINCT i.group_id").
		Join("JOIN plan_groups AS g ON g.shop_id = i.shop_id AND g.id = i.group_id").
		Where("i.shop_id = ?", tx.of).Where("g.line = ?", line).OrderExpr("i.group_id")
	if !of.Empty() {
		q = q.Where("(i.kind = ? AND i.item_id IN (?) OR i.kind = ? AND i.item_id IN (?))",
			productItem, listOr0(of.Products), variantItem, listOr0(of.Variants))
	}
	var ids []plan.ID
	if err := q.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("find the plan groups that sell something: %w", err)
	}
	return ids, nil
}

// listOr0 makes a list that is never empty; no number is 0.
func listOr0(ids []int64) any {
	if len(ids) == 0 {
		ids = []int64{0}
	}
	return bun.List(ids)
}

// WaitingPlanGroups returns at most limit groups that are due, earliest first.
func (tx *Tx) WaitingPlanGroups(ctx context.Context, now time.Time, limit int) ([]plan.ID, error) {
	var ids []plan.ID
	err := tx.q.NewSelect().Model((*planGroupRow)(nil)).Column("g.id").Where("g.shop_id = ?", tx.of).Where("g.due_at <= ?", millis(now)).
		Order("g.due_at", "g.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read the plan groups that wait: %w", err)
	}
	return ids, nil
}

// PutPlanGroup inserts a group whose ID is 0, giving it one, and writes others
// with their options if the version is still what was read.
func (tx *Tx) PutPlanGroup(ctx context.Context, g *plan.Group) error {
	put := *g
	added := put.ID == 0
	if added {
		id, err := tx.db.ids.take(1)
		if err != nil {
			return err
		}
		put.ID = plan.ID(id)
	}
	row, err := rowOf[planGroupRow](tx.of, put)
	if err != nil {
		return err
	}
	if added {
		row.Version = 1
		_, err = insert(ctx, tx, []planGroupRow{row}, "")
	} else {
		var n int64
		if n, err = update(ctx, tx, []planGroupRow{row}, "platform_id", "name", "terms", "state", "pending", "due_at", "updated_at"); err == nil && n != 1 {
			err = changed("subscriptionGroup", fmt.Sprintf("Subscription group %d", g.ID))
		}
	}
	if err != nil {
		return err
	}
	if err := tx.putPlanOptions(ctx, put); err != nil {
		return err
	}
	if err := tx.catalogued(ctx); err != nil {
		return err
	}
	put.Version++
	*g = put
	return nil
}

func (tx *Tx) putPlanOptions(ctx context.Context, g plan.Group) error {
	left := []int64{0}
	for _, o := range g.Options {
		left = append(left, o.ID)
	}
	if err := tx.keepRemoved(ctx, g.ID, left); err != nil {
		return err
	}
	_, err := tx.q.NewDelete().Model((*planOptionRow)(nil)).Where("o.shop_id = ?", tx.of).Where("o.group_id = ?", g.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write the options of plan group %d: %w", g.ID, err)
	}
	rows, err := rowsOf[planOptionRow](tx.of, g.Options...)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].GroupID, rows[i].Position = int64(g.ID), int64(i)
	}
	_, err = insert(ctx, tx, rows, "")
	return err
}

// keepRemoved keeps the options of a group that are about to be removed, which are all
// but some.
func (tx *Tx) keepRemoved(ctx context.Context, id plan.ID, but []int64) error {
	_, err := tx.q.NewRaw(`INSERT INTO removed_plan_options (shop_id, id, terms)
		SELECT shop_id, id, terms FROM plan_options WHERE shop_id = ? AND group_id = ? AND id NOT IN (?)
		ON CONFLICT (shop_id, id) DO UPDATE SET terms = excluded.terms`, tx.of, id, bun.List(but)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep what is removed from plan group %d: %w", id, err)
	}
	return nil
}

// RemovedOptions returns, by selling plan, those of selling plans that were options of
// ours once, as they were last.
func (tx *Tx) RemovedOptions(ctx context.Context, sellingPlans []int64) (map[int64]plan.Option, error) {
	if len(sellingPlans) == 0 {
		return nil, nil
	}
	var rows []planOptionRow
	err := tx.q.NewSelect().TableExpr("removed_plan_options AS o").Column("o.id", "o.terms").Where("o.shop_id = ?", tx.of).Where("o.id IN (?)", bun.List(sellingPlans)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read %d removed plan options: %w", len(sellingPlans), err)
	}
	options := make(map[int64]plan.Option, len(rows))
	for _, r := range rows {
		if options[r.ID], err = readRow[plan.Option](r); err != nil {
			return nil, err
		}
	}
	return options, nil
}

// PutPlanItems adds and removes products and variants of a group.
func (tx *Tx) PutPlanItems(ctx context.Context, id plan.ID, add plan.Items, remove platform.Assigned) error {
	for kind, gone := range map[string][]int64{productItem: remove.Products, variantItem: remove.Variants} {
		for batch := range slices.Chunk(gone, itemsAtOnce) {
			_, err := tx.q.NewDelete().Model((*planItemRow)(nil)).Where("i.shop_id = ?", tx.of).Where("i.group_id = ?", id).
				Where("i.kind = ?", kind).Where("i.item_id IN (?)", bun.List(batch)).Exec(ctx)
			if err != nil {
				return fmt.Errorf("remove %d items from plan group %d: %w", len(batch), id, err)
			}
		}
	}
	var rows []planItemRow
	for _, one := range []struct {
		kind string
		list []platform.Titled
	}{{productItem, add.Products}, {variantItem, add.Variants}} {
		for _, t := range one.list {
			rows = append(rows, planItemRow{ShopID: int64(tx.of), GroupID: int64(id), Kind: one.kind, ItemID: t.ID, Title: t.Title})
		}
	}
	_, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, group_id, kind, item_id) DO NOTHING")
	return err
}

// itemsAtOnce bounds the length of a statement.
const itemsAtOnce = 1000

// DeletePlanGroup removes a group and all that belongs to it.
func (tx *Tx) DeletePlanGroup(ctx context.Context, id plan.ID) error {
	if err := tx.keepRemoved(ctx, id, []int64{0}); err != nil {
		return err
	}
	for _, q := range []*bun.DeleteQuery{
		tx.q.NewDelete().Model((*planItemRow)(nil)).Where("i.shop_id = ?", tx.of).Where("i.group_id = ?", id),
		tx.q.NewDelete().Model((*planOptionRow)(nil)).Where("o.shop_id = ?", tx.of).Where("o.group_id = ?", id),
		tx.q.NewDelete().Model((*planGroupRow)(nil)).Where("g.shop_id = ?", tx.of).Where("g.id = ?", id),
	} {
		if _, err := q.Exec(ctx); err != nil {
			return fmt.Errorf("remove plan group %d: %w", id, err)
		}
	}
	return tx.catalogued(ctx)
}

// planGroupFields are the fields by which the list of groups can be sorted.
var planGroupFields = map[string]field{
	plan.FieldID: {"id", whole}, plan.FieldName: {"name", text}, plan.FieldCreatedAt: {"created_at", whole}, plan.FieldUpdatedAt: {"updated_at", whole},
}

// PlanGroup returns one of the line's groups that has been made, or NotFound.
func (db *DB) PlanGroup(ctx context.Context, of shop.ID, line shop.Line, id plan.ID) (plan.Group, error) {
	var rows []planGroupRow
	if err := db.madeGroups(&rows, of, line).Where("g.id = ?", id).Scan(ctx); err != nil {
		return plan.Group{}, fmt.Errorf("read plan group %d: %w", id, err)
	}
	if len(rows) == 0 {
		return plan.Group{}, plan.NotFound(id)
	}
	list, err := planGroupsOf(ctx, db.in(of), of, rows, true)
	if err != nil {
		return plan.Group{}, err
	}
	return list[0], nil
}

// PlanGroupID returns the number of the line's group that has the number or, where none
// has, that has it at the platform; with atPlatform only the latter.
func (db *DB) PlanGroupID(ctx context.Context, of shop.ID, line shop.Line, number int64, atPlatform bool) (plan.ID, error) {
	var rows []planGroupRow
	q := db.madeGroups(&rows, of, line).Column("id", "platform_id")
	if atPlatform {
		q = q.Where("g.platform_id = ?", number)
	} else {
		q = q.Where("g.id = ? OR g.platform_id = ?", number, number)
	}
	if err := q.Scan(ctx); err != nil {
		return 0, fmt.Errorf("find plan group %d: %w", number, err)
	}
	if number == 0 || len(rows) == 0 {
		return 0, plan.NotFound(plan.ID(number))
	}
	for _, r := range rows {
		if r.ID == number && !atPlatform {
			return plan.ID(number), nil
		}
	}
	return plan.ID(rows[0].ID), nil
}

func (db *DB) madeGroups(rows *[]planGroupRow, of shop.ID, line shop.Line) *bun.SelectQuery {
	return db.in(of).NewSelect().Model(rows).Where("g.shop_id = ?", of).Where("g.line = ?", line).Where("g.state <> ?", plan.Creating)
}

// PlanGroups returns a page of the line's groups, oldest first unless the page
// says otherwise, and how many there are.
func (db *DB) PlanGroups(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error) {
	var rows []planGroupRow
	total, err := fetch(ctx, db.madeGroups(&rows, of, line), planGroupFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("list plan groups: %w", err)
	}
	list, err := planGroupsOf(ctx, db.in(of), of, rows, true)
	return list, total, err
}

// offerRow is an option with its group.
type offerRow struct {
	planOptionRow
	GroupName  string
	GroupTerms string // JSON
}

// PlanOptions returns a page of the line's options, group by group, and how many
// there are. With numbers of selling plans only those.
func (db *DB) PlanOptions(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64, p page.Request) ([]plan.Offer, int, error) {
	q := db.madeOptions(of, line)
	if len(sellingPlans) > 0 {
		q = q.Where("o.id IN (?)", bun.List(sellingPlans))
	}
	total, err := q.Clone().Count(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("count plan options: %w", err)
	}
	list, err := offersOf(ctx, q.Limit(int64(p.Size)).Offset(int64(p.Offset())))
	return list, int(total), err
}

// OffersOf returns the options of the line that are the selling plans, group by group.
func (db *DB) OffersOf(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64) ([]plan.Offer, error) {
	return offersOf(ctx, db.madeOptions(of, line).Where("o.id IN (?)", bun.List(sellingPlans)))
}

func (db *DB) madeOptions(of shop.ID, line shop.Line) *bun.SelectQuery {
	return db.in(of).NewSelect().TableExpr("plan_options AS o").ColumnExpr("o.shop_id, o.id, o.group_id, o.position, o.terms, g.name AS group_name, g.terms AS group_terms").
		Join("JOIN plan_groups AS g ON g.shop_id = o.shop_id AND g.id = o.group_id").Where("o.shop_id = ?", of).Where("g.line = ?", line)
}

func offersOf(ctx context.Context, q *bun.SelectQuery) ([]plan.Offer, error) {
	var rows []offerRow
	if err := q.OrderExpr("o.group_id, o.position").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("list plan options: %w", err)
	}
	list := make([]plan.Offer, len(rows))
	for i, r := range rows {
		o, err := readRow[plan.Option](r.planOptionRow)
		if err != nil {
			return nil, err
		}
		of, err := parseJSON[plan.Terms](r.GroupTerms)
		if err != nil {
			return nil, fmt.Errorf("read plan group %d: %w", r.GroupID, err)
		}
		list[i] = plan.Offer{Option: o, Group: plan.ID(r.GroupID), GroupName: r.GroupName, CustomerTag: of.CustomerTag}
	}
	return list, nil
}
