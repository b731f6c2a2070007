package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// reminding are the reminders of one kind: what selects the contracts, aliased c, that have one
// to come, and the column with its instant.
type reminding struct {
	at      string
	pending string
}

var (
	ofOrders = reminding{"c.remind_at", "c.remind_at IS NOT NULL AND c.reminded_for <> c.next_billing_date"}
	ofCards  = reminding{"c.card_remind_at", "c.card_remind_at IS NOT NULL AND c.card_reminded_for <> c.card_remind_at"}
)

// firstReminder selects the earliest instant of a reminder of a shop, aliased s.
func (s Shops) firstReminder(r reminding) *bun.SelectQuery {
	return s.db.reader.NewSelect().TableExpr("contracts AS c").ColumnExpr("MIN(" + r.at + ")").Where(r.pending).Where("c.shop_id = s.id")
}

// chargedShops selects the shops, aliased s, whose orders are charged.
func (s Shops) chargedShops(now time.Time) *bun.SelectQuery {
	return s.db.acrossShops().NewSelect().TableExpr("shops AS s").Where("s.connected").Where("s.frozen_at = 0").Where("s.awaits_merchant = 0").
		Where("(s.confirm_by = 0 OR s.confirm_by > ?)", boundAt(now))
}

// ReminderShops returns at most limit shops that have customers to remind.
func (s Shops) ReminderShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.chargedShops(now).Column("s.id").Where("((?) <= ? OR (?) <= ?)", s.firstReminder(ofOrders), boundAt(now), s.firstReminder(ofCards), boundAt(now)).
		Order("s.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops with customers to remind: %w", err)
	}
	return ids, nil
}

// nextReminder asks for the earliest instant of a reminder.
func (s Shops) nextReminder(r reminding, now time.Time) *bun.SelectQuery {
	return s.db.reader.NewSelect().TableExpr("(?) AS reminded", s.chargedShops(now).ColumnExpr("(?) AS at", s.firstReminder(r))).ColumnExpr("MIN(reminded.at)")
}

// reminderRow is a contract with a reminder, and its next order.
type reminderRow struct {
	ID              contract.ID
	Line            shop.Line
	BillingInterval string
	BillingCount    int
	CustomerID      int64
	CustomerEmail   string
	At              int64
	NextBillingDate int64
	Attempt         int64
	Cycle           int
}

func (r reminderRow) reminder(of reminding) (notify.Reminder, error) {
	n := notify.Reminder{Recipient: notify.Recipient{Contract: r.ID, Customer: r.CustomerID, Email: r.CustomerEmail}, Attempt: r.Attempt, Cycle: r.Cycle, Date: instant(r.NextBillingDate)}
	days := contract.CardReminderDays
	if n.Card = of == ofCards; n.Card {
		n.Date = instant(r.At).Add(contract.Days(days[0]))
	} else {
		interval, err := cadence.ParseInterval(r.BillingInterval)
		if err != nil {
			return n, err
		}
		days = contract.ReminderDays(r.Line, contract.Policy{Interval: interval, Count: r.BillingCount})
	}
	for _, d := range days {
		n.Before = append(n.Before, contract.Days(d))
	}
	return n, nil
}

// DueReminders returns at most limit contracts whose customers must be reminded now.
func (tx *Tx) DueReminders(ctx context.Context, now time.Time, limit int) ([]notify.Reminder, error) {
	var list []notify.Reminder
	for _, of := range []reminding{ofOrders, ofCards} {
		var rows []reminderRow
		next := tx.q.NewSelect().TableExpr("attempts AS a").Where("a.shop_id = c.shop_id").Where("a.contract_id = c.id").Where("a.status = ?", billing.Queued).
			Where("a.billing_date = c.next_billing_date").Order("a.cycle").Limit(1)
		err := tx.q.NewSelect().TableExpr("contracts AS c").Column("c.id", "c.line", "c.billing_interval", "c.billing_count", "c.customer_id", "c.customer_email", "c.next_billing_date").
			ColumnExpr(of.at+" AS at").ColumnExpr("COALESCE((?), 0) AS attempt", next.Clone().Column("a.id")).ColumnExpr("COALESCE((?), 0) AS cycle", next.Clone().Column("a.cycle")).
			Where("c.shop_id = ?", tx.of).Where(of.pending).Where(of.at+" <= ?", millis(now)).Order(of.at[2:], "c.id").Limit(int64(limit-len(list))).Scan(ctx, &rows)
		if err != nil {
			return nil, fmt.Errorf("read the contracts with a reminder: %w", err)
		}
		for _, r := range rows {
			n, err := r.reminder(of)
			if err != nil {
				return nil, fmt.Errorf("read the reminder of contract %d: %w", r.ID, err)
			}
			list = append(list, n)
		}
		if len(list) == limit {
			break
		}
	}
	return list, nil
}

// MarkReminded makes reminders not due for their dates. One whose date has changed since stays due.
func (tx *Tx) MarkReminded(ctx context.Context, list []notify.Reminder) error {
	for _, r := range list {
		q := tx.q.NewUpdate().TableExpr("contracts AS c").Where("c.shop_id = ?", tx.of).Where("c.id = ?", r.Contract)
		if r.Card {
			at := millis(r.Date.Add(-contract.Days(contract.CardReminderDays[0])))
			q = q.Set("card_reminded_for = ?", at).Where("c.card_remind_at = ?", at)
		} else {
			q = q.Set("reminded_for = ?", millis(r.Date)).Where("c.next_billing_date = ?", millis(r.Date))
		}
		if _, err := q.Exec(ctx); err != nil {
			return fmt.Errorf("note the reminder of contract %d: %w", r.Contract, err)
		}
	}
	return nil
}

// MailRecipients returns who is behind the records that entries are about, by record.
func (tx *Tx) MailRecipients(ctx context.Context, entries []activity.Entry) (map[notify.Subject]notify.Recipient, error) {
	ids := map[activity.EntityType][]int64{}
	for _, e := range entries {
		ids[e.EntityType] = append(ids[e.EntityType], e.EntityID)
	}
	found := map[notify.Subject]notify.Recipient{}
	for kind, join := range map[activity.EntityType]string{
		activity.EntitySubscriptionContractDetails: "",
		activity.EntitySubscriptionBillingAttempt:  "JOIN attempts AS a ON a.shop_id = c.shop_id AND a.contract_id = c.id",
	} {
		if len(ids[kind]) == 0 {
			continue
		}
		var rows []struct {
			Subject       int64
			ID            contract.ID
			CustomerID    int64
			CustomerEmail string
			Origin        contract.Origin
			CreatedAt     int64
			Attributes    string
		}
		q := tx.q.NewSelect().TableExpr("contracts AS c").Column("c.id", "c.customer_id", "c.customer_email", "c.origin", "c.created_at", "c.attributes").Where("c.shop_id = ?", tx.of)
		if join == "" {
			q = q.ColumnExpr("c.id AS subject").Where("c.id IN (?)", bun.List(ids[kind]))
		} else {
			q = q.ColumnExpr("a.id AS subject").Join(join).Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(ids[kind]))
		}
		if err := q.Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("read the customers of %d entries: %w", len(ids[kind]), err)
		}
		for _, r := range rows {
			attributes, err := parseJSON[[]contract.Attribute](r.Attributes)
			if err != nil {
				return nil, fmt.Errorf("read the attributes of contract %d: %w", r.ID, err)
			}
			if (contract.Contract{Attributes: attributes}).Fenced() {
				continue
			}
			found[notify.Subject{Type: kind, ID: r.Subject}] = notify.Recipient{Contract: r.ID, Customer: r.CustomerID, Email: r.CustomerEmail, Origin: r.Origin, CreatedAt: instant(r.CreatedAt)}
		}
	}
	return found, nil
}
