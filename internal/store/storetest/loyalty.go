package storetest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// codes is a platform that makes discount codes, or does not.
type codes struct {
	made  []platform.DiscountCode
	ended []string
	used  map[string]platform.OrderRef // by code
	fails error
	makes func() // happens while a code is being made
	ends  func() // happens while a code is being ended
}

func (c *codes) OrderWithCode(_ context.Context, _ platform.Shop, code string) (platform.OrderRef, time.Time, error) {
	if c.fails != nil || c.used[code].ID == 0 {
		return platform.OrderRef{}, time.Time{}, c.fails
	}
	return c.used[code], day, nil
}

func (c *codes) CreateDiscountCode(ctx context.Context, _ platform.Shop, d platform.DiscountCode) (string, error) {
	if c.makes != nil {
		c.makes()
	}
	if err := cmp.Or(c.fails, ctx.Err()); err != nil {
		return "", err
	}
	c.made = append(c.made, d)
	return "gid://shopify/DiscountCodeNode/" + fmt.Sprint(len(c.made)), nil
}

func (c *codes) EndDiscountCode(_ context.Context, _ platform.Shop, id string) error {
	if c.fails != nil {
		return c.fails
	}
	c.ended = append(c.ended, id)
	if c.ends != nil {
		c.ends()
	}
	return nil
}

// club is a store whose programme runs.
type club struct {
	world
	*loyalty.Service
	clock *clock.Manual
	codes *codes
}

func beginClub(t *testing.T, open opener, change func(*loyalty.Terms)) club {
	t.Helper()
	c := club{world: begin(t, open), clock: clock.NewManual(day.Add(time.Hour)), codes: &codes{}}
	c.Service = &loyalty.Service{Store: c.db.Loyalty(), Reader: c.db, Platform: c.codes, Clock: c.clock, Log: slog.New(slog.DiscardHandler)}
	terms := loyalty.DefaultTerms()
	if change != nil {
		change(&terms)
	}
	if err := c.Enable(t.Context(), c.shop.ID, day.AddDate(-1, 0, 0), terms); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c club) work() {
	c.Helper()
	if err := c.Work(c.Context(), c.shop.ID); err != nil {
		c.Fatal(err)
	}
}

func (c club) member(customer int64) loyalty.Member {
	c.Helper()
	m, err := c.Member(c.Context(), c.shop, loyalty.CustomerRef{Customer: customer}, "")
	if err != nil {
		c.Fatal(err)
	}
	same, err := c.Audit(c.Context(), c.shop.ID, loyalty.CustomerRef{Customer: customer}, false)
	if err != nil || !same {
		c.Errorf("the member is not what the ledger adds up to (%v): %+v", err, m.Sums)
	}
	return m
}

func (c club) add(customer int64, points loyalty.Points) loyalty.Member {
	c.Helper()
	m, err := c.Add(c.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: customer}, Points: points, Note: "why not", Actor: clerk})
	if err != nil {
		c.Fatal(err)
	}
	return m
}

var clerk = activity.Actor{Source: activity.MerchantExternalAPI, By: "API key ERP", ClientIP: "192.0.2.1"}

// charge settles the attempt of a contract's cycle with an order.
func (c club) charge(of contract.ID, cycle int, minor int64) billing.AttemptID {
	c.Helper()
	a := c.queue(queued(of, cycle, day))[0]
	c.settle(a, minor)
	return a.ID
}

func (c club) settle(a billing.Attempt, minor int64) {
	c.Helper()
	a.Status, a.OrderID, a.OrderName, a.PublishAt, a.UpdatedAt = billing.Success, 5000+int64(a.ID), fmt.Sprint("#", a.ID), c.clock.Now(), c.clock.Now()
	a.Amount = money.Amount{Minor: minor, Currency: "EUR"}
	c.in(func(tx *store.Tx) error { return c.paid(tx, a) })
}

// paid writes an attempt that was charged, with its entry.
func (c club) paid(tx *store.Tx, a billing.Attempt) error {
	err := tx.PutAttempts(c.Context(), []billing.Attempt{a})
	return cmp.Or(err, tx.Record(c.Context(), activity.Entry{
		EntityID: int64(a.ID), EntityType: activity.EntitySubscriptionBillingAttempt, Event: activity.BillingAttemptTriggered, Status: activity.Success, At: a.UpdatedAt,
	}))
}

// put inserts contracts of the first shop, with their entries.
func (c club) put(contracts ...contract.Contract) {
	c.Helper()
	c.in(func(tx *store.Tx) error {
		var created []activity.Entry
		for _, of := range contracts {
			created = append(created, activity.Entry{
				EntityID: int64(of.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractCreated, Status: activity.Success, At: day,
			})
		}
		return cmp.Or(tx.PutContracts(c.Context(), fresh(contracts)), tx.Record(c.Context(), created...))
	})
}

func testLoyalty(t *testing.T, open opener) {
	const ada = 901 // the customer of monthly(1)
	t.Run("orders earn points, each once", func(t *testing.T) {
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
	t.Run("the first order earns points for what was bought, whatever becomes of the contract", func(t *testing.T) {
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
	t.Run("what was ordered before the programme was set up counts from its start", func(t *testing.T) {
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
	t.Run("what is ordered while the programme is set up earns points", func(t *testing.T) {
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
	t.Run("a contract from before the start that is learned of later earns nothing", func(t *testing.T) {
		c := beginClub(t, open, nil)
		early := monthly(1)
		early.CreatedAt = day.AddDate(-2, 0, 0)
		c.put(early)
		c.work()
		if _, _, err := c.db.LoyaltyMember(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a programme that is off notes nothing", func(t *testing.T) {
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
	t.Run("what is worked while the programme is off counts when it is on again", func(t *testing.T) {
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
	t.Run("what was ordered before the start counts when the programme starts earlier", func(t *testing.T) {
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
	t.Run("an order that makes several contracts earns once", func(t *testing.T) {
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
	t.Run("a checkout that a free trial made free earns what free orders do", func(t *testing.T) {
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
	t.Run("a contract that was split off did not begin", func(t *testing.T) {
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
	t.Run("where customers opt in, only members earn", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Enrol = loyalty.OptIn })
		c.put(monthly(1))
		c.work()
		_, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Points: loyalty.One})
		c.wantKind(err, fault.NotFound)
		if _, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Email: "ADA@example.com"}, Born: "1990-02-28", Actor: clerk}); err != nil {
			t.Fatal(err)
		}
		c.charge(1, 2, 1000)
		c.work()
		if m := c.member(ada); m.Sums.Available != 10*loyalty.One || m.Born != "1990-02-28" || m.Person.FirstName != "Ada" || m.ReferralCode == "" {
			t.Errorf("member %+v", m.Account)
		}
		_, err = c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: 4711}})
		c.wantKind(err, fault.NotFound)
	})
	t.Run("who is a member already is not added again", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		c.in(func(tx *store.Tx) error {
			again := before.Account
			again.Sums = loyalty.Sums{}
			return tx.AddAccounts(t.Context(), []loyalty.Account{again})
		})
		if after := c.member(ada); after.ID != before.ID || after.Sums.Available != before.Sums.Available {
			t.Errorf("before %+v, after %+v", before.Account, after.Account)
		}
	})
	t.Run("who is enrolled once more keeps the days on which points are released and expire", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			terms.PendingDays, terms.Expiry = 14, loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 1}
		})
		c.put(monthly(1)) // 2 × 10.00
		c.work()
		before := c.member(ada)
		again := func() {
			t.Helper()
			m, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: ada}, Actor: clerk})
			if err != nil || m.DueAt.IsZero() {
				t.Errorf("a member who is enrolled once more is due at %v, %v; before at %v", m.DueAt, err, before.DueAt)
			}
		}
		again()
		c.clock.Set(c.clock.Now().Add(15 * 24 * time.Hour))
		c.work()
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One || m.Sums.Pending != 0 {
			t.Errorf("after their day pending points are %+v", m.Sums)
		}
		again()
		c.clock.Set(c.clock.Now().Add(32 * 24 * time.Hour))
		c.work()
		if m := c.member(ada); m.Sums.Available != 0 || m.Sums.Expired != 20*loyalty.One {
			t.Errorf("after a month the points are %+v", m.Sums)
		}
	})
	t.Run("points are added and removed by hand, with an entry of the log", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		if m := c.add(ada, 150*loyalty.One+50); m.Sums.Available != 170*loyalty.One+50 || m.Sums.Earned != 20*loyalty.One {
			t.Errorf("after adding: %+v", m.Sums)
		}
		remove := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Points: 170 * loyalty.One, Actor: clerk}
		if m, err := c.Remove(t.Context(), c.shop.ID, remove); err != nil || m.Sums.Available != 50 {
			t.Errorf("after removing: %+v, %v", m.Sums, err)
		}
		_, err := c.Remove(t.Context(), c.shop.ID, remove)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
		var kinds []string
		for _, e := range c.entries(c.shop.ID) {
			if e.Event == activity.InformationalEvent {
				kinds = append(kinds, e.Actor.By+" "+e.Info)
			}
		}
		slices.Sort(kinds)
		want := []string{
			`API key ERP {"what":"points added","customerId":901,"points":150.5,"availablePoints":170.5,"note":"why not"}`,
			`API key ERP {"what":"points removed","customerId":901,"points":-170,"availablePoints":0.5}`,
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("entries %q", kinds)
		}
	})
	t.Run("units of another currency than the store's earn nothing", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			for i := range terms.Earn {
				terms.Earn[i].Active = true // those of a fixed number too
			}
		})
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		a := c.queue(queued(1, 2, day))[0]
		a.Status, a.OrderID, a.PublishAt, a.UpdatedAt = billing.Success, 5001, c.clock.Now(), c.clock.Now()
		a.Amount = money.Amount{Minor: 2354, Currency: "JPY"}
		c.in(func(tx *store.Tx) error { return c.paid(tx, a) })
		c.work()
		if after := c.member(ada); after.Sums.Available != before.Sums.Available || after.Spent != before.Spent {
			t.Errorf("an order in yen gave %s points: %+v", after.Sums.Available-before.Sums.Available, after.Spent)
		}
	})
	t.Run("a number and an address must be of the same customer", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Enrol = loyalty.OptIn })
		c.put(monthly(1))
		c.work()
		right, wrong := loyalty.CustomerRef{Customer: ada, Email: "ADA@example.com"}, loyalty.CustomerRef{Customer: ada, Email: "bo@example.com"}
		_, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: wrong, Actor: clerk})
		c.wantKind(err, fault.Invalid)
		if _, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: right, Actor: clerk}); err != nil {
			t.Fatal(err)
		}
		_, err = c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: wrong, Points: loyalty.One, Actor: clerk})
		c.wantKind(err, fault.Invalid)
		_, err = c.Member(t.Context(), c.shop, wrong, "")
		c.wantKind(err, fault.Invalid)
		if m, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: right, Points: loyalty.One, Actor: clerk}); err != nil || m.Sums.Available != loyalty.One {
			t.Errorf("with both of one customer: %+v, %v", m.Sums, err)
		}
	})
	t.Run("an activity is rewarded once", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			for i := range terms.Earn {
				terms.Earn[i].Active = true
			}
		})
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		if before.Sums.Rewarded[loyalty.CreateAccount] != 1 || before.Sums.Rewarded[loyalty.Start] != 1 {
			t.Errorf("a new member was rewarded for %v", before.Sums.Rewarded)
		}
		cmd := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 7, Actor: clerk} // Facebook
		if m, err := c.Add(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != before.Sums.Available+10*loyalty.One || m.Sums.Rewarded[loyalty.Facebook] != 1 {
			t.Errorf("got %+v, %v", m.Sums, err)
		}
		_, err := c.Add(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		cmd.Rule = 99
		_, err = c.Add(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.NotFound)
		for range 2 { // friends may be many
			if _, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: cmd.Who, Rule: 15, Points: 5}); err != nil {
				t.Error(err)
			}
		}
		if m := c.member(ada); m.Sums.Rewarded[loyalty.Referral] != 2 {
			t.Errorf("referrals %v", m.Sums.Rewarded)
		}
	})
	t.Run("what one order earned can be taken back, in parts, and no more", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 30*loyalty.One)
		entries, _, err := c.History(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}, page.Request{})
		if err != nil || len(entries) != 2 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		of := entries[1]
		cmd := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Entry: of.ID, Points: 5 * loyalty.One, Actor: clerk}
		if m, err := c.Remove(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != 45*loyalty.One || m.Sums.Earned != 15*loyalty.One {
			t.Errorf("a part: %+v, %v", m.Sums, err)
		}
		cmd.Points = 0
		if m, err := c.Remove(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != 30*loyalty.One || m.Sums.Earned != 0 || m.Sums.Activities != 0 {
			t.Errorf("the rest: %+v, %v", m.Sums, err)
		}
		_, err = c.Remove(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		cmd.Entry = entries[0].ID // added by hand
		_, err = c.Remove(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	open.twice(t, "pending points are released on their day, or when the merchant approves them", func(t *testing.T, open opener) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			terms.PendingDays, terms.Expiry = 14, loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 1}
		})
		first := monthly(1)
		first.CreatedAt = day
		c.put(first)
		c.work()
		if m := c.member(ada); m.Sums.Pending != 20*loyalty.One || m.Sums.Available != 0 {
			t.Errorf("at first: %+v", m.Sums)
		}
		release := day.AddDate(0, 0, 14)
		c.wantNext(day, release)
		c.clock.Set(release)
		if ids, err := c.across(c.db.Shops().LoyaltyShops, release, 10); err != nil || !reflect.DeepEqual(ids, []shop.ID{c.shop.ID}) {
			t.Errorf("shops %v wait, %v", ids, err)
		}
		c.work()
		m := c.member(ada)
		if m.Sums.Pending != 0 || m.Sums.Available != 20*loyalty.One || m.Expiring != 20*loyalty.One || m.ExpiresAt.IsZero() {
			t.Errorf("on the day: %+v, %d expire at %s", m.Sums, m.Expiring, m.ExpiresAt)
		}
		c.clock.Set(m.ExpiresAt)
		c.work()
		if m := c.member(ada); m.Sums.Available != 0 || m.Sums.Expired != 20*loyalty.One {
			t.Errorf("a month later: %+v", m.Sums)
		}
		c.charge(1, 3, 1000)
		c.work()
		entries, _, err := c.History(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}, page.Request{})
		if err != nil {
			t.Fatal(err)
		}
		approve := loyalty.ApproveCommand{Who: loyalty.CustomerRef{Customer: ada}, Entries: []loyalty.EntryID{entries[0].ID}, Actor: clerk}
		if m, err := c.Approve(t.Context(), c.shop.ID, approve); err != nil || m.Sums.Available != 10*loyalty.One || m.Sums.Pending != 0 {
			t.Errorf("approved: %+v, %v", m.Sums, err)
		}
		_, err = c.Approve(t.Context(), c.shop.ID, approve)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	t.Run("a reward is a code of the platform, used once or given back", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		redeem := loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk}
		m, err := c.Redeem(t.Context(), c.shop.ID, redeem)
		if err != nil || len(m.Rewards) != 1 || m.Rewards[0].State != loyalty.Issued || m.Rewards[0].PlatformID == "" || m.Sums.Available != 520*loyalty.One {
			t.Fatalf("redeemed: %+v, %+v, %v", m.Rewards, m.Sums, err)
		}
		if made := c.codes.made; len(made) != 1 || made[0].Customer != ada || made[0].Amount != (money.Amount{Minor: 500, Currency: "EUR"}) || made[0].Code != m.Rewards[0].Code {
			t.Errorf("the platform made %+v", made)
		}
		use := loyalty.RewardCommand{Code: m.Rewards[0].Code, Status: loyalty.StatusUsed, Order: 77, OrderName: "#77", Actor: clerk}
		if m, err := c.SetReward(t.Context(), c.shop.ID, use); err != nil || m.Rewards[0].Status() != loyalty.StatusUsed || m.Rewards[0].Order != 77 || m.Rewards[0].Uses != 1 {
			t.Errorf("used: %+v, %v", m.Rewards, err)
		}
		_, err = c.SetReward(t.Context(), c.shop.ID, use)
		c.wantKind(err, fault.FailedPrecondition)
		back := loyalty.RewardCommand{Reward: m.Rewards[0].ID, Status: loyalty.Refunded, Actor: clerk}
		if m, err := c.SetReward(t.Context(), c.shop.ID, back); err != nil || m.Rewards[0].State != loyalty.Cancelled || m.Sums.Available != 1020*loyalty.One || len(c.codes.ended) != 1 {
			t.Errorf("given back: %+v, %+v, %v", m.Rewards, m.Sums, err)
		}
		_, err = c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: redeem.Who, Rule: 3, Points: 1021 * loyalty.One})
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	t.Run("a reward that an order used is used, and no longer given back", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 2000*loyalty.One)
		for range 2 {
			if _, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk}); err != nil {
				t.Fatal(err)
			}
		}
		rewards := c.member(ada).Rewards // newest first
		c.codes.used = map[string]platform.OrderRef{rewards[1].Code: {ID: 5001, Name: "#1001"}}
		c.work()
		if r := c.member(ada).Rewards[1]; r.State != loyalty.Issued {
			t.Errorf("before anybody ordered: %+v", r)
		}
		c.charge(1, 2, 1000)
		c.work()
		if r := c.member(ada).Rewards; r[1].State != loyalty.Used || r[1].Order != 5001 || r[1].OrderName != "#1001" || !r[1].UsedAt.Equal(day) || r[1].Uses != 1 || r[0].State != loyalty.Issued {
			t.Errorf("after an order: %+v", r)
		}
		spent := c.member(ada).Sums.Available
		c.codes.used[rewards[0].Code] = platform.OrderRef{ID: 5002, Name: "#1002"}
		_, err := c.SetReward(t.Context(), c.shop.ID, loyalty.RewardCommand{Reward: rewards[0].ID, Status: loyalty.Refunded, Actor: clerk})
		c.wantKind(err, fault.FailedPrecondition)
		if m := c.member(ada); m.Rewards[0].State != loyalty.Used || m.Rewards[0].OrderName != "#1002" || m.Sums.Available != spent {
			t.Errorf("given back after it was used: %+v, %+v", m.Rewards[0], m.Sums)
		}
	})
	t.Run("a request that comes again moves points once", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work() // 20 points
		who := loyalty.CustomerRef{Customer: ada}
		before := c.add(ada, 2000*loyalty.One)
		for _, row := range []struct {
			name   string
			do     func(request string) (loyalty.Member, error)
			points loyalty.Points
			credit int64
		}{
			{"points are added", func(request string) (loyalty.Member, error) {
				return c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: who, Points: 10 * loyalty.One, Actor: clerk, IdempotencyKey: request})
			}, 10 * loyalty.One, 0},
			{"points are removed", func(request string) (loyalty.Member, error) {
				return c.Remove(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: who, Points: 5 * loyalty.One, Actor: clerk, IdempotencyKey: request})
			}, -5 * loyalty.One, 0},
			{"credit is given", func(request string) (loyalty.Member, error) {
				return c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: who, Amount: 700, Actor: clerk, IdempotencyKey: request})
			}, 0, 700},
			{"a reward is taken", func(request string) (loyalty.Member, error) {
				return c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: who, Rule: 1, Actor: clerk, IdempotencyKey: request})
			}, -500 * loyalty.One, 0},
		} {
			times := func(request string, n int64) {
				t.Helper()
				m, err := row.do(request)
				if err != nil || m.Sums.Available != before.Sums.Available+row.points*loyalty.Points(n) || m.Credit.Minor != before.Credit.Minor+row.credit*n {
					t.Errorf("%s by %q: %s points and %s, %v; had %s and %s", row.name, request, m.Sums.Available, m.Credit, err, before.Sums.Available, before.Credit)
				}
			}
			times(row.name, 1)
			times(row.name, 1)
			times(row.name+", in other words", 2)
			times("", 3)
			c.clock.Set(c.clock.Now().Add(idempotency.AnswerTTL))
			times(row.name, 4)
			before = c.member(ada)
		}
	})
	t.Run("a request that was refused can come again", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		redeem := func() error {
			_, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk, IdempotencyKey: "a"})
			return err
		}
		c.wantKind(redeem(), fault.FailedPrecondition)
		c.add(ada, 1000*loyalty.One)
		if err := redeem(); err != nil || len(c.member(ada).Rewards) != 1 {
			t.Errorf("with enough points: %v", err)
		}
	})
	t.Run("a caller who hangs up after the points were spent gets a reward", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		ctx, hangUp := context.WithCancel(t.Context())
		c.codes.makes = hangUp
		m, err := c.Redeem(ctx, c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil || len(m.Rewards) != 1 || m.Rewards[0].State != loyalty.Issued {
			t.Errorf("answered %+v, %v", m.Rewards, err)
		}
	})
	t.Run("a reward that is used while its code is being ended is not given back", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil {
			t.Fatal(err)
		}
		c.codes.ends = func() { c.codes.used = map[string]platform.OrderRef{m.Rewards[0].Code: {ID: 5001, Name: "#1001"}} }
		_, err = c.SetReward(t.Context(), c.shop.ID, loyalty.RewardCommand{Reward: m.Rewards[0].ID, Status: loyalty.Refunded, Actor: clerk})
		c.wantKind(err, fault.FailedPrecondition)
		if after := c.member(ada); after.Rewards[0].State != loyalty.Used || after.Sums.Available != m.Sums.Available || len(c.codes.ended) != 1 {
			t.Errorf("the customer has %+v and %s points, had %s", after.Rewards[0], after.Sums.Available, m.Sums.Available)
		}
	})
	t.Run("a platform that cannot be asked keeps a reward from ending", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil {
			t.Fatal(err)
		}
		ends := m.Rewards[0].ExpiresAt
		c.clock.Set(ends)
		c.codes.fails = platform.ErrUnknown
		c.work()
		after := c.member(ada).Rewards[0]
		if after.State != loyalty.Issued || !after.DueAt.After(ends) {
			t.Errorf("unanswered: %+v", after)
		}
		c.codes.fails = nil
		c.clock.Set(after.DueAt)
		c.work()
		if r := c.member(ada).Rewards[0]; r.State != loyalty.Lapsed || !r.DueAt.IsZero() {
			t.Errorf("answered: %+v", r)
		}
	})
	t.Run("a reward waits for a platform that does not answer", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		c.codes.fails = platform.ErrUnknown
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1})
		if err != nil || m.Rewards[0].State != loyalty.Reserved || m.Sums.Available != 520*loyalty.One {
			t.Fatalf("redeemed: %+v, %v", m.Rewards, err)
		}
		c.codes.fails = nil
		c.clock.Set(m.Rewards[0].DueAt)
		c.work()
		issued := c.member(ada).Rewards[0]
		if issued.State != loyalty.Issued || len(c.codes.made) != 1 || c.codes.made[0].Code != m.Rewards[0].Code {
			t.Errorf("later: %+v, made %+v", issued, c.codes.made)
		}
		c.clock.Set(issued.ExpiresAt)
		c.work()
		if r := c.member(ada).Rewards[0]; r.Status() != loyalty.ExpiredCode || !r.DueAt.IsZero() {
			t.Errorf("at its end: %+v", r)
		}
	})
	t.Run("what the platform refuses gives the points back", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		c.codes.fails = &platform.Refusal{Code: "INVALID", Message: "no"}
		_, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1})
		c.wantKind(err, fault.FailedPrecondition)
		if m := c.member(ada); m.Sums.Available != 1020*loyalty.One || m.Rewards[0].State != loyalty.Cancelled {
			t.Errorf("after the refusal: %+v, %+v", m.Sums, m.Rewards)
		}
	})
	t.Run("store credit is added up, by hand and for points", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		if m, err := c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: loyalty.CustomerRef{Customer: ada}, Amount: 750, Actor: clerk}); err != nil || m.Credit.Minor != 750 {
			t.Errorf("added: %s, %v", m.Credit, err)
		}
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 4})
		if err != nil || m.Credit.Minor != 1250 || m.Rewards[0].Status() != loyalty.StatusUsed || m.Sums.Available != 520*loyalty.One {
			t.Errorf("redeemed: %s, %+v, %v", m.Credit, m.Rewards, err)
		}
	})
	t.Run("many hands at once spend no point twice", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 980*loyalty.One) // 1000 in all: two rewards
		var together sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			together.Go(func() {
				_, results[i] = c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 4})
			})
		}
		together.Wait()
		done := 0
		for _, err := range results {
			if err == nil {
				done++
			} else if !fault.Is(err, fault.FailedPrecondition) {
				t.Errorf("got %v", err)
			}
		}
		if m := c.member(ada); done != 2 || m.Sums.Available != 0 || m.Credit.Minor != 1000 {
			t.Errorf("%d were redeemed: %+v, credit %s", done, m.Sums, m.Credit)
		}
	})
	t.Run("top members are listed by what they earned, then by number, without the excluded", func(t *testing.T) {
		c := beginClub(t, open, nil)
		var contracts []contract.Contract
		for id := contract.ID(1); id <= 4; id++ {
			k := monthly(id)
			k.Customer.FirstName = fmt.Sprint("Name ", 9-id)
			contracts = append(contracts, k)
		}
		c.put(contracts...)
		c.charge(3, 2, 500)
		c.work()
		c.in(func(tx *store.Tx) error {
			list, err := tx.AccountsOf(t.Context(), []int64{904})
			if err != nil {
				return err
			}
			list[0].Status = loyalty.Excluded
			return tx.PutAccounts(t.Context(), list)
		})
		for sort, want := range map[string][]int64{"": {903, 901, 902}, loyalty.FieldFirstName: {903, 902, 901}, loyalty.FieldActivities: {901, 902, 903}} {
			p := page.Request{Size: 10}
			if sort != "" {
				p.Sort = []page.Sort{{Field: sort}}
			}
			list, total, err := c.Top(t.Context(), c.shop.ID, p)
			var got []int64
			for _, a := range list {
				got = append(got, a.Person.Customer)
			}
			if err != nil || total != 3 || !slices.Equal(got, want) {
				t.Errorf("by %q: %v of %d, %v; want %v", sort, got, total, err, want)
			}
		}
	})
	t.Run("a member that is damaged is found and repaired", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		who := loyalty.CustomerRef{Customer: ada}
		c.in(func(tx *store.Tx) error {
			list, err := tx.AccountsOf(t.Context(), []int64{ada})
			if err != nil {
				return err
			}
			list[0].Sums.Available += loyalty.One
			return tx.PutAccounts(t.Context(), list)
		})
		for _, test := range []struct{ repair, same bool }{{false, false}, {true, false}, {false, true}} {
			if same, err := c.Audit(t.Context(), c.shop.ID, who, test.repair); err != nil || same != test.same {
				t.Errorf("the audit says %v, %v; want %v", same, err, test.same)
			}
		}
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One {
			t.Errorf("repaired: %+v", m.Sums)
		}
	})
	t.Run("another store's members are not seen", func(t *testing.T) {
		c := beginClub(t, open, nil)
		other := c.addShop("second.myshopify.com")
		c.put(monthly(1))
		c.work()
		if err := c.Enable(t.Context(), other.ID, day, loyalty.DefaultTerms()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Member(t.Context(), other, loyalty.CustomerRef{Customer: ada}, ""); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		_, err := c.Add(t.Context(), other.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Email: "ada@example.com"}, Points: loyalty.One})
		c.wantKind(err, fault.NotFound)
		if list, total, err := c.Top(t.Context(), other.ID, page.Request{Size: 10}); err != nil || total != 0 || len(list) != 0 {
			t.Errorf("%d members, %v", total, err)
		}
		if _, err := c.Member(t.Context(), c.shop, loyalty.CustomerRef{Customer: ada}, ""); err != nil {
			t.Errorf("the store itself got %v", err)
		}
		if _, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Email: "ada@example.com"}, Points: loyalty.One}); err != nil {
			t.Errorf("the store itself got %v", err)
		}
		if list, total, err := c.Top(t.Context(), c.shop.ID, page.Request{Size: 10}); err != nil || total != 1 || len(list) != 1 {
			t.Errorf("the store itself has %d members, %v; want 1", total, err)
		}
	})
	t.Run("a programme that another request changed is not overwritten", func(t *testing.T) {
		c := beginClub(t, open, nil)
		err := c.db.Update(t.Context(), c.shop.ID, func(tx *store.Tx) error {
			p, err := tx.Program(t.Context())
			if err != nil {
				return err
			}
			p.Version++
			return tx.PutProgram(t.Context(), p)
		})
		c.wantKind(err, fault.Conflict)
	})
}
