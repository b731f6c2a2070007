package decide

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// late is how long a charge may have been due before it counts as overdue: an
// outage lies behind it, and others have waited as long.
const late = 2 * time.Hour

// spread postpones an order that is long overdue to the contract's own instant within the store's
// window, so that an outage does not end in a burst.
func spread(a billing.Attempt, s shop.Shop, now time.Time) (Decision, bool) {
	if a.Manual || a.DueAt.IsZero() || now.Sub(a.DueAt) < late {
		return Decision{}, false
	}
	until := turn(s.Domain, a.Contract, s.Settings.CatchUp(), now)
	return Decision{Action: Wait, Until: until, Reason: "long overdue: charges that an outage made late are spread"}, until.After(now)
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
