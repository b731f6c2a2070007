package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/web"
)

// paymentHandlers change how a contract is paid for.
type paymentHandlers struct{ contractHandlers }

func (h paymentHandlers) register(api *web.API) {
	web.Register(api, amendment(contractDelivery, "updateExistingPaymentMethod", "/subscription-contracts-update-existing-payment-method", "Pay with another method",
		"Makes the contract pay with another of the customer's payment methods."), h.setPaymentMethod)
	ask := amendment(contractDelivery, "updatePaymentMethod", "/subscription-contracts-update-payment-method", "Ask for a new payment method",
		"Lets the platform send the customer its e-mail with a link to change the payment method.")
	ask.Status = http.StatusNoContent
	web.Register(api, ask, h.askForPayment)
}

type paymentQuery struct {
	OfContract
	Method string `query:"paymentMethodId" required:"true" maxLength:"255" doc:"The payment method: graph id, or its last part."`
}

func (h paymentHandlers) setPaymentMethod(ctx context.Context, in *paymentQuery) (*messageOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if _, err := h.edits.SetPaymentMethod(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.PaymentMethodID(in.Method)); err != nil {
		return nil, err
	}
	return &messageOut{messageBody{"Payment method updated successfully"}}, nil
}

func (h paymentHandlers) askForPayment(ctx context.Context, in *contractQueryOnly) (*struct{}, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return nil, h.edits.SendPaymentUpdate(ctx, web.CallerOf(ctx).Shop.ID, cmd)
}
