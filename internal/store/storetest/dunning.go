package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// fullCase is a case in which nothing is zero.
func fullCase() dunning.Case {
	at := func(hours int) time.Time { return day.Add(time.Duration(hours) * time.Hour) }
	return dunning.Case{
		State: dunning.Open, OpenedAt: at(1), FirstCode: "CARD_DECLINED", Class: dunning.Funds, TriedAt: at(2), Cause: dunning.ByHand, RetryAt: at(3),
		EndAt: at(4), Action: dunning.Cancel, NotifiedAt: at(5), PaidWith: at(6), ClosedAt: at(7), DeclineMails: 2, ConfirmationMails: 1,
	}
}

// unpaid is the contract's note of an order that could not be charged, with every field
// set.
func unpaid(attempt int64) *contract.Dunning {
	return &contract.Dunning{
		Attempt: attempt, Cycle: 3, State: dunning.Ending, Class: dunning.Card, Code: "EXPIRED_CARD", Since: day, Tries: 2,
		RetryAt: day.Add(time.Hour), EndAt: day.Add(2 * time.Hour), Action: dunning.Pause,
	}
}

func testDunning(t *testing.T, open opener) {
	t.Run("unpaid orders are counted and listed by the class of their decline", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		w.put(monthly(1), monthly(2), monthly(3))
		classes := map[contract.ID]dunning.Class{1: dunning.Funds, 2: dunning.Card}
		w.in(func(tx *store.Tx) error {
			contracts, err := tx.Contracts(t.Context(), []contract.ID{1, 2})
			if err != nil {
				return err
			}
			attempts := make([]billing.Attempt, 2)
			for i, c := range contracts {
				attempts[i] = billing.Attempt{Contract: c.ID, Cycle: 3, Status: billing.Failure, BillingDate: day, Dunning: fullCase(), CreatedAt: day, UpdatedAt: day}
			}
			if err := tx.PutAttempts(t.Context(), attempts); err != nil {
				return err
			}
			for i := range contracts {
				contracts[i].Dunning = unpaid(int64(attempts[i].ID))
				contracts[i].Dunning.Class = classes[contracts[i].ID]
			}
			return tx.PutProgress(t.Context(), contracts)
		})
		counts, err := w.db.CaseCounts(t.Context(), w.shop.ID)
		if want := map[dunning.Class]int{dunning.Funds: 1, dunning.Card: 1}; err != nil || !reflect.DeepEqual(counts, want) {
			t.Errorf("counted %v %v, want %v", counts, err, want)
		}
		for _, row := range []struct {
			of      shop.ID
			classes []dunning.Class
			after   contract.ID
			limit   int
			want    []contract.ID
		}{
			{w.shop.ID, nil, 0, 10, []contract.ID{1, 2}},
			{w.shop.ID, nil, 0, 1, []contract.ID{1}},
			{w.shop.ID, nil, 1, 10, []contract.ID{2}},
			{w.shop.ID, []dunning.Class{dunning.Card, dunning.Fraud}, 0, 10, []contract.ID{2}},
			{w.shop.ID, []dunning.Class{dunning.Fraud}, 0, 10, nil},
			{other.ID, nil, 0, 10, nil},
		} {
			list, err := w.db.OpenCases(t.Context(), row.of, row.classes, row.after, row.limit)
			var got []contract.ID
			for _, r := range list {
				got = append(got, r.Of.ID)
				if r.Contract != r.Of.ID {
					t.Errorf("contract %d has the attempt of contract %d", r.Of.ID, r.Contract)
				}
			}
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("%+v: got %v %v", row, got, err)
			}
		}
		w.in(func(tx *store.Tx) error {
			contracts, err := tx.Contracts(t.Context(), []contract.ID{1})
			if err != nil {
				return err
			}
			contracts[0].Dunning = nil
			return tx.PutProgress(t.Context(), contracts)
		})
		if counts, err = w.db.CaseCounts(t.Context(), w.shop.ID); err != nil || counts[dunning.Funds] != 0 {
			t.Errorf("of a closed case is left %v %v", counts, err)
		}
	})
	t.Run("tries are counted for one payment method of one shop, from an instant", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		try := func(method string, hours int) billing.CardTry {
			return billing.CardTry{PaymentMethod: method, At: day.Add(time.Duration(hours) * time.Hour)}
		}
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.AddCardTries(t.Context(), []billing.CardTry{try("a", 5)}) })
		w.in(func(tx *store.Tx) error {
			return tx.AddCardTries(t.Context(), []billing.CardTry{try("a", 3), try("a", 1), try("b", 2), try("a", 0)})
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.CardTries(t.Context(), []string{"a", "b", "c"}, day.Add(time.Hour))
			want := map[string][]time.Time{"a": {try("a", 1).At, try("a", 3).At}, "b": {try("b", 2).At}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v", got)
			}
			if err != nil {
				return err
			}
			none, err := tx.CardTries(t.Context(), nil, day)
			if len(none) != 0 {
				t.Errorf("of no payment method: %v", none)
			}
			return err
		})
	})
	t.Run("charges are found that were sent with a payment method of late, of one shop", func(t *testing.T) {
		w := begin(t, open)
		paidWith := func(id contract.ID, method string) contract.Contract {
			c := monthly(id)
			c.PaymentMethod = method
			return c
		}
		w.put(paidWith(1, "a"), paidWith(2, "a"), paidWith(3, "b"), paidWith(4, "c"))
		sent := func(of contract.ID, cycle, hours int) billing.Attempt {
			return billing.Attempt{Contract: of, Cycle: cycle, Status: billing.Success, BillingDate: day, SentAt: day.Add(time.Duration(hours) * time.Hour)}
		}
		w.in(func(tx *store.Tx) error {
			return tx.PutAttempts(t.Context(), []billing.Attempt{
				sent(1, 1, 0), sent(1, 2, 2), sent(2, 1, 1), sent(3, 1, 3), sent(4, 1, 4),
				{Contract: 4, Cycle: 2, Status: billing.Queued, BillingDate: day},
			})
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.ChargesByCard(t.Context(), []string{"a", "b"}, day.Add(time.Hour))
			want := map[string][]time.Time{"a": {day.Add(2 * time.Hour), day.Add(time.Hour)}, "b": {day.Add(3 * time.Hour)}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			return err
		})
		w.inShop(w.addShop("second.myshopify.com").ID, func(tx *store.Tx) error {
			got, err := tx.ChargesByCard(t.Context(), []string{"a", "b"}, day)
			if len(got) != 0 {
				t.Errorf("another shop has %v", got)
			}
			return err
		})
	})
	t.Run("tries that do not count any more are forgotten with the next", func(t *testing.T) {
		w := begin(t, open)
		try := func(days int) billing.CardTry {
			return billing.CardTry{PaymentMethod: "a", At: day.AddDate(0, 0, days)}
		}
		for _, days := range []int{0, 31, 90} {
			w.in(func(tx *store.Tx) error { return tx.AddCardTries(t.Context(), []billing.CardTry{try(days)}) })
		}
		w.in(func(tx *store.Tx) error {
			got, err := tx.CardTries(t.Context(), []string{"a"}, time.Time{})
			if len(got["a"]) != 2 {
				t.Errorf("kept %+v", got)
			}
			return err
		})
	})
	t.Run("contracts that run and are not paid are read page by page", func(t *testing.T) {
		w := begin(t, open)
		failing, paused, member := monthly(1), monthly(4), fullContract(3)
		failing.Dunning, paused.Dunning, member.Dunning = unpaid(1), unpaid(3), unpaid(2)
		paused.Status, member.Status = contract.Paused, contract.Active
		w.put(failing, monthly(2), member, paused)
		page := func(of shop.ID, after contract.ID, limit int, want ...contract.ID) {
			t.Helper()
			w.inShop(of, func(tx *store.Tx) error {
				got, err := tx.ActiveContractsInDunning(t.Context(), after, limit)
				var ids []contract.ID
				for _, c := range got {
					ids = append(ids, c.ID)
				}
				if !slices.Equal(ids, want) {
					t.Errorf("after %d: %v, want %v", after, ids, want)
				}
				return err
			})
		}
		w.in(func(tx *store.Tx) error {
			got, err := tx.ContractsWithSeries(t.Context(), 1, 2)
			if len(got) != 2 || got[0].ID != 2 || got[1].ID != 3 {
				t.Errorf("with a calendar, after 1: %+v", got)
			}
			return err
		})
		page(w.shop.ID, 0, 5, 1, 3)
		page(w.shop.ID, 0, 1, 1)
		page(w.shop.ID, 1, 1, 3)
		page(w.addShop("second.myshopify.com").ID, 0, 5)
	})
	t.Run("contracts with an open case are found, those of their shop", func(t *testing.T) {
		w := begin(t, open)
		failing, member := monthly(1), fullContract(3)
		failing.Dunning, member.Dunning = unpaid(1), unpaid(2)
		w.put(failing, monthly(2), member)
		w.in(func(tx *store.Tx) error {
			got, err := tx.ContractsInDunning(t.Context())
			if len(got) != 2 || got[0].ID != 1 || got[1].ID != 3 || !reflect.DeepEqual(got[0].Dunning, unpaid(1)) {
				t.Errorf("got %+v", got)
			}
			return err
		})
		w.inShop(w.addShop("second.myshopify.com").ID, func(tx *store.Tx) error {
			got, err := tx.ContractsInDunning(t.Context())
			if len(got) != 0 {
				t.Errorf("another shop has %+v", got)
			}
			return err
		})
	})
	t.Run("progress writes an open case, what the contract waits for, and the case's end", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		c := w.contract(1)
		for _, d := range []*contract.Dunning{unpaid(7), nil} {
			if c.Dunning, c.AmendAt = d, (time.Time{}); d != nil {
				c.AmendAt = day
			}
			w.in(func(tx *store.Tx) error { return tx.PutProgress(t.Context(), []contract.Contract{c}) })
			got := w.contract(1)
			if !reflect.DeepEqual(got.Dunning, d) || !got.AmendAt.Equal(c.AmendAt) {
				t.Errorf("got %+v and %s, want %+v and %s", got.Dunning, got.AmendAt, d, c.AmendAt)
			}
			c = got
		}
	})
	t.Run("a record says what became of its last e-mails, and of no other's", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		told := queued(1, 2, day)
		told.Status, told.Dunning = billing.Failure, dunning.Case{DeclineMails: 2, ConfirmationMails: 1}
		a := w.queue(told, queued(1, 3, day))[0]
		letter := func(of shop.ID, kind notify.Kind, nth int, status notify.Status) {
			w.inShop(of, func(tx *store.Tx) error {
				return tx.PutMessages(t.Context(), []notify.Message{{Kind: kind, To: "ana@shopper.example", Status: status, DedupeKey: billing.MailKey(kind, a, nth)}})
			})
		}
		letter(w.shop.ID, notify.TransactionFailed, 1, notify.Failed)
		letter(w.shop.ID, notify.TransactionFailed, 2, notify.Sent)
		letter(w.addShop("second.myshopify.com").ID, notify.SecurityChallenge, 1, notify.Sent)
		records, _, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, billing.Question{Line: shop.Subscriptions, Contract: 1}, page.Request{Size: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.ID == a.ID && !reflect.DeepEqual(r.Mails, map[notify.Kind]notify.Result{notify.TransactionFailed: {Status: notify.Sent}}) {
				t.Errorf("the record says %v", r.Mails)
			}
		}
		if len(records) != 1 {
			t.Errorf("%d records", len(records))
		}
		w.in(func(tx *store.Tx) error {
			sent := billing.MailKey(notify.TransactionFailed, a, 2)
			got, err := tx.MailsByKey(t.Context(), []string{sent, billing.MailKey(notify.SecurityChallenge, a, 1)})
			if !reflect.DeepEqual(got, map[string]notify.Result{sent: {Status: notify.Sent}}) {
				t.Errorf("under two keys: %v", got)
			}
			return err
		})
	})
}
