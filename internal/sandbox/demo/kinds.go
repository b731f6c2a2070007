package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// SKUs of the honey, which only contracts of the kinds have on them.
const (
	HoneySmall  = "HON-250"
	HoneyLarge  = "HON-500"
	HoneySummer = "HON-SUM"
	HoneySpring = "HON-SPR"
)

// SKUs of products that contracts of the kinds are for.
const (
	CoffeeBeans  = "COF-HB-340-B"
	CoffeeGround = "COF-HB-340-G"
	CoffeeGuji   = "COF-EG-250-B"
	GiftBox      = "BOX-2"
	ShavingCream = "SHV-150"
	Membership   = "CLUB-M"
)

// StockHoney puts the honey on sale in the main store.
func StockHoney(sim *simulator.Simulator) error {
	_, err := sim.AddProduct(simulator.ProductSpec{
		Shop: Main, Title: "Wildflower Honey", Vendor: "Hill Apiary", Type: "Pantry", Collections: []string{"Pantry"}, Tags: []string{"subscription"},
		Variants: []simulator.VariantSpec{
			{Title: "Jar, 250 g", SKU: HoneySmall, Price: "9.00"}, {Title: "Jar, 500 g", SKU: HoneyLarge, Price: "16.00"},
			{Title: "Summer harvest", SKU: HoneySummer, Price: "14.00"}, {Title: "Spring harvest", SKU: HoneySpring, Price: "11.50"},
		},
	})
	return err
}

// Purchase is a subscription that a customer buys.
type Purchase struct {
	Plan     Plan
	Variants []simulator.Variant
	Quantity int            // of each variant
	Currency money.Currency // default: the store's
	Days     int            // until the first renewal
}

// Checkout returns the checkout of a purchase in a store, by a customer of the given last name.
func (s Store) Checkout(p Purchase, name string, now time.Time) (simulator.ContractSpec, error) {
	days := Plan{Billing: simulator.PolicySpec{Interval: "DAY", IntervalCount: p.Days}}
	spec := simulator.ContractSpec{
		Shop: s.Domain, Currency: p.Currency, Billing: p.Plan.Billing, Delivery: p.Plan.Delivery, NextBillingDate: s.FirstRenewal(days, now),
		Customer: simulator.CustomerSpec{
			FirstName: "Kim", LastName: name, Email: fmt.Sprintf("kim.%s@shopper.example", strings.ToLower(strings.ReplaceAll(name, " ", "-"))),
			Tags: []string{CustomerTag(p.Plan.Membership)},
		},
	}
	if spec.Currency == "" {
		spec.Currency = s.Currency
	}
	if !p.Plan.Membership {
		spec.DeliveryPrice = price(490, spec.Currency).String()
	}
	for _, v := range p.Variants {
		once, err := money.Parse(v.Price, s.Currency)
		if err != nil {
			return spec, err
		}
		if spec.Currency != s.Currency {
			once = price(once.Minor, spec.Currency)
		}
		spec.Lines = append(spec.Lines, simulator.LineSpec{
			VariantID: v.ID, Quantity: p.Quantity, CurrentPrice: p.Plan.Price(once).String(), SellingPlanID: p.Plan.ID, SellingPlanName: p.Plan.Name,
		})
	}
	return spec, nil
}
