package billing

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// KeyOf returns the idempotency key of a try. It depends only on what the charge is, so
// that a restored database, another node or a repeated job sends the same charge under the
// same key.
func KeyOf(shopDomain string, c contract.ID, cycle, try int) string {
	text := fmt.Sprintf("%s|%s|%d|%d", shopDomain, gid.Of("SubscriptionContract", int64(c)), cycle, try)
	sum := sha256.Sum256([]byte(text))
	return "prn1-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}

// Request states the intent to charge. The first request of a cycle is its first try; a
// request after a failure is the next one. The caller sets DueAt.
func (a *Attempt) Request(s shop.Shop, now time.Time) error {
	failed := a.Status == Failure
	if err := a.ChangeStatus(Requesting); err != nil {
		return err
	}
	if a.Try == 0 || failed {
		a.newTry(s)
	}
	if a.AttemptedAt.IsZero() {
		a.AttemptedAt = now
	}
	return nil
}

// newTry gives the attempt its next idempotency key. The end of the previous try must be
// known.
func (a *Attempt) newTry(s shop.Shop) {
	a.Try++
	a.Key = KeyOf(s.Domain, a.Contract, a.Cycle, a.Try)
	a.FirstSentAt, a.SentAt, a.AttemptedAt = time.Time{}, time.Time{}, time.Time{}
	a.Failures, a.Polls = 0, 0
	a.PlatformID, a.ActionURL = "", ""
}
