package amend_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// parting is a store whose contract has green tea for 5.00 and black tea for
// 7.00, which will be split off.
type parting struct {
	*world
	black string // the line
	due   time.Time
}

func part(t *testing.T) *parting {
	t.Helper()
	w := begin(t)
	w.splits.Orders = &command.Service{Env: w.bills.Env}
	w.must(w.db.Update(t.Context(), w.of.ID, func(tx *store.Tx) error {
		of, err := tx.Shop(t.Context())
		if err != nil {
			return err
		}
		of.Settings.ImmediateOrders = true
		return tx.PutShop(t.Context(), of)
	}))
	d, err := w.edits.AddLines(t.Context(), w.of.ID, w.command(), []terms.NewLine{{Variant: w.sold[1], Quantity: 1}})
	w.must(err)
	return &parting{w, d.Lines[1].ID, w.contract(w.ours).NextBillingDate}
}

func (w *parting) split(now bool) error {
	_, err := w.splits.Split(w.t.Context(), w.of.ID, w.command(), split.Params{Lines: []string{w.black}, Now: now})
	return err
}

// charge asks for the next order of our contract at once.
func (w *parting) charge() error {
	var queued []billing.Attempt
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) (err error) {
		queued, err = tx.AttemptsOf(w.t.Context(), []contract.ID{w.ours}, billing.Queued)
		return err
	}))
	return (&command.Service{Env: w.bills.Env}).Trigger(w.t.Context(), w.of.ID, command.Trigger{Line: shop.Subscriptions, Attempt: queued[0].ID, Actor: w.command().Actor})
}

// live lets everybody work until an instant, minute by minute in the last hours.
func (w *parting) live(until time.Time) {
	w.t.Helper()
	for {
		if soon := until.Add(-3 * time.Hour); w.at.Now().Before(soon) {
			w.at.Set(soon)
		}
		w.must(w.lifecycle.RunDue(w.t.Context(), w.of.ID))
		w.must(w.bills.Work(w.t.Context(), w.of.ID))
		w.tea.Run()
		if !w.at.Now().Before(until) {
			return
		}
		if next := w.at.Now().Add(time.Minute); next.Before(until) {
			w.at.Set(next)
		} else {
			w.at.Set(until)
		}
	}
}

// wantCharged compares what was charged of our contract and its parts, as
// "cycle amount".
func (w *parting) wantCharged(want ...string) {
	w.t.Helper()
	var got []string
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) error {
		got = nil
		rows, err := tx.AttemptsOf(w.t.Context(), []contract.ID{w.ours, w.ours + 1, w.ours + 2, w.ours + 3})
		for _, a := range rows {
			if a.Contract != w.other && a.Status == billing.Success {
				got = append(got, fmt.Sprintf("%d %s", a.Cycle, a.Amount))
			}
		}
		return err
	}))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("charged %v, want %v", got, want)
	}
}

func (w *parting) part() contract.Contract {
	w.t.Helper()
	var all []contract.Contract
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) (err error) {
		all, err = tx.Contracts(w.t.Context(), []contract.ID{w.ours + 1, w.ours + 2, w.ours + 3})
		return err
	}))
	at := slices.IndexFunc(all, func(c contract.Contract) bool { return c.SplitFrom == w.ours })
	if at < 0 {
		w.t.Fatal("nothing was split off")
	}
	return all[at]
}

// However long a split takes, each line is in one of the orders of the date that
// passes meanwhile.
func TestDatePassingDuringSplitBelongsToBothContracts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		lost bool // the lines have gone before the date passes
		now  bool
	}{{"before the lines have gone", false, false}, {"after they have gone", true, false}, {"charged at once", true, true}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := part(t)
			w.at.Set(w.due.Add(-5 * time.Second))
			w.way.edit = func(carryOut func() (platform.Detail, error)) (d platform.Detail, err error) {
				if row.lost {
					d, err = carryOut()
				}
				w.at.Set(w.due.Add(3 * time.Second))
				w.must(w.bills.Work(t.Context(), w.of.ID))
				w.at.Set(w.due.Add(30 * time.Second))
				w.must(w.bills.Work(t.Context(), w.of.ID))
				if !row.lost {
					d, err = carryOut()
				}
				return d, err
			}
			w.must(w.split(row.now))
			w.live(w.due.Add(2 * time.Hour))
			w.wantCharged("1 5.00", "1 7.00")
		})
	}
}

// While lines are in two contracts nothing of them is charged at once, and what is
// being charged is not split.
func TestSplitDuringChargeIsRefused(t *testing.T) {
	t.Parallel()
	t.Run("a charge during a split", func(t *testing.T) {
		t.Parallel()
		w := part(t)
		w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
			if err := w.charge(); !fault.Is(err, fault.Conflict) {
				t.Errorf("a charge was answered with %v", err)
			}
			w.must(w.bills.Work(t.Context(), w.of.ID))
			w.at.Set(w.at.Now().Add(3 * time.Second))
			w.tea.Run()
			return carryOut()
		}
		w.must(w.split(false))
		w.live(w.due.Add(2 * time.Hour))
		w.wantCharged("1 5.00", "1 7.00")
	})
	t.Run("a split during a charge", func(t *testing.T) {
		t.Parallel()
		w := part(t)
		w.must(w.charge())
		if err := w.split(false); !fault.Is(err, fault.Conflict) {
			t.Errorf("a split was answered with %v", err)
		}
		w.live(w.due.Add(2 * time.Hour))
		w.wantCharged("1 12.00")
	})
}

// A slow worker does not undo a request for a contract whose split another worker
// else has finished.
func TestSlowWorkerLeavesFinishedSplitAlone(t *testing.T) {
	t.Parallel()
	w := part(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.live(w.at.Now().Add(2 * contract.PendingChangeTimeout))
		cmd := amend.Command{Line: shop.Subscriptions, Contract: w.part().ID, Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "erp"}}
		_, paused := w.lifecycle.SetStatus(t.Context(), w.of.ID, cmd, lifecycle.StatusChange{To: contract.Paused})
		w.must(paused)
		return d, err
	}
	_ = w.split(false)
	if c := w.part(); c.Status != contract.Paused {
		t.Errorf("the part is %s, want PAUSED", c.Status)
	}
	w.live(w.due.Add(2 * time.Hour))
	w.wantCharged("1 5.00")
}
