package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// inFlight are the statuses of attempts that go on being worked while nothing is
// charged.
var inFlight = []billing.Status{billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException}

// stopped adds the condition that a shop's orders wait and are not charged now. Those
// of a shop that has left do not wait: they end.
func stopped(q *bun.SelectQuery, now time.Time) *bun.SelectQuery {
	return q.Where("s.connected").Where("(s.frozen_at <> 0 OR s.held_until > ? OR s.awaits_merchant <> 0 OR (s.confirm_by <> 0 AND s.confirm_by <= ?))", boundAt(now), boundAt(now))
}

// stoppedShops returns the shops whose orders are not charged now.
func (s Shops) stoppedShops(ctx context.Context, now time.Time) ([]shop.ID, error) {
	var ids []shop.ID
	if err := stopped(s.db.reader.NewSelect().Model((*shopRow)(nil)).Column("s.id"), now).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("find the shops that are not charged: %w", err)
	}
	return ids, nil
}

// charging leaves out attempts of stopped shops that are not in flight.
func charging(stopped []shop.ID) func(*bun.SelectQuery) *bun.SelectQuery {
	return func(q *bun.SelectQuery) *bun.SelectQuery {
		if len(stopped) == 0 {
			return q
		}
		return q.Where("(shop_id NOT IN (?) OR status IN (?))", bun.List(stopped), bun.List(inFlight))
	}
}

// UncheckedShops returns at most limit connected shops whose comparison with the platform
// is due, the longest waiting first.
func (s Shops) UncheckedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.db.reader.NewSelect().Model((*shopRow)(nil)).Column("s.id").Where("s.connected").Where("s.check_at <> 0").Where("s.check_at <= ?", boundAt(now)).
		Order("s.check_at", "s.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops to compare: %w", err)
	}
	return ids, nil
}

// nextOfShops selects the earliest instants at which a shop's comparison is due and at
// which its charges resume.
func (s Shops) nextOfShops(now time.Time) []*bun.SelectQuery {
	earliest := func(column string, after any) *bun.SelectQuery {
		return s.db.reader.NewSelect().Table("shops").ColumnExpr("MIN(?)", ident(column)).Where("connected").Where("? >= ?", ident(column), after)
	}
	return []*bun.SelectQuery{earliest("check_at", 1), earliest("held_until", bound{millis(now) + 1})}
}

// chargeStatsRow is a row of charge_stats.
type chargeStatsRow struct {
	bun.BaseModel `bun:"table:charge_stats,alias:n"`

	ShopID   int64 `bun:"shop_id,pk"`
	Slot     int64 `bun:"slot,pk"`
	Sent     int64
	Ended    int64
	Paid     int64
	Declined int64
	Gateway  int64
}

// keepChargeStats is how long slots are kept.
const keepChargeStats = 24 * time.Hour

// AddChargeStats adds to what is counted of the shop's charges in a slot of time, and
// forgets slots that are a day old.
func (tx *Tx) AddChargeStats(ctx context.Context, slot time.Time, r billing.ChargeStats) error {
	row := chargeStatsRow{
		ShopID: int64(tx.of), Slot: millis(slot), Sent: int64(r.Sent), Ended: int64(r.Ended), Paid: int64(r.Paid), Declined: int64(r.Declined), Gateway: int64(r.Gateway),
	}
	_, err := tx.q.NewInsert().Model(&row).On("CONFLICT (shop_id, slot) DO UPDATE").
		Set("sent = n.sent + EXCLUDED.sent").Set("ended = n.ended + EXCLUDED.ended").Set("paid = n.paid + EXCLUDED.paid").
		Set("declined = n.declined + EXCLUDED.declined").Set("gateway = n.gateway + EXCLUDED.gateway").Exec(ctx)
	if err != nil {
		return fmt.Errorf("count charges: %w", err)
	}
	_, err = tx.q.NewDelete().Model((*chargeStatsRow)(nil)).Where("n.shop_id = ?", tx.of).Where("n.slot < ?", millis(slot.Add(-keepChargeStats))).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget counts of charges: %w", err)
	}
	return nil
}

// ChargeStatsSince sums the slots that begin at or after an instant.
func (tx *Tx) ChargeStatsSince(ctx context.Context, slot time.Time) (billing.ChargeStats, error) {
	var rows []chargeStatsRow
	if err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", bound{tx.of}).Where("n.slot >= ?", boundAt(slot)).Scan(ctx); err != nil {
		return billing.ChargeStats{}, fmt.Errorf("read counts of charges: %w", err)
	}
	var run billing.ChargeStats
	for _, r := range rows {
		run = run.Plus(billing.ChargeStats{Sent: int(r.Sent), Ended: int(r.Ended), Paid: int(r.Paid), Declined: int(r.Declined), Gateway: int(r.Gateway)})
	}
	return run, nil
}

// Place returns where the installation lives; the zero Place when it is not set.
func (s Shops) Place(ctx context.Context) (repair.Place, error) {
	var p repair.Place
	if err := s.db.reader.NewRaw("SELECT place, host FROM installation").Scan(ctx, &p.Database, &p.Host); err != nil {
		return repair.Place{}, fmt.Errorf("read where the installation lives: %w", err)
	}
	return p, nil
}

// SetPlace records where the installation lives.
func (s Shops) SetPlace(ctx context.Context, p repair.Place) error {
	return s.db.updateShared(ctx, func(tx *Tx) error {
		if _, err := tx.q.NewRaw("UPDATE installation SET place = ?, host = ?", clean(p.Database), clean(p.Host)).Exec(ctx); err != nil {
			return fmt.Errorf("note where the installation lives: %w", err)
		}
		return nil
	})
}

// Frozen counts the shops that are frozen.
func (s Shops) Frozen(ctx context.Context) (int, error) {
	n, err := s.db.reader.NewSelect().Model((*shopRow)(nil)).Where("s.frozen_at <> 0").Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the frozen shops: %w", err)
	}
	return int(n), nil
}
