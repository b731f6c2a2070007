package overview

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Sample returns the first screen of a made-up subscriber, with one subscription to the
// store, as a merchant sees it who looks at the portal. Everything is allowed.
func Sample(of shop.Shop, now time.Time) (Home, error) {
	calendar, err := of.Calendar()
	if err != nil {
		return Home{}, err
	}
	next := calendar.At(now.In(calendar.Zone).AddDate(0, 0, 9))
	every := contract.Policy{Interval: cadence.Week, Count: 4}
	line := func(n int, title, variant string, quantity int, minor int64) contract.LineItem {
		return contract.LineItem{
			ID: fmt.Sprintf("gid://shopify/SubscriptionLine/%d", n), ProductID: int64(n), VariantID: int64(n), Title: title, VariantTitle: variant, Quantity: quantity,
			Price: money.Amount{Minor: minor, Currency: of.Currency},
		}
	}
	c := contract.Contract{
		ID: 1, Line: shop.Subscriptions, Status: contract.Active, Currency: of.Currency, Billing: every, Delivery: every, AutoCharge: true,
		Customer: contract.Customer{ID: 1, Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace", Name: "Ada Lovelace"},
		Lines:    []contract.LineItem{line(1, "Green tea", "100 g", 2, 1250), line(2, "Herbal tea", "Tin", 1, 890)},
		Card:     contract.Card{Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", ExpiryMonth: 8, ExpiryYear: now.Year() + 3},
		Series:   contract.Series{Cycle: 3, Start: next}, PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", PaymentUsable: true, NextBillingDate: next, Orders: 3,
		DeliveryPrice: money.Amount{Minor: 390, Currency: of.Currency}, CreatedAt: now.AddDate(0, -3, 0),
	}
	is := portal.State{Shop: of, Contract: c, Now: now}
	for n := range 3 {
		day := next.AddDate(0, 0, 28*n)
		is.Orders = append(is.Orders, billing.Attempt{ID: billing.AttemptID(n + 1), Contract: c.ID, Cycle: 4 + n, Status: billing.Queued, BillingDate: day, DueAt: day, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt})
	}
	sheet, err := sheetOf(is, portal.Settings{}, 0)
	return Home{[]Sheet{sheet}}, err
}
