package portaltest

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// USD returns an amount.
func USD(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// Charged is the hour at which the orders of fixtures are charged: 9 in Los Angeles.
func Charged(year int, month time.Month, day int) time.Time {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic(err)
	}
	return time.Date(year, month, day, 9, 0, 0, 0, zone).UTC()
}

// Next is when the next order of a fixture is due: a Wednesday.
var Next = Charged(2027, time.March, 3)

// Subscription returns a contract of Maya's that runs: two products, every two weeks, 24.50 US
// dollars with delivery.
func Subscription(id contract.ID) contract.Contract {
	weeks := contract.Policy{Interval: cadence.Week, Count: 2}
	line := func(n int, title, variant string, price int64) contract.LineItem {
		return contract.LineItem{
			ID: fmt.Sprintf("gid://shopify/SubscriptionLine/%d-%d", id, n), ProductID: int64(100 + n), VariantID: int64(200 + n), Title: title, VariantTitle: variant, Quantity: 1, Price: USD(price),
		}
	}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: weeks, Delivery: weeks, AutoCharge: true,
		Customer:      contract.Customer{ID: Maya, Email: "maya@shopper.example", FirstName: "Maya", LastName: "Okafor", Name: "Maya Okafor"},
		Lines:         []contract.LineItem{line(1, "House Blend Coffee", "Whole bean", 1408), line(2, "Earl Grey Loose Leaf", "Tin", 792)},
		OriginOrderID: 1, OriginOrderName: "#1001", PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", PaymentUsable: true, DeliveryCountry: "US", DeliveryPrice: USD(250),
		Card:   contract.Card{Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", ExpiryMonth: 8, ExpiryYear: 2030},
		Series: contract.Series{Cycle: 2, Start: Next}, NextBillingDate: Next, Orders: 8, CreatedAt: Now.AddDate(0, -4, -12), Version: 0,
	}
}

// Product returns a product that can be bought for an amount of US cents.
func Product(id int64, title, variant string, price int64) do.Product {
	p := do.Product{Unit: USD(price)}
	p.ID, p.ProductTitle, p.Title, p.Price, p.Available = id, title, variant, USD(price), true
	return p
}

// Attempt returns an attempt of a contract for a cycle, in a status.
func Attempt(c contract.ID, cycle int, status billing.Status, date time.Time) billing.Attempt {
	a := billing.Attempt{Contract: c, Cycle: cycle, Status: status, BillingDate: date, CreatedAt: Now.AddDate(0, -4, 0), UpdatedAt: date}
	if status == billing.Queued {
		a.DueAt = date
	}
	if status == billing.Success {
		a.OrderID, a.OrderName, a.Amount, a.Try = int64(1000+cycle), fmt.Sprintf("#%d", 1100+cycle), USD(2450), 1
	}
	return a
}

// Orders returns the attempts of a contract: three past ones and so many to come, the first on Next.
func Orders(c contract.ID, coming int) []billing.Attempt {
	var list []billing.Attempt
	for n := range 3 {
		list = append(list, Attempt(c, 2+n, billing.Success, Next.AddDate(0, 0, -14*(3-n))))
	}
	for n := range coming {
		list = append(list, Attempt(c, 5+n, billing.Queued, Next.AddDate(0, 0, 14*n)))
	}
	return list
}

// Declined makes the order of a cycle one that was declined on 24 February and is tried again on the
// 27th.
func Declined(c *contract.Contract, a *billing.Attempt, code string) {
	since := Now.AddDate(0, 0, -2)
	class, _ := dunning.ClassOf(code)
	a.Status, a.ErrorCode, a.Try, a.DueAt, a.BillingDate = billing.Failure, code, 1, Now.AddDate(0, 0, 1), since
	a.Dunning = dunning.Case{State: dunning.Open, Class: class, OpenedAt: since, RetryAt: Now.AddDate(0, 0, 1)}
	c.Dunning = &contract.Dunning{Attempt: int64(a.ID), Cycle: a.Cycle, State: dunning.Open, Class: class, Code: code, Since: since, Tries: 1, RetryAt: Now.AddDate(0, 0, 1)}
}
