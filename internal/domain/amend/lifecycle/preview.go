package lifecycle

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Preview returns what SetStatus would store of a contract, by the same rule, and changes
// nothing: Moving is the status change, Ending a cancellation that waits. The attempts are
// those of the contract that are QUEUED or SKIPPED.
func Preview(store shop.Shop, c contract.Contract, attempts []billing.Attempt, by activity.Actor, w StatusChange, now time.Time) (contract.Contract, error) {
	if err := w.Check(now); err != nil {
		return c, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return c, err
	}
	_, err = decide(&c, w, inputs{settings: store.Settings, calendar: cal, actor: by}.withAttempts(attempts, now), now)
	return c, err
}
