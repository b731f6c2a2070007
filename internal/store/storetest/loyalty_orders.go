package storetest

import (
	"cmp"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/store"
)

func testLoyaltyOrders(t *testing.T, open opener) {
	t.Run("each order earns points once", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1)) // 2 × 10.00: the first order
		c.work()
		id := c.charge(1, 2, 1999)
		c.work()
		m := c.member(ada)
		if m.Sums.Available != 39*loyalty.One || m.Sums.Activities != 2 || m.Spent != (money.Amount{Minor: 3999, Currency: "EUR"}) || m.Person.Email != "Ada@Example.com" {
			t.Errorf("after two orders: %+v, spent %s", m.Sums, m.Spent)
		}
		a := c.attempt(id)
		c.in(func(tx *store.Tx) error { return c.paid(tx, a) }) // recorded again
		if err := c.Enable(t.Context(), c.shop.ID, day.AddDate(-1, 0, 0), loyalty.DefaultTerms()); err != nil {
			t.Fatal(err)
		}
		c.work()
		if again := c.member(ada); again.Sums.Available != m.Sums.Available || again.Spent != m.Spent {
			t.Errorf("the same orders gave more: %+v", again.Sums)
		}
	})
	t.Run("first order earns points even if its contract changes", func(t *testing.T) {
		c := beginClub(t, open, nil)
		bought := monthly(1) // 2 × 10.00
		bought.FirstAmount = bought.Amount()
		c.put(bought)
		c.in(func(tx *store.Tx) error {
			list, err := tx.Contracts(t.Context(), []contract.ID{1})
			list[0].Lines[0].Quantity = 5
			return cmp.Or(err, tx.PutContracts(t.Context(), list))
		})
		c.work()
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One || m.Spent.Minor != 2000 {
			t.Errorf("%s points for %s, want 20 for 20.00", m.Sums.Available, m.Spent)
		}
	})
	t.Run("orders before setup count from the program's start", func(t *testing.T) {
		c := club{world: begin(t, open), clock: clock.NewManual(day.Add(time.Hour))}
		c.Service = &loyalty.Service{Store: c.db.Loyalty(), Reader: c.db, Clock: c.clock, Log: slog.New(slog.DiscardHandler)}
		early := monthly(2)
		early.CreatedAt = day.AddDate(0, -2, 0)
		c.put(monthly(1), early)
		c.charge(1, 2, 1000)
		c.work()
		if _, _, err := c.db.LoyaltyMember(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}); !fault.Is(err, fault.NotFound) {
			t.Errorf("without a programme: %v", err)
		}
		if err := c.Enable(t.Context(), c.shop.ID, day.AddDate(0, -1, 0), loyalty.DefaultTerms()); err != nil {
			t.Fatal(err)
		}
		c.work()
		if m := c.member(ada); m.Sums.Available != 30*loyalty.One {
			t.Errorf("member %+v", m.Sums)
		}
		if _, _, err := c.db.LoyaltyMember(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: 902}); !fault.Is(err, fault.NotFound) {
			t.Errorf("who ordered before the start: %v", err)
		}
	})
	t.Run("orders during setup earn points", func(t *testing.T) {
		c := club{world: begin(t, open), clock: clock.NewManual(day.Add(time.Hour))}
		c.Service = &loyalty.Service{Store: c.db.Loyalty(), Reader: c.db, Clock: c.clock, Log: slog.New(slog.DiscardHandler)}
		first := monthly(1)
		first.CreatedAt = day.AddDate(0, -2, 0)
		c.put(first)
		a := c.queue(queued(1, 2, day))[0]
		a.Status, a.OrderID, a.Amount = billing.Success, 5001, money.Amount{Minor: 1000, Currency: "EUR"}
		a.PublishAt, a.UpdatedAt = c.clock.Now(), c.clock.Now()
		enabled := make(chan error, 1)
		c.in(func(tx *store.Tx) error {
			if err := c.paid(tx, a); err != nil {
				return err
			}
			go func() { enabled <- c.Enable(t.Context(), c.shop.ID, day.AddDate(0, -1, 0), loyalty.DefaultTerms()) }()
			select {
			case err := <-enabled:
				enabled <- err
			case <-time.After(300 * time.Millisecond): // it waits for the order
			}
			return nil
		})
		if err := <-enabled; err != nil {
			t.Fatal(err)
		}
		c.work()
		if m := c.member(ada); m.Sums.Available != 10*loyalty.One {
			t.Errorf("member %+v", m.Sums)
		}
	})
	t.Run("contract older than the start earns nothing when read later", func(t *testing.T) {
		c := beginClub(t, open, nil)
		early := monthly(1)
		early.CreatedAt = day.AddDate(-2, 0, 0)
		c.put(early)
		c.work()
		if _, _, err := c.db.LoyaltyMember(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("disabled program stores no facts", func(t *testing.T) {
		c := beginClub(t, open, nil)
		if err := c.Disable(t.Context(), c.shop.ID); err != nil {
			t.Fatal(err)
		}
		c.put(monthly(1))
		c.charge(1, 2, 1000)
		if ids, err := c.across(c.db.Shops().LoyaltyShops, day.AddDate(9, 0, 0), 10); err != nil || len(ids) != 0 {
			t.Errorf("shops %v wait, %v", ids, err)
		}
		_, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Points: loyalty.One})
		c.wantKind(err, fault.FailedPrecondition)
	})
	t.Run("orders while the program is disabled count once it is enabled", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.charge(1, 2, 1000)
		if err := c.Disable(t.Context(), c.shop.ID); err != nil {
			t.Fatal(err)
		}
		c.work()
		for range 2 {
			if err := c.Enable(t.Context(), c.shop.ID, day.AddDate(-1, 0, 0), loyalty.DefaultTerms()); err != nil {
				t.Fatal(err)
			}
			c.work()
		}
		if m := c.member(ada); m.Sums.Available != 30*loyalty.One || m.Spent.Minor != 3000 {
			t.Errorf("%s points for %s, want 30", m.Sums.Available, m.Spent)
		}
	})
	t.Run("earlier start includes earlier orders", func(t *testing.T) {
		c := beginClub(t, open, nil)
		early := monthly(1)
		early.CreatedAt = day.AddDate(-2, 0, 0)
		c.put(early)
		c.work()
		if err := c.Enable(t.Context(), c.shop.ID, day.AddDate(-3, 0, 0), loyalty.DefaultTerms()); err != nil {
			t.Fatal(err)
		}
		c.work()
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One {
			t.Errorf("%s points, want 20", m.Sums.Available)
		}
	})
	t.Run("order with several contracts earns once", func(t *testing.T) {
		for _, row := range []struct {
			name     string
			rule     loyalty.EarnRule
			together bool
			want     loyalty.Points
		}{
			{"points of an order", loyalty.EarnRule{Points: 100 * loyalty.One}, true, 100 * loyalty.One},
			{"points of an order, when the second contract comes later", loyalty.EarnRule{Points: 100 * loyalty.One}, false, 100 * loyalty.One},
			{"no less than", loyalty.EarnRule{Points: loyalty.One, PerUnit: true, Min: 30 * loyalty.One}, true, 40 * loyalty.One},
			{"no less than, when the second contract comes later", loyalty.EarnRule{Points: loyalty.One, PerUnit: true, Min: 30 * loyalty.One}, false, 40 * loyalty.One},
			{"no more than", loyalty.EarnRule{Points: loyalty.One, PerUnit: true, Max: 30 * loyalty.One}, false, 30 * loyalty.One},
			{"points of an amount", loyalty.EarnRule{Points: loyalty.One, PerUnit: true}, false, 40 * loyalty.One},
		} {
			c := beginClub(t, open, func(terms *loyalty.Terms) {
				row.rule.ID, row.rule.Name, row.rule.For, row.rule.Active = 1, "Order", loyalty.Purchase, true
				terms.Earn = []loyalty.EarnRule{row.rule}
			})
			first, second := monthly(1), monthly(2) // 2 × 10.00 each, of one order
			second.Customer = first.Customer
			c.put(first)
			if !row.together {
				c.work()
			}
			c.put(second)
			c.work()
			if m := c.member(ada); m.Sums.Available != row.want || m.Spent.Minor != 4000 {
				t.Errorf("%s: %s points for %s, want %s", row.name, m.Sums.Available, m.Spent, row.want)
			}
		}
	})
	t.Run("checkout of a free trial earns as a free order", func(t *testing.T) {
		c := beginClub(t, open, nil)
		free, paid := monthly(1), monthly(2) // of one order
		free.Trial, paid.Customer = &contract.Trial{EndsAt: day.AddDate(0, 0, 14), ChargeAt: day.AddDate(0, 0, 14)}, free.Customer
		c.put(free)
		c.work()
		if m := c.member(ada); m.Sums.Available != 0 || m.Spent.Minor != 0 {
			t.Errorf("%s points for %s, want none", m.Sums.Available, m.Spent)
		}
		c.put(paid)
		c.work()
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One || m.Spent.Minor != 2000 {
			t.Errorf("%s points for %s, want 20", m.Sums.Available, m.Spent)
		}
	})
	t.Run("split contract earns no points for a start", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			terms.Earn = []loyalty.EarnRule{{ID: 1, Name: "Start", For: loyalty.Start, Active: true, Points: 100 * loyalty.One}}
		})
		begun, split := monthly(1), monthly(2)
		split.Customer, split.SplitFrom, split.Origin, split.OriginOrderID = begun.Customer, begun.ID, contract.Split, 0
		found := monthly(3) // by a webhook, before the answer to its making
		found.Customer, found.OriginOrderID, found.Attributes = begun.Customer, 0, []contract.Attribute{{Key: contract.SplitAttribute, Value: "token"}}
		c.put(begun, split, found)
		c.work()
		if m := c.member(ada); m.Sums.Available != 100*loyalty.One {
			t.Errorf("%s points for a contract that was split", m.Sums.Available)
		}
	})
}
