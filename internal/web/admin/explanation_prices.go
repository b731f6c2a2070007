package admin

import (
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/web"
)

type explainedPrices struct {
	Currency      string              `json:"currency" doc:"Of all amounts: an ISO 4217 code." example:"USD"`
	Lines         []explainedLine     `json:"lines" nullable:"false" doc:"What the order holds or, before it is prepared, what it would hold now."`
	LinesTotal    float64             `json:"linesTotal" doc:"What the lines come to, before discounts, delivery and taxes." example:"24.5"`
	DeliveryPrice float64             `json:"deliveryPrice" doc:"What delivery of an order of the contract costs." example:"4.9"`
	Discounts     []explainedDiscount `json:"discounts" nullable:"false" doc:"The contract's discounts, as the platform has them now. Empty when it was not asked or did not answer."`
	PlatformAsked bool                `json:"platformAsked" doc:"Whether the platform was asked for price rules and discounts, and answered."`
	Words         []string            `json:"words" nullable:"false" doc:"The same in sentences." example:"2 × House Blend Coffee, 250 g for 12.25 USD each: the contract's price."`
}

type explainedLine struct {
	VariantID    int64            `json:"variantId" doc:"Number of the variant; 0 when it is gone." example:"4001"`
	Title        string           `json:"title" doc:"Title of the product." example:"House Blend Coffee"`
	VariantTitle *string          `json:"variantTitle" doc:"And of the variant." example:"250 g"`
	Quantity     int32            `json:"quantity" doc:"Pieces." example:"2"`
	Price        float64          `json:"price" doc:"What one costs in this order." example:"12.25"`
	PriceBefore  float64          `json:"priceBefore" doc:"What one costs before the order: the same, unless a price begins with it." example:"12.25"`
	OneOff       bool             `json:"oneOff" doc:"Whether it is in this order only."`
	Steps        []explainedPrice `json:"priceRule" nullable:"false" doc:"Prices by cycle or by order; empty when it has no such rule, or it is not known."`
	Words        string           `json:"words" doc:"Why it costs that, in a sentence." example:"2 × House Blend Coffee, 250 g for 12.25 USD each: the contract's price."`
}

type explainedPrice struct {
	From    int32   `json:"from" doc:"The first cycle or order for which the price counts." example:"4"`
	Counted string  `json:"counted" enum:"cycle,order" doc:"What is counted: the contract's cycles, or its orders, beginning with the order of the checkout."`
	Price   float64 `json:"price" doc:"What one costs from then on." example:"11.25"`
	Words   string  `json:"words" doc:"How it is computed." example:"from cycle 4 on 10 % off 12.50 USD"`
}

type explainedDiscount struct {
	ID      string  `json:"id" doc:"Graph id." example:"gid://shopify/SubscriptionManualDiscount/1"`
	Title   string  `json:"title" doc:"What it is called." example:"WELCOME10"`
	Code    *string `json:"code" doc:"The code that was redeemed; null for one made by hand." example:"WELCOME10"`
	Applies bool    `json:"applies" doc:"Whether it counts for this order, as far as is known now."`
	Words   string  `json:"words" doc:"What it gives, in a sentence." example:"Discount WELCOME10 gives 10 % off all lines."`
}

func newExplainedPrices(e explain.Explanation) explainedPrices {
	p := explainedPrices{
		Currency: string(e.Of.Currency), Lines: make([]explainedLine, len(e.Prices.Lines)), LinesTotal: e.Prices.Total.Float(), DeliveryPrice: e.Prices.Delivery.Float(),
		Discounts: make([]explainedDiscount, len(e.Prices.Discounts)), PlatformAsked: e.Terms != nil, Words: e.Prices.Words,
	}
	for i, l := range e.Prices.Lines {
		line := explainedLine{
			VariantID: l.VariantID, Title: l.Title, VariantTitle: web.Some(l.VariantTitle), Quantity: int32(l.Quantity),
			Price: l.Price.Float(), PriceBefore: l.Was.Float(), OneOff: l.OneOff, Steps: make([]explainedPrice, len(l.Steps)), Words: l.Words,
		}
		for j, s := range l.Steps {
			line.Steps[j] = explainedPrice{From: int32(s.From), Counted: s.Counted, Price: s.Price.Float(), Words: s.Words}
		}
		p.Lines[i] = line
	}
	for i, d := range e.Prices.Discounts {
		p.Discounts[i] = explainedDiscount{ID: d.ID, Title: d.Title, Code: web.Some(d.Code), Applies: d.Applies, Words: d.Words}
	}
	return p
}
