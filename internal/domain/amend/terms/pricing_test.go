package terms

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func TestComputePricing(t *testing.T) {
	t.Parallel()
	p := ComputePricing(usd(1099), []contract.CyclePrice{{After: 0, Kind: platform.PercentOff, Percent: 12.5}, {After: 3, Kind: platform.AmountOff, Amount: usd(2000)}})
	if p.Cycles[0].Computed != usd(962) || p.Cycles[1].Computed != usd(0) || p.Base != usd(1099) {
		t.Errorf("prices %+v", p)
	}
	for name, steps := range map[string][]contract.CyclePrice{
		"three steps":          {{After: 0}, {After: 1}, {After: 2}},
		"steps in wrong order": {{After: 2}, {After: 1}},
		"a step twice":         {{After: 1}, {After: 1}},
		"a negative step":      {{After: -1}},
		"more than all off":    {{Kind: platform.PercentOff, Percent: 101}},
		"a negative price":     {{Kind: platform.FixedPrice, Amount: usd(-1)}},
		"a price of a million": {{Kind: platform.FixedPrice, Amount: usd(1_000_000_00)}},
	} {
		if err := CheckPricing(steps); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPricingContinuesFromAnyCycle(t *testing.T) {
	t.Parallel()
	step := func(after int, cents int64) platform.CyclePrice {
		return platform.CyclePrice{After: after, Kind: platform.FixedPrice, Computed: usd(cents)}
	}
	rule := platform.Pricing{Base: usd(1000), Cycles: []platform.CyclePrice{step(0, 900), step(3, 700)}}
	late := platform.Pricing{Base: usd(1000), Cycles: []platform.CyclePrice{step(2, 800), step(5, 600)}}
	for _, from := range []platform.Pricing{rule, late} {
		for first := 1; first < 9; first++ {
			on := from.From(first)
			for n := 1; n < 9; n++ {
				got, said := on.Step(n)
				want, says := from.Step(first + n - 1)
				if said != says || got.Computed != want.Computed {
					t.Errorf("from cycle %d on the order %d costs %v, want %v", first, n, got.Computed, want.Computed)
				}
			}
			for i := 1; i < len(on.Cycles); i++ {
				if on.Cycles[i].After <= on.Cycles[i-1].After {
					t.Errorf("from cycle %d on the steps are %+v", first, on.Cycles)
				}
			}
		}
	}
}
