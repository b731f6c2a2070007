package storetest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
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

// DiscountCodes returns a platform that makes every discount code at once.
func DiscountCodes() loyalty.Platform { return &codes{} }

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

const ada = 901 // the customer of monthly(1)

func testLoyalty(t *testing.T, open opener) {
	t.Run("orders", func(t *testing.T) { testLoyaltyOrders(t, open) })
	t.Run("members", func(t *testing.T) { testLoyaltyMembers(t, open) })
	t.Run("rewards", func(t *testing.T) { testLoyaltyRewards(t, open) })
}
