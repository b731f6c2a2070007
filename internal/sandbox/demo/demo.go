// Package demo is what the sandbox's stores sell and who subscribes to it. The
// same seed makes the same stores.
package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Domains of the stores that a sandbox begins with.
const (
	Main  = "demo.myshopify.com"
	Other = "other.myshopify.com"
	Third = "kissa.myshopify.com"
)

// Options are what the stores depend on.
type Options struct {
	Seed      uint64
	Contracts int       // of the main store
	Empty     bool      // stores and products only, without subscribers
	MainOnly  bool      // the main store alone
	Now       time.Time // contracts were made before it and renew after it
	Token     func(domain string) platform.Token
}

// Store is a store and when it charges its orders.
type Store struct {
	Domain       string
	Name         string
	TimeZone     string
	Currency     money.Currency
	Country      string
	Hour, Minute int // local time at which orders are charged

	firstContract int64
	contracts     int // 0: as many as the options say
}

// Stores lists the stores, the main one first. They lie in zones that change
// their clocks on different days, or never.
func Stores() []Store {
	return []Store{
		{Domain: Main, Name: "Demo Pantry", TimeZone: "America/New_York", Currency: "USD", Country: "US", Hour: 9},
		{Domain: Other, Name: "Andere Vorräte", TimeZone: "Europe/Berlin", Currency: "EUR", Country: "DE", Hour: 6, Minute: 30, firstContract: 9901, contracts: 6},
		{Domain: Third, Name: "Kissa", TimeZone: "Asia/Tokyo", Currency: "JPY", Country: "JP", Hour: 10, contracts: 5},
	}
}

// StoreByDomain returns one of the stores.
func StoreByDomain(domain string) (Store, bool) {
	for _, s := range Stores() {
		if s.Domain == domain {
			return s, true
		}
	}
	return Store{}, false
}

// Cast is who and what an integrator will want to name.
type Cast struct {
	Customers []Customer `json:"customers"` // of the main store
	Others    []int64    `json:"others"`    // contracts of the other store
	Prepaid   int64      `json:"prepaid"`   // a contract of the main store; 0: none
	Frozen    int64      `json:"frozen"`    // a membership of the main store that its customer is committed to; 0: none

	Kinds map[string]int64 `json:"kinds,omitempty"` // contracts of the main store, by what they show
}

// Customer is a customer with contracts.
type Customer struct {
	ID        int64   `json:"id"`
	Email     string  `json:"email"`
	Contracts []int64 `json:"contracts"`
}

// note takes in what a checkout made.
func (c *Cast) note(spec simulator.ContractSpec, made simulator.Made) {
	if spec.Shop == Other {
		c.Others = append(c.Others, made.Contract)
	}
	if spec.Shop != Main {
		return
	}
	if c.Prepaid == 0 && spec.Delivery.IntervalCount != 0 && spec.Status == "" {
		c.Prepaid = made.Contract
	}
	if plan, _ := PlanByID(spec.Lines[0].SellingPlanID); c.Frozen == 0 && plan.Membership && spec.Billing.MinCycles > 1 {
		c.Frozen = made.Contract
	}
	i := slices.IndexFunc(c.Customers, func(k Customer) bool { return k.ID == made.Customer })
	if i < 0 {
		i = len(c.Customers)
		c.Customers = append(c.Customers, Customer{ID: made.Customer, Email: spec.Customer.Email})
	}
	c.Customers[i].Contracts = append(c.Customers[i].Contracts, made.Contract)
}

// Build opens the stores on a platform that has none.
func Build(sim *simulator.Simulator, o Options) (Cast, error) {
	cast := Cast{Customers: []Customer{}, Others: []int64{}}
	stores := Stores()
	if o.MainOnly {
		stores = stores[:1]
	}
	for i, s := range stores {
		if err := s.open(sim, o.Token(s.Domain)); err != nil {
			return cast, fmt.Errorf("open %s: %w", s.Domain, err)
		}
		if o.Empty {
			continue
		}
		n := s.contracts
		if n == 0 {
			n = o.Contracts
		}
		zone, err := time.LoadLocation(s.TimeZone)
		if err != nil {
			return cast, fmt.Errorf("open %s: %w", s.Domain, err)
		}
		variants, err := sim.Variants(s.Domain)
		if err != nil {
			return cast, fmt.Errorf("open %s: %w", s.Domain, err)
		}
		c := checkouts{store: s, zone: zone, now: o.Now, shelf: shelve(variants), chance: rand.New(rand.NewPCG(o.Seed, uint64(i)))}
		for k := range n {
			spec := c.next(k)
			made, err := sim.Checkout(spec)
			if err != nil {
				return cast, fmt.Errorf("contract %d of %s: %w", k+1, s.Domain, err)
			}
			cast.note(spec, made)
		}
	}
	return cast, nil
}

func (s Store) open(sim *simulator.Simulator, token platform.Token) error {
	err := sim.AddShop(simulator.ShopSpec{
		Domain: s.Domain, Token: string(token), Name: s.Name, TimeZone: s.TimeZone, Currency: s.Currency, Country: s.Country,
		Email: "owner@" + s.Domain, FirstContract: s.firstContract, FirstPlan: firstPlan,
	})
	if err != nil {
		return err
	}
	return Stock(sim, s.Domain, s.Currency)
}

// Stock puts the products on sale in a store, priced in its currency.
func Stock(sim *simulator.Simulator, domain string, currency money.Currency) error {
	for _, p := range products() {
		spec := simulator.ProductSpec{
			Shop: domain, Title: p.title, Vendor: p.vendor, Type: p.kind, Collections: p.collections, Tags: []string{"subscription"},
			OnlyOnPlans: p.kind == kindMembership,
		}
		for _, v := range p.variants {
			spec.Variants = append(spec.Variants, simulator.VariantSpec{
				Title: v.title, SKU: v.sku, Price: price(v.cents, currency).String(), Digital: p.digital,
			})
		}
		if _, err := sim.AddProduct(spec); err != nil {
			return fmt.Errorf("put %s on sale: %w", p.title, err)
		}
	}
	if err := sim.AddCode(simulator.CodeSpec{Shop: domain, Code: Welcome, Percent: welcomePercent}); err != nil {
		return fmt.Errorf("define a discount code: %w", err)
	}
	return nil
}

// Welcome is a discount code that every store has: it takes a tenth off all
// orders of a contract.
const Welcome = "WELCOME10"

const welcomePercent = 10
