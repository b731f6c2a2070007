package record

import (
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// PaymentConnection is payment methods, in the shape that lines of contracts have.
type PaymentConnection struct {
	Nodes    []paymentNode `json:"nodes" nullable:"false" doc:"The payment methods."`
	Edges    []paymentEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo PageInfo      `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type paymentEdge struct {
	Node paymentNode `json:"node" doc:"The payment method."`
}

// paymentNode is a payment method, with the fields of a line beside it.
type paymentNode struct {
	PaymentObject
	RevokedReason *string `json:"revokedReason" doc:"Why it cannot be charged any more, in the platform's own code; null: it can be." example:"AUTHORIZE_NET_GATEWAY_NOT_ENABLED"`

	SellingPlanID       *string       `json:"sellingPlanId" doc:"Always null."`
	SellingPlanName     *string       `json:"sellingPlanName" doc:"Always null."`
	ProductID           *string       `json:"productId" doc:"Always null."`
	SKU                 *string       `json:"sku" doc:"Always null."`
	Title               *string       `json:"title" doc:"Always null."`
	VariantID           *string       `json:"variantId" doc:"Always null."`
	Quantity            *int32        `json:"quantity" doc:"Always null."`
	VariantTitle        *string       `json:"variantTitle" doc:"Always null."`
	CustomAttributes    *string       `json:"customAttributes" doc:"Always null."`
	LineDiscountedPrice *AmountObject `json:"lineDiscountedPrice" doc:"Always null."`
	CurrentPrice        *AmountObject `json:"currentPrice" doc:"Always null."`
	VariantImage        *ImageObject  `json:"variantImage" doc:"Always null."`
	DiscountAllocations *string       `json:"discountAllocations" doc:"Always null."`
	PricingPolicy       *string       `json:"pricingPolicy" doc:"Always null."`
	Taxable             *bool         `json:"taxable" doc:"Always null."`
}

// NewPaymentConnection writes payment methods.
func NewPaymentConnection(methods []contract.PaymentMethod) PaymentConnection {
	c := PaymentConnection{Nodes: make([]paymentNode, len(methods)), Edges: make([]paymentEdge, len(methods))}
	for i, m := range methods {
		n := paymentNode{PaymentObject: *NewPayment(m.ID, m.Instrument), RevokedReason: web.Some(m.Instrument.RevokedWhy)}
		c.Nodes[i], c.Edges[i] = n, paymentEdge{n}
	}
	return c
}
