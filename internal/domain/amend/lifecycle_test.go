package amend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

func TestUnansweredStatusChangeBacksOff(t *testing.T) {
	t.Parallel()
	w := begin(t)
	sent := 0
	w.way.status = func(string) (platform.Detail, error) {
		sent++
		return platform.Detail{}, platform.ErrUnknown
	}
	_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Paused, Reason: "away"})
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the change ended with %v", err)
	}
	var waits []int
	for range 9 {
		c := w.contract(w.ours)
		waits = append(waits, int(c.AmendAt.Sub(w.at.Now()).Minutes()))
		w.at.Set(c.AmendAt.Add(-time.Millisecond))
		w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
		before := sent
		w.at.Set(c.AmendAt)
		w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
		if sent == before {
			t.Fatalf("the status was not sent again at %s", w.at.Now())
		}
	}
	if want := []int{1, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(waits, want) {
		t.Errorf("the status is sent again after %v minutes, want %v", waits, want)
	}
	w.way.status = nil
	w.at.Set(w.contract(w.ours).AmendAt)
	w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
	if c := w.contract(w.ours); c.Status != contract.Paused || c.Moving != nil || !c.AmendAt.IsZero() {
		t.Errorf("in the end the contract is %s, on the move %+v, and looked at again at %s", c.Status, c.Moving, c.AmendAt)
	}
	w.wantEntries("in the end", w.ours, "MERCHANT_EXTERNAL_API CONTRACT_PAUSED")
}

// A status change that was not answered is kept when the platform is busy as
// it is sent again.
func TestBusyPlatformKeepsUnansweredStatusChange(t *testing.T) {
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
			if _, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Paused}); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("the change ended with %v", err)
			}
			if moving := w.contract(w.ours).Moving != nil; moving == known {
				t.Fatalf("the contract is on the move: %t", moving)
			}
			w.way.status = func(string) (platform.Detail, error) { return platform.Detail{}, platform.ErrThrottled }
			w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
			w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
			if moving := w.contract(w.ours).Moving != nil; moving == known {
				t.Errorf("later the contract is on the move: %t", moving)
			}
		})
	}
}

// What has ended is not activated again, and the platform is not asked to.
func TestTerminatedContractCannotBeActivated(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Cancelled})
	w.must(err)
	w.way.status = func(to string) (platform.Detail, error) {
		t.Errorf("the platform is asked for %s", to)
		return platform.Detail{}, platform.ErrUnknown
	}
	for name, change := range map[string]lifecycle.StatusChange{
		"at once":        {To: contract.Active},
		"on a later day": {To: contract.Active, From: w.at.Now().AddDate(0, 0, 3)},
	} {
		_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), change)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.FailedPrecondition || f.ErrorKey != "contractTerminated" || !strings.Contains(f.Message, "restart") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.wantEntries("in the end", w.ours, "MERCHANT_EXTERNAL_API CONTRACT_CANCELLED")
}

// What the platform refuses is not tried again, and nothing is left of it.
func TestRefusedStatusChangeIsRemoved(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.status = func(string) (platform.Detail, error) {
		return platform.Detail{}, &platform.Refusal{Code: "INVALID", Message: "Not today."}
	}
	for range 2 { // the second does not wait for the first
		_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Paused})
		if !fault.Is(err, fault.FailedPrecondition) && !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "the platform refuses the change: Not today.") {
			t.Errorf("the change ended with %v", err)
		}
		if c := w.contract(w.ours); c.Moving != nil {
			t.Errorf("the contract is on the move %+v", c.Moving)
		}
	}
	w.wantEntries("in the end", w.ours)
}

// sleepy is a store of a node that sleeps after its nth commit, while others go on.
type sleepy struct {
	amend.Store
	awake     int
	meanwhile func()
}

func (s *sleepy) Update(ctx context.Context, of shop.ID, fn func(intake.Tx) error) error {
	err := s.Store.Update(ctx, of, fn)
	if s.awake--; s.awake == 0 {
		s.meanwhile()
	}
	return err
}

// What a contract waits to become is made of it only while it still waits.
func TestSlowWorkerKeepsStatusChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		meanwhile []contract.Status
		want      contract.Status
		entries   []string // after those of the pause
	}{
		"the paused contract is cancelled": {[]contract.Status{contract.Cancelled}, contract.Cancelled, []string{"MERCHANT_EXTERNAL_API CONTRACT_CANCELLED"}},
		"it is activated":                  {[]contract.Status{contract.Active}, contract.Active, []string{"MERCHANT_EXTERNAL_API CONTRACT_ACTIVATED"}},
		"it is activated and paused again": {[]contract.Status{contract.Active, contract.Paused}, contract.Paused, []string{"MERCHANT_EXTERNAL_API CONTRACT_ACTIVATED", "MERCHANT_EXTERNAL_API CONTRACT_PAUSED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.way.status = func(to string) (platform.Detail, error) { // one that lets cancelled contracts start again
				d, err := w.way.client.Detail(t.Context(), w.of.At(), int64(w.ours))
				d.Status, d.Revision = to, w.contract(w.ours).Revision+1
				return d, err
			}
			set := func(to contract.Status, until time.Time) {
				_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: to, Until: until})
				w.must(err)
			}
			set(contract.Paused, w.at.Now().AddDate(0, 0, 2))
			w.at.Set(w.contract(w.ours).AmendAt)
			editor := *w.lifecycle.Editor
			editor.Store = &sleepy{w.edits.Store, 1, func() {
				for _, to := range row.meanwhile {
					set(to, time.Time{})
				}
			}}
			slept := *w.lifecycle
			slept.Editor = &editor
			w.must(slept.RunDue(t.Context(), w.of.ID))
			w.at.Set(w.at.Now().Add(time.Hour))
			w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
			if c := w.contract(w.ours); c.Status != row.want || c.Moving != nil {
				t.Errorf("the contract is %s, on the move %+v; want %s", c.Status, c.Moving, row.want)
			}
			w.wantEntries("in the end", w.ours, append([]string{"MERCHANT_EXTERNAL_API CONTRACT_PAUSED", "MERCHANT_EXTERNAL_API AUTO_RESUME_SCHEDULED"}, row.entries...)...)
		})
	}
}

// A worker that is slow between storing a status change and sending it
// finds that another node has sent it, and leaves later changes alone.
func TestSlowWorkerSendsNoOldStatus(t *testing.T) {
	t.Parallel()
	w := begin(t)
	editor := *w.lifecycle.Editor
	editor.Store = &sleepy{w.edits.Store, 1, func() { // it was written down
		w.at.Set(w.contract(w.ours).AmendAt)
		w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
		_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Active})
		w.must(err)
	}}
	slept := *w.lifecycle
	slept.Editor = &editor
	_, err := slept.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Paused})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("the slow worker got: %v", err)
	}
	w.tell(w.ours)
	if c := w.contract(w.ours); c.Status != contract.Active || c.Moving != nil {
		t.Errorf("the contract is %s, on the move %+v", c.Status, c.Moving)
	}
	w.wantEntries("in the end", w.ours, "MERCHANT_EXTERNAL_API CONTRACT_PAUSED", "MERCHANT_EXTERNAL_API CONTRACT_ACTIVATED")
}

// Of two nodes that find the same contract one acts on it.
func TestRunDueActsOnContractOnOneNode(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, err := w.lifecycle.SetStatus(t.Context(), w.of.ID, w.command(), lifecycle.StatusChange{To: contract.Paused, Until: w.at.Now().AddDate(0, 0, 2)})
	w.must(err)
	w.at.Set(w.contract(w.ours).AmendAt)
	sent := 0
	w.way.status = func(to string) (platform.Detail, error) {
		if sent++; sent == 1 { // while the status is sent
			other := *w.lifecycle
			other.Due = &found{w.lifecycle.Due, []contract.Contract{w.contract(w.ours)}}
			w.must(other.RunDue(t.Context(), w.of.ID))
		}
		return w.way.client.SetStatus(t.Context(), w.of.At(), int64(w.ours), to)
	}
	w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
	if c := w.contract(w.ours); c.Status != contract.Active || sent != 1 {
		t.Errorf("the contract is %s, and the status was sent %d times", c.Status, sent)
	}
}

// A change that waits for the next order is made or taken back, not both.
func TestPendingChangeInFlightCannotBeCancelled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		during  func(w *world, takeBack func())
		want    fault.Kind // of taking it back; 0: done
		product int        // that the contract has then
		entries []string
	}{
		{"before it is read", func(w *world, takeBack func()) { w.way.detail = takeBack }, 0, 0, []string{"MERCHANT_EXTERNAL_API INFORMATIONAL_EVENT"}},
		{"while it is made", func(w *world, takeBack func()) {
			w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
				takeBack()
				return carryOut()
			}
		}, fault.Conflict, 1, []string{replaced}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.must(w.db.Update(t.Context(), w.of.ID, func(tx *store.Tx) error {
				rows, err := tx.Contracts(t.Context(), []contract.ID{w.ours})
				w.must(err)
				c := &rows[0]
				c.Pending = &contract.PendingChange{Line: c.Lines[0].ID, OldVariant: w.sold[0], Variant: w.sold[1], At: c.NextBillingDate}
				c.ResetAmendAt()
				return tx.PutContracts(t.Context(), rows)
			}))
			w.at.Set(w.contract(w.ours).AmendAt)
			row.during(w, func() {
				err := w.edits.CancelPendingChange(t.Context(), w.of.ID, w.command())
				if row.want == 0 && err != nil || row.want != 0 && !fault.Is(err, row.want) {
					t.Errorf("taking it back: %v", err)
				}
			})
			w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
			if c := w.contract(w.ours); c.Pending != nil || c.Lines[0].VariantID != w.sold[row.product] || c.ChangingUntil.After(w.at.Now()) {
				t.Errorf("the contract has %+v, waits for %+v and is being changed until %s", c.Lines, c.Pending, c.ChangingUntil)
			}
			w.wantEntries("in the end", w.ours, row.entries...)
		})
	}
}

// found is what a node has found to do just before another one began with it.
type found struct {
	lifecycle.Finder
	due []contract.Contract
}

func (f *found) ContractsToAmend(ctx context.Context, of shop.ID, now time.Time, limit int) ([]contract.Contract, error) {
	if due := f.due; len(due) > 0 {
		f.due = nil // once
		return due, nil
	}
	return f.Finder.ContractsToAmend(ctx, of, now, limit)
}
