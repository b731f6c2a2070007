package explain

import (
	"encoding/json"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
)

// happening is an entry of the log that has been read.
type happening struct {
	activity.Entry
	what happened
	told billing.EntryInfo
}

// happened is what an entry records about an attempt.
type happened int

const (
	other happened = iota
	charged
	failed
	askedFor // a person asked for a charge
	skippedBy
	ended // without a charge, by the service
	takenBack
	moved
	doubled
	repriced
	carriedAlong // a one-time product
)

// history reads the entries about the attempt.
func (f Facts) history() []happening {
	list := make([]happening, 0, len(f.Entries))
	for _, e := range f.Entries {
		h := happening{Entry: e, told: parseOutcome(e.Info)}
		switch {
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Success:
			h.what = charged
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Failure && h.told.Try > 0:
			h.what = failed
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Info:
			h.what = askedFor
		case e.Event == activity.BillingAttemptSkipped && e.Status == activity.Success:
			h.what = skippedBy
		case e.Event == activity.DunningSkipped, e.Event == activity.DunningCancelled, e.Event == activity.DunningAttemptSkipped && f.Status == billing.SkippedDunning:
			h.what = ended
		case e.Event == activity.BillingAttemptSkipped, e.Event == activity.DuplicateBillingAttemptDetected && e.Status == activity.Skipped:
			h.what = ended
		case e.Event == activity.BillingAttemptUpdated && h.told.Reason == billing.NoLongerSkipped:
			h.what = takenBack
		case e.Event == activity.NextBillingDateChange:
			h.what = moved
		case e.Event == activity.DuplicateBillingAttemptDetected:
			h.what = doubled
		case e.Event == activity.ProductPriceChange:
			h.what = repriced
		case e.Event == activity.OneTimePurchaseProductAdded && e.Status == activity.Success, e.Event == activity.OneTimePurchaseProductUpdate, e.Event == activity.OneTimePurchaseProductRemoved:
			h.what = carriedAlong
		}
		list = append(list, h)
	}
	return list
}

func lastOf(history []happening, what happened) (happening, bool) {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].what == what {
			return history[i], true
		}
	}
	return happening{}, false
}

func count(history []happening, what happened) (n int) {
	for _, h := range history {
		if h.what == what {
			n++
		}
	}
	return n
}

// parseOutcome reads the additional information of an entry; what is none of ours
// tells nothing.
func parseOutcome(info string) (o billing.EntryInfo) {
	if err := json.Unmarshal([]byte(info), &o); err != nil {
		return billing.EntryInfo{}
	}
	return o
}

// parseInstant reads an instant of an entry; zero when it has none.
func parseInstant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
