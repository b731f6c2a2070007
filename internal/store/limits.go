package store

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// SharedBuckets returns the buckets that all nodes share, or nil where there is but one
// node: SQLite has no buckets.
func (db *DB) SharedBuckets() access.SharedBuckets {
	if !db.engine.dialect().locks {
		return nil
	}
	return sharedBuckets{db}
}

// sharedBuckets keeps buckets in a table that no crash of the server is worth writing to
// disk for. The server's clock fills them: those of nodes differ.
type sharedBuckets struct{ db *DB }

// Take gives tokens back, then takes as many as are wanted or as there are, from
// the key's bucket and from the shop's.
func (b sharedBuckets) Take(ctx context.Context, bucket access.Bucket, want, back int) (access.Grant, error) {
	if bucket.Key == 0 { // the shop's own bucket
		return access.Grant{}, fault.New(fault.Internal, "a bucket names no key")
	}
	for run := 1; ; run++ {
		var granted access.Grant
		err := b.db.in(bucket.Shop).NewRaw("SELECT granted, remains FROM rate_take(?, ?, ?, ?, ?, ?)",
			bucket.Shop, bucket.Key, bucket.Rate.PerSecond, bucket.Rate.Burst, want, back).Scan(ctx, &granted.Granted, &granted.Remains)
		if err == nil {
			return granted, nil
		}
		if !b.db.engine.retryable(err) || run == maxRuns || ctx.Err() != nil {
			return access.Grant{}, fmt.Errorf("take from the rate limit of shop %d: %w", bucket.Shop, err)
		}
		pause(ctx, run) // who makes a bucket can meet others who do
	}
}
