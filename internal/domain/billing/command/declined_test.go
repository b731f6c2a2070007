package command

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// unpaid returns the record of an order that was declined a day ago and is charged again by plan.
func unpaid(t *testing.T, change ...func(*draft)) draft {
	t.Helper()
	r := waits(func(r *draft) {
		r.BillingDate = billingtest.Now.AddDate(0, 0, -1)
		r.Status, r.Try, r.ErrorCode = billing.Failure, 1, "CARD_DECLINED"
	})
	g, err := billing.CaseInputs(r.shop, r.Attempt)
	if err != nil {
		t.Fatal(err)
	}
	r.Dunning.Decline(g, "CARD_DECLINED", r.BillingDate, r.BillingDate)
	r.Dunning.NotifiedAt = r.BillingDate
	r.DueAt = r.Dunning.NextDue(g)
	billing.SyncCase(&r.Of, r.Attempt, r.shop)
	for _, f := range change {
		f(&r)
	}
	return r
}

func TestStoppedRetriesLeaveOrderToCustomer(t *testing.T) {
	t.Parallel()
	r := unpaid(t)
	retry := r.Dunning.RetryAt
	entries, err := stopRetries(&r, activity.Actor{By: "ana"}, billingtest.Now)
	if err != nil || len(entries) != 1 || entries[0].Event != activity.DunningAttemptSkipped || entries[0].Actor.By != "ana" {
		t.Fatalf("%+v %v", entries, err)
	}
	k := r.Of.Dunning
	if r.Status != billing.Failure || r.Dunning.State != dunning.Open || !r.Dunning.RetryAt.IsZero() || !r.Dunning.EndAt.After(retry) || !r.DueAt.After(billingtest.Now) {
		t.Errorf("the case is %+v, due %s", r.Dunning, r.DueAt)
	}
	if k == nil || !k.RetryAt.IsZero() || !k.EndAt.Equal(r.Dunning.EndAt) {
		t.Errorf("the contract shows %+v", k)
	}
	if _, err := stopRetries(&r, activity.Actor{}, billingtest.Now); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("stopping them twice: %v", err)
	}
}

func TestOrderThatIsGivenUpIsSkipped(t *testing.T) {
	t.Parallel()
	r := unpaid(t)
	entries, err := giveUp(&r, activity.Actor{By: "ana"}, billingtest.Now)
	if err != nil || len(entries) != 1 || entries[0].Event != activity.DunningSkipped || entries[0].Status != activity.Success {
		t.Fatalf("%+v %v", entries, err)
	}
	if r.Status != billing.SkippedDunning || r.Dunning.State != dunning.Lost || r.Dunning.Action != dunning.Skip || !r.DueAt.IsZero() || r.Of.Dunning != nil || r.Of.Status != contract.Active {
		t.Errorf("%s, %+v, contract %s with %+v", r.Status, r.Dunning, r.Of.Status, r.Of.Dunning)
	}
}

func TestOrderThatIsNotUnpaidIsNeitherLeftNorGivenUp(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*draft)
		want   fault.Kind
	}{
		"a queued order":                     {func(r *draft) { r.Status, r.Dunning = billing.Queued, dunning.Case{} }, fault.FailedPrecondition},
		"an order whose charge is in flight": {func(r *draft) { r.Status = billing.Progress }, fault.Conflict},
		"a case that is closed":              {func(r *draft) { r.Dunning.Close(dunning.Lost, time.Time{}) }, fault.FailedPrecondition},
		"a contract that is being paused":    {func(r *draft) { r.Of.Moving = &contract.Move{} }, fault.Conflict},
	} {
		for what, do := range map[string]func(*draft, activity.Actor, time.Time) ([]activity.Entry, error){"left": stopRetries, "given up": giveUp} {
			r := unpaid(t, row.change)
			if _, err := do(&r, activity.Actor{}, billingtest.Now); !fault.Is(err, row.want) {
				t.Errorf("%s is %s: %v", name, what, err)
			}
		}
	}
}
