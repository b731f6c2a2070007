package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// How many renewals the limit writes together: as many as the service takes up, and one,
// as is done by who charges contract after contract.
const (
	together = 200
	single   = 1
)

// limitConns is how many connections write the limit on PostgreSQL. SQLite has
// one writer.
const limitConns = 4

// statement is one of those that a renewal comes down to, for many rows at once on
// PostgreSQL and for one on SQLite. Its parameters are the shop, the attempt, the
// contract, a text that is unique, and the instant.
type statement struct{ postgres, sqlite string }

const rows = " FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS r (id, contract, word) WHERE "

func updateAttempt(set string) statement {
	return statement{
		"UPDATE attempts SET updated_at = $5::bigint, version = version + 1, " + fmt.Sprintf(set, "r.word", "$5::bigint") + rows + "attempts.shop_id = $1::bigint AND attempts.id = r.id",
		"UPDATE attempts SET updated_at = ?5, version = version + 1, " + fmt.Sprintf(set, "?4", "?5") + " WHERE shop_id = ?1 AND id = ?2",
	}
}

func insertInto(table, columns, values string) statement {
	return statement{
		"INSERT INTO " + table + " (shop_id, " + columns + ") SELECT $1::bigint, " + fmt.Sprintf(values, "r.id", "r.contract", "r.word", "$5::bigint") + rows + "true",
		"INSERT INTO " + table + " (shop_id, " + columns + ") VALUES (?1, " + fmt.Sprintf(values, "?2", "?3", "?4", "?5") + ")",
	}
}

// apart keeps the numbers of the limit's rows from those of the service.
const apart = "1000000000"

// limitSteps are the transactions of a renewal: the intent, what the platform
// accepted, its webhook, and the settling of it.
func limitSteps() [][]statement {
	finish := statement{
		"UPDATE inbox SET due_at = NULL, finished_at = $5::bigint" + rows + "inbox.shop_id = $1::bigint AND inbox.id = 'limit-' || r.word",
		"UPDATE inbox SET due_at = NULL, finished_at = ?5 WHERE shop_id = ?1 AND id = 'limit-' || ?4",
	}
	return [][]statement{
		{updateAttempt("status = 'REQUESTING', due_at = %[2]s, try = 1, key = 'limit-' || %[1]s, first_sent_at = %[2]s, sent_at = %[2]s")},
		{updateAttempt("status = 'PROGRESS', due_at = %[2]s + 600000, platform_id = 'gid://shopify/SubscriptionBillingAttempt/' || %[1]s")},
		{insertInto("inbox", "id, topic, triggered_at, api_version, contract_id, revision, attempt, key, cycle, payment_method, customer_id, kept_customer_id, received_at, due_at, failures, reason",
			"'limit-' || %[3]s, 'subscription_billing_attempts/success', %[4]s, '2026-10', %[2]s, 0, 'gid://shopify/SubscriptionBillingAttempt/' || %[3]s, %[3]s, 0, '', 0, 0, %[4]s, %[4]s, 0, ''")},
		{
			updateAttempt("status = 'SUCCESS', due_at = NULL, order_id = 1, order_name = '#' || %[1]s, attempted_at = %[2]s"),
			{
				"UPDATE contracts SET orders = orders + 1, lifetime = lifetime + 1980, last_order_name = '#' || r.word, last_order_id = r.id, last_order_at = $5::bigint, next_billing_date = $5::bigint, updated_at = $5::bigint, version = version + 1" +
					rows + "contracts.shop_id = $1::bigint AND contracts.id = r.contract",
				"UPDATE contracts SET orders = orders + 1, lifetime = lifetime + 1980, last_order_name = '#' || ?4, last_order_id = ?2, last_order_at = ?5, next_billing_date = ?5, updated_at = ?5, version = version + 1 WHERE shop_id = ?1 AND id = ?3",
			},
			insertInto("attempts", "id, contract_id, cycle, status, billing_date, moved, due_at, publish_lease_until, try, key, first_sent_at, sent_at, failures, polls, manual, attempted_at, platform_id, error_code, error_message, action_url, order_id, order_name, amount, currency, lines, note, flags, preparation, dunning, created_at, updated_at, version",
				"%[1]s + "+apart+", %[2]s, 1000, 'QUEUED', %[4]s + "+apart+"000, false, %[4]s + "+apart+"000, 0, 0, '', 0, 0, 0, 0, false, 0, '', '', '', '', 0, '', 0, '', '', '', '', '', '', %[4]s, %[4]s, 1"),
			insertInto("activity", "id, entity_id, entity_type, event, status, source, actor, client_ip, recorded_at, info",
				"%[1]s + "+apart+", %[1]s, 'SUBSCRIPTION_BILLING_ATTEMPT', 'BILLING_ATTEMPT_TRIGGERED', 'SUCCESS', 'SYSTEM_EVENT', '', '', %[4]s, '{\"cycle\":1,\"orderName\":\"#' || %[3]s || '\"}'"),
			insertInto("search_terms", "id, contract_id, kind, term", "%[1]s + "+apart+", %[2]s, 'order', '#limit' || %[3]s || '-' || %[4]s"),
			finish,
		},
	}
}

// limitWork is a batch of attempts of one shop.
type limitWork struct {
	shop           int64
	ids, contracts []int64
	words          []string
}

// limit writes the rows of n renewals with bare statements on the same tables, so many
// of them together, and returns how many it wrote a second.
func (d database) limit(ctx context.Context, n, size int) (float64, error) {
	work, err := d.limitBatches(ctx, size)
	if err != nil {
		return 0, err
	}
	for _, clear := range []string{
		"DELETE FROM inbox", "DELETE FROM attempts WHERE id > " + apart, "DELETE FROM activity WHERE id > " + apart, "DELETE FROM search_terms WHERE id > " + apart,
	} {
		if _, err := d.bare.ExecContext(ctx, clear); err != nil {
			return 0, err
		}
	}
	if err := d.analyze(ctx); err != nil {
		return 0, err
	}
	begun := clock.System{}.Now()
	var g errgroup.Group
	g.SetLimit(limitConns)
	if d.kind == "sqlite" {
		g.SetLimit(1)
	}
	for _, w := range work {
		g.Go(func() error {
			for _, step := range limitSteps() {
				if err := d.write(ctx, w, step, begun); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	return float64(n) / clock.System{}.Now().Sub(begun).Seconds(), nil
}

func (d database) limitBatches(ctx context.Context, size int) ([]limitWork, error) {
	found, err := d.bare.QueryContext(ctx, "SELECT shop_id, id, contract_id FROM attempts WHERE status = 'SUCCESS' ORDER BY shop_id, id")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var work []limitWork
	for found.Next() {
		var of, id, c int64
		if err := found.Scan(&of, &id, &c); err != nil {
			return nil, err
		}
		if last := len(work) - 1; last < 0 || work[last].shop != of || len(work[last].ids) == size {
			work = append(work, limitWork{shop: of})
		}
		w := &work[len(work)-1]
		w.ids, w.contracts, w.words = append(w.ids, id), append(w.contracts, c), append(w.words, fmt.Sprint(id))
	}
	return work, found.Err()
}

// write runs one transaction of the limit.
func (d database) write(ctx context.Context, w limitWork, step []statement, now time.Time) error {
	tx, err := d.bare.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after the commit
	for _, s := range step {
		if err := d.writeOne(ctx, tx, w, s, now.UnixMilli()); err != nil {
			return fmt.Errorf("%s: %w", s.sqlite, err)
		}
	}
	return tx.Commit()
}

func (d database) writeOne(ctx context.Context, tx *sql.Tx, w limitWork, s statement, now int64) error {
	if d.kind == "postgres" {
		_, err := tx.ExecContext(ctx, s.postgres, w.shop, w.ids, w.contracts, w.words, now)
		return err
	}
	stmt, err := tx.PrepareContext(ctx, s.sqlite)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i := range w.ids {
		if _, err := stmt.ExecContext(ctx, w.shop, w.ids[i], w.contracts[i], w.words[i], now); err != nil {
			return err
		}
	}
	return nil
}
