package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testDue(t *testing.T, open opener) {
	open.twice(t, "nothing is due in an empty store", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.wantNext(day, time.Time{})
		if ids, err := w.across(w.db.Shops().DueShops, day, 10); len(ids) != 0 || err != nil {
			t.Errorf("due: %v, %v", ids, err)
		}
	})
	open.twice(t, "attempts are due from their instant on, the earliest first, each shop once", func(t *testing.T, open opener) {
		w := begin(t, open)
		second, third := w.addShop("second.myshopify.com"), w.addShop("third.myshopify.com")
		w.put(monthly(1))
		never := queued(1, 9, day)
		never.DueAt = time.Time{}
		later := queued(1, 4, day)
		later.DueAt, later.PublishAt = day.Add(time.Hour), day.Add(-time.Hour)
		w.queue(queued(1, 3, day), queued(1, 2, day.Add(-time.Minute)), later, never)
		for _, s := range []shop.Shop{second, third} {
			w.inShop(s.ID, func(tx *store.Tx) error {
				if err := tx.PutContracts(t.Context(), []contract.Contract{monthly(1)}); err != nil {
					return err
				}
				return tx.PutAttempts(t.Context(), []billing.Attempt{queued(1, 2, day.Add(-time.Duration(s.ID)*time.Minute))})
			})
			w.remind(s.ID)
		}
		w.in(func(tx *store.Tx) error {
			due, err := tx.DueAttempts(t.Context(), day, 10)
			if got := cycles(due); !reflect.DeepEqual(got, [][2]int{{1, 2}, {1, 3}}) {
				t.Errorf("due: %v", got)
			}
			if err != nil {
				return err
			}
			for at, want := range map[time.Time]billing.PendingWork{day: {Unpublished: true}, day.Add(-2 * time.Hour): {}} {
				if waits, err := tx.PendingWork(t.Context(), at); err != nil || waits != want {
					t.Errorf("at %s waits %+v, %v; want %+v", at, waits, err, want)
				}
			}
			unpublished, err := tx.UnpublishedAttempts(t.Context(), day, 10)
			if got := cycles(unpublished); !reflect.DeepEqual(got, [][2]int{{1, 4}}) {
				t.Errorf("unpublished: %v", got)
			}
			return err
		})
		shops := w.db.Shops()
		if ids, err := w.across(shops.DueShops, day, 10); err != nil || !reflect.DeepEqual(ids, []shop.ID{third.ID, second.ID, w.shop.ID}) {
			t.Errorf("due shops: %v, %v", ids, err)
		}
		if ids, err := w.across(shops.DueShops, day, 1); err != nil || !reflect.DeepEqual(ids, []shop.ID{third.ID}) {
			t.Errorf("one due shop: %v, %v", ids, err)
		}
		if ids, err := w.across(shops.DueShops, day.Add(-time.Hour), 10); err != nil || len(ids) != 0 {
			t.Errorf("due an hour before: %v, %v", ids, err)
		}
		if ids, err := w.across(shops.UnpublishedShops, day, 10); err != nil || !reflect.DeepEqual(ids, []shop.ID{w.shop.ID}) {
			t.Errorf("unpublished shops: %v, %v", ids, err)
		}
		w.wantNext(day, day.Add(-time.Hour))
	})
	open.twice(t, "unpublished attempts wait while a worker publishes their contract's", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.put(monthly(1))
		first, second := queued(1, 2, time.Time{}), queued(1, 3, time.Time{})
		first.PublishAt, second.PublishAt = day, day.Add(time.Minute)
		unpublished := w.queue(first, second)[:1]
		until := day.Add(time.Hour)
		waiting := func(at time.Time, want []shop.ID, next time.Time) {
			t.Helper()
			if ids, err := w.across(w.db.Shops().UnpublishedShops, at, 10); err != nil || !slices.Equal(ids, want) {
				t.Errorf("at %s shops %v have unpublished attempts, %v; want %v", at, ids, err, want)
			}
			w.wantNext(at, next)
			w.in(func(tx *store.Tx) error {
				waits, err := tx.PendingWork(t.Context(), at)
				if waits.Unpublished != (len(want) > 0) {
					t.Errorf("at %s attempts to publish: %v", at, waits.Unpublished)
				}
				if err != nil {
					return err
				}
				found, err := tx.UnpublishedAttempts(t.Context(), at, 10)
				if len(found) != 2*len(want) {
					t.Errorf("at %s unpublished attempts are %v", at, cycles(found))
				}
				return err
			})
		}
		waiting(day.Add(time.Minute), []shop.ID{w.shop.ID}, day)
		w.in(func(tx *store.Tx) error {
			_, err := tx.LeasePublishing(t.Context(), unpublished, day, until)
			return err
		})
		waiting(day.Add(time.Minute), nil, until)
		waiting(until, []shop.ID{w.shop.ID}, day)
	})
}

func testAmending(t *testing.T, open opener) {
	open.twice(t, "contracts that wait for a change are found when it is their time, earliest first, each in its shop", func(t *testing.T, open opener) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		waiting := func(id contract.ID, at time.Time) contract.Contract {
			c := monthly(id)
			c.AmendAt = at
			return c
		}
		w.put(waiting(1, day), waiting(2, day.Add(-time.Hour)), waiting(3, day.Add(time.Hour)), waiting(4, time.Time{}))
		w.inShop(other.ID, func(tx *store.Tx) error {
			return tx.PutContracts(t.Context(), []contract.Contract{waiting(5, day.Add(-time.Minute))})
		})
		w.remind(other.ID)
		for limit, want := range map[int][]contract.ID{1: {2}, 10: {2, 1}} {
			list, err := w.db.ContractsToAmend(t.Context(), w.shop.ID, day, limit)
			var got []contract.ID
			for _, c := range list {
				got = append(got, c.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("at most %d contracts: %d, %v; want %d", limit, got, err, want)
			}
		}
		if shops, err := w.across(w.db.Shops().ShopsToAmend, day, 10); err != nil || !slices.Equal(shops, []shop.ID{w.shop.ID, other.ID}) {
			t.Errorf("shops %d, %v", shops, err)
		}
		w.wantNext(day, day.Add(-time.Hour))
	})
}

func testActivity(t *testing.T, open opener) {
	by := activity.Actor{Source: activity.MerchantExternalAPI, By: "key 7", ClientIP: "192.0.2.1"}
	list := []activity.Entry{
		entry(1, activity.BillingAttemptTriggered, day),
		{EntityID: 2, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractPaused, Status: activity.Failure, Actor: by, At: day.Add(time.Hour), Info: `{"reason":"100%_sure\\"}`},
		entry(3, activity.BillingAttemptSkipped, day.Add(2*time.Hour)),
		entry(1, activity.BillingAttemptSkipped, day.Add(2*time.Hour)),
	}
	w := begin(t, open)
	other := w.addShop("second.myshopify.com")
	for _, of := range []shop.ID{w.shop.ID, other.ID} {
		w.inShop(of, func(tx *store.Tx) error { return tx.Record(t.Context(), list...) })
	}
	t.Run("entries come newest first, as they were recorded", func(t *testing.T) {
		got := w.entries(w.shop.ID)
		for i := range got {
			if got[i].ID == 0 {
				t.Error("an entry has no number")
			}
			got[i].ID = 0
		}
		if want := []activity.Entry{list[3], list[2], list[1], list[0]}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	t.Run("sorted by their instants they come in the order of their own, the newest first of one instant", func(t *testing.T) {
		p := anyPage
		p.Sort = []page.Sort{{Field: activity.FieldAt, Desc: true}}
		got, _, err := w.db.Entries(t.Context(), w.shop.ID, nil, p)
		if want := w.entries(w.shop.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	})
	t.Run("an entry without an instant is refused", func(t *testing.T) {
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			return tx.Record(t.Context(), entry(1, activity.BillingAttemptTriggered, time.Time{}))
		})
		w.wantKind(err, fault.Internal)
	})
	at := func(hours int) []int64 { return []int64{day.Add(time.Duration(hours) * time.Hour).UnixMilli()} }
	texts := func(list ...string) []string { return list }
	tests := []struct {
		name  string
		where []page.Criterion
		want  []int64 // entity ids, oldest first
	}{
		{"a number equals", []page.Criterion{{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{1}}}, []int64{1, 1}},
		{"a number differs", []page.Criterion{{Field: activity.FieldEntityID, Op: page.NotEquals, Numbers: []int64{1}}}, []int64{2, 3}},
		{"a number is one of several", []page.Criterion{{Field: activity.FieldEntityID, Op: page.In, Numbers: []int64{2, 3, 9}}}, []int64{2, 3}},
		{"a number is none of several", []page.Criterion{{Field: activity.FieldEntityID, Op: page.NotIn, Numbers: []int64{2, 3}}}, []int64{1, 1}},
		{"nothing is one of none", []page.Criterion{{Field: activity.FieldEntityID, Op: page.In}}, nil},
		{"a text equals", []page.Criterion{{Field: activity.FieldEvent, Op: page.Equals, Texts: texts("CONTRACT_PAUSED")}}, []int64{2}},
		{"a text is one of several", []page.Criterion{{Field: activity.FieldStatus, Op: page.In, Texts: texts("FAILURE", "INFO")}}, []int64{2}},
		{"a text is none of several", []page.Criterion{{Field: activity.FieldSource, Op: page.NotIn, Texts: texts("SYSTEM_EVENT")}}, []int64{2}},
		{"a text that may be absent is there", []page.Criterion{{Field: activity.FieldBy, Op: page.Specified, Present: true}}, []int64{2}},
		{"a text that may be absent is not there", []page.Criterion{{Field: activity.FieldClientIP, Op: page.Specified}}, []int64{1, 3, 1}},
		{"an instant is later", []page.Criterion{{Field: activity.FieldAt, Op: page.GreaterThan, Numbers: at(1)}}, []int64{3, 1}},
		{"an instant is not earlier", []page.Criterion{{Field: activity.FieldAt, Op: page.GreaterThanOrEqual, Numbers: at(1)}}, []int64{2, 3, 1}},
		{"an instant is earlier", []page.Criterion{{Field: activity.FieldAt, Op: page.LessThan, Numbers: at(1)}}, []int64{1}},
		{"an instant is not later", []page.Criterion{{Field: activity.FieldAt, Op: page.LessThanOrEqual, Numbers: at(1)}}, []int64{1, 2}},
		{"a text contains, in any letter case", []page.Criterion{{Field: activity.FieldEvent, Op: page.Contains, Texts: texts("paus")}}, []int64{2}},
		{"a text does not contain", []page.Criterion{{Field: activity.FieldEvent, Op: page.DoesNotContain, Texts: texts("SKIPPED")}}, []int64{1, 2}},
		{"signs of patterns stand for themselves", []page.Criterion{{Field: activity.FieldInfo, Op: page.Contains, Texts: texts(`100%_sure\`)}}, []int64{2}},
		{"and match nothing else", []page.Criterion{{Field: activity.FieldInfo, Op: page.Contains, Texts: texts(`1_0`)}}, nil},
		{"a text with quotes is only a text", []page.Criterion{{Field: activity.FieldInfo, Op: page.Equals, Texts: texts(`' OR 1=1 --`)}}, nil},
		{"every criterion must be met", []page.Criterion{
			{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{1}}, {Field: activity.FieldEvent, Op: page.Equals, Texts: texts("BILLING_ATTEMPT_SKIPPED")},
		}, []int64{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := anyPage
			p.Sort = []page.Sort{{Field: activity.FieldAt}, {Field: activity.FieldID}}
			found, total, err := w.db.Entries(t.Context(), w.shop.ID, tt.where, p)
			var got []int64
			for _, e := range found {
				got = append(got, e.EntityID)
			}
			if err != nil || total != len(tt.want) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v of %d, %v, want %v", got, total, err, tt.want)
			}
		})
	}
	t.Run("what belongs to the other line is left out", func(t *testing.T) {
		w := begin(t, open)
		club := monthly(2)
		club.Line = shop.Memberships
		w.put(monthly(1), club)
		members := coffee(52)
		members.Line = shop.Memberships
		group := w.plan(members, plan.Items{})
		box := fullBundle("Box")
		box.Line = shop.Memberships
		box = w.putBundle(w.shop.ID, box)
		attempts := w.queue(queued(1, 5, day), queued(2, 5, day))
		decaf := swapRule("Decaf", 1)
		decaf.Line = shop.Memberships
		rule := w.rule(decaf)
		about := map[shop.Line][]activity.Entry{}
		for line, list := range map[shop.Line][]activity.Entry{
			shop.Subscriptions: {{EntityType: activity.EntitySubscriptionContractDetails, EntityID: 1}, {EntityType: activity.EntitySubscriptionBillingAttempt, EntityID: int64(attempts[0].ID)}},
			shop.Memberships: {
				{EntityType: activity.EntitySubscriptionContractDetails, EntityID: 2}, {EntityType: activity.EntitySubscriptionBillingAttempt, EntityID: int64(attempts[1].ID)},
				{EntityType: activity.EntitySubscriptionGroupPlan, EntityID: int64(group.ID)}, {EntityType: activity.EntitySubscriptionBundling, EntityID: int64(box.ID)},
				{EntityType: activity.EntityProductSwap, EntityID: int64(rule.ID)},
			},
			"": {{EntityType: activity.EntityShopInfo, EntityID: int64(w.shop.ID)}, {EntityType: activity.EntitySubscriptionContractDetails, EntityID: 77}}, // of nothing, of both
		} {
			for _, e := range list {
				e.Event, e.Status, e.Actor, e.At = activity.InformationalEvent, activity.Success, activity.System, day
				about[line] = append(about[line], e)
			}
			w.in(func(tx *store.Tx) error { return tx.Record(t.Context(), about[line]...) })
		}
		for line, other := range map[shop.Line]shop.Line{shop.Subscriptions: shop.Memberships, shop.Memberships: shop.Subscriptions} {
			found, total, err := w.db.EntriesOf(t.Context(), w.shop.ID, line, []page.Criterion{{Field: activity.FieldEvent, Op: page.Equals, Texts: texts(string(activity.InformationalEvent))}}, anyPage)
			if want := len(about[line]) + len(about[""]); err != nil || total != want || len(found) != want {
				t.Errorf("%s: %d of %d, want %d, %v", line, len(found), total, want, err)
			}
			for _, e := range found {
				if slices.ContainsFunc(about[other], func(o activity.Entry) bool { return o.EntityType == e.EntityType && o.EntityID == e.EntityID }) {
					t.Errorf("%s shows %s %d", line, e.EntityType, e.EntityID)
				}
			}
		}
	})
	t.Run("a field or a comparison that is not on the list is invalid", func(t *testing.T) {
		for _, c := range []page.Criterion{
			{Field: "id; DROP TABLE activity", Op: page.Equals, Numbers: []int64{1}},
			{Field: activity.FieldEntityID, Op: page.Contains, Numbers: []int64{1}},
			{Field: activity.FieldEntityID, Op: page.Equals, Texts: texts("1")},
			{Field: activity.FieldEntityID, Op: "resembles", Numbers: []int64{1}},
		} {
			_, _, err := w.db.Entries(t.Context(), w.shop.ID, []page.Criterion{c}, anyPage)
			w.wantKind(err, fault.Invalid)
		}
		_, _, err := w.db.Entries(t.Context(), w.shop.ID, nil, page.Request{Size: 1, Sort: []page.Sort{{Field: "random()"}}})
		w.wantKind(err, fault.Invalid)
	})
	t.Run("pages are parts of one order and know the whole number", func(t *testing.T) {
		var got []int64
		for n, size := range []int{3, 1, 0} {
			found, total, err := w.db.Entries(t.Context(), w.shop.ID, nil, page.Request{Page: n, Size: 3, Sort: []page.Sort{{Field: activity.FieldEntityID, Desc: true}}})
			if err != nil || total != 4 || len(found) != size {
				t.Errorf("page %d: %d of %d, %v", n, len(found), total, err)
			}
			for _, e := range found {
				got = append(got, e.EntityID)
			}
		}
		if !reflect.DeepEqual(got, []int64{3, 2, 1, 1}) {
			t.Errorf("got %v", got)
		}
	})
}

func testBook(t *testing.T, open opener) {
	w := begin(t, open)
	member := monthly(3)
	member.Line, member.Customer.ID = shop.Memberships, 901
	twin := monthly(2)
	twin.Customer.ID = 901
	w.put(monthly(1), twin, member)
	past := func(c contract.ID, cycle int, s billing.Status, days int) billing.Attempt {
		a := queued(c, cycle, day.AddDate(0, 0, days))
		a.Status = s
		return a
	}
	put := w.queue(
		past(1, 1, billing.Success, -60), past(1, 2, billing.Progress, -1), past(1, 3, billing.Skipped, 10),
		past(1, 4, billing.Queued, 31), past(1, 5, billing.Queued, 20), past(2, 1, billing.Requesting, -3), past(2, 2, billing.Queued, 25), past(3, 1, billing.Success, -5),
	)
	tests := []struct {
		name string
		ask  billing.Question
		page page.Request
		want [][2]int
		of   int
	}{
		{"upcoming ones of a contract, soonest first", billing.Question{Contract: 1, Upcoming: true}, anyPage, [][2]int{{1, 5}, {1, 4}}, 2},
		{"past ones of a contract, newest first: all that do not wait", billing.Question{Contract: 1}, anyPage, [][2]int{{1, 3}, {1, 2}, {1, 1}}, 3},
		{"upcoming ones of a customer", billing.Question{Customer: 901, Upcoming: true}, anyPage, [][2]int{{1, 5}, {2, 2}, {1, 4}}, 3},
		{"upcoming ones of a contract of the customer's", billing.Question{Contract: 1, Customer: 901, Upcoming: true}, anyPage, [][2]int{{1, 5}, {1, 4}}, 2},
		{"past ones of a customer, a page of them", billing.Question{Customer: 901}, page.Request{Page: 1, Size: 2}, [][2]int{{2, 1}, {1, 1}}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.ask.Line = shop.Subscriptions
			records, total, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, tt.ask, tt.page)
			var got [][2]int
			for _, r := range records {
				got = append(got, [2]int{int(r.Contract), r.Cycle})
				if r.Of.ID != r.Contract {
					t.Errorf("attempt of contract %d comes with contract %d", r.Contract, r.Of.ID)
				}
			}
			if err != nil || total != tt.of || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v of %d, %v, want %v", got, total, err, tt.want)
			}
		})
	}
	t.Run("contracts of another line, and unknown ones, are not found", func(t *testing.T) {
		for _, missing := range []contract.ID{3, 4711} {
			_, _, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, billing.Question{Line: shop.Subscriptions, Contract: missing}, anyPage)
			w.wantKind(err, fault.NotFound)
		}
	})
	t.Run("a contract that is not the customer's is not found", func(t *testing.T) {
		_, _, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, billing.Question{Line: shop.Subscriptions, Contract: 1, Customer: 5, Upcoming: true}, anyPage)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("one attempt comes with its contract, in its line only", func(t *testing.T) {
		r, err := w.db.Attempt(t.Context(), w.shop.ID, shop.Subscriptions, put[0].ID)
		if err != nil || !reflect.DeepEqual(r.Attempt, put[0]) || r.Of.ID != 1 || len(r.LinesOf()) != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
		for _, missing := range []billing.AttemptID{put[7].ID, 4711} {
			_, err = w.db.Attempt(t.Context(), w.shop.ID, shop.Subscriptions, missing)
			w.wantKind(err, fault.NotFound)
		}
	})
}
