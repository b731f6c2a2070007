package loyalty

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestEarnRuleGivesPoints(t *testing.T) {
	t.Parallel()
	unit := EarnRule{ID: 1, For: Renewal, Active: true, Points: One, PerUnit: true}
	fact := Fact{Source: Source{Renewal, "1"}, At: noon(), Amount: money.Amount{Minor: 2599, Currency: "USD"}, Cycle: 3}
	for name, test := range map[string]struct {
		rule func(r EarnRule) EarnRule
		fact func(f Fact) Fact
		want Points
	}{
		"a point for each unit of money, rounded down": {nil, nil, 25 * One},
		"hundredths where they are wanted":             {func(r EarnRule) EarnRule { r.Decimals = true; return r }, nil, 2599},
		"a currency without decimals":                  {nil, func(f Fact) Fact { f.Amount = money.Amount{Minor: 2599, Currency: "JPY"}; return f }, 2599 * One},
		"a currency with three decimals":               {nil, func(f Fact) Fact { f.Amount = money.Amount{Minor: 25999, Currency: "KWD"}; return f }, 25 * One},
		"a fixed number":                               {func(r EarnRule) EarnRule { r.PerUnit, r.Points = false, 40*One; return r }, nil, 40 * One},
		"more for certain renewals":                    {func(r EarnRule) EarnRule { r.Ladder = []CycleBonus{{3, 100 * One}, {6, 250 * One}}; return r }, nil, 125 * One},
		"at least so many":                             {func(r EarnRule) EarnRule { r.Min = 50 * One; return r }, nil, 50 * One},
		"at most so many":                              {func(r EarnRule) EarnRule { r.Max = 10 * One; return r }, nil, 10 * One},
		"nothing when it is off":                       {func(r EarnRule) EarnRule { r.Active = false; return r }, nil, 0},
		"nothing for something else":                   {func(r EarnRule) EarnRule { r.For = Purchase; return r }, nil, 0},
		"nothing before it begins":                     {func(r EarnRule) EarnRule { r.From = noon().Add(1); return r }, nil, 0},
		"nothing from its end on":                      {func(r EarnRule) EarnRule { r.To = noon(); return r }, nil, 0},
		"nothing for an order that cost nothing":       {nil, func(f Fact) Fact { f.Amount.Minor = 0; return f }, 0},
		"never more than can be counted":               {func(r EarnRule) EarnRule { r.Points = MaxPoints; return r }, nil, MaxPoints},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, f := unit, fact
			if test.rule != nil {
				r = test.rule(r)
			}
			if test.fact != nil {
				f = test.fact(f)
			}
			if got := r.Gives(f); got != test.want {
				t.Errorf("gives %d, want %d", got, test.want)
			}
		})
	}
}

func TestRedeemRulePrice(t *testing.T) {
	t.Parallel()
	fixed := RedeemRule{ID: 1, Type: DiscountCode, Active: true, Points: 500 * One, Value: 5000}
	dynamic := RedeemRule{ID: 3, Type: DynamicDiscount, Active: true, Points: 100 * One, Value: 1000, Min: 100 * One, Max: 5000 * One}
	for name, test := range map[string]struct {
		rule     RedeemRule
		points   Points
		currency money.Currency
		cost     Points
		worth    int64 // minor units
		key      string
	}{
		"a fixed price":                        {fixed, 0, "USD", 500 * One, 500, ""},
		"the price may be named":               {fixed, 500 * One, "USD", 500 * One, 500, ""},
		"another price is refused":             {fixed, 400 * One, "USD", 0, 0, "pointsFixed"},
		"a currency without decimals":          {fixed, 0, "JPY", 500 * One, 5, ""},
		"as many points as are wanted":         {dynamic, 250 * One, "USD", 250 * One, 250, ""},
		"the worth is rounded down":            {dynamic, 199*One + 99, "JPY", 199*One + 99, 1, ""},
		"how many must be said":                {dynamic, 0, "USD", 0, 0, "pointsMissing"},
		"too few":                              {dynamic, 99 * One, "USD", 0, 0, "pointsTooFew"},
		"too many":                             {dynamic, 5001 * One, "USD", 0, 0, "pointsTooMany"},
		"a rule that is off":                   {RedeemRule{ID: 9, Type: DiscountCode, Points: One, Value: 1}, 0, "USD", 0, 0, "redeemRuleInactive"},
		"a value below the smallest unit":      {RedeemRule{ID: 9, Type: DiscountCode, Active: true, Points: One, Value: 900}, 0, "JPY", 0, 0, "pointsTooFew"},
		"a percentage has no worth of its own": {RedeemRule{ID: 9, Type: DiscountCode, Active: true, Points: One, Percent: 10}, 0, "USD", One, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cost, worth, err := test.rule.price(test.points, test.currency)
			f, _ := errors.AsType[*fault.Error](err)
			if test.key == "" && (err != nil || cost != test.cost || worth.Minor != test.worth) || test.key != "" && (f == nil || f.ErrorKey != test.key) {
				t.Errorf("costs %d and is worth %s, %v", cost, worth, err)
			}
		})
	}
}

func TestTermsValidateRejects(t *testing.T) {
	t.Parallel()
	if err := DefaultTerms().Validate(); err != nil {
		t.Errorf("the default terms are not valid: %v", err)
	}
	for name, change := range map[string]func(*Terms){
		"an unknown way to enrol":          func(t *Terms) { t.Enrol = "NEVER" },
		"an unknown mode of expiry":        func(t *Terms) { t.Expiry.Mode = "SOON" },
		"expiry after no months":           func(t *Terms) { t.Expiry = ExpiryPolicy{Mode: LotAge} },
		"expiry after no days":             func(t *Terms) { t.Expiry = ExpiryPolicy{Mode: Inactivity} },
		"expiry on no day":                 func(t *Terms) { t.Expiry = ExpiryPolicy{Mode: FixedDate, Month: 13, Day: 1} },
		"points pending for ever":          func(t *Terms) { t.PendingDays = maxDays + 1 },
		"two earn rules with one number":   func(t *Terms) { t.Earn[1].ID = 1 },
		"an earn rule for nothing known":   func(t *Terms) { t.Earn[0].For = Manual },
		"two redeem rules with one number": func(t *Terms) { t.Redeem[1].ID = 1 },
		"a reward that costs nothing":      func(t *Terms) { t.Redeem[0].Points = 0 },
		"a reward with value and percent":  func(t *Terms) { t.Redeem[0].Percent = 5 },
		"store credit in percent":          func(t *Terms) { t.Redeem[3].Value, t.Redeem[3].Percent = 0, 5 },
		"tiers that do not rise":           func(t *Terms) { t.Tiers = []Tier{{1, "A", 5}, {2, "B", 5}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := DefaultTerms()
			change(&terms)
			if err := terms.Validate(); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTiersByEarnedPoints(t *testing.T) {
	t.Parallel()
	terms := Terms{Tiers: []Tier{{1, "Seedling", 0}, {2, "Oak", 1000}}}
	for _, row := range []struct {
		earned        Points
		reached, next int64
	}{{0, 1, 2}, {999, 1, 2}, {1000, 2, 0}, {-5, 0, 1}} {
		reached, next := terms.TiersOf(row.earned)
		id := func(t *Tier) int64 {
			if t == nil {
				return 0
			}
			return t.ID
		}
		if id(reached) != row.reached || id(next) != row.next {
			t.Errorf("with %d points: tier %d, next %d; want %d, %d", row.earned, id(reached), id(next), row.reached, row.next)
		}
	}
}

func TestExpiryIsAtThreeInTheMorningInStoreZone(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC) // the evening of 31 January
	for name, test := range map[string]struct {
		policy ExpiryPolicy
		want   string
	}{
		"after months, in summer":            {ExpiryPolicy{Mode: LotAge, Months: 6}, "2026-07-31T07:00:00Z"},
		"on the last day of a shorter month": {ExpiryPolicy{Mode: LotAge, Months: 1}, "2026-02-28T08:00:00Z"},
		"on the next such day":               {ExpiryPolicy{Mode: FixedDate, Month: time.March, Day: 1}, "2026-03-01T08:00:00Z"},
		"next year when the day has passed":  {ExpiryPolicy{Mode: FixedDate, Month: time.January, Day: 31}, "2027-01-31T08:00:00Z"},
		"on the last day that the month has": {ExpiryPolicy{Mode: FixedDate, Month: time.February, Day: 30}, "2026-02-28T08:00:00Z"},
		"never":                              {ExpiryPolicy{Mode: NoExpiry}, "0001-01-01T00:00:00Z"},
		"by inactivity lots have no date":    {ExpiryPolicy{Mode: Inactivity, Days: 3}, "0001-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.policy.of(from, zone).Format(time.RFC3339); got != test.want {
				t.Errorf("expires %s, want %s", got, test.want)
			}
		})
	}
}

func TestParsePointsTakesTwoDecimals(t *testing.T) {
	t.Parallel()
	for _, n := range []float64{0, -1, 0.001, 150.555, 1e10} {
		if _, err := ParsePoints("points", n); !fault.Is(err, fault.Invalid) {
			t.Errorf("%g points: %v", n, err)
		}
	}
	for n, want := range map[float64]Points{150.5: 15050, 0.01: 1, 0.29: 29, 1e9: MaxPoints} {
		if got, err := ParsePoints("points", n); err != nil || got != want {
			t.Errorf("%g points are %d, %v", n, got, err)
		}
	}
}

func TestRewardCodesAreStableAndDiffer(t *testing.T) {
	t.Parallel()
	one := codeOf("", "secret", 5, noon())
	if a := codeOf("LOYAL", "secret", 5, noon()); a != "LOYAL-"+one || len(one) != 10 {
		t.Errorf("codes %q and %q", a, one)
	}
	for name, other := range map[string]string{
		"of another number":                       codeOf("", "secret", 6, noon()),
		"of another store":                        codeOf("", "other", 5, noon()),
		"that was taken before a backup was read": codeOf("", "secret", 5, noon().Add(-time.Millisecond)),
	} {
		if other == one {
			t.Errorf("a reward has the code of one %s", name)
		}
	}
}

func TestRewardIsAsItsRuleSays(t *testing.T) {
	t.Parallel()
	d := &memberTx{shop: shop.Shop{Currency: "USD", Token: "secret"}, now: noon()}
	rule := RedeemRule{ID: 3, Name: "Ten off", Type: DiscountCode, Percent: 10, MinPurchase: 25_000, Prefix: "LOYAL", ValidDays: 30, WithProducts: true}
	r := rule.reward(5, d, Account{ID: 9}, 100*One, money.Amount{Currency: "USD"})
	if r.Description != "Ten off" || r.Type != DiscountCode || r.Percent != 10 || r.MinPurchase != (money.Amount{Minor: 2500, Currency: "USD"}) ||
		!strings.HasPrefix(r.Code, "LOYAL-") || !r.ExpiresAt.Equal(noon().AddDate(0, 0, 30)) || !r.Combines {
		t.Errorf("the reward is %+v", r)
	}
	bare := RedeemRule{ID: 3, Type: DiscountCode, Value: 5000}.reward(5, d, Account{ID: 9}, 100*One, money.Amount{Minor: 500, Currency: "USD"})
	if bare.Percent != 0 || bare.MinPurchase.Minor != 0 || strings.Contains(bare.Code, "-") || !bare.ExpiresAt.IsZero() || bare.Combines {
		t.Errorf("the reward is %+v", bare)
	}
	if credit := (RedeemRule{ID: 4, Type: StoreCredit, Value: 5000, ValidDays: 30}).reward(6, d, Account{ID: 9}, One, money.Amount{}); credit.Code != "" || !credit.ExpiresAt.IsZero() || credit.State != Used {
		t.Errorf("store credit is %+v", credit)
	}
}
