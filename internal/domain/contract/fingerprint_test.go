package contract_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

func TestFingerprintFollowsWhatPeopleSee(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, time.March, 3, 12, 0, 0, 0, time.UTC)
	is := func() contract.Contract {
		return contract.Contract{
			ID: 1, Status: contract.Active, Currency: "USD", Billing: cadence.Policy{Interval: cadence.Week, Count: 2}, NextBillingDate: at, Orders: 3, Version: 7,
			Lines: []contract.LineItem{{ID: "1-1", VariantID: 201, Quantity: 2, Price: money.Amount{Minor: 1408, Currency: "USD"}}},
		}
	}
	first := is().Fingerprint()
	if first < 1 || first >= 1<<53 {
		t.Errorf("the fingerprint %d is not a whole number that JavaScript keeps", first)
	}
	for name, change := range map[string]func(*contract.Contract){
		"row version": func(c *contract.Contract) { c.Version++ }, "revision": func(c *contract.Contract) { c.Revision++ },
		"update": func(c *contract.Contract) { c.UpdatedAt = at }, "claim": func(c *contract.Contract) { c.ChangingUntil = at },
		"other zone": func(c *contract.Contract) { c.NextBillingDate = at.In(time.FixedZone("CET", 3600)) },
	} {
		c := is()
		if change(&c); c.Fingerprint() != first {
			t.Errorf("%s: the fingerprint changes with what is not seen", name)
		}
	}
	known := map[int64]string{first: "nothing"}
	for name, change := range map[string]func(*contract.Contract){
		"status": func(c *contract.Contract) { c.Status = contract.Paused }, "note": func(c *contract.Contract) { c.Note = "ring twice" },
		"interval": func(c *contract.Contract) { c.Billing.Count = 4 }, "date": func(c *contract.Contract) { c.NextBillingDate = at.AddDate(0, 0, 1) },
		"order": func(c *contract.Contract) { c.Orders++ }, "variant": func(c *contract.Contract) { c.Lines[0].VariantID++ },
		"quantity": func(c *contract.Contract) { c.Lines[0].Quantity++ }, "price": func(c *contract.Contract) { c.Lines[0].Price.Minor++ },
		"line": func(c *contract.Contract) { c.Lines = append(c.Lines, c.Lines[0]) }, "card": func(c *contract.Contract) { c.Card.LastDigits = "4242" },
		"payment": func(c *contract.Contract) { c.PaymentMethod = "gid" }, "delivery": func(c *contract.Contract) { c.DeliveryPrice.Minor = 500 },
		"discount": func(c *contract.Contract) { c.Discounts = []contract.Discount{{Percent: 10}} }, "pause": func(c *contract.Contract) { c.Pause = &contract.Pause{Until: at} },
		"ending": func(c *contract.Contract) { c.Ending = &contract.Ending{Why: contract.EndOfTerm, At: at} }, "decline": func(c *contract.Contract) { c.Dunning = &contract.Dunning{Attempt: 4, State: dunning.Ending} },
		"pending": func(c *contract.Contract) { c.Pending = &contract.PendingChange{Line: "1-1", Variant: 5, At: at} },
	} {
		c := is()
		change(&c)
		sum := c.Fingerprint()
		if other, taken := known[sum]; taken {
			t.Errorf("%s: the fingerprint is that of %s", name, other)
		}
		known[sum] = name
	}
}
