package billing

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// late is how long a charge may have been due before it counts as overdue: an
// outage lies behind it, and others have waited as long.
const late = 2 * time.Hour

// spread puts off an order that is long overdue to the contract's own instant
// within the store's window, so that an outage does not end in a burst. An order
// that waited for this instant is due on it, and no longer overdue.
func spread(a Attempt, s shop.Shop, now time.Time) (decision, bool) {
	if a.Manual || a.DueAt.IsZero() || now.Sub(a.DueAt) < late {
		return decision{}, false
	}
	until := turn(s.Domain, a.Contract, s.Settings.CatchUp(), now)
	return decision{action: wait, until: until, reason: "long overdue: charges that an outage made late are spread"}, until.After(now)
}

// turn returns the contract's next turn in windows of a length, at or after an
// instant. It is a function of what the contract is, so that every node finds the
// same one, and contracts lie evenly in the window.
func turn(domain string, c contract.ID, window time.Duration, from time.Time) time.Time {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(domain+"|"), uint64(c))) //nolint:gosec // its bits are wanted
	from = from.Truncate(time.Millisecond)
	width := window.Milliseconds()
	phase := int64(binary.BigEndian.Uint64(sum[:8]) % uint64(width)) //nolint:gosec // smaller than the window
	passed := (from.UnixMilli() - phase) % width
	return from.Add(time.Duration((width-passed)%width) * time.Millisecond)
}
