package storetest

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"

	"github.com/google/go-cmp/cmp"
)

func testBulk(t *testing.T, open opener) {
	open.twice(t, "jobs are kept whole, found when they are due, and started once for each key", func(t *testing.T, open opener) {
		w := begin(t, open)
		whole := bulk.Job{
			Action: bulk.Action{
				Kind: bulk.SetPrice, Until: day, Reason: "moving", Now: true, Days: -3, Date: day, Future: true, Variant: 7, NewVariant: 8, Quantity: 2,
				Price: money.Amount{Minor: 1250, Currency: "USD"}, Code: "TEN", Min: new(0), Max: new(12),
			},
			Selection: bulk.Selection{Filter: &contract.Filter{Line: shop.Subscriptions, Status: contract.Active, CustomerPart: "ada", CreatedTo: day, Prepaid: new(false)}},
			Status:    bulk.Running, Key: "key", By: activity.Actor{Source: activity.MerchantPortalBulkAutomation, By: "ana@shop.example", ClientIP: "192.0.2.1"}, RetryOf: 4,
			Total: 10, Collected: 9, Cursor: 8, Succeeded: 7, Failed: 6, CreatedAt: day, StartedAt: day.Add(1e9), EndedAt: day.Add(2e9), DueAt: day.Add(3e9),
		}
		over := bulk.Job{Action: bulk.Action{Kind: bulk.Pause}, Status: bulk.Finished, Key: "over", By: activity.Actor{Source: activity.MerchantPortalBulkAutomation}, CreatedAt: day}
		w.in(func(tx *store.Tx) error {
			whole.ID, over.ID = 0, 0
			if err := tx.PutBulkJob(t.Context(), &whole); err != nil {
				return err
			}
			return tx.PutBulkJob(t.Context(), &over)
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.BulkJob(t.Context(), whole.ID)
			if diff := cmp.Diff(whole, got); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			got, found, err := tx.BulkJobByKey(t.Context(), "over")
			if diff := cmp.Diff(over, got); diff != "" || err != nil || !found {
				t.Errorf("by key: %t, %v, %s", found, err, diff)
			}
			if _, found, err = tx.BulkJobByKey(t.Context(), "another"); found || err != nil {
				t.Errorf("by an unknown key: %t, %v", found, err)
			}
			all, err := tx.BulkJobs(t.Context(), false, 10)
			if len(all) != 2 || all[0].ID != over.ID || err != nil {
				t.Errorf("listed %+v, %v", all, err)
			}
			running, err := tx.BulkJobs(t.Context(), true, 10)
			if len(running) != 1 || running[0].ID != whole.ID || err != nil {
				t.Errorf("open %+v, %v", running, err)
			}
			due, err := tx.DueBulkJobs(t.Context(), whole.DueAt, 10)
			if len(due) != 1 || due[0].ID != whole.ID || err != nil {
				t.Errorf("due %+v, %v", due, err)
			}
			if due, err = tx.DueBulkJobs(t.Context(), whole.DueAt.Add(-time.Millisecond), 10); len(due) != 0 || err != nil {
				t.Errorf("due before: %+v, %v", due, err)
			}
			_, err = tx.BulkJob(t.Context(), 9_999_999)
			w.wantKind(err, fault.NotFound)
			return nil
		})
		if ids, err := w.across(w.db.Shops().DueBulkShops, whole.DueAt, 10); len(ids) != 1 || ids[0] != w.shop.ID || err != nil {
			t.Errorf("due: shops %v, %v", ids, err)
		}
		w.wantNext(day, whole.DueAt)
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			return tx.PutBulkJob(t.Context(), &bulk.Job{Status: bulk.Running, Key: "key"})
		})
		w.wantKind(err, fault.Conflict)
		stale := whole
		w.in(func(tx *store.Tx) error {
			whole.Succeeded++
			return tx.PutBulkJob(t.Context(), &whole)
		})
		err = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutBulkJob(t.Context(), &stale) })
		w.wantKind(err, fault.Conflict)
		other := w.addShop("other.myshopify.com")
		err = w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error {
			_, err := tx.BulkJob(t.Context(), whole.ID)
			return err
		})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("contracts of a job are added once, found when they are due, and written whole", func(t *testing.T) {
		w := begin(t, open)
		const job = bulk.JobID(5)
		w.in(func(tx *store.Tx) error {
			if n, err := tx.AddBulkItems(t.Context(), job, day, []contract.ID{3, 1, 2}); n != 3 || err != nil {
				t.Errorf("added %d, %v", n, err)
			}
			if n, err := tx.AddBulkItems(t.Context(), job, day, []contract.ID{2, 4}); n != 1 || err != nil {
				t.Errorf("added %d more, %v", n, err)
			}
			_, err := tx.AddBulkItems(t.Context(), job+1, day, []contract.ID{1})
			return err
		})
		begun := bulk.Item{Job: job, Contract: 2, Status: bulk.Begun, DueAt: day.Add(1e9), Tries: 2, Intent: bulk.Intent{Attempt: 9, Date: day.Add(2e9), Discount: "gid://d/1"}, Code: "busy", Reason: "being changed"}
		failed := bulk.Item{Job: job, Contract: 3, Status: bulk.Refused, Tries: 1, Code: "sameStatus", Reason: "PAUSED already", EndedAt: day}
		w.in(func(tx *store.Tx) error { return tx.PutBulkItems(t.Context(), []bulk.Item{begun, failed}) })
		w.in(func(tx *store.Tx) error {
			due, err := tx.DueBulkItems(t.Context(), job, day, false, 10)
			if len(due) != 2 || due[0].Contract != 1 || due[1].Contract != 4 || due[0].Status != bulk.Waiting || err != nil {
				t.Errorf("due %+v, %v", due, err)
			}
			due, err = tx.DueBulkItems(t.Context(), job, begun.DueAt, true, 10)
			if diff := cmp.Diff([]bulk.Item{begun}, due); diff != "" || err != nil {
				t.Errorf("begun and due: %v, %s", err, diff)
			}
			list, err := tx.BulkItems(t.Context(), job, bulk.Refused, 0, 10)
			if diff := cmp.Diff([]bulk.Item{failed}, list); diff != "" || err != nil {
				t.Errorf("failed: %v, %s", err, diff)
			}
			if list, err = tx.BulkItems(t.Context(), job, bulk.Refused, 3, 10); len(list) != 0 || err != nil {
				t.Errorf("failed after the last: %+v, %v", list, err)
			}
			if list, err = tx.BulkItemsOf(t.Context(), job, []contract.ID{3, 2, 99}); len(list) != 2 || list[0].Contract != 2 || err != nil {
				t.Errorf("by id: %+v, %v", list, err)
			}
			for of, want := range map[bool]time.Time{false: day, true: begun.DueAt} {
				if next, err := tx.NextBulkItem(t.Context(), job, of); !next.Equal(want) || err != nil {
					t.Errorf("next (begun: %t) is at %v, %v; want %v", of, next, err, want)
				}
			}
			if next, err := tx.NextBulkItem(t.Context(), 99, false); !next.IsZero() || err != nil {
				t.Errorf("next of none is at %v, %v", next, err)
			}
			return nil
		})
	})
	t.Run("a change marks the contract of its job alone, by its own id or its attempt's", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2), monthly(3))
		queued := w.queue(billing.Attempt{Contract: 2, Cycle: 1, Status: billing.Queued, BillingDate: day})
		const job = bulk.JobID(5)
		w.in(func(tx *store.Tx) error {
			for _, j := range []bulk.JobID{job, job + 1} {
				if _, err := tx.AddBulkItems(t.Context(), j, day, []contract.ID{1, 2, 3}); err != nil {
					return err
				}
			}
			return bulk.NoteChanges(t.Context(), tx, []activity.Entry{
				{EntityID: 1, EntityType: activity.EntitySubscriptionContractDetails, Status: activity.Success, Actor: activity.Actor{Job: int64(job)}},
				{EntityID: int64(queued[0].ID), EntityType: activity.EntitySubscriptionBillingAttempt, Status: activity.Success, Actor: activity.Actor{Job: int64(job)}},
				{EntityID: 3, EntityType: activity.EntitySubscriptionContractDetails, Status: activity.PartialFailure, Actor: activity.Actor{Job: int64(job)}},
				{EntityID: 3, EntityType: activity.EntitySubscriptionContractDetails, Status: activity.Success},
			})
		})
		w.in(func(tx *store.Tx) error {
			for j, want := range map[bulk.JobID][]bool{job: {true, true, false}, job + 1: {false, false, false}} {
				list, err := tx.BulkItems(t.Context(), j, bulk.Waiting, 0, 10)
				var got []bool
				for _, i := range list {
					got = append(got, i.Changed)
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("job %d: %v, %s", j, err, diff)
				}
			}
			return nil
		})
	})
	t.Run("contracts that match a search are found in pages, by id", func(t *testing.T) {
		w := begin(t, open)
		paused := monthly(3)
		paused.Status = contract.Paused
		w.put(monthly(1), monthly(2), paused, monthly(4), monthly(5))
		for name, f := range map[string]contract.Filter{
			"by status": {Line: shop.Subscriptions, Status: contract.Active},
			"by dates":  {Line: shop.Subscriptions, Status: contract.Active, UpdatedFrom: day.AddDate(-50, 0, 0)},
		} {
			var all []contract.ID
			for after := contract.ID(0); ; after = all[len(all)-1] {
				ids, err := w.db.MatchingContracts(t.Context(), w.shop.ID, f, after, 3)
				if err != nil {
					t.Fatal(err)
				}
				if all = append(all, ids...); len(ids) < 3 {
					break
				}
			}
			n, err := w.db.CountMatching(t.Context(), w.shop.ID, f)
			if diff := cmp.Diff([]contract.ID{1, 2, 4, 5}, all); diff != "" || n != 4 || err != nil {
				t.Errorf("%s: %d, %v, %s", name, n, err, diff)
			}
		}
	})
}
