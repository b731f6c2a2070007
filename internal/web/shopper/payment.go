package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/web"
)

const paymentTag = "Payment and discounts"

func (o Options) payment(api *web.API) {
	method := o.operation("updatePaymentMethod", http.MethodPut, "/contracts/{contractId}/payment-method", paymentTag, "Change the payment method",
		"Charges the contract to another payment method of the shopper's from now on. An order that was declined is tried again with it. Answers with the contract.")
	method.Body, method.Errors = paymentBody{}, append(method.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, method, o.setPaymentMethod)

	link := o.operation("sendPaymentUpdate", http.MethodPost, "/contracts/{contractId}/payment-method/send-update-link", paymentTag, "Send a link to update the payment method",
		"The platform e-mails the shopper a secure link with which to change the card. 204.")
	link.Status = http.StatusNoContent
	web.Register(api, link, o.sendPaymentUpdate)

	code := o.operation("applyDiscount", http.MethodPost, "/contracts/{contractId}/discount", paymentTag, "Redeem a discount code",
		"The platform says whether the code is valid for this contract. 400 discountApplied for one that it has already. Answers with the contract.")
	code.Body, code.Errors = discountBody{}, append(code.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, code, o.applyDiscount)

	web.Register(api, o.operation("removeDiscount", http.MethodDelete, "/contracts/{contractId}/discount", paymentTag, "Remove a discount",
		"Takes a discount off the contract; its code may not be accepted a second time. Answers with the contract."), o.removeDiscount)
}

// paymentBody names a payment method.
type paymentBody struct {
	ID string `json:"paymentMethodId" minLength:"1" maxLength:"255" doc:"The payment method: graph id, or its last part." example:"gid://shopify/CustomerPaymentMethod/ab12"`
}

func (o Options) setPaymentMethod(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body paymentBody
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	if body.ID == "" {
		return nil, missingField("paymentMethodId")
	}
	return newContractOut(o.Portal.SetPaymentMethod(ctx, o.who(ctx), ref, contractedit.PaymentMethodID(body.ID)))
}

func (o Options) sendPaymentUpdate(ctx context.Context, in *OfContract) (*struct{}, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	return nil, o.Portal.SendPaymentUpdate(ctx, o.who(ctx), ref)
}

// discountBody names a discount code.
type discountBody struct {
	Code string `json:"discountCode" minLength:"1" maxLength:"255" doc:"A discount code of the store." example:"WELCOME10"`
}

func (o Options) applyDiscount(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body discountBody
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.ApplyDiscount(ctx, o.who(ctx), ref, body.Code))
}

type discountQuery struct {
	OfContract
	Discount string `query:"discountId" required:"true" maxLength:"255" doc:"The discount: graph id, or its last part."`
}

func (o Options) removeDiscount(ctx context.Context, in *discountQuery) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.RemoveDiscount(ctx, o.who(ctx), ref, in.Discount))
}
