package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const termsTag = "Frequency and delivery"

func (o Options) terms(api *web.API) {
	list := o.operation("listFrequencies", http.MethodGet, "/contracts/{contractId}/frequencies", termsTag, "Frequencies to choose from",
		"The plan options of the contract's group that the shopper may choose, in the order in which the merchant shows them. Empty where the contract is on no plan of the store's groups.")
	list.Errors = []int{http.StatusNotFound}
	web.Register(api, list, o.frequencies)

	change := o.operation("updateFrequency", http.MethodPut, "/contracts/{contractId}/frequency", termsTag, "Change how often orders come",
		"Puts the contract on one of those options, at the price that it gives. Upcoming orders are planned again. 400 frequencyNotOffered for any other selling plan. Answers with the contract.")
	change.Body, change.Errors = frequencyBody{}, append(change.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, change, o.setFrequency)

	address := o.operation("updateShippingAddress", http.MethodPut, "/contracts/{contractId}/shipping-address", termsTag, "Change the delivery address",
		"Replaces the address of all future orders, and the price of their delivery by what the platform asks there: the way of the same name counts, or else the merchant's rule. "+
			"Ask previewShippingAddress before. 400 deliveryUnavailable where nothing can be shipped to. Answers with the contract.")
	address.Body, address.Errors = record.ShippingAddress{}, append(address.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, address, o.setAddress)

	preview := o.operation("previewShippingAddress", http.MethodPost, "/contracts/{contractId}/shipping-address/preview", termsTag, "See what another address would cost",
		"How the orders would be delivered to an address, and for how much. Changes nothing. 400 deliveryUnavailable where nothing can be shipped to.")
	preview.Body, preview.Errors = record.ShippingAddress{}, append(preview.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, preview, o.previewAddress)
}

// frequency is a plan option that the shopper may choose.
type frequency struct {
	SellingPlan   int64  `json:"sellingPlanId" doc:"The platform's number of the selling plan." example:"9101"`
	GraphID       string `json:"graphSellingPlanId" doc:"Its graph id." example:"gid://shopify/SellingPlan/9101"`
	Name          string `json:"name" doc:"What the merchant calls it." example:"Monthly, 10% off"`
	Interval      string `json:"billingInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between two charges." example:"MONTH"`
	Count         int32  `json:"billingIntervalCount" minimum:"1" doc:"How many of them." example:"1"`
	Delivery      string `json:"deliveryInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between two deliveries." example:"MONTH"`
	DeliveryCount int32  `json:"deliveryIntervalCount" minimum:"1" doc:"How many of them." example:"1"`
	Current       bool   `json:"current" doc:"Whether the contract is on it now." example:"true"`

	Price record.AmountObject `json:"nextOrderPrice" doc:"What the next order costs on it, before taxes."`
}

func newFrequency(f portal.Frequency) frequency {
	return frequency{
		SellingPlan: f.ID, GraphID: gid.Of("SellingPlan", f.ID), Name: f.Name, Interval: f.Billing.Interval.String(), Count: int32(f.Billing.Count),
		Delivery: f.Option.Delivery.Interval.String(), DeliveryCount: int32(f.Option.Delivery.Count), Current: f.Current,
		Price: record.NewAmount(f.Price),
	}
}

type readContract struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
}

type frequenciesOut struct{ Body []frequency }

func (o Options) frequencies(ctx context.Context, in *readContract) (*frequenciesOut, error) {
	ref, err := Versioned{}.ref("contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	options, err := o.Portal.Frequencies(ctx, o.who(ctx), ref.ID)
	if err != nil {
		return nil, err
	}
	out := &frequenciesOut{Body: make([]frequency, len(options))}
	for i, f := range options {
		out.Body[i] = newFrequency(f)
	}
	return out, nil
}

// frequencyBody names a plan option.
type frequencyBody struct {
	SellingPlan web.AnyID `json:"sellingPlanId" doc:"The selling plan: number or graph id."`
}

func (o Options) setFrequency(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body frequencyBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	plan, err := required(body.SellingPlan, "SellingPlan", "sellingPlanId")
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.SetFrequency(ctx, o.who(ctx), ref, plan))
}

func (o Options) setAddress(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body record.ShippingAddress
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	method, err := body.Method()
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.SetDelivery(ctx, o.who(ctx), ref, method, nil))
}

// delivered is what another address does to the delivery of orders.
type delivered struct {
	Method  string              `json:"deliveryMethod" doc:"The name of the way." example:"Standard"`
	Price   record.AmountObject `json:"deliveryPrice" doc:"What delivery of each order costs then."`
	Before  record.AmountObject `json:"deliveryPriceNow" doc:"And now."`
	Next    record.AmountObject `json:"nextOrderPrice" doc:"What the next order costs then, before taxes."`
	NowName string              `json:"deliveryMethodNow" doc:"The name of the way now." example:"Standard"`
}

type deliveredOut struct{ Body delivered }

func (o Options) previewAddress(ctx context.Context, in *bodyIn) (*deliveredOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body record.ShippingAddress
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	method, err := body.Method()
	if err != nil {
		return nil, err
	}
	is, err := o.Portal.DraftDelivery(ctx, o.who(ctx), ref.ID, method)
	if err != nil {
		return nil, err
	}
	return &deliveredOut{delivered{
		Method: is.To.Method.Title, Price: record.NewAmount(is.To.Price), Before: record.NewAmount(is.From.Price), Next: record.NewAmount(is.Next), NowName: is.From.Method.Title,
	}}, nil
}
