package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// waiting is a table whose rows wait for an instant, and the column that holds it. Each
// has an index that begins with the column.
type waiting struct{ table, column string }

var (
	dueAttempts  = waiting{"attempts", "due_at"}
	unpublished  = waiting{"attempts", "publish_at"}
	pendingInbox = waiting{"inbox", "due_at"}
	toAmend      = waiting{"contracts", "amend_at"}
	duePartners  = waiting{"partner_connections", "due_at"}
	dueProfiles  = waiting{"delivery_profiles", "due_at"}
	dueMessages  = waiting{"messages", "due_at"}
	duePlans     = waiting{"plan_groups", "due_at"}
	dueWebhooks  = waiting{"webhook_deliveries", "due_at"}
	dueEvents    = waiting{"webhook_messages", "place_at"}
	endedFeeds   = waiting{"event_feeds", "close_at"}
)

// DueShops returns at most limit shops that have attempts whose DueAt is at or
// before now, the longest waiting first. Of shops that are not charged now only
// attempts in flight count.
func (s Shops) DueShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	stopped, err := s.stoppedShops(ctx, now)
	if err != nil {
		return nil, err
	}
	return s.waitingFor(ctx, dueAttempts, now, limit, charging(stopped))
}

// UnpublishedShops does the same by PublishAt. Attempts of contracts that a worker is
// publishing do not count.
func (s Shops) UnpublishedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, unpublished, now, limit, notPublishing(unpublished.table, now))
}

// PendingInboxShops does the same with events of the inbox.
func (s Shops) PendingInboxShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, pendingInbox, now, limit)
}

// DueMessageShops does the same with messages.
func (s Shops) DueMessageShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueMessages, now, limit)
}

// DueProfileShops does the same with delivery profiles.
func (s Shops) DueProfileShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueProfiles, now, limit)
}

// DuePartnerShops does the same with partner connections.
func (s Shops) DuePartnerShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, duePartners, now, limit)
}

// DuePlanShops does the same with plan groups.
func (s Shops) DuePlanShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, duePlans, now, limit)
}

// DueWebhookShops does the same with deliveries of webhooks.
func (s Shops) DueWebhookShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueWebhooks, now, limit)
}

// DueEventShops does the same with messages that become events.
func (s Shops) DueEventShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueEvents, now, limit)
}

// EndedFeedShops does the same with events that are not read any more.
func (s Shops) EndedFeedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, endedFeeds, now, limit)
}

// UnreconciledShops returns at most limit connected shops whose reconciliation is
// due, the longest waiting first.
func (s Shops) UnreconciledShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.db.reader.NewSelect().Table("shops").Column("id").Where("connected").Where("reconcile_at <= ?", boundAt(now)).
		Order("reconcile_at", "id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops to reconcile: %w", err)
	}
	return ids, nil
}

func (s Shops) waitingFor(ctx context.Context, w waiting, now time.Time, limit int, narrow ...func(*bun.SelectQuery) *bun.SelectQuery) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.db.acrossShops().NewSelect().Table(w.table).Column("shop_id").Where("? <= ?", ident(w.column), boundAt(now)).Apply(narrow...).
		GroupExpr(s.db.engine.dialect().unindexed+"shop_id").OrderExpr("MIN(?), shop_id", ident(w.column)).Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops with %s that wait: %w", w.table, err)
	}
	return ids, nil
}

// NextDue returns the earliest instant at which something of any shop falls due;
// false when nothing ever does. It may lie in the past.
func (s Shops) NextDue(ctx context.Context, now time.Time) (time.Time, bool, error) {
	stopped, err := s.stoppedShops(ctx, now)
	if err != nil {
		return time.Time{}, false, err
	}
	earliest := s.db.reader.NewSelect().Table("shops").ColumnExpr("NULLIF(MIN(reconcile_at), 0) AS at").Where("connected")
	for _, q := range s.nextOfShops(now) {
		earliest = earliest.UnionAll(q)
	}
	for _, w := range []waiting{dueAttempts, unpublished, pendingInbox, toAmend, duePartners, dueProfiles, duePlans, dueMessages, dueWebhooks, dueEvents, endedFeeds, dueAnnotations, duePrivacy, dueBulkJobs, dueMoves, dueCancelSessions, dueFacts, dueMembers, dueRewards} {
		q := s.db.reader.NewSelect().Table(w.table).ColumnExpr("MIN(?)", ident(w.column)).Where("? IS NOT NULL", ident(w.column))
		switch w {
		case dueAttempts:
			q = q.Apply(charging(stopped))
		case unpublished:
			q = q.Apply(notPublishing(unpublished.table, now))
		}
		earliest = earliest.UnionAll(q)
	}
	earliest = earliest.UnionAll(s.nextUpcomingOrder(now)).UnionAll(s.nextReminder(ofOrders, now)).UnionAll(s.nextReminder(ofCards, now))
	earliest = earliest.UnionAll(publishing(s.db.reader, now).ColumnExpr("MIN(t.publish_lease_until)")) // when the lease of a dead process expires
	var next int64
	if err := s.db.acrossShops().NewSelect().TableExpr("(?) AS earliest", earliest).ColumnExpr("COALESCE(MIN(at), 0)").Scan(ctx, &next); err != nil {
		return time.Time{}, false, fmt.Errorf("find what is due next: %w", err)
	}
	return instant(next), next != 0, nil
}

// Backlog is how much waits, over all shops.
type Backlog struct {
	Due      int // attempts whose DueAt is past, counted up to maxBacklog
	InFlight int // attempts without a known outcome
	Waiting  int // events that are not worked yet
	GivenUp  int // events that could not be worked
}

// maxBacklog is where counting ends.
const maxBacklog = 10_000

// Backlog counts what waits, from the indexes of what waits.
func (s Shops) Backlog(ctx context.Context, now time.Time) (Backlog, error) {
	var b Backlog
	for _, count := range []struct {
		into  *int
		query string
		args  []any
	}{
		{&b.Due, "SELECT 1 FROM attempts WHERE due_at <= ?", []any{millis(now)}},
		{&b.InFlight, "SELECT 1 FROM attempts WHERE status IN ('REQUESTING', 'PROGRESS', 'SECURITY_CHALLENGE', 'SHOPIFY_EXCEPTION') AND due_at IS NOT NULL", nil},
		{&b.Waiting, "SELECT 1 FROM inbox WHERE due_at IS NOT NULL", nil},
		{&b.GivenUp, "SELECT 1 FROM inbox WHERE due_at IS NULL AND finished_at IS NULL", nil},
	} {
		inner := s.db.reader.NewRaw(count.query+" LIMIT ?", append(count.args, maxBacklog)...)
		if err := s.db.acrossShops().NewRaw("SELECT COUNT(*) FROM (?) AS waiting", inner).Scan(ctx, count.into); err != nil {
			return Backlog{}, fmt.Errorf("count what waits: %w", err)
		}
	}
	return b, nil
}
