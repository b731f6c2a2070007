package admin

import (
	"cmp"
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// deliveryHandlers change how a contract's orders are delivered.
type deliveryHandlers struct{ contractHandlers }

func (h deliveryHandlers) register(api *web.API) {
	web.Register(api, amendment(contractDelivery, "updateDeliveryPrice", "/subscription-contracts-update-delivery-price", "Change the delivery price",
		"Sets what the delivery of each future order costs."), h.setDeliveryPrice)
	web.Register(api, amendment(contractDelivery, "updateDeliveryMethod", "/subscription-contracts-update-delivery-method", "Change the delivery method",
		"Sets by which service future orders are delivered. The address stays."), h.setDeliveryMethod)
	web.Register(api, withBody(record.ShippingAddress{}, amendment(contractDelivery, "updateShippingAddress", "/subscription-contracts-update-shipping-address", "Change the shipping address",
		"Replaces the address of future orders. LOCAL needs a phone number; PICK_UP needs locationId, and 404 locationNotFound says that the store does not have it. "+
			"400 platformRefused when the platform does not take the address, such as a province that its country does not have.")), h.setShippingAddress)
}

type deliveryPriceQuery struct {
	OfContract
	Price web.Decimal `query:"deliveryPrice" required:"true" minimum:"0" maximum:"999999.99" example:"4.90" doc:"In the contract's currency."`
}

func (h deliveryHandlers) setDeliveryPrice(ctx context.Context, in *deliveryPriceQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	price, err := h.price(ctx, cmd, "deliveryPrice", web.Opt[web.Decimal]{Value: in.Price, Set: true})
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetDeliveryPrice(ctx, web.CallerOf(ctx).Shop.ID, cmd, *price))
}

type deliveryMethodQuery struct {
	OfContract
	Title      string          `query:"deliveryMethodName" maxLength:"255" example:"Express" doc:"The delivery method's name, as customers read it. Required."`
	Code       web.Opt[string] `query:"deliveryMethodCode" maxLength:"255" doc:"The service's code. Absent: the name."`
	OtherTitle string          `query:"delivery-method-title" maxLength:"255" doc:"Another spelling of deliveryMethodName. Both may be given when they say the same."`
	OtherCode  web.Opt[string] `query:"delivery-method-code" maxLength:"255" doc:"Another spelling of deliveryMethodCode. Both may be given when they say the same."`
	Presented  string          `query:"delivery-method-presentment-title" maxLength:"255" doc:"The name that customers read, where it differs from delivery-method-title: it becomes the method's name. Not together with deliveryMethodName."`
}

// method returns the name and the code that the query gives.
func (q deliveryMethodQuery) method() (title, code string, err error) {
	switch {
	case q.Title != "" && q.OtherTitle != "" && q.Title != q.OtherTitle:
		return "", "", differ("deliveryMethodName", "delivery-method-title")
	case q.Code.Set && q.OtherCode.Set && q.Code.Value != q.OtherCode.Value:
		return "", "", differ("deliveryMethodCode", "delivery-method-code")
	case q.Title != "" && q.Presented != "" && q.Title != q.Presented:
		return "", "", differ("deliveryMethodName", "delivery-method-presentment-title")
	}
	name := cmp.Or(q.Title, q.OtherTitle, q.Presented)
	if name == "" {
		return "", "", web.MissingParameter("deliveryMethodName", "String")
	}
	code = name
	if q.Code.Set {
		code = q.Code.Value
	} else if q.OtherCode.Set {
		code = q.OtherCode.Value
	}
	return cmp.Or(q.Presented, name), code, nil
}

func (h deliveryHandlers) setDeliveryMethod(ctx context.Context, in *deliveryMethodQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	title, code, err := in.method()
	if err != nil {
		return nil, err
	}
	want := func(m contract.DeliveryMethod) contract.DeliveryMethod {
		m.Title, m.Code = title, code
		if m.Kind == "" {
			m.Kind = record.MethodShipping
		}
		return m
	}
	return newContractOut(h.edits.SetDelivery(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.DeliveryChange{Event: activity.DeliveryMethodUpdated, Want: want}))
}

type addressIn struct {
	OfContract
	web.JSONBody
}

func (h deliveryHandlers) setShippingAddress(ctx context.Context, in *addressIn) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	var body record.ShippingAddress
	if err := intoChecked(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	method, err := body.Method()
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetDelivery(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.DeliveryChange{Event: activity.ShippingAddressChange, Want: method}))
}
