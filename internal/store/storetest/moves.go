package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testMoves(t *testing.T, open opener) {
	open.twice(t, "a move is kept whole, and written only as it was read", func(t *testing.T, open opener) {
		w := begin(t, open)
		whole := moving.Move{
			Direction: moving.Out, Peer: moving.Peer{Address: "https://a.example", Memberships: "https://b.example", Loyalty: "https://c.example", Key: "key", Rate: 2.5}, Status: moving.Reading, Paused: true,
			By: activity.Actor{Source: activity.MerchantPortal, By: "ana", ClientIP: "192.0.2.1"}, Plans: map[int64]int64{1: 2}, Line: shop.Memberships, Page: 3, Announced: 4, Wave: 10,
			Failures: 2, Failure: "late", FailedAt: day, ListedAt: day.Add(1e9), ListAt: day.Add(2e9), Since: day.Add(3e9), CreatedAt: day.Add(4e9), ReadAt: day.Add(5e9), DueAt: day.Add(6e9),
			Parts: moving.Parts{Source: 2, Page: 3, BeganAt: day.Add(7e9), ReadAt: day.Add(8e9), Make: true, Declined: true},
		}
		w.in(func(tx *store.Tx) error { whole.ID = 0; return tx.PutMove(t.Context(), &whole) })
		w.in(func(tx *store.Tx) error {
			got, err := tx.Move(t.Context(), whole.ID)
			if diff := cmp.Diff(whole, got); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			due, err := tx.DueMoves(t.Context(), whole.DueAt, 9)
			if len(due) != 1 || err != nil {
				t.Errorf("due: %+v, %v", due, err)
			}
			if due, err = tx.DueMoves(t.Context(), whole.DueAt.Add(-1e6), 9); len(due) != 0 || err != nil {
				t.Errorf("due too early: %+v, %v", due, err)
			}
			stale := whole
			stale.Version--
			if err := tx.PutMove(t.Context(), &stale); !fault.Is(err, fault.Conflict) {
				t.Errorf("an old version was written: %v", err)
			}
			if _, err := tx.Move(t.Context(), whole.ID+1); !fault.Is(err, fault.NotFound) {
				t.Errorf("a move that does not exist: %v", err)
			}
			return nil
		})
	})
	open.twice(t, "contracts of a move are found by stage and when they are due", func(t *testing.T, open opener) {
		w := begin(t, open)
		m := moving.Move{Direction: moving.In, Peer: moving.Peer{Key: "key"}, Status: moving.Ready, CreatedAt: day, DueAt: day}
		usd := money.Amount{Minor: 1250, Currency: "USD"}
		coming := moving.Coming{Here: 2500, HereOrders: 2, There: 1250, ThereOrders: 1}
		item := func(id int64, s moving.Stage, due time.Time) moving.Item {
			c := moving.Contract{ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Customer: contract.Customer{ID: 7}, Lines: []moving.Line{{ID: "l", Variant: 4, Quantity: 1, Price: usd}}, Next: day}
			return moving.Item{
				Move: m.ID, There: id, Stage: s, Fit: moving.Goes, Contract: c, Findings: []moving.Finding{{Fit: moving.Changes, Code: "c", Field: "f", Text: "t"}},
				Plan: moving.Order{Date: day, Amount: usd, Lines: []moving.Sold{{Variant: 4, Quantity: 1}}}, Coming: coming, Round: 1, Here: 12, Unanswered: true, Since: day, DueAt: due,
			}
		}
		w.in(func(tx *store.Tx) error {
			m.ID = 0
			if err := tx.PutMove(t.Context(), &m); err != nil {
				return err
			}
			if n, err := tx.AddMoveItems(t.Context(), m.ID, shop.Subscriptions, []int64{1, 2, 3}, day); n != 3 || err != nil {
				t.Errorf("added %d, %v", n, err)
			}
			moved := item(5, moving.Moved, time.Time{})
			moved.EndedAt = day.Add(time.Minute)
			failed := item(4, moving.Shadow, time.Time{})
			failed.Code, failed.Reason = "refused", "why"
			return tx.PutMoveItems(t.Context(), []moving.Item{item(1, moving.Making, day.Add(time.Hour)), item(2, moving.Shadow, day.Add(2*time.Hour)), failed, moved})
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.MoveItem(t.Context(), m.ID, 2)
			if diff := cmp.Diff(item(2, moving.Shadow, day.Add(2*time.Hour)), got); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			numbers := func(list []moving.Item, err error) (ids []int64) {
				if err != nil {
					t.Error(err)
				}
				for _, i := range list {
					ids = append(ids, i.There)
				}
				return ids
			}
			later := day.Add(3 * time.Hour)
			for what, is := range map[string]struct{ got, want []int64 }{
				"due":                 {numbers(tx.DueMoveItems(t.Context(), m.ID, later, false, 9)), []int64{3, 1, 2}},
				"due between":         {numbers(tx.DueMoveItems(t.Context(), m.ID, later, true, 9)), []int64{1}},
				"due one":             {numbers(tx.DueMoveItems(t.Context(), m.ID, later, false, 1)), []int64{3}},
				"shadows that go":     {numbers(tx.WaitingMoveItems(t.Context(), m.ID, 9)), []int64{2}},
				"all after the first": {numbers(tx.MoveItems(t.Context(), m.ID, moving.Match{}, 1, 9)), []int64{2, 3, 4, 5}},
				"of a stage":          {numbers(tx.MoveItems(t.Context(), m.ID, moving.Match{Stages: []moving.Stage{moving.Shadow}, Fit: moving.Goes}, 0, 9)), []int64{2, 4}},
				"with a finding":      {numbers(tx.MoveItems(t.Context(), m.ID, moving.Match{Code: "c"}, 1, 9)), []int64{2, 4, 5}},
				"with another one":    {numbers(tx.MoveItems(t.Context(), m.ID, moving.Match{Code: "t"}, 0, 9)), nil},
				"failing":             {numbers(tx.MoveItems(t.Context(), m.ID, moving.Match{Failing: true}, 0, 9)), []int64{4}},
			} {
				if !slices.Equal(is.got, is.want) {
					t.Errorf("%s: %v, want %v", what, is.got, is.want)
				}
			}
			if next, err := tx.NextMoveItem(t.Context(), m.ID, true); !next.Equal(day.Add(time.Hour)) || err != nil {
				t.Errorf("next between the services: %s, %v", next, err)
			}
			counts, err := tx.MoveCounts(t.Context(), m.ID)
			want := []moving.Count{
				{Stage: moving.Found, N: 1}, {Stage: moving.Making, Fit: moving.Goes, Currency: "USD", N: 1, Amount: 1250, Coming: coming},
				{Stage: moving.Moved, Fit: moving.Goes, Currency: "USD", N: 1, Amount: 1250, Coming: coming},
				{Stage: moving.Shadow, Fit: moving.Goes, Currency: "USD", N: 2, Failing: 1, Amount: 2500, Coming: moving.Coming{Here: 5000, HereOrders: 4, There: 2500, ThereOrders: 2}},
			}
			if diff := cmp.Diff(want, counts); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			found, err := tx.MoveFindings(t.Context(), m.ID)
			if diff := cmp.Diff([]moving.FindingCount{{Code: "c", Fit: moving.Changes, Contracts: 3, Example: "t"}}, found); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			goes, err := tx.NextToMove(t.Context(), m.ID, 9)
			if diff := cmp.Diff([]moving.Count{{Currency: "USD", N: 1, Amount: 1250, Coming: coming}}, goes); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			n, first, err := tx.ArrivedSince(t.Context(), m.ID, day)
			if n != 1 || !first.Equal(day.Add(time.Minute)) || err != nil {
				t.Errorf("%d have arrived, the first at %s, %v", n, first, err)
			}
			if n, first, err = tx.ArrivedSince(t.Context(), m.ID, day.Add(time.Hour)); n != 0 || !first.IsZero() || err != nil {
				t.Errorf("since later %d have arrived, the first at %s, %v", n, first, err)
			}
			// listed again: what can still be read is due, and what is between the services is left alone
			if n, err := tx.AddMoveItems(t.Context(), m.ID, shop.Subscriptions, []int64{1, 2, 5, 6}, later); n != 1 || err != nil {
				t.Errorf("added %d, %v", n, err)
			}
			if got := numbers(tx.DueMoveItems(t.Context(), m.ID, later, false, 9)); !slices.Equal(got, []int64{3, 1, 2, 6}) {
				t.Errorf("due after another listing: %v", got)
			}
			return nil
		})
	})
	open.twice(t, "a file is kept in parts, and what was read of it is replaced", func(t *testing.T, open opener) {
		w := begin(t, open)
		m := moving.Move{Direction: moving.In, Status: moving.Listing, CreatedAt: day, File: &moving.File{
			Name: "all.csv", Bytes: 9, Lines: 3, Parts: 2, Header: []string{"a", "b"}, Columns: []moving.Column{{Values: 3}, {Values: 2, Looks: moving.Money}},
			Totals:  moving.Totals{{Currency: "EUR", Contracts: 3, Unpriced: 1, Amount: 2500}},
			Choices: moving.Choices{Fields: map[string]string{"id": "a"}, LeftOut: []string{"b"}, DecimalComma: new(true), DayFirst: new(false)},
		}}
		read := func(id int64, s moving.Stage, note string) moving.Item {
			return moving.Item{Move: m.ID, There: id, Stage: s, Contract: moving.Contract{ID: id, Line: shop.Subscriptions, Note: note, ImportedID: "x"}, Since: day}
		}
		w.in(func(tx *store.Tx) error {
			if err := tx.PutMove(t.Context(), &m); err != nil {
				return err
			}
			for n, part := range []string{"first", "second"} {
				if err := tx.AddMoveFile(t.Context(), m.ID, n, []byte(part)); err != nil {
					return err
				}
			}
			return tx.AddReadItems(t.Context(), []moving.Item{read(-2, moving.Staying, "old"), read(1, moving.Shadow, "old"), read(2, moving.Making, "old")})
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.Move(t.Context(), m.ID)
			if diff := cmp.Diff(m.File, got.File); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			if part, err := tx.MoveFile(t.Context(), m.ID, 1); string(part) != "second" || err != nil {
				t.Errorf("%q, %v", part, err)
			}
			return tx.AddReadItems(t.Context(), []moving.Item{read(-2, moving.Shadow, "new"), read(1, moving.Staying, "new"), read(2, moving.Shadow, "new"), read(3, moving.Shadow, "new")})
		})
		w.in(func(tx *store.Tx) error {
			items, err := tx.MoveItems(t.Context(), m.ID, moving.Match{}, 0, 9)
			if diff := cmp.Diff([]moving.Item{read(-2, moving.Shadow, "new"), read(1, moving.Staying, "new"), read(2, moving.Making, "old"), read(3, moving.Shadow, "new")}, items); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			if err := tx.RemoveMoveFile(t.Context(), m.ID); err != nil {
				return err
			}
			return tx.RemoveMoveItems(t.Context(), m.ID)
		})
		w.in(func(tx *store.Tx) error {
			if part, err := tx.MoveFile(t.Context(), m.ID, 0); !fault.Is(err, fault.NotFound) {
				t.Errorf("a file that was removed: %q, %v", part, err)
			}
			if items, err := tx.MoveItems(t.Context(), m.ID, moving.Match{}, 0, 9); len(items) > 0 || err != nil {
				t.Errorf("contracts that were removed: %v, %v", items, err)
			}
			return nil
		})
	})
	open.twice(t, "parts of a move are kept whole, listed again and removed when they are gone", testMoveParts)
	open.twice(t, "compared orders are counted by verdict, and one is replaced", func(t *testing.T, open opener) {
		w := begin(t, open)
		usd := money.Amount{Minor: 1250, Currency: "USD"}
		one := moving.Compared{Move: 7, There: 1, Date: day, Verdict: moving.Missing, Planned: usd, Text: "why"}
		w.in(func(tx *store.Tx) error {
			return tx.AddCompared(t.Context(), []moving.Compared{one, {Move: 7, There: 2, Date: day.Add(time.Hour), Verdict: moving.Same, Planned: usd, Charged: usd, Order: 3}})
		})
		one.Verdict, one.Text = moving.Late, "later"
		w.in(func(tx *store.Tx) error { return tx.AddCompared(t.Context(), []moving.Compared{one}) })
		w.in(func(tx *store.Tx) error {
			got, err := tx.ComparedOrders(t.Context(), 7, []moving.Verdict{moving.Late}, 9)
			if diff := cmp.Diff([]moving.Compared{one}, got); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			sums, err := tx.MoveTallies(t.Context(), 7)
			if diff := cmp.Diff([]moving.Tally{{Verdict: moving.Late, N: 1}, {Verdict: moving.Same, N: 1}}, sums); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			return nil
		})
	})
}
