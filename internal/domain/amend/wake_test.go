package amend_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestAChangeOfStatusThatIsNotAnsweredIsToldAgainLessAndLessOften(t *testing.T) {
	t.Parallel()
	w := begin(t)
	told := 0
	w.way.status = func(string) (platform.Detail, error) {
		told++
		return platform.Detail{}, platform.ErrUnknown
	}
	_, err := w.amend.SetStatus(t.Context(), w.of.ID, w.command(), amend.StatusChange{To: contract.Paused, Reason: "away"})
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the change ended with %v", err)
	}
	var waits []int
	for range 9 {
		c := w.contract(w.ours)
		waits = append(waits, int(c.AmendAt.Sub(w.at.Now()).Minutes()))
		w.at.Set(c.AmendAt.Add(-time.Millisecond))
		w.must(w.amend.Work(t.Context(), w.of.ID))
		before := told
		w.at.Set(c.AmendAt)
		w.must(w.amend.Work(t.Context(), w.of.ID))
		if told == before {
			t.Fatalf("nobody told the platform again at %s", w.at.Now())
		}
	}
	if want := []int{1, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(waits, want) {
		t.Errorf("the platform is told again after %v minutes, want %v", waits, want)
	}
	w.way.status = nil
	w.at.Set(w.contract(w.ours).AmendAt)
	w.must(w.amend.Work(t.Context(), w.of.ID))
	if c := w.contract(w.ours); c.Status != contract.Paused || c.Moving != nil || !c.AmendAt.IsZero() {
		t.Errorf("in the end the contract is %s, on the move %+v, and looked at again at %s", c.Status, c.Moving, c.AmendAt)
	}
	w.wantEntries("in the end", w.ours, "MERCHANT_EXTERNAL_API CONTRACT_PAUSED")
}

// What was told and not answered is not forgotten because the platform is busy when
// it is told again.
func TestABusyPlatformDoesNotUndoAChangeOfStatus(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("the first answer is known: %t", known), func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.way.status = func(string) (platform.Detail, error) {
				if known {
					return platform.Detail{}, platform.ErrThrottled
				}
				return platform.Detail{}, platform.ErrUnknown
			}
			if _, err := w.amend.SetStatus(t.Context(), w.of.ID, w.command(), amend.StatusChange{To: contract.Paused}); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("the change ended with %v", err)
			}
			if moving := w.contract(w.ours).Moving != nil; moving == known {
				t.Fatalf("the contract is on the move: %t", moving)
			}
			w.way.status = func(string) (platform.Detail, error) { return platform.Detail{}, platform.ErrThrottled }
			w.at.Set(w.at.Now().Add(contract.Leash))
			w.must(w.amend.Work(t.Context(), w.of.ID))
			if moving := w.contract(w.ours).Moving != nil; moving == known {
				t.Errorf("later the contract is on the move: %t", moving)
			}
		})
	}
}

// The simulator lets no contract that has ended run again. What the service does
// where a platform does is seen on one that says so of a contract that never ended.
func TestACancelledContractStartsAgainWhereThePlatformAllowsIt(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.status = func(to string) (platform.Detail, error) {
		d, err := w.way.client.Detail(t.Context(), w.of.At(), int64(w.ours))
		d.Status = to
		d.Revision = w.contract(w.ours).Revision + 1
		return d, err
	}
	set := func(to contract.Status, said string) contract.Contract {
		w.at.Set(w.at.Now().Add(time.Minute))
		_, err := w.amend.SetStatus(t.Context(), w.of.ID, w.command(), amend.StatusChange{To: to, Feedback: said})
		w.must(err)
		return w.contract(w.ours)
	}
	due := w.contract(w.ours).NextBillingDate
	if c := set(contract.Cancelled, "enough"); c.Status != contract.Cancelled || !c.NextBillingDate.IsZero() || c.CancellationFeedback != "enough" {
		t.Fatalf("cancelled: %s, next order %s, %q", c.Status, c.NextBillingDate, c.CancellationFeedback)
	}
	if c := set(contract.Active, ""); c.Status != contract.Active || !c.NextBillingDate.Equal(due) || !c.CancelledAt.IsZero() || c.CancellationFeedback != "" {
		t.Errorf("started again: %s, next order %s instead of %s, cancelled at %s, %q", c.Status, c.NextBillingDate, due, c.CancelledAt, c.CancellationFeedback)
	}
	w.wantEntries("in the end", w.ours, "MERCHANT_EXTERNAL_API CONTRACT_CANCELLED", "MERCHANT_EXTERNAL_API CONTRACT_ACTIVATED")
}
