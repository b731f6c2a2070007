// Package teashop opens a store on a simulated platform, with the real client before
// it, for tests of features.
package teashop

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Shop is a store that sells green tea for 5.00 and black tea for 7.00.
type Shop struct {
	At           platform.Shop
	URL          string // of the platform
	Client       *shopify.Client
	Green, Black int64 // variants

	t   testing.TB
	sim *simulator.Simulator
}

// Open opens a store on a platform with the given clock. It closes when the test ends.
func Open(t testing.TB, c clock.Clock) *Shop {
	t.Helper()
	s := &Shop{t: t, At: platform.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo"}}
	var err error
	s.sim, err = simulator.New(simulator.Options{Clock: c})
	s.must(err)
	s.must(s.sim.AddShop(simulator.ShopSpec{Domain: s.At.Domain, Token: string(s.At.Token)}))
	sold, err := s.sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "5.00"}, {Title: "Black", Price: "7.00"}}})
	s.must(err)
	s.Green, s.Black = sold[0].ID, sold[1].ID
	server := httptest.NewServer(s.sim.Handler())
	t.Cleanup(func() {
		server.Close()
		s.must(s.sim.Close())
	})
	s.URL, s.Client = server.URL, shopify.New(shopify.Options{BaseURL: server.URL})
	return s
}

// Subscribe has a customer subscribe to green tea, every month from a date on, and
// returns the number of the contract.
func (s *Shop) Subscribe(next time.Time) int64 {
	s.t.Helper()
	made, err := s.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: "ana@shopper.example"}, NextBillingDate: next,
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: s.Green, Quantity: 1, CurrentPrice: "5.00"}},
	})
	s.must(err)
	return made.Contract
}

// Run lets the platform end the charges that are due to end.
func (s *Shop) Run() {
	s.t.Helper()
	_, err := s.sim.RunDue(s.t.Context())
	s.must(err)
}

func (s *Shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
