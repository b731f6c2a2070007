package storetest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// trace is what of a customer's a test looks at.
type trace struct {
	Note     string
	Reason   string
	To       string // of the e-mail that waits
	Before   string // of the one that is about no contract
	Entry    string
	ClientIP string
	Member   loyalty.Person
	Inside   bool // the session opens the portal
}

func testRedact(t *testing.T, open opener) {
	t.Run("a customer is erased, and no other", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1), monthly(2)) // of the customers 901 and 902
		c.work()
		ids := make(map[contract.ID]billing.AttemptID)
		for _, of := range []contract.ID{1, 2} {
			a := queued(of, 2, day)
			a.Note = "ring twice"
			ids[of] = c.queue(a)[0].ID
			customer := 900 + int64(of)
			c.in(func(tx *store.Tx) error {
				said := retention.Activity{Contract: of, Customer: customer, At: day, Details: retention.Details{Action: "KEPT", Reason: "moves", Info: "{}"}}
				if err := tx.AddRetention(t.Context(), &said); err != nil {
					return err
				}
				m := notify.Message{
					Kind: notify.TransactionFailed, To: "ada@example.com", FromName: "Café", Contract: of, DedupeKey: "mail " + string(rune('0'+of)),
					Status: notify.Queued, DueAt: day, CreatedAt: day,
				}
				about := m // about the customer alone, at an address that the customer had before
				about.Kind, about.To, about.Contract, about.Customer, about.DedupeKey = notify.OutOfStock, "before@example.com", 0, customer, "member "+string(rune('0'+of))
				if err := tx.PutMessages(t.Context(), []notify.Message{m, about}); err != nil {
					return err
				}
				if err := tx.AddSession(t.Context(), login.Session{Hash: login.Hash{byte(of)}, Customer: customer, Via: login.ByLink, CreatedAt: day, SeenAt: day, ExpiresAt: day.AddDate(1, 0, 0)}); err != nil {
					return err
				}
				return tx.Record(t.Context(), activity.Entry{
					EntityID: int64(ids[of]), EntityType: activity.EntitySubscriptionBillingAttempt, Event: activity.BillingAttemptUpdated, Status: activity.Success, At: day,
					Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "192.0.2.1"}, Info: `{"cycle":2,"cancellationNote":"moves"}`,
				})
			})
		}
		look := func(of contract.ID) (got trace) {
			got.Note = c.attempt(ids[of]).Note
			c.in(func(tx *store.Tx) error {
				said, err := tx.RetentionsOf(t.Context(), of)
				if err != nil {
					return err
				}
				got.Reason = said[0].Reason
				mails, err := tx.DueMessages(t.Context(), day, 10)
				for _, m := range mails {
					switch {
					case m.Contract == of:
						got.To = m.To
					case m.Customer == 900+int64(of):
						got.Before = m.To
					}
				}
				return err
			})
			_, err := c.db.Login().SessionByHash(t.Context(), c.shop.ID, login.Hash{byte(of)})
			got.Inside = err == nil
			for _, e := range c.entries(c.shop.ID) {
				if e.EntityID == int64(ids[of]) {
					got.Entry, got.ClientIP = e.Info, e.Actor.ClientIP
				}
			}
			got.Member = c.member(900 + int64(of)).Person
			return got
		}
		before, others := look(1), look(2)
		if before.Note == "" || before.Reason == "" || before.To == "" || before.Before == "" || before.ClientIP == "" || before.Member.Email == "" || !before.Inside {
			t.Fatalf("before: %+v", before)
		}
		c.in(func(tx *store.Tx) error {
			of, err := tx.ContractsOfCustomer(t.Context(), 901)
			if err != nil || !slices.Equal(of, []contract.ID{1}) {
				t.Errorf("the contracts of the customer are %v (%v)", of, err)
			}
			list, err := tx.Contracts(t.Context(), of)
			if err != nil {
				return err
			}
			if err := tx.Redact(t.Context(), 901, list); err != nil {
				return err
			}
			return tx.Redact(t.Context(), 4711, nil) // who has nothing
		})
		if got, want := look(1), (trace{Entry: `{"cycle":2}`, Member: loyalty.Person{Customer: 901}}); !reflect.DeepEqual(got, want) {
			t.Errorf("erased: %+v\nwant %+v", got, want)
		}
		if got := look(2); !reflect.DeepEqual(got, others) {
			t.Errorf("another customer: %+v\nwant %+v", got, others)
		}
	})
	t.Run("customers are listed by number, with members who have no contract, in their shop only", func(t *testing.T) {
		c := beginClub(t, open, nil)
		other := c.addShop("second.myshopify.com")
		c.put(monthly(1), monthly(3))
		c.inShop(other.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{monthly(2)}) })
		c.work()
		after := func(in shop.ID, n int64, limit int) (list []int64) {
			c.inShop(in, func(tx *store.Tx) (err error) {
				list, err = tx.CustomersAfter(t.Context(), n, limit)
				return err
			})
			return list
		}
		for _, row := range []struct {
			in    shop.ID
			after int64
			limit int
			want  []int64
		}{{c.shop.ID, 0, 10, []int64{901, 903}}, {c.shop.ID, 0, 1, []int64{901}}, {c.shop.ID, 901, 10, []int64{903}}, {c.shop.ID, 903, 10, nil}, {other.ID, 0, 10, []int64{902}}} {
			if got := after(row.in, row.after, row.limit); !slices.Equal(got, row.want) {
				t.Errorf("after %d: %v, want %v", row.after, got, row.want)
			}
		}
	})
}
