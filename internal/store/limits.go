package store

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// Bank returns the buckets that all nodes share, or nil where there is but one
// node: SQLite has no buckets.
func (db *DB) Bank() access.Bank {
	if !db.engine.dialect().locks {
		return nil
	}
	return bank{db}
}

// bank keeps buckets in a table that no crash of the server is worth writing to
// disk for. The server's clock fills them: those of nodes differ.
type bank struct{ db *DB }

// Take gives tokens back, then takes as many as are wanted or as there are, from
// the key's bucket and from the shop's.
func (b bank) Take(ctx context.Context, bucket access.Bucket, want, back int) (access.Loan, error) {
	if bucket.Key == 0 { // the shop's own bucket
		return access.Loan{}, fault.New(fault.Internal, "a bucket names no key")
	}
	for run := 1; ; run++ {
		var loan access.Loan
		err := b.db.in(bucket.Shop).NewRaw("SELECT granted, remains FROM rate_take(?, ?, ?, ?, ?, ?)",
			bucket.Shop, bucket.Key, bucket.Rate.PerSecond, bucket.Rate.Burst, want, back).Scan(ctx, &loan.Granted, &loan.Remains)
		if err == nil {
			return loan, nil
		}
		if !b.db.engine.retryable(err) || run == maxRuns || ctx.Err() != nil {
			return access.Loan{}, fmt.Errorf("take from the rate limit of shop %d: %w", bucket.Shop, err)
		}
		pause(ctx, run) // who makes a bucket can meet others who do
	}
}
