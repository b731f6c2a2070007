package bundle

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
)

func TestTypeFollowsRulesAndPrice(t *testing.T) {
	t.Parallel()
	tiers := Pricing{Model: Dynamic, Volume: true, Tiers: []Tier{{MinProducts: 3, Percent: 10}}}
	for _, row := range []struct {
		name     string
		settings Settings
		want     Type
	}{
		{"any mix, without rules", Settings{Pricing: Pricing{Model: Dynamic}}, MixAndMatch},
		{"rules that are switched off do not count", Settings{Rules: Rules{MinProducts: 3, CategoryLimits: map[string]Limit{"tea": {Min: 1}}}}, MixAndMatch},
		{"the number of products is ruled", Settings{Rules: Rules{Enabled: true, MinProducts: 3}}, ClassicBox},
		{"the value is ruled, and more products are cheaper", Settings{Rules: Rules{Enabled: true, MaxValue: money.Amount{Minor: 1, Currency: "EUR"}}, Pricing: tiers}, ClassicBox},
		{"more products are cheaper", Settings{Pricing: tiers}, Volume},
		{"tiers that do not apply", Settings{Pricing: Pricing{Tiers: tiers.Tiers}}, MixAndMatch},
		{"one price, to be filled", Settings{Rules: Rules{Enabled: true, AllowModifications: true, MinProducts: 3}, Pricing: Pricing{Model: Fixed}}, SingleBox},
		{"one price, as it is", Settings{Pricing: Pricing{Model: Fixed}}, ClassicBundle},
		{"sections, whatever the price", Settings{Rules: Rules{Enabled: true, CategoryLimits: map[string]Limit{"tea": {Min: 1}}}, Pricing: Pricing{Model: Fixed}}, Sectioned},
	} {
		if got := row.settings.Type(); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
