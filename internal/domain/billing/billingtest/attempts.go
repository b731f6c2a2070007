// Package billingtest has attempts, a contract and a store in memory for the tests of
// billing's rooms.
package billingtest

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Now is the tests' present.
var Now = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

// Due returns a QUEUED attempt that fell due a minute ago.
func Due(change ...func(*billing.Attempt)) billing.Attempt {
	a := billing.Attempt{ID: 1, Contract: 9001, Cycle: 3, Status: billing.Queued, BillingDate: Now.Add(-time.Minute), DueAt: Now.Add(-time.Minute)}
	for _, f := range change {
		f(&a)
	}
	return a
}

// Sent returns an attempt whose try was sent first and last that long ago.
func Sent(first, last time.Duration) billing.Attempt {
	return Due(func(a *billing.Attempt) {
		a.Status, a.Try, a.Key = billing.Requesting, 1, "key"
		a.FirstSentAt, a.SentAt = Now.Add(-first), Now.Add(-last)
	})
}

// Monthly returns an active contract that renews every month.
func Monthly() contract.Contract {
	return contract.Contract{
		ID: 9001, Status: contract.Active, AutoCharge: true,
		Billing: contract.Policy{Interval: cadence.Month, Count: 1},
		Series:  contract.Series{Cycle: 1, Start: time.Date(2026, 1, 10, 14, 0, 0, 0, time.UTC)},
	}
}

// Calendar is that of the tests' store.
var Calendar = cadence.Calendar{Zone: time.UTC, Hour: 14}

// InCase returns a failed attempt with an open case whose retry is due.
func InCase(change ...func(*dunning.Case)) billing.Attempt {
	k := dunning.Case{State: dunning.Open, OpenedAt: Now.AddDate(0, 0, -1), TriedAt: Now.AddDate(0, 0, -1), Class: dunning.Issuer, RetryAt: Now}
	for _, f := range change {
		f(&k)
	}
	return Due(func(a *billing.Attempt) {
		a.Status, a.Try, a.ErrorCode, a.BillingDate, a.FirstSentAt, a.Dunning = billing.Failure, 1, "CARD_DECLINED", k.OpenedAt, k.OpenedAt, k
	})
}
