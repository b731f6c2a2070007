package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ activity.Trail     = (*DB)(nil)
	_ activity.LineTrail = (*DB)(nil)
)

// entryRow is a row of activity.
type entryRow struct {
	bun.BaseModel `bun:"table:activity,alias:e"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	EntityID   int64
	EntityType string
	Event      string
	Status     string
	Source     string
	Actor      string
	ClientIP   string `bun:"client_ip"`
	RequestID  string
	RecordedAt int64
	Info       string
}

// Record writes entries with their instants and passes them to the subscribers before
// the commit.
func (tx *Tx) Record(ctx context.Context, entries ...activity.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	first, err := tx.db.ids.take(len(entries))
	if err != nil {
		return err
	}
	recorded := slices.Clone(entries)
	for i, e := range recorded {
		if e.At.IsZero() {
			return fault.New(fault.Internal, "an entry %s about %s %d has no instant", e.Event, e.EntityType, e.EntityID)
		}
		recorded[i].ID = first + int64(i)
	}
	rows, err := rowsOf[entryRow](tx.of, recorded...)
	if err != nil {
		return err
	}
	if _, err = insert(ctx, tx, rows, ""); err != nil {
		return err
	}
	tx.published.entries = append(tx.published.entries, recorded...)
	return nil
}

func (r *entryRow) Columns(m *mapping, e *activity.Entry) {
	m.shop(&r.ShopID)
	mapSame(m, &r.ID, &e.ID)
	mapSame(m, &r.EntityID, &e.EntityID)
	mapText(m, &r.EntityType, &e.EntityType)
	mapText(m, &r.Event, &e.Event)
	mapText(m, &r.Status, &e.Status)
	mapText(m, &r.Source, &e.Actor.Source)
	mapText(m, &r.Actor, &e.Actor.By)
	mapText(m, &r.ClientIP, &e.Actor.ClientIP)
	mapText(m, &r.RequestID, &e.Actor.Request)
	mapTime(m, &r.RecordedAt, &e.At)
	mapText(m, &r.Info, &e.Info)
}

// entryFields are the fields of an entry by which it can be chosen and sorted.
var entryFields = map[string]field{
	activity.FieldID:         {"id", whole},
	activity.FieldEntityID:   {"entity_id", whole},
	activity.FieldEntityType: {"entity_type", text},
	activity.FieldSource:     {"source", text},
	activity.FieldEvent:      {"event", text},
	activity.FieldStatus:     {"status", text},
	activity.FieldAt:         {"recorded_at", whole},
	activity.FieldInfo:       {"info", text},
	activity.FieldBy:         {"actor", text},
	activity.FieldClientIP:   {"client_ip", text},
}

// Entries returns the page of a shop's entries that meet every criterion, newest
// first unless the page says otherwise, and how many there are.
func (db *DB) Entries(ctx context.Context, of shop.ID, where []page.Criterion, p page.Request) ([]activity.Entry, int, error) {
	return db.entries(ctx, of, where, p, "")
}

// LatestEntries returns at most limit entries of a store, the newest first.
func (db *DB) LatestEntries(ctx context.Context, of shop.ID, limit int) ([]activity.Entry, error) {
	var rows []entryRow
	err := db.in(of).NewSelect().Model(&rows).Where("e.shop_id = ?", of).Order("e.recorded_at DESC", "e.id DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the latest entries of the activity log: %w", err)
	}
	return readRows[activity.Entry](rows)
}

// EntriesOf is Entries without those about what belongs to the other line.
func (db *DB) EntriesOf(ctx context.Context, of shop.ID, line shop.Line, where []page.Criterion, p page.Request) ([]activity.Entry, int, error) {
	other, some, err := db.otherLine(ctx, of, line, "own_contract_facets", "plan_groups", "swap_rules", "bundles")
	if err != nil {
		return nil, 0, err
	}
	if !some {
		other = ""
	}
	return db.entries(ctx, of, where, p, other)
}

// otherLine returns the line that is not the given one, and whether a shop has some of it in one of
// the tables. Most stores have one line: they need not look up to which their rows belong.
func (db *DB) otherLine(ctx context.Context, of shop.ID, line shop.Line, tables ...string) (other shop.Line, some bool, err error) {
	other = shop.Memberships
	if line == other {
		other = shop.Subscriptions
	}
	for _, table := range tables {
		some, err = db.in(of).NewSelect().Table(table).Where("shop_id = ?", of).Where("line = ?", other).Exists(ctx)
		if err != nil {
			return other, false, fmt.Errorf("look for the line %s: %w", other, err)
		}
		if some {
			break
		}
	}
	return other, some, nil
}

// lineOfEntity holds, by type, where it is found to which line the entity of an
// entry belongs. Entities of other types belong to both.
var lineOfEntity = map[activity.EntityType]string{
	activity.EntitySubscriptionContractDetails: `SELECT 1 FROM contracts AS x WHERE x.shop_id = e.shop_id AND x.id = e.entity_id AND x.line = ?`,
	activity.EntitySubscriptionBillingAttempt: `SELECT 1 FROM attempts AS a JOIN contracts AS x ON x.shop_id = a.shop_id AND x.id = a.contract_id
		WHERE a.shop_id = e.shop_id AND a.id = e.entity_id AND x.line = ?`,
	activity.EntitySubscriptionGroupPlan: `SELECT 1 FROM plan_groups AS x WHERE x.shop_id = e.shop_id AND x.id = e.entity_id AND x.line = ?`,
	activity.EntityProductSwap:           `SELECT 1 FROM swap_rules AS x WHERE x.shop_id = e.shop_id AND x.id = e.entity_id AND x.line = ?`,
	activity.EntitySubscriptionBundling:  `SELECT 1 FROM bundles AS x WHERE x.shop_id = e.shop_id AND x.id = e.entity_id AND x.line = ?`,
}

// entries reads entries, without those about what belongs to a line.
func (db *DB) entries(ctx context.Context, of shop.ID, where []page.Criterion, p page.Request, without shop.Line) ([]activity.Entry, int, error) {
	var rows []entryRow
	q := db.in(of).NewSelect().Model(&rows).Where("e.shop_id = ?", of)
	if without != "" {
		for _, entity := range sortedKeys(lineOfEntity) {
			q = q.Where("NOT (e.entity_type = ? AND EXISTS ("+lineOfEntity[entity]+"))", entity, without)
		}
	}
	for _, c := range where {
		var err error
		if q, err = db.engine.dialect().meet(q, entryFields, c); err != nil {
			return nil, 0, err
		}
	}
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: activity.FieldAt, Desc: true}, {Field: activity.FieldID, Desc: true}}
	}
	total, err := fetch(ctx, q, entryFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read the activity log: %w", err)
	}
	entries, err := readRows[activity.Entry](rows)
	return entries, total, err
}
