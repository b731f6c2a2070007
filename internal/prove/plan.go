package prove

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// plan is what a seed draws of a world before its time begins.
type plan struct {
	Seed     uint64
	Number   int // of the world
	Start    time.Time
	Lasts    time.Duration
	Nodes    int
	UpTo     uint64 // steps; 0: to the end
	Shops    []shopPlan
	Switches simulator.Switches
}

// shopPlan is a store.
type shopPlan struct {
	Domain       string
	Zone         string
	Currency     money.Currency
	Hour, Minute int
	First        int64 // of its objects' numbers
	Prices       []string
	Contracts    []simulator.ContractSpec
}

func (s shopPlan) token() string { return "token of " + s.Domain }

func drawPlan(seed uint64, number int) plan {
	c := rand.New(rand.NewPCG(seed, uint64(number)<<8)) //nolint:gosec // the seed must say everything
	p := plan{Seed: c.Uint64(), Number: number, Nodes: 1, Lasts: 365 * 24 * time.Hour, Switches: simulator.Switches{KeyLifetime: 24 * time.Hour}}
	p.Start = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.Int64N(int64(2 * 365 * 24 * time.Hour)))).Truncate(time.Second)
	for i := range 4 {
		s := shopPlan{
			Domain: fmt.Sprintf("shop-%d.myshopify.com", i), Zone: "Europe/Berlin", Currency: "EUR", Hour: 6 + i, First: int64(i+1) * 1_000_000,
			Prices: []string{"9.90", "12.50"},
		}
		for j := range 250 {
			next := p.Start.Add(time.Hour + time.Duration(c.Int64N(int64(30*24*time.Hour))))
			s.Contracts = append(s.Contracts, simulator.ContractSpec{
				Shop: s.Domain, Customer: simulator.CustomerSpec{Email: fmt.Sprintf("c%d@shop-%d.example.com", j, i)}, NextBillingDate: next,
				CreatedAt: next.AddDate(0, -1, 0), Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1},
				Lines: []simulator.LineSpec{{VariantID: s.First, Quantity: 1}},
			})
		}
		p.Shops = append(p.Shops, s)
	}
	return p
}
