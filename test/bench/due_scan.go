package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/store"
)

// What due_scan stores and asks.
const (
	scanContracts = 1000 // that have all the attempts
	scanDue       = 1000 // attempts that are due, however many are stored
	scanBatch     = 200
	scanRuns      = 100
)

// dueScan finds what is due among few and among many stored attempts.
func dueScan(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.scanOn(ctx, kind); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
	}
	return nil
}

// scan is how long the two questions take.
type scan struct{ attempts, shops time.Duration }

func (s settings) scanOn(ctx context.Context, kind string) error {
	var few, many scan
	for _, size := range []struct {
		stored int
		took   *scan
	}{{s.stored / 10, &few}, {s.stored, &many}} {
		var err error
		if *size.took, err = s.scanAmong(ctx, kind, size.stored); err != nil {
			return err
		}
		s.print("due_scan db=%s stored=%d due=%d due_attempts_p50_ms=%.3f due_shops_p50_ms=%.3f", kind, size.stored, scanDue, ms(size.took.attempts), ms(size.took.shops))
	}
	s.print("due_scan db=%s ratio_attempts=%.2f ratio_shops=%.2f goal=1.20", kind,
		many.attempts.Seconds()/few.attempts.Seconds(), many.shops.Seconds()/few.shops.Seconds())
	return nil
}

func (s settings) scanAmong(ctx context.Context, kind string, stored int) (scan, error) {
	d, err := s.fresh(ctx, kind)
	if err != nil {
		return scan{}, err
	}
	defer d.drop()
	db, err := d.open(ctx)
	if err != nil {
		return scan{}, err
	}
	defer db.Close()
	of, err := addShop(ctx, db, 1, scanContracts)
	if err != nil {
		return scan{}, err
	}
	now := epoch().AddDate(1, 0, 0)
	if err := d.fillAttempts(ctx, int64(of), stored, now); err != nil {
		return scan{}, err
	}
	if err := d.analyze(ctx); err != nil {
		return scan{}, err
	}
	var took scan
	enough := errors.New("enough") // rolls back
	took.attempts, _, err = times(scanRuns, func() error {
		err := db.Billing().Update(ctx, of, func(tx billing.Tx) error {
			due, err := tx.DueAttempts(ctx, now, scanBatch)
			if err == nil && len(due) != scanBatch {
				err = fmt.Errorf("%d attempts are due", len(due))
			}
			return errors.Join(err, enough)
		})
		if errors.Is(err, enough) && err.Error() == enough.Error() {
			return nil
		}
		return err
	})
	if err != nil {
		return scan{}, err
	}
	took.shops, err = dueShops(ctx, db, now)
	return took, err
}

func dueShops(ctx context.Context, db *store.DB, now time.Time) (time.Duration, error) {
	p50, _, err := times(scanRuns, func() error {
		due, err := db.Shops().DueShops(ctx, now, scanBatch)
		if err == nil && len(due) != 1 {
			err = fmt.Errorf("%d shops are due", len(due))
		}
		return err
	})
	return p50, err
}

// fillAttempts stores attempts by bare SQL: some are due, a tenth wait for a later
// day, and the rest are past.
func (d database) fillAttempts(ctx context.Context, of int64, stored int, now time.Time) error {
	numbers := fmt.Sprintf("generate_series(0, %d) AS s (n)", stored-1)
	if d.kind == "sqlite" {
		numbers = fmt.Sprintf("(WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s) AS s", stored-1)
	}
	every := stored / scanDue
	waits := stored / 10
	_, err := d.bare.ExecContext(ctx, fmt.Sprintf(`INSERT INTO attempts (shop_id, id, contract_id, cycle, status, billing_date, moved, due_at, publish_lease_until, try, key, first_sent_at, sent_at,
	failures, polls, manual, attempted_at, platform_id, error_code, error_message, action_url, order_id, order_name, amount, currency, lines, note, flags, preparation, dunning, created_at, updated_at, version)
SELECT %[1]d, 1000000 + n, 10000001 + n %% %[2]d, n / %[2]d + 1,
	CASE WHEN n %% %[3]d = 0 OR n < %[4]d THEN 'QUEUED' ELSE 'SUCCESS' END, %[5]d - 60000, false,
	CASE WHEN n %% %[3]d = 0 THEN %[5]d - n %% 60000 WHEN n < %[4]d THEN %[5]d + 86400000 + n END,
	0, 0, '', 0, 0, 0, 0, false, 0, '', '', '', '', n, '#' || n, 990, 'USD', '', '', '', '', '', %[5]d, %[5]d, 1
FROM %[6]s`, of, scanContracts, every, waits, now.UnixMilli(), numbers))
	return err
}
