package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// epoch is when the first stored contract was made; each later one follows by a
// minute.
func epoch() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// The selling plans that stored contracts are on.
const (
	firstPlan   = 6001
	storedPlans = 20
)

// insertAtOnce is how many contracts are stored in one transaction.
const insertAtOnce = 1000

// addShop adds a store with contracts.
func addShop(ctx context.Context, db *store.DB, number, contracts int) (shop.ID, error) {
	made := shop.Shop{
		Domain: fmt.Sprintf("stored-%d.myshopify.com", number), PlatformID: int64(number), Token: wire.Token("token"), TimeZone: "UTC",
		Currency: "USD", OrderHour: 9, Connected: true, CreatedAt: epoch(), ReconcileAt: epoch().AddDate(100, 0, 0),
	}
	if err := db.Shops().AddShop(ctx, &made); err != nil {
		return 0, err
	}
	for from := 0; from < contracts; from += insertAtOnce {
		list := make([]contract.Contract, 0, insertAtOnce)
		for i := from; i < min(from+insertAtOnce, contracts); i++ {
			list = append(list, storedContract(number, i))
		}
		err := db.Intake().Update(ctx, made.ID, func(tx intake.Tx) error { return tx.PutContracts(ctx, slices.Clone(list)) })
		if err != nil {
			return 0, err
		}
	}
	return made.ID, nil
}

// storedContract is a contract that differs from its neighbours in everything by
// which contracts are searched.
func storedContract(of, i int) contract.Contract {
	customer := i / 2 // has two contracts
	first := []string{"Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Tony"}[customer%8]
	last := []string{"Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Allen"}[customer%7] + strconv.Itoa(customer)
	created := epoch().Add(time.Duration(i) * time.Minute)
	status := []contract.Status{contract.Active, contract.Active, contract.Active, contract.Paused, contract.Cancelled}[i%5]
	every := contract.Policy{Interval: []cadence.Interval{cadence.Week, cadence.Month}[i%2], Count: 1 + i%3}
	delivery := every
	if i%20 == 0 {
		delivery = contract.Policy{Interval: cadence.Week, Count: 4}
	}
	return contract.Contract{
		ID: contract.ID(of*10_000_000 + i + 1), Line: shop.Subscriptions, Revision: 1, Status: status, Currency: "USD",
		Customer: contract.Customer{ID: int64(of*10_000_000 + customer + 1), Email: fmt.Sprintf("%s.%s@example.com", first, last), FirstName: first, LastName: last, Name: first + " " + last},
		Billing:  every, Delivery: delivery, OriginOrderID: int64(i + 1), OriginOrderName: "#" + strconv.Itoa(1001+i),
		Lines: []contract.LineItem{{
			ID: fmt.Sprintf("gid://shopify/SubscriptionLine/%d", i), ProductID: int64(3001 + i%200), VariantID: int64(4001 + i%1000), SKU: "SKU", Title: "Coffee",
			Quantity: 1 + i%3, Price: money.Amount{Minor: int64(500 + i%5000), Currency: "USD"}, SellingPlanID: int64(firstPlan + i%storedPlans), SellingPlanName: "Every month",
		}},
		PaymentMethod: fmt.Sprintf("gid://shopify/CustomerPaymentMethod/%d", i), PaymentUsable: true, DeliveryCountry: "US", AutoCharge: true,
		Series: contract.Series{Cycle: 1, Start: created}, NextBillingDate: created.AddDate(0, 1, 0), CreatedAt: created, UpdatedAt: created.Add(time.Hour),
	}
}

// addPlans gives a store the plan group that its stored contracts are on.
func addPlans(ctx context.Context, db *store.DB, of shop.ID) error {
	g := plan.Group{PlatformID: 5001, Line: shop.Subscriptions, State: plan.Synced, Terms: plan.Terms{Name: "Coffee"}, CreatedAt: epoch(), UpdatedAt: epoch()}
	for i := range storedPlans {
		g.Options = append(g.Options, plan.Option{ID: int64(firstPlan + i), Name: "Every month"})
	}
	return db.Plans().Update(ctx, of, func(tx plan.Tx) error {
		made := g
		return tx.PutPlanGroup(ctx, &made)
	})
}

// times runs fn and returns the median and the 99th percentile of how long it
// took.
func times(runs int, fn func() error) (p50, p99 time.Duration, err error) {
	taken := make([]time.Duration, 0, runs)
	for range runs {
		elapsed := stopwatch()
		if err := fn(); err != nil {
			return 0, 0, err
		}
		taken = append(taken, elapsed())
	}
	slices.Sort(taken)
	return taken[len(taken)/2], taken[len(taken)*99/100], nil
}

// stopwatch returns a function that tells how long ago it was made. Package clock
// counts whole milliseconds, too few for what is measured here.
func stopwatch() func() time.Duration {
	begun := time.Now()                                      //nolint:forbidigo // see above
	return func() time.Duration { return time.Since(begun) } //nolint:forbidigo // see above
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
