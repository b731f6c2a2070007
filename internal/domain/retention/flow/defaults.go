package flow

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/money"
)

//go:embed labels.json
var labelsText []byte

// labels are the labels of the default reasons, by key and language.
var labels = readLabels(labelsText)

func readLabels(text []byte) map[string]map[string]string {
	var all map[string]map[string]string
	if err := json.Unmarshal(text, &all); err != nil {
		panic(fmt.Sprintf("labels of the default reasons: %v", err))
	}
	return all
}

// Default returns the flow of a store that has published none. Its discount is offered once
// the store has set a budget, and support once it has said how it is reached. Products to
// swap to are the store's to name.
func Default(currency money.Currency) Flow {
	reason := func(key string, offers ...Offer) Reason {
		return Reason{Key: key, Label: labels[key], Offers: offers}
	}
	skip, pause := Offer{Kind: Skip, Orders: 2}, Offer{Kind: Pause, Months: 2}
	rarer, later := Offer{Kind: Frequency, Direction: Rarer}, Offer{Kind: Reschedule, Days: 14}
	cheaper := Offer{Kind: Discount, Percent: 15, Orders: 3}
	return Flow{
		Mode: Retention, Currency: currency,
		Reasons: []Reason{
			reason("too-much", skip, rarer, pause),
			reason("too-expensive", cheaper, Offer{Kind: Quantity}),
			reason("something-different"),
			reason("frequency", Offer{Kind: Frequency, Direction: Other}, later),
			reason("away", pause, Offer{Kind: Skip, Orders: 1}),
			reason("problem"),
			reason("payment", Offer{Kind: PaymentLink}, pause),
			reason("trying"),
			{Key: "other", Label: labels["other"]},
		},
	}
}
