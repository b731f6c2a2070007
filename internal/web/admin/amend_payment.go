package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/web"
)

func (o Options) paymentOperations(api *web.API) {
	web.Register(api, o.amendment("updateExistingPaymentMethod", "/subscription-contracts-update-existing-payment-method", "Pay with another method",
		"Makes the contract pay with another of the customer's payment methods."), o.setPaymentMethod)
	ask := o.amendment("updatePaymentMethod", "/subscription-contracts-update-payment-method", "Ask for a new payment method",
		"Lets the platform send the customer its e-mail with a link to change the payment method.")
	ask.Status = http.StatusNoContent
	web.Register(api, ask, o.askForPayment)
}

type paymentQuery struct {
	OfContract
	Method string `query:"paymentMethodId" required:"true" maxLength:"255" doc:"The payment method: graph id, or its last part."`
}

func (o Options) setPaymentMethod(ctx context.Context, in *paymentQuery) (*messageOut, error) {
	cmd, err := o.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if _, err := o.Amend.SetPaymentMethod(ctx, web.CallerOf(ctx).Shop.ID, cmd, amend.PaymentMethodID(in.Method)); err != nil {
		return nil, err
	}
	return &messageOut{messageBody{"Payment method updated successfully"}}, nil
}

func (o Options) askForPayment(ctx context.Context, in *contractQueryOnly) (*struct{}, error) {
	cmd, err := o.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return nil, o.Amend.SendPaymentUpdate(ctx, web.CallerOf(ctx).Shop.ID, cmd)
}

// contractQueryOnly asks for nothing but the contract.
type contractQueryOnly struct{ OfContract }
