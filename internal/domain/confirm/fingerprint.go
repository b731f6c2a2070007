package confirm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Codes of why a confirmation is not accepted.
const (
	SyncRuns       = "syncRuns"
	PreviewChanged = "previewChanged"
)

// keepPreview is how long what was shown can be confirmed.
const keepPreview = 24 * time.Hour

// Fingerprint names what a preview shows. It has the instant until which the preview looks,
// so that time alone, which brings more orders, does not change it.
type Fingerprint string

// Fingerprint returns a text that differs when other orders would be charged: their totals,
// or the earliest ones.
func (p Preview) Fingerprint() Fingerprint {
	sum := sha256.New()
	for _, t := range p.Totals {
		fmt.Fprintf(sum, "%d:%s:%d\n", t.Orders, t.Amount.Currency, t.Amount.Minor)
	}
	for _, o := range p.First {
		fmt.Fprintf(sum, "%d:%d:%d:%s:%d\n", o.Contract, o.Cycle, o.Date.UnixMilli(), o.Amount.Currency, o.Amount.Minor)
	}
	return Fingerprint(fmt.Sprintf("%d-%s", p.Until.UnixMilli(), hex.EncodeToString(sum.Sum(nil)[:16])))
}

// until returns the instant until which the preview looks. It is not valid when the
// preview is too old, or no preview of ours.
func (f Fingerprint) until(now time.Time) (until time.Time, valid bool) {
	text, _, _ := strings.Cut(string(f), "-")
	ms, err := strconv.ParseInt(text, 10, 64)
	until = time.UnixMilli(ms).UTC()
	if err != nil || until.After(now.Add(Ahead)) || until.Before(now.Add(Ahead-keepPreview)) {
		return now.Add(Ahead), false
	}
	return until, true
}
